//! What an app says beside its calls: that something was registered, that a value does not pickle, a
//! function's own value.

use holdpoint_store::Cid;
use serde_json::Value;

use super::{Callpoints, flow::Refused, look::look_at};
use crate::{
    calls::{
        call::{AppProcess, Call, CallKind, CallSite, End, Said},
        clock, pretty,
        value::{BadItem, Item},
    },
    records::recorder::Bring,
};

/// Something an app tells that is not a call: a registration, a value that does not pickle.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AppEvent {
    pub id: Option<String>,
    pub name: Option<String>,
    pub event_type: Option<String>,
    pub status: Option<String>,
    pub timestamp: Option<f64>,
    pub site: CallSite,
    pub signature: Value,
    pub page_url: Option<String>,
    pub said: Said,
    pub result: Item,
    pub exception: Item,
}

/// An un-aliased function of the cideldill client posts this with every call of its own.
const PHANTOM: &str = "__getattr__('_cideldill_alias_name')";

impl Callpoints {
    pub async fn event(&self, process: AppProcess, event: AppEvent) -> Result<(), Refused> {
        let looked = look_at(&[&event.result, &event.exception], false).await;
        if let Some(bad) = looked.bad {
            return Err(bad.into());
        }
        let name = event.name.clone().or_else(|| event.event_type.clone());
        let name = name.unwrap_or_else(|| "event".to_owned());
        if name == PHANTOM {
            return Ok(());
        }
        let at = event.timestamp.unwrap_or_else(clock::now);
        let status = event.status.or(event.event_type).unwrap_or_else(|| "event".to_owned());
        let mut call = Call {
            id: event.id.unwrap_or_else(|| uuid::Uuid::new_v4().to_string()),
            name,
            kind: CallKind::Event,
            process: process.key(),
            started_at: at,
            pid: Some(process.pid),
            process_start: Some(process.start_time),
            signature: event.signature,
            site: event.site,
            page_url: event.page_url,
            said: Some(Box::new(event.said)),
            ..Call::default()
        };
        let mut bring = Bring::default();
        {
            let mut live = self.live();
            live.place_stack(&mut call, &mut bring);
            let mut found = live.keep(looked.found, &mut bring).into_iter();
            let mut given = |call: &mut Call, item: &Item| {
                let own = if item.has_data() && item.cid.is_some() { found.next() } else { None };
                item.cid.is_some().then(|| live.give(call, item, own, &mut bring))
            };
            let result = given(&mut call, &event.result);
            let exception = given(&mut call, &event.exception);
            call.end = Some(End { status, completed_at: at, result, exception, ..End::default() });
            live.meet(&process, &call.process, call.page_url.as_deref(), None, &mut bring);
        }
        let registered = (call.name == "with_debug.register")
            .then(|| call.said.as_ref()?.pretty_result.get("function_name")?.as_str())
            .flatten()
            .map(str::to_owned);
        let key = call.process.clone();
        self.recorder.keep_up().await;
        self.write_down(call, false, bring);
        if let Some(function) = registered {
            self.registered_in(&function, &key).await;
        }
        Ok(())
    }

    /// Keeps one value that came beside a call: a function's own, a REPL's result.
    pub async fn keep_value(&self, item: &Item) -> Result<Option<Cid>, BadItem> {
        let looked = look_at(&[item], false).await;
        if let Some(bad) = looked.bad {
            return Err(bad);
        }
        let mut bring = Bring::default();
        let found = self.live().keep(looked.found, &mut bring);
        self.recorder.bring(bring).await;
        let reference = || item.cid.as_deref().and_then(Cid::parse);
        Ok(found.into_iter().next().map(|(cid, _)| cid).or_else(reference))
    }

    /// What a function's own value says of it, as metadata.
    pub async fn described(&self, cid: Cid, name: &str) -> Option<Value> {
        let pretty = pretty::kept(&self.records.value(cid).await.ok()??);
        if pretty.get("__cideldill_placeholder__").is_some() {
            return Some(pretty);
        }
        let summary = pretty::short(&pretty);
        Some(serde_json::json!({
            "summary": summary, "object_name": name, "object_path": name,
        }))
    }
}
