//! The Python of a project, found as its own tools find it, and how it was found: agents' servers are started
//! without an active environment, so nothing but the project's files tells.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use base64::Engine as _;
use sha2::{Digest as _, Sha256};

use super::interpreter::search;
use crate::{launch::Launch, process::command};

/// How long poetry may take to say where its environment is: it starts a Python itself.
const POETRY: Duration = Duration::from_secs(4);

/// An interpreter, and why it is the one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) path: PathBuf,
    pub(super) why: String,
}

impl Choice {
    /// The interpreter of an environment, if there is one.
    fn inside(environment: &Path, why: impl Into<String>) -> Option<Choice> {
        let path = environment.join("bin").join("python");
        path.is_file().then(|| Choice { path, why: why.into() })
    }
}

/// The first that there is: what the call says, what lies in the project, what its tools keep elsewhere,
/// what is active here, what PATH has.
pub(super) async fn find(launch: &Launch) -> Option<Choice> {
    let project = Project { launch, folders: folders(launch) };
    if let Some(found) = project.told().or_else(|| project.uv()).or_else(|| project.inside()) {
        return Some(found);
    }
    if let Some(active) = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from) {
        let found = Choice::inside(&active, "VIRTUAL_ENV of this server");
        if found.is_some() {
            return found;
        }
    }
    if let Some(found) = project.poetry().await {
        return Some(found);
    }
    let active = || {
        let prefix = PathBuf::from(std::env::var_os("CONDA_PREFIX")?);
        Choice::inside(&prefix, "CONDA_PREFIX of this server")
    };
    project.conda().or_else(|| project.pyenv()).or_else(active).or_else(|| project.on_path())
}

struct Project<'a> {
    launch: &'a Launch,
    /// The program's folder and those above it, then the working folder and those above it.
    folders: Vec<PathBuf>,
}

fn folders(launch: &Launch) -> Vec<PathBuf> {
    let start = launch.program.as_deref().and_then(Path::parent).unwrap_or(&launch.cwd);
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in start.ancestors().chain(launch.cwd.ancestors()) {
        if !folders.iter().any(|it| it == folder) {
            folders.push(folder.to_owned());
        }
    }
    folders
}

impl Project<'_> {
    /// A variable as the program will see it.
    fn var(&self, name: &str) -> Option<String> {
        let given = self.launch.env.get(name).cloned();
        given.or_else(|| std::env::var(name).ok()).filter(|it| !it.is_empty())
    }

    fn home(&self) -> Option<PathBuf> {
        self.var("HOME").map(PathBuf::from)
    }

    /// An environment that the call itself activates.
    fn told(&self) -> Option<Choice> {
        let given = |name: &str| Some((name.to_owned(), self.launch.env.get(name)?));
        let (name, folder) = given("VIRTUAL_ENV").or_else(|| given("CONDA_PREFIX"))?;
        Choice::inside(Path::new(folder), format!("{name} of this call"))
    }

    /// Where uv is told to keep the project's environment.
    fn uv(&self) -> Option<Choice> {
        let place = self.var("UV_PROJECT_ENVIRONMENT")?;
        let root = self.folders.iter().find(|it| it.join("pyproject.toml").is_file())?;
        Choice::inside(&root.join(place), "uv, by UV_PROJECT_ENVIRONMENT")
    }

    /// An environment in the project.
    fn inside(&self) -> Option<Choice> {
        self.folders.iter().find_map(|folder| {
            [".venv", "venv", "env", ".conda"].iter().find_map(|name| {
                let environment = folder.join(name);
                let made_by = maker(&environment, folder)?;
                Choice::inside(&environment, format!("{name} in {}{made_by}", folder.display()))
            })
        })
    }

    /// The environment that poetry keeps for the project: by its name and a hash of its folder.
    async fn poetry(&self) -> Option<Choice> {
        let root = self.folders.iter().find(|it| is_poetrys(it))?;
        let why = format!("poetry's environment of {}", root.display());
        if let Some(kept) = self.poetry_kept(root).and_then(|it| Choice::inside(&it, why.clone())) {
            return Some(kept);
        }
        let asked = command(search("poetry")?)
            .args(["env", "info", "--path"])
            .current_dir(root)
            .stdin(std::process::Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(POETRY, asked).await.ok()?.ok()?;
        let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Choice::inside(Path::new(&folder), why).filter(|_| output.status.success())
    }

    fn poetry_kept(&self, root: &Path) -> Option<PathBuf> {
        let given = self.var("POETRY_VIRTUALENVS_PATH").map(PathBuf::from);
        let cache = || self.var("POETRY_CACHE_DIR").map(PathBuf::from);
        let usual = || {
            let xdg = self.var("XDG_CACHE_HOME").map(PathBuf::from);
            Some(xdg.or_else(|| Some(self.home()?.join(".cache")))?.join("pypoetry"))
        };
        let kept = given.or_else(|| Some(cache().or_else(usual)?.join("virtualenvs")))?;
        newest(&kept, &format!("{}-py", poetry_name(root)?))
    }

    /// The environment that `environment.yml` names, wherever conda keeps it.
    fn conda(&self) -> Option<Choice> {
        let file = self.folders.iter().find_map(|folder| {
            let names = ["environment.yml", "environment.yaml"];
            names.iter().map(|it| folder.join(it)).find(|it| it.is_file())
        })?;
        let text = std::fs::read_to_string(&file).ok()?;
        let name = text.lines().find_map(|line| line.strip_prefix("name:"))?;
        let name = name.trim().trim_matches(['"', '\'']);
        let why = format!("conda environment `{name}` of {}", file.display());
        self.conda_folders().iter().find_map(|it| Choice::inside(&it.join(name), why.clone()))
    }

    fn conda_folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for name in ["CONDA_ENVS_PATH", "CONDA_ENVS_DIRS"] {
            folders.extend(self.var(name).iter().flat_map(std::env::split_paths));
        }
        let installed = |executable: &Path| Some(executable.parent()?.parent()?.join("envs"));
        let executables = self.var("CONDA_EXE").map(PathBuf::from).into_iter();
        let executables = executables.chain(search("conda")).chain(search("mamba"));
        folders.extend(executables.filter_map(|it| installed(&it)));
        let kinds = ["miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".conda"];
        let home = self.home();
        folders
            .extend(home.iter().flat_map(|it| kinds.iter().map(|kind| it.join(kind).join("envs"))));
        folders.extend(["/opt/conda/envs", "/opt/miniconda3/envs"].map(PathBuf::from));
        folders
    }

    /// What `.python-version` names, where pyenv has it.
    fn pyenv(&self) -> Option<Choice> {
        let (file, version) = self.pinned()?;
        let root = self.var("PYENV_ROOT").map(PathBuf::from);
        let versions = root.or_else(|| Some(self.home()?.join(".pyenv")))?.join("versions");
        let whole = versions.join(&version);
        let folder =
            if whole.is_dir() { whole } else { newest(&versions, &format!("{version}."))? };
        Choice::inside(&folder, format!("pyenv, by {}", file.display()))
    }

    fn pinned(&self) -> Option<(PathBuf, String)> {
        let file =
            self.folders.iter().map(|it| it.join(".python-version")).find(|it| it.is_file())?;
        let text = std::fs::read_to_string(&file).ok()?;
        let version =
            text.lines().map(str::trim).find(|it| !it.is_empty() && !it.starts_with('#'))?;
        // It names a folder of pyenv's and nothing beyond.
        let version = version.to_owned();
        (!version.contains(['/', '\\'])).then_some((file, version))
    }

    fn on_path(&self) -> Option<Choice> {
        let path = search("python3").or_else(|| search("python"))?;
        let start = self.folders.first().map(|it| it.display().to_string()).unwrap_or_default();
        let unmet = self.pinned().map(|(file, version)| {
            format!("; {} names {version}, which pyenv does not have", file.display())
        });
        let unmet = unmet.unwrap_or_default();
        Some(Choice { path, why: format!("PATH: no environment in {start} or above{unmet}") })
    }
}

/// What made an environment; `None` where there is none.
fn maker(environment: &Path, folder: &Path) -> Option<&'static str> {
    if environment.join("conda-meta").is_dir() {
        return Some(", conda's");
    }
    let config = std::fs::read_to_string(environment.join("pyvenv.cfg")).ok()?;
    let is_uvs =
        config.lines().any(|it| it.starts_with("uv =")) || folder.join("uv.lock").is_file();
    let is_poetrys = folder.join("poetry.lock").is_file();
    Some(match (is_uvs, is_poetrys) {
        (true, _) => ", uv's",
        (false, true) => ", poetry's",
        (false, false) => "",
    })
}

fn is_poetrys(folder: &Path) -> bool {
    let declares = || {
        let text = std::fs::read_to_string(folder.join("pyproject.toml")).unwrap_or_default();
        text.lines().any(|line| line.trim_start().starts_with("[tool.poetry"))
    };
    folder.join("poetry.lock").is_file() || declares()
}

/// As poetry makes it: `shop-0PUq3Xyz`, of the project's name and where it lies.
fn poetry_name(root: &Path) -> Option<String> {
    let text = std::fs::read_to_string(root.join("pyproject.toml")).ok()?;
    let name = project_name(&text).unwrap_or_else(|| "non-package-mode".to_owned());
    let real = root.canonicalize().ok()?;
    poetry_key(&name, &real.to_string_lossy())
}

fn poetry_key(name: &str, folder: &str) -> Option<String> {
    let odd = |it: char| if " $`!*@\"\\\r\n\t".contains(it) { '_' } else { it };
    let plain: String = name.to_lowercase().chars().map(odd).take(42).collect();
    let hash = Sha256::digest(folder.as_bytes());
    let hash = base64::engine::general_purpose::URL_SAFE.encode(hash);
    Some(format!("{plain}-{}", hash.get(..8)?))
}

/// `name` of `[tool.poetry]` or `[project]`.
fn project_name(toml: &str) -> Option<String> {
    let mut is_there = false;
    let mut names = toml.lines().map(str::trim).filter_map(|line| {
        if line.starts_with('[') {
            is_there = line == "[tool.poetry]" || line == "[project]";
        }
        let value =
            line.strip_prefix("name").filter(|_| is_there)?.trim_start().strip_prefix('=')?;
        Some(value.trim().trim_matches(['"', '\'']).to_owned())
    });
    names.next()
}

/// Of the folders whose names begin so, the one of the highest version.
fn newest(folder: &Path, begin: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let version = |name: String| {
        let rest = name.strip_prefix(begin)?.to_owned();
        Some(rest.split('.').map(|it| it.parse::<u32>().unwrap_or(0)).collect::<Vec<_>>())
    };
    let named = entries.filter_map(|it| {
        Some((version(it.file_name().to_string_lossy().into_owned())?, it.path()))
    });
    named.max().map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As its `EnvManager.generate_env_name` does: the name in plain letters, and a hash of the folder.
    #[test]
    fn poetrys_environments_are_named_as_poetry_names_them() {
        assert_eq!(poetry_key("My Shop", "/work/shop").as_deref(), Some("my_shop-2-p4RCY8"));
        let toml = "[build-system]\nname = \"no\"\n[tool.poetry]\nname = \"My Shop\"\n";
        assert_eq!(project_name(toml).as_deref(), Some("My Shop"));
        assert_eq!(project_name("[project]\nname='a'\n").as_deref(), Some("a"));
    }

    #[test]
    fn the_highest_version_is_by_number() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["3.9.1", "3.11.2", "3.10.9", "pypy"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        assert_eq!(newest(folder.path(), "3."), Some(folder.path().join("3.11.2")));
        assert_eq!(newest(folder.path(), "3.9."), Some(folder.path().join("3.9.1")));
        assert_eq!(newest(folder.path(), "2."), None);
    }
}
