//! Who is connected. A client is entered when it names itself and leaves when its presence is dropped,
//! so a connection that dies in any way is noticed in one place.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use holdpoint_engine::{budget, event::Event, ids::ClientId, limits, log::Log};

use crate::app::SHELL;

/// How a client reaches us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Stdio,
    Sse,
    Http,
}

#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) id: ClientId,
    pub(crate) name: String,
    pub(crate) transport: Transport,
    pub(crate) protocol: String,
}

pub(crate) struct Clients {
    next: AtomicU64,
    live: Arc<Mutex<BTreeMap<ClientId, Client>>>,
    log: Arc<Log>,
}

/// A client is connected for as long as this lives.
pub(crate) struct Presence {
    client: Client,
    live: Arc<Mutex<BTreeMap<ClientId, Client>>>,
    log: Arc<Log>,
}

impl Transport {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Transport::Stdio => "stdio",
            Transport::Sse => "sse",
            Transport::Http => "http",
        }
    }
}

impl Clients {
    pub(crate) fn new(log: Arc<Log>) -> Self {
        Clients { next: AtomicU64::new(1), live: Arc::default(), log }
    }

    pub(crate) fn enter(&self, name: &str, transport: Transport, protocol: &str) -> Presence {
        let id = ClientId(self.next.fetch_add(1, Ordering::Relaxed));
        let name = budget::cut(name, limits::NAME_BYTES);
        let protocol = budget::cut(protocol, limits::NAME_BYTES);
        let client = Client { id, name, transport, protocol };
        lock(&self.live).insert(id, client.clone());
        if is_passing(&client.name) {
            return Presence { client, live: Arc::clone(&self.live), log: Arc::clone(&self.log) };
        }
        self.log.append(Event::ClientConnected {
            client: id,
            name: client.name.clone(),
            transport: transport.as_str(),
            protocol: client.protocol.clone(),
        });
        Presence { client, live: Arc::clone(&self.live), log: Arc::clone(&self.log) }
    }

    pub(crate) fn live(&self) -> Vec<Client> {
        lock(&self.live).values().cloned().collect()
    }

    pub(crate) fn count(&self) -> usize {
        lock(&self.live).len()
    }
}

impl Presence {
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        lock(&self.live).remove(&self.client.id);
        if is_passing(&self.client.name) {
            return;
        }
        self.log.append(Event::ClientLeft {
            client: self.client.id,
            name: std::mem::take(&mut self.client.name),
            transport: self.client.transport.as_str(),
        });
    }
}

/// A shell comes and goes with each of its calls; what it does is told, and that it came says nothing.
fn is_passing(name: &str) -> bool {
    name == SHELL
}

fn lock(live: &Mutex<BTreeMap<ClientId, Client>>) -> MutexGuard<'_, BTreeMap<ClientId, Client>> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use holdpoint_engine::ids::Seq;

    use super::*;

    #[test]
    fn a_client_is_there_for_as_long_as_its_presence() {
        let log = Arc::new(Log::default());
        let clients = Clients::new(Arc::clone(&log));
        let presence = clients.enter("agent", Transport::Stdio, "2025-11-25");
        assert_eq!(clients.live().iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["agent"]);
        drop(presence);
        assert_eq!(clients.count(), 0);
        let lines: Vec<_> =
            log.page(Seq::START, 9, |_| true).records.iter().map(|it| it.event.line()).collect();
        assert_eq!(lines, ["c1 agent over stdio, MCP 2025-11-25", "c1 agent over stdio"]);
    }

    #[test]
    fn a_shell_that_comes_for_one_call_is_no_news() {
        let log = Arc::new(Log::default());
        let clients = Clients::new(Arc::clone(&log));
        let presence = clients.enter(SHELL, Transport::Http, "2025-11-25");
        assert_eq!(clients.count(), 1);
        drop(presence);
        assert_eq!((clients.count(), log.page(Seq::START, 9, |_| true).records.len()), (0, 0));
    }
}
