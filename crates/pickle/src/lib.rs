//! Python pickles as data: read, shown and written, never executed.
//!
//! [`Pickle::read`] takes pickles of protocols 0 to 5, also dill's and cloudpickle's, and gives a
//! description of what Python would build: nothing is imported, nothing is called, and [`Limits`]
//! bound what reading costs whatever the bytes say. [`Pickle::render`] prints what a Python user
//! would recognise, within a number of characters; [`Pickle::children`] and [`Pickle::find`] go
//! inside by path; [`write`] makes pickles that Python reads back.
//!
//! ```
//! use holdpoint_pickle::{Limits, Pickle, Show, write};
//!
//! let bytes = write(&serde_json::json!({ "name": "pen", "tags": ["blue", "fine"] }));
//! let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
//! assert_eq!(pickle.render(pickle.root(), Show::default()), "{'name': 'pen', 'tags': ['blue', 'fine']}");
//! let tag = pickle.find("['tags'][1]").unwrap();
//! assert_eq!(pickle.render(tag, Show::default()), "'fine'");
//! ```
//!
//! The crate knows the format and nothing else: no sessions, no HTTP, no store.

mod fault;
mod json;
mod limits;
mod node;
mod opcode;
mod path;
mod pickle;
mod read;
mod render;
mod value;
mod write;

pub use fault::{Cut, Fault, FaultKind, OverBound};
pub use limits::{CHARS_MAX, CHILDREN_MAX, DEPTH_MAX, Limits, PATH_MAX, Show};
pub use path::{Child, Children, NotFound};
pub use pickle::{Pickle, Ref};
pub use value::{Bytes, Group, Integer, Kind, Label, Name, Part, Text, Value};
pub use write::{INTEGER, write, write_call};
