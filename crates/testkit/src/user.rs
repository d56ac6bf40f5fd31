//! A second user of this machine: a thread of ours whose files and sockets are another user's, as the kernel sees it.
//!
//! Only root can become one. Where tests run as somebody else there is no second user, and what needs one is not tried.

use std::{
    io::Read as _,
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use nix::unistd::{Gid, Uid, geteuid, setfsgid, setfsuid};

/// Nobody's number: no file of ours is theirs.
pub const NOBODY: u32 = 65_534;

/// The second user, where there can be one.
#[derive(Clone, Copy)]
pub struct Second(());

impl Second {
    pub fn find() -> Option<Second> {
        geteuid().is_root().then_some(Second(()))
    }

    /// Does something as that user; whatever is started by it is that user's as well.
    pub fn run<T: Send>(self, work: impl FnOnce() -> T + Send) -> T {
        let as_other = || {
            setfsgid(Gid::from_raw(NOBODY));
            setfsuid(Uid::from_raw(NOBODY));
            // It says who one was before; so it is asked twice.
            assert_eq!(setfsuid(Uid::from_raw(NOBODY)).as_raw(), NOBODY);
            work()
        };
        std::thread::scope(|scope| scope.spawn(as_other).join().expect("the second user"))
    }

    /// Listens where a server of ours was, and keeps what is sent.
    pub fn steal(self) -> Thief {
        self.run(|| {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let port = listener.local_addr().expect("an address").port();
            let heard: Arc<Mutex<Vec<String>>> = Arc::default();
            let keep = Arc::clone(&heard);
            // Ends with the test's process. Whoever accepts a connection owns it: this thread is the other user's.
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let said = first(stream);
                    keep.lock().expect("nobody fails with it").push(said);
                }
            });
            Thief { port, heard }
        })
    }
}

/// Another user who waits for what is not theirs.
pub struct Thief {
    pub port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Thief {
    /// What came, connection by connection.
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("nobody fails with it").clone()
    }
}

fn first(mut stream: TcpStream) -> String {
    stream.set_read_timeout(Some(crate::DEADLINE)).expect("a timeout");
    let mut bytes = vec![0; 4096];
    let count = stream.read(&mut bytes).unwrap_or_default();
    String::from_utf8_lossy(&bytes[..count]).into_owned()
}
