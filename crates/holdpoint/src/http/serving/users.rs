//! Who may connect: this user, root, and whom the user named. The kernel says whose a loopback connection is, once,
//! before a byte of it is read.
//!
//! Whoever may not gets no answer: the connection is closed. An answer would be HTTP, and apps of the call protocol end
//! on a refusal as they do on a closed connection; so nothing is told to a stranger, and the owner is told who it was.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::bail;
use holdpoint_engine::limits;
use holdpoint_loopback::owner::{Owners, Whose};
use nix::unistd::{Uid, User};
use tokio::net::TcpStream;

const ROOT: u32 = 0;

/// Whom a server lets in by loopback.
#[derive(Clone, Default)]
pub(crate) struct Users {
    everybody: bool,
    named: Vec<u32>,
    turned_away: Arc<TurnedAway>,
}

/// Where a request comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OtherEnd {
    /// Our end: how we were reached.
    pub(crate) local: SocketAddr,
    /// Whether the system said that it is somebody who may connect, or another machine, which the token is for.
    pub(crate) is_known: bool,
}

/// Those who may not, for whoever asks how the server is.
#[derive(Default)]
pub(crate) struct TurnedAway(Mutex<Vec<Stranger>>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stranger {
    pub(crate) uid: u32,
    pub(crate) connections: u64,
}

impl Users {
    pub(crate) fn new(
        names: &[String],
        everybody: bool,
        turned_away: Arc<TurnedAway>,
    ) -> anyhow::Result<Users> {
        let named = names.iter().map(|name| uid(name)).collect::<Result<_, _>>()?;
        Ok(Users { everybody, named, turned_away })
    }

    /// None for whoever may not connect.
    pub(super) fn admit(
        &self,
        owners: &mut Owners,
        stream: &TcpStream,
        peer: SocketAddr,
    ) -> Option<OtherEnd> {
        // A connection without an end is gone.
        let local = stream.local_addr().ok()?;
        let caller = |is_known| Some(OtherEnd { local, is_known });
        if self.everybody || !is_loopback(local.ip()) {
            return caller(true);
        }
        match owners.client(local, peer) {
            Whose::Known(owner) if self.may(owner.user) => caller(true),
            Whose::Known(owner) => {
                self.turned_away.note(owner.user);
                None
            }
            Whose::Nobody => {
                tracing::debug!(
                    "a connection was closed before anybody could be asked whose it is"
                );
                None
            }
            Whose::Unknown => caller(false),
        }
    }

    fn may(&self, uid: u32) -> bool {
        uid == ROOT || uid == rustix::process::geteuid().as_raw() || self.named.contains(&uid)
    }
}

impl TurnedAway {
    fn note(&self, uid: u32) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.iter_mut().find(|it| it.uid == uid) {
            known.connections += 1;
            return;
        }
        if all.len() < limits::STRANGERS {
            all.push(Stranger { uid, connections: 1 });
        }
        drop(all);
        let name = name(uid);
        tracing::warn!(
            "refused a connection of user {name} (uid {uid}): this server is of another user; \
             `--allow-user {name}` lets them in"
        );
    }

    pub(crate) fn all(&self) -> Vec<Stranger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// As people call a user; the number where nobody does.
pub(crate) fn name(uid: u32) -> String {
    let found = User::from_uid(Uid::from_raw(uid)).ok().flatten();
    found.map_or_else(|| uid.to_string(), |user| user.name)
}

fn uid(name: &str) -> anyhow::Result<u32> {
    if let Ok(Some(user)) = User::from_name(name) {
        return Ok(user.uid.as_raw());
    }
    match name.parse() {
        Ok(uid) => Ok(uid),
        Err(_) => bail!("--allow-user: no user `{name}` on this machine"),
    }
}

fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_ourselves_and_the_named_may() {
        let me = rustix::process::geteuid().as_raw();
        let users = Users::new(&["77".to_owned(), name(ROOT)], false, Arc::default()).unwrap();
        for uid in [ROOT, me, 77] {
            assert!(users.may(uid), "{uid}");
        }
        assert!(!users.may(65_534) && !users.may(u32::MAX));
        let unknown = Users::new(&["no such user".to_owned()], false, Arc::default());
        assert!(unknown.is_err_and(|it| it.to_string().contains("no user `no such user`")));
    }

    #[test]
    fn strangers_are_counted_and_few() {
        let away = TurnedAway::default();
        for _ in 0..3 {
            away.note(65_534);
        }
        for uid in 0..1_000 {
            away.note(70_000 + uid);
        }
        let all = away.all();
        assert_eq!((all[0].uid, all[0].connections), (65_534, 3));
        assert_eq!(all.len(), limits::STRANGERS);
    }
}
