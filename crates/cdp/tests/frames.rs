//! The client against a peer that misbehaves.

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::{SinkExt as _, StreamExt as _};
    use holdpoint_cdp::{Closing, Error, Event, Inbox, Incoming, Limits, Requester};
    use serde_json::{Value, json};
    use tokio::{
        net::{TcpListener, TcpStream},
        time::timeout,
    };
    use tokio_tungstenite::{
        WebSocketStream, accept_async,
        tungstenite::{Message, protocol::CloseFrame, protocol::frame::coding::CloseCode},
    };

    const DEADLINE: Duration = Duration::from_secs(20);
    const SOON: Duration = Duration::from_millis(20);

    async fn pair(limits: Limits) -> (Requester, Inbox, WebSocketStream<TcpStream>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}/x", listener.local_addr().unwrap());
        let accept = async { accept_async(listener.accept().await.unwrap().0).await.unwrap() };
        let (client, peer) = tokio::join!(Requester::connect(&url, limits), accept);
        let (client, inbox) = client.unwrap();
        (client, inbox, peer)
    }

    async fn next(inbox: &mut Inbox) -> Incoming {
        timeout(DEADLINE, inbox.next()).await.unwrap().unwrap()
    }

    fn event(n: u32) -> Message {
        Message::text(json!({"method": "X.y", "params": {"n": n}}).to_string())
    }

    #[tokio::test]
    async fn garbage_between_messages_is_ignored() {
        let (client, mut inbox, mut peer) = pair(Limits::default()).await;
        let call = tokio::spawn(async move { client.call("A.b", json!({})).await });
        let asked: Value =
            serde_json::from_str(peer.next().await.unwrap().unwrap().to_text().unwrap()).unwrap();
        for garbage in
            ["", "{", "null", "[1]", "{}", r#"{"id":"x"}"#, r#"{"id":99,"result":{}}"#, "\u{0}"]
        {
            peer.send(Message::text(garbage)).await.unwrap();
        }
        peer.send(Message::binary(vec![1, 2, 3])).await.unwrap();
        peer.send(Message::Ping(vec![1].into())).await.unwrap();
        peer.send(event(1)).await.unwrap();
        peer.send(Message::text(json!({"id": asked["id"], "result": {"ok": 1}}).to_string()))
            .await
            .unwrap();
        assert_eq!(call.await.unwrap().unwrap(), json!({"ok": 1}));
        let Incoming::Event { event: Event::Other { method, params }, .. } = next(&mut inbox).await
        else {
            panic!("no event");
        };
        assert_eq!((method.as_str(), &params["n"]), ("X.y", &json!(1)));
    }

    #[tokio::test]
    async fn events_keep_their_order_and_a_goodbye_is_told_once() {
        let (client, mut inbox, mut peer) = pair(Limits::default()).await;
        for n in 0..500 {
            peer.send(event(n)).await.unwrap();
        }
        let frame = CloseFrame { code: CloseCode::Away, reason: "bye".into() };
        peer.close(Some(frame)).await.unwrap();
        for n in 0..500 {
            let Incoming::Event { event: Event::Other { params, .. }, .. } = next(&mut inbox).await
            else {
                panic!("no event");
            };
            assert_eq!(params["n"], n);
        }
        let Incoming::Closed(Closing::Theirs(words)) = next(&mut inbox).await else {
            panic!("not closed");
        };
        assert!(words.contains("bye"), "{words}");
        assert!(inbox.next().await.is_none());
        let error = client.call("A.b", json!({})).await.unwrap_err();
        assert!(matches!(error, Error::Closed { reason: Closing::Theirs(_) }), "{error}");
    }

    #[tokio::test]
    async fn a_message_over_the_bound_ends_the_connection_with_its_reason() {
        let limits = Limits { message_bytes: 1000, ..Limits::default() };
        let (_client, mut inbox, mut peer) = pair(limits).await;
        peer.send(Message::text("x".repeat(2000))).await.unwrap();
        let Incoming::Closed(Closing::Lost(detail)) = next(&mut inbox).await else {
            panic!("not lost");
        };
        assert!(detail.contains("too long"), "{detail}");
    }

    #[tokio::test]
    async fn a_full_inbox_loses_console_events_and_says_how_many() {
        let limits = Limits { inbox_kilobytes: 4, ..Limits::default() };
        let (client, mut inbox, mut peer) = pair(limits).await;
        let console = json!({"method": "Runtime.consoleAPICalled", "params": {"type": "log"}});
        for _ in 0..10 {
            peer.send(Message::text(console.to_string())).await.unwrap();
        }
        // When a call is answered, all that came before the answer is in the inbox or lost.
        let call = tokio::spawn(async move { client.call("A.b", json!({})).await.map(|_| client) });
        let asked: Value =
            serde_json::from_str(peer.next().await.unwrap().unwrap().to_text().unwrap()).unwrap();
        let answer = json!({"id": asked["id"], "result": {}});
        peer.send(Message::text(answer.to_string())).await.unwrap();
        let _client = call.await.unwrap().unwrap();
        for _ in 0..4 {
            assert!(matches!(next(&mut inbox).await, Incoming::Event { .. }));
        }
        // As large as the whole inbox.
        let large = json!({"method": "X.y", "params": {"text": "x".repeat(9000)}});
        peer.send(Message::text(large.to_string())).await.unwrap();
        assert!(matches!(next(&mut inbox).await, Incoming::Dropped { console_events: 6 }));
        assert!(matches!(next(&mut inbox).await, Incoming::Event { .. }));
    }

    #[tokio::test]
    async fn an_event_counts_as_what_it_takes_in_memory() {
        let limits = Limits { inbox_kilobytes: 4, ..Limits::default() };
        let (client, mut inbox, mut peer) = pair(limits).await;
        // As text all three would fit.
        let console = json!({"method": "Runtime.consoleAPICalled",
            "params": {"type": "log", "args": [{"type": "string", "value": "x".repeat(800)}]}});
        for _ in 0..3 {
            peer.send(Message::text(console.to_string())).await.unwrap();
        }
        let call = tokio::spawn(async move { client.call("A.b", json!({})).await.map(|_| client) });
        let asked: Value =
            serde_json::from_str(peer.next().await.unwrap().unwrap().to_text().unwrap()).unwrap();
        let answer = json!({"id": asked["id"], "result": {}});
        peer.send(Message::text(answer.to_string())).await.unwrap();
        let _client = call.await.unwrap().unwrap();
        assert!(matches!(next(&mut inbox).await, Incoming::Event { .. }));
        peer.send(event(1)).await.unwrap();
        assert!(matches!(next(&mut inbox).await, Incoming::Dropped { console_events: 2 }));
    }

    #[tokio::test]
    async fn an_inbox_that_nobody_drains_ends_the_connection() {
        let stall = Duration::from_millis(20);
        let limits =
            Limits { inbox_kilobytes: 4, inbox_stall: stall, leave: SOON, ..Limits::default() };
        let (client, mut inbox, mut peer) = pair(limits).await;
        for n in 0..5 {
            peer.send(event(n)).await.unwrap();
        }
        let error = timeout(DEADLINE, client.call("A.b", json!({}))).await.unwrap().unwrap_err();
        assert!(matches!(error, Error::Closed { reason: Closing::Undrained }), "{error}");
        for _ in 0..4 {
            assert!(matches!(next(&mut inbox).await, Incoming::Event { .. }));
        }
        assert!(matches!(next(&mut inbox).await, Incoming::Closed(Closing::Undrained)));
    }

    #[tokio::test]
    async fn dropping_the_inbox_or_the_last_client_ends_the_connection() {
        let limits = Limits { leave: SOON, ..Limits::default() };
        let (client, inbox, mut peer) = pair(limits).await;
        drop(inbox);
        let error = client.call("A.b", json!({})).await.unwrap_err();
        assert!(matches!(error, Error::Closed { reason: Closing::Ours }), "{error}");
        // It is asked to be silent, does not answer, and is left.
        while let Some(Ok(_)) = timeout(DEADLINE, peer.next()).await.unwrap() {}

        let (client, mut inbox, _peer) = pair(limits).await;
        drop(client);
        assert!(matches!(next(&mut inbox).await, Incoming::Closed(Closing::Ours)));
    }

    /// Node breaks when it writes to a connection that is just ending: whoever ends it, and however much
    /// there was under way, the program is silent before it hears that.
    #[tokio::test]
    async fn a_program_has_said_its_last_word_before_it_is_left() {
        for is_dropped in [false, true] {
            let (client, inbox, mut peer) = pair(Limits::default()).await;
            let caller = client.clone();
            let under_way = tokio::spawn(async move { caller.call("A.b", json!({})).await });
            let asked = heard(&mut peer).await;
            let mut kept = Some(inbox);
            if is_dropped {
                kept = None;
            } else {
                client.close().await;
            }
            let mut last = Value::Null;
            for method in ["NodeWorker.disable", "Debugger.disable", "Runtime.disable"] {
                last = heard(&mut peer).await;
                assert_eq!(last["method"], method);
                if method != "Runtime.disable" {
                    answer(&mut peer, &last).await;
                }
            }
            peer.send(event(1)).await.unwrap();
            let goodbye = timeout(Duration::from_millis(100), peer.next()).await;
            assert!(goodbye.is_err(), "it is left while it may speak: {goodbye:?}");
            answer(&mut peer, &asked).await;
            answer(&mut peer, &last).await;
            assert!(matches!(peer.next().await, Some(Ok(Message::Close(_)))));
            assert!(under_way.await.unwrap().is_ok());
            assert!(timeout(SOON, client.closed()).await.is_err(), "the other end is still open");
            while let Some(Ok(_)) = peer.next().await {}
            drop(peer);
            timeout(DEADLINE, client.closed()).await.unwrap();
            drop(kept);
        }
    }

    async fn heard(peer: &mut WebSocketStream<TcpStream>) -> Value {
        let frame = timeout(DEADLINE, peer.next()).await.unwrap().unwrap().unwrap();
        serde_json::from_str(frame.to_text().unwrap()).unwrap()
    }

    async fn answer(peer: &mut WebSocketStream<TcpStream>, asked: &Value) {
        let text = json!({"id": asked["id"], "result": {}}).to_string();
        peer.send(Message::text(text)).await.unwrap();
    }
}
