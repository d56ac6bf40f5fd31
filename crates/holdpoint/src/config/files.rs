//! The two files: read once at the start, whole or not at all.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use holdpoint_engine::{adapter::AdapterBlock, limits};
use toml_edit::{Document, Item, Value};

use super::{Layer, OPTIONS, Opt, OptionKind, Settings, adapters};
use crate::{home, root, servers, tool::nearest};

const NAME: &str = "config.toml";

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    User,
    /// Of whoever wrote the repository.
    Workspace,
}

/// What the files say, the weightier last.
#[derive(Default)]
pub(super) struct Files {
    lines: Vec<Line>,
    pub(super) paths: Vec<(PathBuf, bool)>,
    /// Languages by configuration.
    pub(super) adapters: Vec<AdapterBlock>,
}

struct Line {
    option: &'static Opt,
    values: Vec<String>,
    source: Layer,
}

impl Files {
    pub(super) fn read() -> anyhow::Result<Files> {
        let user = home::folder().map(|home| home.join(NAME));
        let workspace = workspace().map(|folder| folder.join(".holdpoint").join(NAME));
        let mut files = Files::default();
        // In the home folder itself the two are one: the user's.
        let workspace = workspace.filter(|path| !is_same(user.as_deref(), path));
        for (path, whose) in [(user, Whose::User), (workspace, Whose::Workspace)] {
            if let Some(path) = path {
                files.add(path, whose)?;
            }
        }
        Ok(files)
    }

    pub(super) fn get(&self, option: &Opt) -> Option<(Vec<String>, Layer)> {
        let line = self.lines.iter().rfind(|line| line.option.name == option.name)?;
        Some((line.values.clone(), line.source.clone()))
    }

    fn add(&mut self, path: PathBuf, whose: Whose) -> anyhow::Result<()> {
        let text = read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        self.paths.push((path.clone(), text.is_some()));
        match text {
            Some(text) => self.take(&path, whose, &text),
            None => Ok(()),
        }
    }

    fn take(&mut self, path: &Path, whose: Whose, text: &str) -> anyhow::Result<()> {
        let place = |at: usize| {
            let before = text.get(..at).unwrap_or(text);
            (before.matches('\n').count() + 1, path.display())
        };
        let document = Document::parse(text).map_err(|error| {
            let (line, path) = place(error.span().map_or(0, |span| span.start));
            // Its own words and no more: what is quoted could be of any file that a link leads to.
            anyhow::anyhow!("{path}:{line}: this is not TOML: {}", error.message())
        })?;
        for (key, item) in document.iter() {
            let span = document.key(key).and_then(toml_edit::Key::span);
            let (line, shown) = place(span.map_or(0, |span| span.start));
            if key == adapters::KEY {
                let blocks = take_adapters(item, whose);
                self.adapters =
                    blocks.map_err(|problem| anyhow::anyhow!("{shown}:{line}: {problem:#}"))?;
                continue;
            }
            let values = take_one(key, item, whose, path)
                .map_err(|problem| anyhow::anyhow!("{shown}:{line}: {problem}"))?;
            let source = Layer::File { path: path.to_owned(), line };
            let (option, values) = values;
            self.lines.push(Line { option, values, source });
        }
        Ok(())
    }
}

/// The folder that this process works on: `CLAUDE_PROJECT_DIR` says it, else it is the project here.
/// The project's folder, by what the start or the agent around us says, or by where we were started.
pub(crate) fn workspace() -> Option<PathBuf> {
    let here = || Some(servers::project(&std::env::current_dir().ok()?));
    root::named().or_else(root::by_environment).or_else(here)
}

fn is_same(user: Option<&Path>, workspace: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    user.is_some_and(|user| {
        user == workspace || whole(user).is_some_and(|it| Some(it) == whole(workspace))
    })
}

/// None where there is none. Only files: nobody waits for the other end of a pipe.
fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::metadata(path) {
        Ok(it) if it.is_file() => {}
        Ok(_) => return Err(io::Error::other("it is no file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut text = String::new();
    let most = limits::CONFIG_BYTES;
    fs::File::open(path)?.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(Some(text))
}

/// Languages by configuration: each names a command, so a repository has none.
fn take_adapters(item: &Item, whose: Whose) -> anyhow::Result<Vec<AdapterBlock>> {
    if whose == Whose::Workspace {
        let own = home::folder().unwrap_or_default().join(NAME);
        bail!(
            "`{}` is not taken from a workspace: a repository could have its commands run by it\n\
             hint: set it in {}",
            adapters::KEY,
            own.display()
        );
    }
    adapters::blocks(item)
}

fn take_one(
    key: &str,
    item: &Item,
    whose: Whose,
    path: &Path,
) -> anyhow::Result<(&'static Opt, Vec<String>)> {
    let keys: Vec<String> = OPTIONS.iter().map(Opt::key).collect();
    let Some(option) = OPTIONS.iter().find(|option| option.key() == key) else {
        let hint = match nearest(&key.replace('-', "_"), keys.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("options: {}", keys.join(", ")),
        };
        bail!("no option `{}`\nhint: {hint}", crate::tool::echo(key));
    };
    if whose == Whose::Workspace && !option.from_workspace {
        let own = home::folder().unwrap_or_default().join(NAME);
        bail!(
            "`{key}` is not taken from a workspace: a repository could open a door by it\n\
             hint: set it in {}, as {} or by --{}",
            own.display(),
            option.env,
            option.name
        );
    }
    let values = values(option, item, path).with_context(|| format!("`{key}`"));
    let values = values.map_err(|error| anyhow::anyhow!("{error:#}"))?;
    let set = (option.set)(&mut Settings::default(), &values);
    set.map_err(|problem| anyhow::anyhow!("`{key}` is {}: {problem}", values.join(",")))?;
    Ok((option, values))
}

/// A token that lies in a file, so that it stands in no command line.
pub(super) fn take_token(settings: &mut Settings) -> anyhow::Result<()> {
    let Some(path) = &settings.token_file else { return Ok(()) };
    if settings.token.is_some() {
        bail!("both `token` and `token_file` are set\nhint: leave one of them out");
    }
    let text = read(path).and_then(|text| text.ok_or_else(|| io::ErrorKind::NotFound.into()));
    let text = text.with_context(|| format!("`token_file`: cannot read `{}`", path.display()))?;
    let token = text.trim();
    if token.is_empty() || token.chars().any(|it| it.is_control() || it.is_whitespace()) {
        bail!("`token_file`: `{}` does not hold one word", path.display());
    }
    settings.token = Some(token.to_owned());
    Ok(())
}

/// As they would be written on a command line.
fn values(option: &Opt, item: &Item, path: &Path) -> anyhow::Result<Vec<String>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let number = |value: &Value| match value {
        Value::Integer(number) => Some(number.value().to_string()),
        Value::Float(number) => Some(number.value().to_string()),
        _ => None,
    };
    let (values, wanted) = match (option.kind, item.as_value()) {
        (OptionKind::Flag, value) => {
            (value.and_then(Value::as_bool).map(|it| vec![it.to_string()]), "true or false")
        }
        (OptionKind::Number(_), value) => (value.and_then(number).map(|it| vec![it]), "a number"),
        (OptionKind::List(_) | OptionKind::Many(_), Some(Value::Array(list))) => {
            (list.iter().map(text).collect(), "a list of strings")
        }
        (OptionKind::List(_), value) => {
            let split = |it: String| it.split(',').map(str::to_owned).collect();
            (value.and_then(text).map(split), "a list of strings")
        }
        (OptionKind::Path(_), value) => {
            (value.and_then(text).map(|it| vec![beside(path, &it)]), "a string")
        }
        (OptionKind::Text(_) | OptionKind::Choice(_) | OptionKind::Many(_), value) => {
            (value.and_then(text).map(|it| vec![it]), "a string")
        }
    };
    values.with_context(|| format!("it takes {wanted}"))
}

/// A path begins where it is written.
fn beside(file: &Path, path: &str) -> String {
    match (path, file.parent()) {
        (":memory:", _) | (_, None) => path.to_owned(),
        (path, Some(folder)) => folder.join(path).to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// What a file says, or what is wrong with it.
    #[track_caller]
    fn check(whose: Whose, text: &str, expected: Expect) {
        let mut files = Files::default();
        let told = match files.take(Path::new("/a/config.toml"), whose, text) {
            Ok(()) => {
                let lines = files.lines.iter().map(|line| {
                    format!(
                        "{} = {} from {}\n",
                        line.option.key(),
                        line.values.join(" + "),
                        line.source
                    )
                });
                lines.collect()
            }
            // The user's home is nobody's business.
            Err(error) => {
                let home = home::folder().unwrap_or_default().display().to_string();
                format!("{error:#}").replace(&home, "~")
            }
        };
        expected.assert_eq(&told);
    }

    #[test]
    fn every_kind_is_read_with_its_line() {
        check(
            Whose::User,
            "# mine\nport = 6000\nmcp_sse = true\ntool_timeout = 2.5\n\ntoolset = [\"agent\", \"app\"]\n\
             allow_origin = \"https://a.example,https://b.example\"\ndb = \"kept.db\"\ndap_log = \"/var/dap\"\n\
             structured = \"never\"\n",
            expect![[r#"
                port = 6000 from /a/config.toml:2
                mcp_sse = true from /a/config.toml:3
                tool_timeout = 2.5 from /a/config.toml:4
                toolset = agent + app from /a/config.toml:6
                allow_origin = https://a.example + https://b.example from /a/config.toml:7
                db = /a/kept.db from /a/config.toml:8
                dap_log = /var/dap from /a/config.toml:9
                structured = never from /a/config.toml:10
            "#]],
        );
        check(Whose::User, "db = \":memory:\"", expect!["db = :memory: from /a/config.toml:1\n"]);
    }

    #[test]
    fn an_unknown_key_is_an_error_with_the_nearest_name() {
        check(
            Whose::User,
            "port = 1\ntool-set = \"slim\"\n",
            expect![[r#"
                /a/config.toml:2: no option `tool-set`
                hint: did you mean `toolset`?"#]],
        );
        check(
            Whose::Workspace,
            "[server]\nport = 1\n",
            expect![[r#"
                /a/config.toml:1: no option `server`
                hint: options: port, host, mcp_sse, keep_alive, db, dap_log, end_idle, toolset, structured, tool_timeout, timeout, workspace, allow_origin, allow_user, share_with_users, token, show_secrets, secret_name, plain_name, token_file, log_level, url, mcp_clients, mcp_clients_config, mcp_client, expose"#]],
        );
    }

    #[test]
    fn a_wrong_value_is_an_error_where_it_stands() {
        check(Whose::User, "port = \"x\"", expect!["/a/config.toml:1: `port`: it takes a number"]);
        check(
            Whose::User,
            "port = 70000",
            expect!["/a/config.toml:1: `port` is 70000: not a port: 0 to 65535"],
        );
        check(
            Whose::User,
            "\ntoolset = [1]",
            expect!["/a/config.toml:2: `toolset`: it takes a list of strings"],
        );
        check(
            Whose::User,
            "end_idle = 0",
            expect!["/a/config.toml:1: `end_idle` is 0: not a positive number of seconds"],
        );
        check(
            Whose::User,
            "allow_origin = \"a.example\"",
            expect![
                "/a/config.toml:1: `allow_origin` is a.example: write it as scheme://host[:port], such as https://app.example"
            ],
        );
        check(
            Whose::User,
            "port = 1\nport = ",
            expect![
                "/a/config.toml:2: this is not TOML: string values must be quoted, expected literal string"
            ],
        );
    }

    #[test]
    fn what_would_open_a_door_is_not_taken_from_a_workspace() {
        check(
            Whose::Workspace,
            "toolset = \"agent\"\ntoken = \"known\"\n",
            expect![[r#"
                /a/config.toml:2: `token` is not taken from a workspace: a repository could open a door by it
                hint: set it in ~/config.toml, as HOLDPOINT_TOKEN or by --token"#]],
        );
        for option in OPTIONS.iter().filter(|option| !option.from_workspace) {
            let mut files = Files::default();
            let value = if option.kind == OptionKind::Flag { "true" } else { "\"x\"" };
            let text = format!("{} = {value}", option.key());
            let told = files.take(Path::new("/a/config.toml"), Whose::Workspace, &text);
            let told = told.unwrap_err().to_string();
            assert!(told.contains("is not taken from a workspace"), "{told}");
        }
    }

    #[test]
    fn a_token_lies_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let take = |text: &str, token: Option<&str>| {
            fs::write(&path, text).unwrap();
            let mut settings = Settings {
                token_file: Some(path.clone()),
                token: token.map(str::to_owned),
                ..Settings::default()
            };
            take_token(&mut settings).map(|()| settings.token).map_err(|it| it.to_string())
        };
        assert_eq!(take("secret\n", None), Ok(Some("secret".to_owned())));
        assert!(take("", None).unwrap_err().contains("does not hold one word"));
        assert!(take("two words", None).unwrap_err().contains("does not hold one word"));
        assert!(take("secret", Some("other")).unwrap_err().contains("leave one of them out"));
        fs::remove_file(&path).unwrap();
        let mut settings = Settings { token_file: Some(path.clone()), ..Settings::default() };
        assert!(take_token(&mut settings).unwrap_err().to_string().contains("cannot read"));
    }

    #[test]
    fn the_weightier_file_wins() {
        let mut files = Files::default();
        files.take(Path::new("/u/config.toml"), Whose::User, "port = 1\nend_idle = 9").unwrap();
        files.take(Path::new("/w/config.toml"), Whose::Workspace, "port = 2").unwrap();
        let port = files.get(Opt::find("port").unwrap()).unwrap();
        assert_eq!((port.0, port.1.to_string()), (vec!["2".to_owned()], "/w/config.toml:1".into()));
        assert!(files.get(Opt::find("end-idle").unwrap()).is_some());
        assert!(files.get(Opt::find("host").unwrap()).is_none());
    }

    /// Neither waits for anybody nor takes what no file of options is.
    #[test]
    fn only_a_small_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&folder.path().join("none")).unwrap(), None);
        assert_eq!(read(&folder.path().join("none/none")).unwrap(), None);
        assert!(read(folder.path()).unwrap_err().to_string().contains("it is no file"));
        let large = folder.path().join("large");
        fs::write(&large, " ".repeat(limits::CONFIG_BYTES as usize + 1)).unwrap();
        assert!(read(&large).unwrap_err().to_string().contains("it has more than"));
    }
}
