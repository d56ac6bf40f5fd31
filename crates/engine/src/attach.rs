//! A program that runs already, as a caller names it, and where its files are here. Never kept: a process
//! id or a port means nothing tomorrow.

use std::path::{Path, PathBuf};

/// What to take under control.
#[derive(Debug, Clone, PartialEq)]
pub struct Attach {
    pub at: At,
    pub language: Option<String>,
    pub mappings: Mappings,
    pub just_my_code: bool,
    /// Where relative paths begin.
    pub cwd: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// A process of this machine.
    Process(u32),
    /// Where its debugger listens.
    Address { host: String, port: u16 },
    /// What a program left behind when it crashed.
    Core { file: PathBuf, program: PathBuf },
    /// A debug session of the editor that has the folder open, by its id or name; the only one where none is named.
    Editor { session: Option<String> },
}

impl Attach {
    /// Where the program's own sources are, as far as is known: as we name them, or as it does.
    pub fn folders(&self, name: impl Fn(&Mapping) -> &PathBuf) -> Vec<PathBuf> {
        let mapped = self.mappings.0.iter().map(|it| name(it).clone());
        let own = matches!(self.at, At::Process(_)).then(|| self.cwd.clone());
        mapped.chain(own).collect()
    }
}

/// The same folder, or file, as we and as the program name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    pub local: PathBuf,
    pub remote: PathBuf,
}

/// Empty where the program names its files as we do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mappings(pub Vec<Mapping>);

impl Mappings {
    /// Where a file of the program is here.
    pub fn local(&self, remote: &Path) -> Option<PathBuf> {
        self.swap(remote, |it| &it.remote, |it| &it.local)
    }

    /// How the program names a file of ours.
    pub fn remote(&self, local: &Path) -> Option<PathBuf> {
        self.swap(local, |it| &it.local, |it| &it.remote)
    }

    /// By the deepest folder that has it.
    fn swap(
        &self,
        path: &Path,
        from: impl Fn(&Mapping) -> &PathBuf,
        to: impl Fn(&Mapping) -> &PathBuf,
    ) -> Option<PathBuf> {
        let around = self.0.iter().filter(|it| path.starts_with(from(it)));
        let deepest = around.max_by_key(|it| from(it).components().count())?;
        let rest = path.strip_prefix(from(deepest)).ok()?;
        // A join with nothing would end in a slash.
        let is_itself = rest.as_os_str().is_empty();
        Some(if is_itself { to(deepest).clone() } else { to(deepest).join(rest) })
    }
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            At::Process(pid) => write!(f, "process {pid}"),
            At::Address { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            At::Address { host, port } => write!(f, "{host}:{port}"),
            At::Core { file, .. } => write!(f, "core file {}", file.display()),
            At::Editor { session: Some(session) } => write!(f, "the editor's session {session}"),
            At::Editor { session: None } => write!(f, "the editor's session"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_folder_maps_a_path_both_ways() {
        let one =
            |local: &str, remote: &str| Mapping { local: local.into(), remote: remote.into() };
        let mappings = Mappings(vec![one("/here", "/app"), one("/lib", "/app/vendor")]);
        let local = |path: &str| mappings.local(Path::new(path));
        assert_eq!(local("/app/a.py"), Some("/here/a.py".into()));
        assert_eq!(local("/app/vendor/b.py"), Some("/lib/b.py".into()));
        assert_eq!(local("/app"), Some("/here".into()));
        assert_eq!(local("/apple/a.py"), None);
        assert_eq!(mappings.remote(Path::new("/lib/b.py")), Some("/app/vendor/b.py".into()));
    }
}
