//! Clients that come, ask something and go, over every transport; most of them without a word.

use std::time::Duration;

use holdpoint_testkit::{
    http::get,
    listen::{Hears as _, Listener},
    process::Process,
    rpc::Rpc,
};
use serde_json::json;

use super::{
    Soak,
    load::{data, goodbye},
};

/// One in a second: in ten minutes more than the server keeps of those who left.
pub(super) fn over_http(soak: &Soak) {
    let mut visits = 0_u64;
    while soak.goes_on_after(Duration::from_secs(1)) {
        visits += 1;
        let mut client = if visits.is_multiple_of(4) {
            Listener::sse(soak.port)
        } else {
            Listener::http(soak.port)
        };
        data(&client.tool("server_status", json!({})));
        let query = json!({ "text": "makes", "limit": 50, "newest": true });
        client.tool("timeline_query", query);
        let read = client.ask("resources/read", json!({ "uri": "holdpoint://status" }));
        assert!(read.get("result").is_some(), "{read}");
        if visits.is_multiple_of(10) {
            let page = get(soak.port, "/api/calls?limit=100").send();
            assert_eq!(page.status, 200, "{}", page.body);
        }
        client.leave();
        if let (Some(session), 0) = (&client.session, visits % 8) {
            goodbye(soak.port, session);
        }
    }
}

/// A server of its own on the same home: what agents' clients start.
pub(super) fn over_stdio(soak: &Soak) {
    while soak.goes_on_after(Duration::from_secs(15)) {
        let mut process = Process::start_at(&soak.bin, &["mcp", "--port", "0"], &soak.home, |_| {});
        let stdin = process.child().stdin.take().expect("a pipe");
        let stdout = process.child().stdout.take().expect("a pipe");
        let mut rpc = Rpc::over(process, Box::new(stdin), Box::new(stdout));
        rpc.initialize("2025-11-25");
        data(&rpc.call("server_status", json!({})));
        rpc.call("timeline_query", json!({ "limit": 10 }));
        let (status, said) = rpc.finish();
        assert!(status.success(), "{status}: {said}");
    }
}
