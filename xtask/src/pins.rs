//! Versions of what is installed for the checks and is pinned nowhere else.
//!
//! The client SDKs, the conformance suite and the packages that are debugged have their own pin files,
//! in their own formats: `tests/sdk/python/requirements-*.txt`, `tests/sdk/js/package.json`,
//! `tests/conformance/package.json`, `tests/vscode/package.json`, `tests/packages/`.

/// The spelling checker; its wheel carries the binary.
pub(crate) const TYPOS: &str = "1.51.1";

/// The Node that runs the conformance suite where the machine's own is too old.
pub(crate) const NODE: &str = "24.21.0";

/// VS Code without a window, for `test --vscode`; its native parts are compiled here, for the Node above.
pub(crate) const CODE_SERVER: &str = "4.139.1";

/// The suite calls `fs.globSync`, which came with Node 22.
pub(crate) const NODE_MAJOR_FOR_CONFORMANCE: u32 = 22;

/// `@modelcontextprotocol/client` asks for it.
pub(crate) const NODE_MAJOR_FOR_SDKS: u32 = 20;

/// The debugger that `bench line` drives, with and without us in between.
pub(crate) const DEBUGPY: &str = "1.8.22";

/// The debugger of Go programs. One is made for each Go, and breaks with a later one.
pub(crate) const DELVE: &str = "1.27.2";
