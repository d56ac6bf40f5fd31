//! Intercepted calls as JSON: the one form that REST, the tools and every other face show. The engine gives
//! facts; here they get the names of the contract, each shape and each word of refusal once.

pub(crate) mod call;
pub(crate) mod external;
pub(crate) mod points;
pub(crate) mod refused;
pub(crate) mod short;

mod action;
mod object;
mod pause;

pub(crate) use self::{
    action::action,
    object::{object, object_at, undecodable},
    pause::pause,
};

#[cfg(test)]
mod tests {
    use std::path::Path;

    use holdpoint_engine::{
        actor::Actor,
        callpoints::{
            ask::{Asking, Ending},
            behavior::Behavior,
            decision::Decision,
        },
        calls::call::CallKind,
        ids::Seq,
        records::RecordQuery,
        secrets::Secrets,
    };
    use serde_json::json;

    use super::{call, short};
    use crate::{app::App, catalogue::Catalogue, mcp::Structured};

    /// A call that this process makes is listed and recorded as those of apps are, with who made it.
    #[tokio::test]
    async fn a_call_of_this_process_is_seen_with_its_source_and_kind() {
        let catalogue = Catalogue::ours(&[]).unwrap();
        let app = App::new(
            catalogue,
            None,
            Structured::Auto,
            Some(Path::new(":memory:")),
            Secrets::default(),
        );
        let callpoints = app.engine.callpoints().await;
        callpoints.add("files.read", Some(Behavior::Stop), &Actor::Person).await.unwrap();
        callpoints.set_after("files.read", Behavior::Go, &Actor::Person).await.unwrap();
        let asking = Asking {
            name: "files.read".to_owned(),
            kind: CallKind::Tool,
            source: "mcp_client".to_owned(),
            args: vec![json!("a.txt")],
            ..Asking::default()
        };
        let look = async {
            let mut reader = app.engine.log.reader(Seq::START);
            while callpoints.paused().is_empty() {
                reader.batch(64).await;
            }
            let listed = short::paused(&app, None).await;
            let data = &listed["paused"][0]["call_data"];
            assert_eq!((&data["source"], &data["kind"]), (&json!("mcp_client"), &json!("tool")));
            assert_eq!(data["pretty_args"], json!(["a.txt"]));
            let id = listed["paused"][0]["id"].as_str().unwrap();
            let skip = Decision { action: Some("skip".to_owned()), ..Decision::default() };
            callpoints.resume(id, &skip, &Actor::Person).await;
        };
        let (asked, ()) = tokio::join!(callpoints.ask(asking), look);
        asked.complete(Ending::Returned(std::sync::Arc::default())).await;
        let page = callpoints
            .records
            .page(RecordQuery { limit: 1, ..RecordQuery::default() })
            .await
            .unwrap();
        let whole = call::record(&page.calls[0]);
        assert_eq!((&whole["source"], &whole["kind"]), (&json!("mcp_client"), &json!("tool")));
        assert_eq!(whole["process_pid"], json!(null));
        let brief = short::call(&whole);
        assert_eq!((&brief["source"], &brief["kind"]), (&json!("mcp_client"), &json!("tool")));
        assert_eq!(brief["decision"], json!({ "action": "skip" }));
    }
}
