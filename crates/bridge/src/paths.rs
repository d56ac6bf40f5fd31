//! Paths as the two sides name them: URIs of remote windows, Windows and WSL. Pure.

use std::{fmt::Write, path::Path};

use percent_encoding::percent_decode_str;

/// What runs one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Machine {
    Unix,
    Windows,
    /// Linux inside of Windows, and what that calls it.
    Wsl {
        distribution: String,
    },
}

/// The editor's side and ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides {
    pub editor: Machine,
    pub ours: Machine,
}

impl Sides {
    /// `platform` is what `host.json` says: `linux`, `darwin`, `win32`. `folder` is the bridge's, as we name it.
    pub fn new(platform: Option<&str>, folder: &Path) -> Sides {
        let ours = match std::env::var("WSL_DISTRO_NAME") {
            _ if cfg!(windows) => Machine::Windows,
            Ok(distribution) if !distribution.is_empty() => Machine::Wsl { distribution },
            _ => Machine::Unix,
        };
        Sides { editor: editor_of(platform, &ours, &folder.to_string_lossy()), ours }
    }

    /// A path of ours as the editor names it.
    pub fn there(&self, path: &str) -> String {
        match (&self.ours, &self.editor) {
            (Machine::Wsl { distribution }, Machine::Windows) => windows_of(path, distribution),
            (Machine::Windows, Machine::Wsl { .. }) => wsl_of(&short(path)),
            (Machine::Windows, Machine::Windows) => short(path),
            _ => path.to_owned(),
        }
    }

    /// A path, or URI, of the editor's as we name it.
    pub fn here(&self, path: &str) -> String {
        let path = plain_path(path);
        match (&self.ours, &self.editor) {
            (Machine::Wsl { .. }, Machine::Windows) => wsl_of(&path),
            (Machine::Windows, Machine::Wsl { distribution }) => windows_of(&path, distribution),
            (Machine::Windows, Machine::Windows) => with_capital_drive(path),
            _ => path,
        }
    }
}

/// An editor that is no Windows program and has a folder of a distribution open runs inside of that.
fn editor_of(platform: Option<&str>, ours: &Machine, folder: &str) -> Machine {
    let folder = short(folder).replace('\\', "/");
    match (platform, ours) {
        (Some("win32"), _) => Machine::Windows,
        (_, Machine::Windows) => match in_share(&folder) {
            Some((distribution, _)) => Machine::Wsl { distribution: distribution.to_owned() },
            None => Machine::Unix,
        },
        _ => Machine::Unix,
    }
}

/// `\\?\C:\x` is what Windows makes of `C:\x` when it is asked for the whole path; nobody else writes it so.
fn short(path: &str) -> String {
    match path.strip_prefix("\\\\?\\") {
        Some(rest) => match rest.strip_prefix("UNC\\") {
            Some(share) => format!("\\\\{share}"),
            None => rest.to_owned(),
        },
        None => path.to_owned(),
    }
}

/// VS Code writes `c:\x`, everybody else `C:\x`.
fn with_capital_drive(path: String) -> String {
    match path.split_once(':') {
        Some((drive, rest)) => match letter(drive) {
            Some(letter) => format!("{}:{rest}", letter.to_ascii_uppercase()),
            None => path,
        },
        None => path,
    }
}

/// The distribution of a path of its share, and the rest.
fn in_share(slashes: &str) -> Option<(&str, &str)> {
    let share = ["//wsl.localhost/", "//wsl$/"].iter().find_map(|it| slashes.strip_prefix(it))?;
    share.split_once('/')
}

/// `/mnt/c/x` is `C:\x`; what is inside of the distribution is a share.
fn windows_of(path: &str, distribution: &str) -> String {
    let mut parts = path.split('/').skip(1);
    let mount = (parts.next(), parts.next());
    if let (Some("mnt"), Some(drive)) = mount
        && let Some(letter) = letter(drive)
    {
        let rest: Vec<&str> = parts.collect();
        return format!("{}:\\{}", letter.to_ascii_uppercase(), rest.join("\\"));
    }
    if !path.starts_with('/') {
        return path.to_owned();
    }
    format!("\\\\wsl.localhost\\{distribution}{}", path.replace('/', "\\"))
}

fn wsl_of(path: &str) -> String {
    let slashes = path.replace('\\', "/");
    if let Some((drive, rest)) = slashes.split_once(":/")
        && let Some(letter) = letter(drive)
    {
        return format!("/mnt/{}/{rest}", letter.to_ascii_lowercase());
    }
    match in_share(&slashes) {
        Some((_, rest)) => format!("/{rest}"),
        None => path.to_owned(),
    }
}

fn letter(text: &str) -> Option<char> {
    let mut all = text.chars();
    match (all.next(), all.next()) {
        (Some(letter), None) if letter.is_ascii_alphabetic() => Some(letter),
        _ => None,
    }
}

/// A path without what an editor puts around it: `file:///a%20b` and `vscode-remote://host/a%20b` are `/a b`. What is
/// no file (`untitled:…`, `node:fs`) stays as it is.
pub fn plain_path(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    if !["file", "vscode-remote"].contains(&scheme) {
        return text.to_owned();
    }
    // Behind the authority; that of a file is a Windows server.
    let (authority, path) = match rest.split_once('/') {
        Some((authority, path)) => (authority, path),
        None => return text.to_owned(),
    };
    let path = percent_decode_str(path).decode_utf8_lossy();
    if let Some((drive, rest)) = path.split_once(':')
        && let Some(letter) = letter(drive)
    {
        return format!("{}:{}", letter.to_ascii_uppercase(), rest.replace('/', "\\"));
    }
    let mut plain = String::new();
    let written = match (scheme, authority) {
        ("file", server) if !server.is_empty() && server != "localhost" => {
            write!(plain, "\\\\{server}\\{}", path.replace('/', "\\"))
        }
        _ => write!(plain, "/{path}"),
    };
    debug_assert!(written.is_ok(), "a string takes whatever is written");
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wsl() -> Sides {
        let ours = Machine::Wsl { distribution: "Debian".to_owned() };
        Sides { editor: Machine::Windows, ours }
    }

    #[test]
    fn uris_become_paths_and_other_names_stay() {
        for (uri, path) in [
            ("/ws/app.js", "/ws/app.js"),
            ("file:///ws/a%20b.js", "/ws/a b.js"),
            ("vscode-remote://127.0.0.1:18080/ws/app.js", "/ws/app.js"),
            ("vscode-remote://wsl%2Bdebian/home/me/a.py", "/home/me/a.py"),
            ("file:///c%3A/Users/me/a.js", "C:\\Users\\me\\a.js"),
            ("file:///C:/a.js", "C:\\a.js"),
            ("file://server/share/a.js", "\\\\server\\share\\a.js"),
            ("file://localhost/a.js", "/a.js"),
            ("untitled:Untitled-1", "untitled:Untitled-1"),
            ("node:internal/fs", "node:internal/fs"),
            ("https://host/a.js", "https://host/a.js"),
            ("file://", "file://"),
            ("C:\\a\\b.py", "C:\\a\\b.py"),
        ] {
            assert_eq!(plain_path(uri), path, "{uri}");
        }
    }

    #[test]
    fn wsl_and_windows_name_the_same_file() {
        for (ours, theirs) in [
            ("/mnt/c/Users/me/a.py", "C:\\Users\\me\\a.py"),
            ("/mnt/d/", "D:\\"),
            ("/home/me/a b.py", "\\\\wsl.localhost\\Debian\\home\\me\\a b.py"),
            ("/mnt/wsl/x", "\\\\wsl.localhost\\Debian\\mnt\\wsl\\x"),
        ] {
            assert_eq!(wsl().there(ours), theirs);
            assert_eq!(wsl().here(theirs), ours);
        }
        assert_eq!(wsl().here("c:/a/b.py"), "/mnt/c/a/b.py");
        assert_eq!(wsl().here("\\\\wsl$\\Debian\\home\\a.py"), "/home/a.py");
        assert_eq!(wsl().here("file:///c%3A/a/b.py"), "/mnt/c/a/b.py");
        assert_eq!(wsl().there("a.py"), "a.py", "what is relative means the same on both");
    }

    #[test]
    fn an_editor_inside_of_wsl_is_spoken_to_from_windows() {
        let folder = "\\\\?\\UNC\\wsl.localhost\\Debian\\home\\me\\.holdpoint\\bridge";
        let editor = editor_of(Some("linux"), &Machine::Windows, folder);
        assert_eq!(editor, Machine::Wsl { distribution: "Debian".to_owned() });
        let sides = Sides { editor, ours: Machine::Windows };
        for (ours, theirs) in [
            ("\\\\wsl.localhost\\Debian\\home\\me\\a b.py", "/home/me/a b.py"),
            ("C:\\Users\\me\\a.py", "/mnt/c/Users/me/a.py"),
        ] {
            assert_eq!(sides.there(ours), theirs);
            assert_eq!(sides.here(theirs), ours);
        }
        let whole = "\\\\?\\UNC\\wsl.localhost\\Debian\\home\\me\\a.py";
        assert_eq!(sides.there(whole), "/home/me/a.py");
        let remote = "vscode-remote://wsl%2Bdebian/home/me/a.py";
        assert_eq!(sides.here(remote), "\\\\wsl.localhost\\Debian\\home\\me\\a.py");
    }

    #[test]
    fn whose_machine_the_editor_runs_on() {
        for (platform, ours, folder, editor) in [
            (Some("win32"), Machine::Windows, "C:\\ws", Machine::Windows),
            (Some("win32"), Machine::Unix, "/mnt/c/ws", Machine::Windows),
            (Some("linux"), Machine::Unix, "/ws", Machine::Unix),
            (Some("linux"), Machine::Windows, "\\\\server\\share\\ws", Machine::Unix),
            (None, Machine::Windows, "C:\\ws", Machine::Unix),
        ] {
            assert_eq!(editor_of(platform, &ours, folder), editor, "{platform:?} {folder}");
        }
    }

    #[test]
    fn on_one_system_nothing_is_mapped() {
        let same = Sides { editor: Machine::Unix, ours: Machine::Unix };
        assert_eq!(same.there("/mnt/c/a.py"), "/mnt/c/a.py");
        assert_eq!(same.here("/mnt/c/a.py"), "/mnt/c/a.py");
        let windows = Sides { editor: Machine::Windows, ours: Machine::Windows };
        assert_eq!(windows.here("C:\\a.py"), "C:\\a.py");
        assert_eq!(windows.here("c:\\a.py"), "C:\\a.py", "as VS Code names it");
        assert_eq!(windows.there("\\\\?\\C:\\a.py"), "C:\\a.py", "as the system names it");
    }
}
