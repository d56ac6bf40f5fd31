//! `GET /page/live`: what became different of a view, as server-sent events.
//!
//! The page says where it is and which parts it has. Whenever something happened the view is rendered again, at most ten
//! times a second, and the parts that became different are sent; so nothing is lost when a connection breaks, and
//! nothing comes twice. A view that took another form is sent as a whole.

use std::{collections::HashMap, convert::Infallible, time::Duration};

use axum::{
    extract::{Query, State},
    http::StatusCode,
    response::{
        IntoResponse as _, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures::{Stream, stream};
use holdpoint_engine::{ids::Seq, limits};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{sync::watch, time::Instant};

use super::{
    address::PageAddress,
    rail, router,
    sheet::{LivePart, LiveRow, Sheet},
};
use crate::app::App;

#[derive(Deserialize)]
pub(super) struct LiveQuery {
    /// The view's address.
    at: String,
    /// What the page has: `id:mark` after `id:mark`.
    #[serde(default)]
    has: String,
}

pub(super) async fn stream(State(app): State<App>, Query(asked): Query<LiveQuery>) -> Response {
    let Some(at) = PageAddress::read(&asked.at) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let pairs = asked.has.split(' ').filter_map(|it| it.rsplit_once(':'));
    let has = pairs.map(|(id, mark)| (id.to_owned(), mark.to_owned())).collect();
    let head = app.engine.log.watch();
    let recordings = app.engine.recordings.changes();
    let rows = HashMap::new();
    let page = OpenPage {
        app,
        at,
        has,
        rows,
        head,
        recordings,
        told: None,
        rest: limits::PAGE_EVERY,
        settles: false,
    };
    let keep_alive = KeepAlive::new().interval(limits::KEEP_ALIVE_EVERY).text("keep-alive");
    Sse::new(events(page)).keep_alive(keep_alive).into_response()
}

/// A page that is open in a browser.
struct OpenPage {
    app: App,
    at: PageAddress,
    /// By part: the mark of what the page shows.
    has: HashMap<String, String>,
    /// By list: the marks of the rows that it has, by their ids.
    rows: HashMap<String, HashMap<String, u64>>,
    head: watch::Receiver<Seq>,
    /// What comes and goes without an event.
    recordings: watch::Receiver<u64>,
    /// When it was last looked at.
    told: Option<Instant>,
    /// From then on, until it is looked at again.
    rest: Duration,
    /// What was told may not have been all of it: who appends to the log shows it elsewhere in the next moment.
    settles: bool,
}

fn events(page: OpenPage) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(page, |mut page| async move {
        let told = page.next().await?;
        let event = Event::default().event("parts").data(told.to_string());
        Some((Ok(event), page))
    })
}

impl OpenPage {
    /// The next thing to say; none when the server stops.
    async fn next(&mut self) -> Option<Value> {
        let is_first = self.told.is_none();
        loop {
            if !self.wait().await {
                return None;
            }
            let begun = Instant::now();
            let seq = *self.head.borrow_and_update();
            self.recordings.mark_unchanged();
            let mut sheet = router::sheet(&self.app, &self.at).await;
            rail::markup(&self.app, &self.at, &mut sheet.parts);
            self.told = Some(Instant::now());
            let changed = self.changed(&sheet);
            self.settles = !changed.is_empty() || sheet.parts.is_late();
            let rest = begun.elapsed() * limits::PAGE_SHARE;
            self.rest = rest.clamp(limits::PAGE_EVERY, limits::PAGE_SELDOM);
            if is_first || !changed.is_empty() {
                return Some(json!({ "seq": seq, "title": sheet.title, "parts": changed }));
            }
        }
    }

    /// Until there is something to look at, and it is not too early; false when the server stops.
    async fn wait(&mut self) -> bool {
        let Some(told) = self.told else { return true };
        let shutdown = self.app.shutdown.clone();
        let news = async {
            while !self.settles {
                let changed = async {
                    tokio::select! {
                        it = self.head.changed() => it,
                        it = self.recordings.changed() => it,
                    }
                };
                match tokio::time::timeout(limits::KEEP_ALIVE_EVERY, changed).await {
                    // The log is the engine's: it lives as long as the server does.
                    Ok(_) => break,
                    // Somebody looks, so the server is needed.
                    Err(_) => self.app.activity.touch(),
                }
            }
            tokio::time::sleep_until(told + self.rest).await;
        };
        shutdown.run_until_cancelled(news).await.is_some()
    }

    /// What the page does not have, from now on taken as told.
    fn changed(&mut self, sheet: &Sheet) -> Vec<Value> {
        let is_same = self.has.get("shape").is_some_and(|it| it == sheet.shape);
        let mut changed = Vec::new();
        for part in sheet.parts.all() {
            let is_known = self.has.get(&part.id) == Some(&part.mark);
            let before = self.rows.remove(&part.id);
            if let Some(rows) = &part.rows {
                let marks = rows.iter().map(|row| (row.id.clone(), row.mark));
                self.rows.insert(part.id.clone(), marks.collect());
            }
            if is_known {
                continue;
            }
            self.has.insert(part.id.clone(), part.mark.clone());
            let is_sent = is_same || rail::is_its(&part.id);
            changed.push(match &part.rows {
                Some(rows) if is_sent => told_rows(part, rows, &before.unwrap_or_default()),
                Some(_) => json!([part.id, part.mark, null]),
                None => json!([part.id, part.mark, is_sent.then_some(&part.html)]),
            });
        }
        if !is_same {
            self.has.insert("shape".to_owned(), sheet.shape.to_owned());
            changed.push(json!(["shape", sheet.shape, null]));
            changed.push(json!(["main", "", sheet.main.0]));
        }
        changed
    }
}

/// A list: the ids of its rows in their order, and those rows that the page does not have as they are.
fn told_rows(part: &LivePart, rows: &[LiveRow], before: &HashMap<String, u64>) -> Value {
    let order: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let differing = rows.iter().filter(|row| before.get(&row.id) != Some(&row.mark));
    let differing: Vec<Value> = differing.map(|row| json!([row.id, row.html])).collect();
    json!([part.id, part.mark, null, order, differing])
}
