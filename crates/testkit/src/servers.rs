//! Other MCP servers for the tests of the gateway: a fixture that can do everything wrong, and real ones that
//! nobody here wrote.

use std::{
    io::{BufRead as _, BufReader},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::{packages::installed, until};

/// The Python that the real servers are installed for.
pub fn python() -> String {
    installed("servers-python").join("bin").join("python").display().to_string()
}

/// A program that came with the Python servers, such as `mcp-server-time`.
pub fn python_server(name: &str) -> String {
    installed("servers-python").join("bin").join(name).display().to_string()
}

fn fixture_file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/mcp");
    folder.canonicalize().expect("the fixtures are there").join(name)
}

/// The start of an npm server.
pub fn node_server(name: &str) -> String {
    let modules = installed("servers-node").join("node_modules").join("@modelcontextprotocol");
    modules.join(name).join("dist").join("index.js").display().to_string()
}

/// The entry of a configuration for the fixture with these flags.
pub fn fixture(flags: &[&str]) -> Value {
    let mut args = vec![fixture_file("server.py").display().to_string()];
    args.extend(flags.iter().map(|it| (*it).to_owned()));
    json!({ "command": python(), "args": args, "transport": "stdio" })
}

/// The same as one word of a command line.
pub fn inline(name: &str, flags: &[&str]) -> String {
    format!("{name}:{} {} {}", python(), fixture_file("server.py").display(), flags.join(" "))
}

/// A server that listens; gone when dropped.
pub struct Listening {
    child: Child,
    pub port: u16,
    scheme: &'static str,
}

/// The authority that vouches for the fixture's certificate.
pub fn authority() -> PathBuf {
    fixture_file("tls").join("authority.pem")
}

impl Listening {
    /// The HTTP fixture with these flags.
    pub fn fixture(flags: &[&str]) -> Listening {
        let mut command = Command::new(python());
        command.arg(fixture_file("web.py")).args(flags).stdout(Stdio::piped());
        let mut child = command.spawn().expect("Python");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("its port");
        let scheme = if flags.contains(&"--tls") { "https" } else { "http" };
        Listening { child, port: line.trim().parse().expect("its port"), scheme }
    }

    /// The reference server over `sse` or `streamableHttp`, once it answers.
    pub fn everything(transport: &str) -> Listening {
        let port = free_port();
        let mut command = Command::new("node");
        command.arg(node_server("server-everything")).arg(transport);
        command.env("PORT", port.to_string()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("Node");
        let listening = Listening { child, port, scheme: "http" };
        until("the reference server", || TcpStream::connect(("127.0.0.1", port)).ok());
        listening
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}://127.0.0.1:{}{path}", self.scheme, self.port)
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.kill();
    }
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).expect("a port").local_addr().expect("it is bound").port()
}
