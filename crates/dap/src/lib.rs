//! A client of the [Debug Adapter Protocol](https://microsoft.github.io/debug-adapter-protocol/) that
//! forgives what real adapters send.
//!
//! It knows the protocol and how to read and write bytes. It does not know sessions, languages, how
//! an adapter is started, or when a request has waited too long.
//!
//! ```no_run
//! use holdpoint_dap::{Requester, Event, Incoming, request, types::{Empty, InitializeArguments}};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let (read, write) = tokio::net::TcpStream::connect("127.0.0.1:5678").await?.into_split();
//! let (client, mut inbox) = Requester::start(read, write, None);
//!
//! let hello = InitializeArguments { adapter_id: "go".into(), ..Default::default() };
//! let capabilities = client.request::<request::Initialize>(hello).await?;
//! client.set_capabilities(&capabilities);
//! while let Some(incoming) = inbox.next().await {
//!     match incoming {
//!         Incoming::Event(Event::Stopped(stopped)) => println!("{}", stopped.reason),
//!         Incoming::Event(_) => {}
//!         Incoming::Request(request) => request.answer(Err("not here".into())).await?,
//!         Incoming::Closed(reason) => println!("closed: {reason}"),
//!     }
//! }
//! # let threads = client.request::<request::Threads>(Empty).await?.threads;
//! # Ok(())
//! # }
//! ```

pub mod codec;
mod event;
mod lenient;
pub mod limits;
mod message;
pub mod request;
mod requester;
mod tape;
pub mod types;

pub use event::Event;
pub use request::Request;
pub use requester::{Counts, Inbox, Incoming, RequestError, Requester, ReverseRequest};
pub use tape::Tape;
