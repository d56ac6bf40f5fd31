//! Where things are on this machine: home, folders, the search path, our own executable.
//!
//! Everything `setup` and `doctor` want to know about the environment is read once, here, into a [`Whereabouts`].
//! Tests build their own, so none of them touches the real home.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

/// The name under which a shell finds us.
pub(crate) const PROGRAM: &str = "holdpoint";

/// The operating systems whose folders differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Platform {
    MacOs,
    Windows,
    /// Linux, and every system that keeps to the XDG folders.
    Xdg,
}

/// The environment, as read once at the start.
#[derive(Clone, Debug)]
pub(crate) struct Whereabouts {
    pub(crate) platform: Platform,
    pub(crate) home: Option<PathBuf>,
    pub(crate) cwd: PathBuf,
    /// The running executable.
    pub(crate) exe: PathBuf,
    /// The value of `PATH`.
    pub(crate) search_path: Option<OsString>,
    /// `%APPDATA%`, which only Windows has.
    pub(crate) app_data: Option<PathBuf>,
    pub(crate) xdg_config_home: Option<PathBuf>,
    pub(crate) codex_home: Option<PathBuf>,
    pub(crate) copilot_home: Option<PathBuf>,
    pub(crate) kimi_home: Option<PathBuf>,
    pub(crate) holdpoint_home: Option<PathBuf>,
}

impl Whereabouts {
    /// Reads the environment of this process.
    pub(crate) fn of_this_process() -> Result<Self> {
        Ok(Self {
            platform: Platform::of_this_build(),
            home: env::home_dir().filter(|home| !home.as_os_str().is_empty()),
            cwd: env::current_dir().map_err(|error| {
                anyhow!("the current folder is gone: {error}\nhint: change to another folder")
            })?,
            exe: env::current_exe().map_err(|error| {
                anyhow!(
                    "this executable cannot be located: {error}\nhint: start it by its full path"
                )
            })?,
            search_path: env::var_os("PATH"),
            app_data: folder_from("APPDATA"),
            // The XDG specification asks to ignore a value that is not absolute.
            xdg_config_home: folder_from("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute()),
            codex_home: folder_from("CODEX_HOME"),
            copilot_home: folder_from("COPILOT_HOME"),
            kimi_home: folder_from("KIMI_CODE_HOME"),
            holdpoint_home: folder_from("HOLDPOINT_HOME"),
        })
    }

    /// A path below the home folder.
    pub(crate) fn in_home(&self, relative: &str) -> Result<PathBuf> {
        let home = self.home.as_ref().ok_or_else(|| {
            anyhow!("the home folder is not known\nhint: set the variable `HOME`")
        })?;
        Ok(home.join(relative))
    }

    /// The folder where desktop applications keep their settings.
    pub(crate) fn settings_folder(&self) -> Result<PathBuf> {
        let (named, usual) = match self.platform {
            Platform::MacOs => (None, "Library/Application Support"),
            Platform::Windows => (self.app_data.clone(), "AppData/Roaming"),
            Platform::Xdg => (self.xdg_config_home.clone(), ".config"),
        };
        named.map_or_else(|| self.in_home(usual), Ok)
    }

    /// The XDG folder, also on systems where others keep their settings elsewhere.
    pub(crate) fn xdg_folder(&self) -> Result<PathBuf> {
        self.xdg_config_home.clone().map_or_else(|| self.in_home(".config"), Ok)
    }

    /// The folder where Codex keeps its settings.
    pub(crate) fn codex_folder(&self) -> Result<PathBuf> {
        self.named_or(self.codex_home.as_ref(), ".codex")
    }

    /// The folder where Copilot CLI keeps its settings.
    pub(crate) fn copilot_folder(&self) -> Result<PathBuf> {
        self.named_or(self.copilot_home.as_ref(), ".copilot")
    }

    /// The folder where Kimi Code keeps its settings.
    pub(crate) fn kimi_folder(&self) -> Result<PathBuf> {
        self.named_or(self.kimi_home.as_ref(), ".kimi-code")
    }

    /// The folder where Goose keeps its settings.
    pub(crate) fn goose_folder(&self) -> Result<PathBuf> {
        match self.platform {
            Platform::Windows => Ok(self.settings_folder()?.join("Block/goose/config")),
            Platform::MacOs | Platform::Xdg => Ok(self.xdg_folder()?.join("goose")),
        }
    }

    /// The folder where Zed keeps its settings.
    pub(crate) fn zed_folder(&self) -> Result<PathBuf> {
        match self.platform {
            Platform::Windows => Ok(self.settings_folder()?.join("Zed")),
            Platform::MacOs | Platform::Xdg => Ok(self.xdg_folder()?.join("zed")),
        }
    }

    /// A folder that a variable names, else one below the home folder.
    fn named_or(&self, named: Option<&PathBuf>, usual: &str) -> Result<PathBuf> {
        named.map_or_else(|| self.in_home(usual), |folder| Ok(self.cwd.join(folder)))
    }

    /// The folder where Holdpoint keeps its own things.
    pub(crate) fn holdpoint_folder(&self) -> Result<PathBuf> {
        self.named_or(self.holdpoint_home.as_ref(), ".holdpoint")
    }

    /// The first executable of that name on the search path.
    pub(crate) fn find_program(&self, name: &str) -> Option<PathBuf> {
        let folders = self.search_path.as_ref()?;
        env::split_paths(folders)
            // A relative entry means another folder in every process, so it promises nothing to an agent.
            .filter(|folder| folder.is_absolute())
            .flat_map(|folder| {
                self.platform
                    .program_suffixes()
                    .iter()
                    .map(move |suffix| folder.join(format!("{name}{suffix}")))
            })
            .find(|candidate| is_executable(candidate))
    }

    /// What an agent has to run to start this very binary: its name if the search path leads to it, else its path.
    pub(crate) fn own_command(&self) -> Result<String> {
        if self.find_program(PROGRAM).is_some_and(|found| is_same_file(&found, &self.exe)) {
            return Ok(PROGRAM.to_owned());
        }
        self.own_path()
    }

    /// The path of this very binary, for agents that do not search `PATH` as a shell does.
    pub(crate) fn own_path(&self) -> Result<String> {
        let path = self.exe.to_str().ok_or_else(|| {
            anyhow!(
                "the path of this executable is not Unicode: `{}`\nhint: move it to a folder on `PATH`",
                self.exe.display()
            )
        })?;
        Ok(path.to_owned())
    }
}

impl Platform {
    fn of_this_build() -> Self {
        if cfg!(target_os = "macos") {
            Self::MacOs
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Xdg
        }
    }

    /// A word that the shell takes as one argument.
    pub(crate) fn shell_word(self, word: &str) -> String {
        let is_plain = |c: char| c.is_alphanumeric() || "/:._-+".contains(c);
        match self {
            Self::Windows if word.chars().all(|c| is_plain(c) || c == '\\') => word.to_owned(),
            Self::Windows => format!("\"{}\"", word.replace('"', "\\\"")),
            Self::MacOs | Self::Xdg if word.chars().all(is_plain) => word.to_owned(),
            Self::MacOs | Self::Xdg => format!("'{}'", word.replace('\'', r"'\''")),
        }
    }

    fn program_suffixes(self) -> &'static [&'static str] {
        match self {
            // Programs installed by npm are `.cmd` files.
            Self::Windows => &[".exe", ".cmd"],
            Self::MacOs | Self::Xdg => &[""],
        }
    }
}

fn folder_from(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        (Err(_), _) | (_, Err(_)) => false,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A machine inside `root`, with its own home, current folder, search path and executable.
    pub(crate) fn whereabouts_in(root: &Path) -> Whereabouts {
        let folder = |name: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(&path).unwrap();
            path
        };
        let bin = folder("bin");
        Whereabouts {
            platform: Platform::Xdg,
            home: Some(folder("home")),
            cwd: folder("project"),
            exe: add_program(&bin, "holdpoint"),
            search_path: Some(bin.into_os_string()),
            app_data: None,
            xdg_config_home: None,
            codex_home: None,
            copilot_home: None,
            kimi_home: None,
            holdpoint_home: None,
        }
    }

    /// An executable file. It is never run.
    pub(crate) fn add_program(folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(&path, "").unwrap();
        set_executable(&path, true);
        path
    }

    #[cfg(unix)]
    fn set_executable(path: &Path, yes: bool) {
        use std::os::unix::fs::PermissionsExt;
        let mode = if yes { 0o755 } else { 0o644 };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[cfg(not(unix))]
    fn set_executable(_path: &Path, _yes: bool) {}

    #[track_caller]
    fn check_settings_folder(change: impl FnOnce(&mut Whereabouts), expected: &str) {
        let root = tempfile::tempdir().unwrap();
        let mut whereabouts = whereabouts_in(root.path());
        change(&mut whereabouts);
        let folder = whereabouts.settings_folder().unwrap();
        assert_eq!(folder.to_str().unwrap().replace(root.path().to_str().unwrap(), ""), expected);
    }

    #[test]
    fn settings_live_where_the_platform_keeps_them() {
        check_settings_folder(|_| (), "/home/.config");
        check_settings_folder(
            |whereabouts| whereabouts.xdg_config_home = Some("/xdg".into()),
            "/xdg",
        );
        check_settings_folder(
            |whereabouts| whereabouts.platform = Platform::MacOs,
            "/home/Library/Application Support",
        );
        check_settings_folder(
            |whereabouts| whereabouts.platform = Platform::Windows,
            "/home/AppData/Roaming",
        );
        check_settings_folder(
            |whereabouts| {
                whereabouts.platform = Platform::Windows;
                whereabouts.app_data = Some("/roaming".into());
            },
            "/roaming",
        );
    }

    #[test]
    fn folders_named_by_a_variable_win_over_the_home_folder() {
        let root = tempfile::tempdir().unwrap();
        let mut whereabouts = whereabouts_in(root.path());
        assert_eq!(whereabouts.codex_folder().unwrap(), root.path().join("home/.codex"));
        assert_eq!(whereabouts.holdpoint_folder().unwrap(), root.path().join("home/.holdpoint"));

        whereabouts.codex_home = Some("/elsewhere/codex".into());
        whereabouts.holdpoint_home = Some("relative".into());
        assert_eq!(whereabouts.codex_folder().unwrap(), Path::new("/elsewhere/codex"));
        assert_eq!(whereabouts.holdpoint_folder().unwrap(), root.path().join("project/relative"));
    }

    #[test]
    fn an_unknown_home_is_an_error_with_a_hint() {
        let root = tempfile::tempdir().unwrap();
        let whereabouts = Whereabouts { home: None, ..whereabouts_in(root.path()) };
        let error = whereabouts.in_home(".codex").unwrap_err().to_string();
        assert_eq!(error, "the home folder is not known\nhint: set the variable `HOME`");
    }

    #[test]
    fn the_command_is_the_name_when_the_search_path_leads_to_this_binary() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(whereabouts_in(root.path()).own_command().unwrap(), "holdpoint");
    }

    #[test]
    fn the_command_is_the_path_when_the_search_path_leads_elsewhere_or_nowhere() {
        let root = tempfile::tempdir().unwrap();
        let mut whereabouts = whereabouts_in(root.path());
        whereabouts.exe = add_program(&root.path().join("build"), "holdpoint");
        assert_eq!(whereabouts.own_command().unwrap(), whereabouts.exe.to_str().unwrap());

        whereabouts.search_path = None;
        assert_eq!(whereabouts.own_command().unwrap(), whereabouts.exe.to_str().unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn the_command_is_the_name_when_a_link_on_the_search_path_leads_to_this_binary() {
        let root = tempfile::tempdir().unwrap();
        let mut whereabouts = whereabouts_in(root.path());
        whereabouts.exe = add_program(&root.path().join("opt"), "holdpoint-0.1");
        let links = root.path().join("links");
        std::fs::create_dir(&links).unwrap();
        std::os::unix::fs::symlink(&whereabouts.exe, links.join("holdpoint")).unwrap();
        whereabouts.search_path = Some(links.into_os_string());
        assert_eq!(whereabouts.own_command().unwrap(), "holdpoint");
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_the_first_executable_in_an_absolute_folder() {
        let root = tempfile::tempdir().unwrap();
        let mut whereabouts = whereabouts_in(root.path());
        let (text, right, late) =
            (root.path().join("text"), root.path().join("right"), root.path().join("late"));
        set_executable(&add_program(&text, "node"), false);
        let expected = add_program(&right, "node");
        add_program(&late, "node");
        whereabouts.search_path =
            Some(env::join_paths([Path::new("."), &text, &right, &late]).unwrap());
        assert_eq!(whereabouts.find_program("node"), Some(expected));
        assert_eq!(whereabouts.find_program("deno"), None);
    }

    #[test]
    fn a_shell_takes_the_word_as_one_argument() {
        let check = |platform: Platform, word, expected: &str| {
            assert_eq!(platform.shell_word(word), expected)
        };
        check(Platform::Xdg, "/opt/holdpoint-0.1/holdpoint", "/opt/holdpoint-0.1/holdpoint");
        check(Platform::Xdg, "/my build/holdpoint", "'/my build/holdpoint'");
        check(Platform::Xdg, r"/back\slash", r"'/back\slash'");
        check(Platform::MacOs, "/it's/holdpoint", r"'/it'\''s/holdpoint'");
        check(Platform::Windows, r"C:\tools\holdpoint.exe", r"C:\tools\holdpoint.exe");
        check(
            Platform::Windows,
            r"C:\Program Files\holdpoint.exe",
            r#""C:\Program Files\holdpoint.exe""#,
        );
    }
}
