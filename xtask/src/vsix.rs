//! `cargo xtask vsix`: the extension for VS Code as one file that it installs.
//!
//! A zip of the files as they are, with a manifest made from `package.json`; the tests stay here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::Command;
use crate::dist::zip::{File, archive};
use crate::workspace::Workspace;

pub(crate) const COMMAND: Command = Command { name: "vsix", help: HELP, run: make };

const HELP: &str = "\
Make the extension for VS Code, target/vsix/holdpoint-VERSION.vsix

Usage: cargo xtask vsix

`code --install-extension FILE` installs it.
";

/// What stays here.
const NOT_SHIPPED: &[&str] = &["test", "node_modules"];

fn make(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    if !arguments.is_empty() {
        bail!("unexpected arguments: `{}`\n{HELP}", arguments.join(" "));
    }
    let path = written(workspace)?;
    let bytes = fs::metadata(&path)?.len();
    println!("{}: {bytes} bytes", path.display());
    Ok(ExitCode::SUCCESS)
}

/// Writes it, and says where.
pub(crate) fn written(workspace: &Workspace) -> Result<PathBuf> {
    let source = workspace.root.join("editors").join("vscode");
    let (version, bytes) = packed(&source)?;
    let folder = workspace.root.join("target/vsix");
    fs::create_dir_all(&folder).with_context(|| format!("creating `{}`", folder.display()))?;
    let path = folder.join(format!("holdpoint-{version}.vsix"));
    fs::write(&path, bytes).with_context(|| format!("writing `{}`", path.display()))?;
    Ok(path)
}

/// The version of an extension, and its archive.
pub(crate) fn packed(source: &Path) -> Result<(String, Vec<u8>)> {
    let package: Value = serde_json::from_slice(&fs::read(source.join("package.json"))?)?;
    let mut files = Vec::new();
    collect(source, "extension", &mut files)?;
    files.sort();
    let mut shipped = vec![
        File {
            name: "extension.vsixmanifest",
            bytes: manifest(&package)?.into_bytes(),
            runs: false,
        },
        File { name: "[Content_Types].xml", bytes: TYPES.as_bytes().to_vec(), runs: false },
    ];
    for (name, path) in &files {
        let bytes = fs::read(path).with_context(|| format!("reading `{}`", path.display()))?;
        shipped.push(File { name, bytes, runs: false });
    }
    Ok((said(&package, "version")?.to_owned(), archive(&shipped)?))
}

fn collect(folder: &Path, name: &str, into: &mut Vec<(String, PathBuf)>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading `{}`", folder.display()))? {
        let entry = entry?;
        let own = entry.file_name().to_string_lossy().into_owned();
        if NOT_SHIPPED.contains(&own.as_str()) {
            continue;
        }
        let inside = format!("{name}/{own}");
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &inside, into)?;
        } else {
            into.push((inside, entry.path()));
        }
    }
    Ok(())
}

/// What kinds of files there are, as the Open Packaging Conventions want to know.
const TYPES: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/>
<Default Extension=".vsixmanifest" ContentType="text/xml"/>
<Default Extension=".js" ContentType="application/javascript"/>
<Default Extension=".md" ContentType="text/markdown"/>
<Default Extension=".txt" ContentType="text/plain"/>
</Types>
"#;

fn manifest(package: &Value) -> Result<String> {
    let text = |name: &str| said(package, name).map(escaped);
    let engine = package.pointer("/engines/vscode").and_then(Value::as_str);
    let engine = escaped(engine.context("package.json names no `engines.vscode`")?);
    let kinds = package.get("extensionKind").and_then(Value::as_array);
    let kinds: Vec<&str> = kinds.into_iter().flatten().filter_map(Value::as_str).collect();
    let categories = package.get("categories").and_then(Value::as_array);
    let categories: Vec<&str> =
        categories.into_iter().flatten().filter_map(Value::as_str).collect();
    Ok(format!(
        r#"<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
<Identity Language="en-US" Id="{name}" Version="{version}" Publisher="{publisher}"/>
<DisplayName>{shown}</DisplayName>
<Description xml:space="preserve">{about}</Description>
<Categories>{categories}</Categories>
<Properties>
<Property Id="Microsoft.VisualStudio.Code.Engine" Value="{engine}"/>
<Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="{kinds}"/>
</Properties>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets>
<Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/readme.md" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
</Assets>
</PackageManifest>
"#,
        name = text("name")?,
        version = text("version")?,
        publisher = text("publisher")?,
        shown = text("displayName")?,
        about = text("description")?,
        categories = escaped(&categories.join(",")),
        kinds = escaped(&kinds.join(",")),
    ))
}

fn said<'a>(package: &'a Value, name: &str) -> Result<&'a str> {
    let value = package.get(name).and_then(Value::as_str);
    value.with_context(|| format!("package.json has no `{name}`"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/vscode")
    }

    #[test]
    fn the_archive_has_what_runs_and_no_tests() {
        let (version, bytes) = packed(&source()).unwrap();
        assert_eq!(version, env!("CARGO_PKG_VERSION"), "one version for everything");
        let text = String::from_utf8_lossy(&bytes);
        for name in [
            "extension.vsixmanifest",
            "[Content_Types].xml",
            "extension/package.json",
            "extension/extension.js",
            "extension/lib/bridge.js",
            "extension/lib/scripts/debug/run.js",
            "extension/readme.md",
            "extension/LICENSE.txt",
        ] {
            assert!(text.matches(name).count() >= 2, "{name} in file and directory");
        }
        assert!(!text.contains("extension/test/"), "tests stay here");
    }

    #[test]
    fn the_manifest_is_made_from_the_package() {
        let package = serde_json::json!({
            "name": "a", "version": "1.2.3", "publisher": "p", "displayName": "A & B", "description": "<x>",
            "engines": { "vscode": "^1.90.0" }, "extensionKind": ["workspace"], "categories": ["AI"],
        });
        let manifest = manifest(&package).unwrap();
        assert!(manifest.contains(r#"Id="a" Version="1.2.3" Publisher="p""#), "{manifest}");
        assert!(manifest.contains("A &amp; B") && manifest.contains("&lt;x&gt;"), "{manifest}");
    }
}
