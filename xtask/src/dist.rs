//! `cargo xtask dist`: what is handed out, for this platform.
//!
//! An `.mcpb` bundle, which Claude Desktop and others install by a click, and, given the address where
//! it will be downloaded from, the `server.json` that a registry of MCP servers asks for.
//! Both are made here from the optimised binary, by no other tool.

pub(crate) mod zip;

use std::fs;
use std::path::Path;
use std::process::{Command as Process, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use self::zip::{File, archive};
use crate::Command;
use crate::process::{Show, run};
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command { name: "dist", help: HELP, run: make };

const HELP: &str = "\
Make what is handed out, for this platform, in target/dist/

Usage: cargo xtask dist [URL]

Arguments:
  URL   the folder from which the bundle will be downloaded; writes server.json for the registry, too

Files:
  holdpoint-VERSION-OS-ARCH.mcpb   a bundle for Claude Desktop and others
  server.json                      the registry's entry, with the bundle's address and checksum
";

/// Listing the tools starts nothing and asks nobody.
const LIST_LIMIT: Duration = Duration::from_secs(60);

/// What an agent starts.
const ARGUMENTS: [&str; 3] = ["mcp", "--toolset", "agent"];

fn make(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let url = match arguments {
        [] => None,
        [url] if url.starts_with("https://") => Some(url.trim_end_matches('/')),
        _ => bail!("unexpected arguments: `{}`\n{HELP}", arguments.join(" ")),
    };
    let binary = workspace.optimised("holdpoint")?;
    let folder = workspace.root.join("target/dist");
    fs::create_dir_all(&folder).with_context(|| format!("creating `{}`", folder.display()))?;
    let entry = registry_entry(&workspace.root)?;
    let version = entry.get("version").and_then(Value::as_str).unwrap_or_default();
    let bundle = bundle(&workspace.root, &binary, version, tools(&binary)?)?;
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let name = format!("holdpoint-{version}-{os}-{arch}.mcpb");
    write(&folder.join(&name), &bundle)?;
    let checksum = hex(&Sha256::digest(&bundle));
    println!("target/dist/{name}: {} bytes, sha256 {checksum}", bundle.len());
    if let Some(url) = url {
        let entry = published(entry, &format!("{url}/{name}"), &checksum);
        let text = serde_json::to_string_pretty(&entry)? + "\n";
        write(&folder.join("server.json"), text.as_bytes())?;
        println!("target/dist/server.json: written");
    }
    Ok(ExitCode::SUCCESS)
}

/// The tools as the bundle lists them: names and their first sentences.
fn tools(binary: &Path) -> Result<Value> {
    let mut command = Process::new(binary);
    let finished =
        run(command.args(["tools", "--json", "--toolset", "agent"]), LIST_LIMIT, Show::Errors)?;
    if !finished.success() {
        bail!("the tools cannot be listed ({})", finished.how_it_ended());
    }
    let listed: Vec<Value> = serde_json::from_str(&finished.stdout)?;
    let short =
        |tool: &Value| json!({ "name": tool.get("name"), "description": tool.get("description") });
    Ok(listed.iter().map(short).collect())
}

fn bundle(root: &Path, binary: &Path, version: &str, tools: Value) -> Result<Vec<u8>> {
    let read =
        |path: &Path| fs::read(path).with_context(|| format!("reading `{}`", path.display()));
    let manifest = serde_json::to_string_pretty(&manifest(version, tools))? + "\n";
    let program = if cfg!(windows) { "server/holdpoint.exe" } else { "server/holdpoint" };
    archive(&[
        File { name: "manifest.json", bytes: manifest.into_bytes(), runs: false },
        File { name: program, bytes: read(binary)?, runs: true },
        File { name: "LICENSE-MIT", bytes: read(&root.join("LICENSE-MIT"))?, runs: false },
        File { name: "LICENSE-APACHE", bytes: read(&root.join("LICENSE-APACHE"))?, runs: false },
    ])
}

/// <https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md>, version 0.3.
fn manifest(version: &str, tools: Value) -> Value {
    let platform = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    json!({
        "manifest_version": "0.3",
        "name": "holdpoint",
        "display_name": "Holdpoint",
        "version": version,
        "description": "The debugger for AI agents and the people beside them.",
        "author": { "name": "The Holdpoint maintainers" },
        "license": "MIT OR Apache-2.0",
        "server": {
            "type": "binary",
            // Apps add `.exe` themselves where it is needed.
            "entry_point": "server/holdpoint",
            "mcp_config": {
                "command": "${__dirname}/server/holdpoint",
                "args": ARGUMENTS,
                "env": {},
            },
        },
        "compatibility": { "platforms": [platform] },
        "tools": tools,
    })
}

/// What is committed about us: everything that does not depend on a download.
fn registry_entry(root: &Path) -> Result<Value> {
    let path = root.join("server.json");
    let text =
        fs::read_to_string(&path).with_context(|| format!("reading `{}`", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("`{}` is not JSON", path.display()))
}

fn published(mut entry: Value, url: &str, checksum: &str) -> Value {
    let version = entry.get("version").cloned();
    let argument = |text: &str| json!({ "type": "positional", "value": text });
    let package = json!({
        "registryType": "mcpb",
        "identifier": url,
        "version": version,
        "fileSha256": checksum,
        "transport": { "type": "stdio" },
        "packageArguments": ARGUMENTS.map(argument),
    });
    if let Some(entry) = entry.as_object_mut() {
        entry.insert("packages".to_owned(), json!([package]));
    }
    entry
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("writing `{}`", path.display()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
    }

    fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
        value.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("no {pointer}"))
    }

    /// The fields that <https://static.modelcontextprotocol.io/schemas/2025-09-29/server.schema.json> requires,
    /// with its bounds.
    #[track_caller]
    fn check_entry(entry: &Value) {
        assert!(text(entry, "/$schema").ends_with("/server.schema.json"));
        let (space, name) = text(entry, "/name").split_once('/').unwrap();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
        assert!(!space.is_empty() && space.chars().all(is_plain), "{space}");
        assert!(!name.is_empty() && name.chars().all(|c| is_plain(c) || c == '_'), "{name}");
        assert!((1..=100).contains(&text(entry, "/description").len()));
        assert_eq!(text(entry, "/version"), env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn the_committed_entry_is_one_that_a_registry_takes() {
        check_entry(&registry_entry(&root()).unwrap());
    }

    #[test]
    fn a_published_entry_names_the_bundle_and_its_checksum() {
        let checksum = hex(&Sha256::digest(b"bundle"));
        let entry = registry_entry(&root()).unwrap();
        let entry = published(entry, "https://example.org/holdpoint.mcpb", &checksum);
        check_entry(&entry);
        assert_eq!(text(&entry, "/packages/0/registryType"), "mcpb");
        assert_eq!(text(&entry, "/packages/0/version"), env!("CARGO_PKG_VERSION"));
        assert_eq!(text(&entry, "/packages/0/fileSha256").len(), 64);
        assert_eq!(text(&entry, "/packages/0/transport/type"), "stdio");
        assert_eq!(text(&entry, "/packages/0/packageArguments/2/value"), "agent");
    }

    #[test]
    fn the_manifest_has_what_a_bundle_needs() {
        let manifest = manifest("0.1.0", json!([]));
        for field in ["/manifest_version", "/name", "/version", "/description", "/author/name"] {
            assert!(!text(&manifest, field).is_empty());
        }
        assert_eq!(text(&manifest, "/server/type"), "binary");
        let command = text(&manifest, "/server/mcp_config/command");
        assert_eq!(command, format!("${{__dirname}}/{}", text(&manifest, "/server/entry_point")));
    }

    /// Python's reader checks every checksum, and knows nothing of how it was written.
    #[test]
    fn another_reader_finds_the_bundle_whole() {
        let folder = std::env::temp_dir().join(format!("holdpoint-dist-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (binary, path) = (folder.join("binary"), folder.join("holdpoint.mcpb"));
        fs::write(&binary, [0, 1, 2, 255].repeat(10_000)).unwrap();
        fs::write(&path, bundle(&root(), &binary, "0.1.0", json!([])).unwrap()).unwrap();
        let script = "import sys, zipfile, json\n\
            z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None\n\
            print([i.filename for i in z.infolist() if i.external_attr >> 16 & 0o111])\n\
            print(json.loads(z.read('manifest.json'))['name'], len(z.read('server/holdpoint')))";
        let output = Process::new("python3").args(["-c", script]).arg(&path).output().unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said, "['server/holdpoint']\nholdpoint 40000\n", "{output:?}");
    }
}
