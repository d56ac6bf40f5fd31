//! `[adapters.NAME]`: languages by configuration, from the user's own file and from us.
//!
//! A block names a command that is run, so a repository must not have one. What is wrong in a block is an error with
//! its name: a language that silently does not work is worse than a start that fails.

use anyhow::{Context as _, bail, ensure};
use holdpoint_engine::{
    adapter::{self, AdapterBlock, Ignored, Reach},
    backend::dap::dialect,
};
use serde_json::{Map, Value as Json};
use toml_edit::{Document, Item, TableLike, Value};

use crate::tool::{echo, nearest};

/// The key of all blocks in a file.
pub(super) const KEY: &str = "adapters";

const OURS: &str = include_str!("adapters.toml");

/// What a block may have.
const KEYS: &[&str] = &[
    "called", "endings", "comment", "command", "port", "launch", "attach", "dialect", "ignore",
    "version", "packages", "install",
];
const IGNORED: &[&str] = &["capabilities", "libraries", "variables"];

/// Makes these languages known, before ours of the same names.
pub(crate) fn mount(mut blocks: Vec<AdapterBlock>) {
    blocks.extend(ours());
    adapter::configure(blocks);
}

/// Those that we ship.
fn ours() -> Vec<AdapterBlock> {
    let document = Document::parse(OURS);
    let blocks = document.ok().and_then(|it| blocks(it.get(KEY)?).ok());
    debug_assert!(blocks.is_some(), "our own blocks");
    blocks.unwrap_or_default()
}

/// All blocks of a file.
pub(super) fn blocks(item: &Item) -> anyhow::Result<Vec<AdapterBlock>> {
    let table = item.as_table_like().context("it takes blocks, `[adapters.NAME]`")?;
    let each = table.iter().map(|(name, item)| {
        let block = item.as_table_like().context("it takes a table");
        block
            .and_then(|it| block_of(name, it))
            .with_context(|| format!("`adapters.{}`", echo(name)))
    });
    each.collect()
}

fn block_of(name: &str, table: &dyn TableLike) -> anyhow::Result<AdapterBlock> {
    let is_name =
        !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '-');
    ensure!(is_name, "its name takes letters, digits and `-`");
    known(table, KEYS)?;
    let command = list(table, "command")?;
    let reach = match (command.is_empty(), table.get("port")) {
        (false, None) if command.iter().any(|it| it.contains("{port}")) => Reach::Told(command),
        (false, None) => Reach::Pipes(command),
        (true, Some(port)) => {
            let port = port.as_integer().and_then(|it| u16::try_from(it).ok());
            Reach::Port(port.context("`port` is no port")?)
        }
        (true, None) => bail!("it has neither `command` nor `port`"),
        (false, Some(_)) => bail!(
            "`command` and `port` exclude each other\nhint: a command that is to listen takes `{{port}}` among its words"
        ),
    };
    let endings = list(table, "endings")?;
    ensure!(!endings.is_empty(), "it has no `endings`\nhint: endings = [\"pl\"]");
    let dialect = text(table, "dialect")?;
    if let Some(named) = &dialect
        && dialect::by_name(named).is_none()
    {
        bail!("no dialect `{}`\nhint: {}", echo(named), dialect::NAMES.join(", "));
    }
    let launch =
        table.get("launch").context("it has no `launch`, the arguments of that request")?;
    Ok(AdapterBlock {
        name: name.to_owned(),
        called: text(table, "called")?.unwrap_or_else(|| name.to_owned()),
        endings: endings.iter().map(|it| it.trim_start_matches('.').to_owned()).collect(),
        comment: text(table, "comment")?.unwrap_or_else(|| "#".to_owned()),
        reach,
        launch: json(launch)?,
        attach: table.get("attach").map(json).transpose()?,
        dialect,
        ignore: ignored(table.get("ignore"))?,
        version: list(table, "version")?,
        packages: list(table, "packages")?,
        install: text(table, "install")?,
    })
}

fn ignored(item: Option<&Item>) -> anyhow::Result<Ignored> {
    let Some(item) = item else { return Ok(Ignored::default()) };
    let table = item.as_table_like().context("`ignore` takes a table")?;
    known(table, IGNORED).context("`ignore`")?;
    Ok(Ignored {
        capabilities: list(table, "capabilities")?,
        libraries: list(table, "libraries")?,
        variables: list(table, "variables")?,
    })
}

fn known(table: &dyn TableLike, keys: &[&str]) -> anyhow::Result<()> {
    let Some((key, _)) = table.iter().find(|(key, _)| !keys.contains(key)) else { return Ok(()) };
    let hint = match nearest(key, keys.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => keys.join(", "),
    };
    bail!("no key `{}`\nhint: {hint}", echo(key))
}

fn text(table: &dyn TableLike, key: &str) -> anyhow::Result<Option<String>> {
    let Some(item) = table.get(key) else { return Ok(None) };
    let text = item.as_str().with_context(|| format!("`{key}` takes a string"))?;
    Ok(Some(text.to_owned()))
}

fn list(table: &dyn TableLike, key: &str) -> anyhow::Result<Vec<String>> {
    let Some(item) = table.get(key) else { return Ok(Vec::new()) };
    let all = item.as_array().map(|it| it.iter().map(Value::as_str));
    let all: Option<Vec<&str>> = all.and_then(Iterator::collect);
    let all = all.with_context(|| format!("`{key}` takes a list of strings"))?;
    Ok(all.into_iter().map(str::to_owned).collect())
}

/// What a request's arguments are in JSON.
fn json(item: &Item) -> anyhow::Result<Json> {
    if let Some(table) = item.as_table_like() {
        let each = table.iter().map(|(name, item)| Ok((name.to_owned(), json(item)?)));
        return Ok(Json::Object(each.collect::<anyhow::Result<Map<_, _>>>()?));
    }
    Ok(match item.as_value() {
        Some(Value::String(it)) => Json::String(it.value().clone()),
        Some(Value::Integer(it)) => Json::from(*it.value()),
        Some(Value::Float(it)) => Json::from(*it.value()),
        Some(Value::Boolean(it)) => Json::from(*it.value()),
        Some(Value::Array(all)) => {
            let each = all.iter().map(|it| json(&Item::Value(it.clone())));
            Json::Array(each.collect::<anyhow::Result<_>>()?)
        }
        _ => bail!("it holds what JSON has not, a date for one"),
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let document = Document::parse(text).unwrap();
        let told = match blocks(document.get(KEY).unwrap()) {
            Ok(blocks) => format!("{blocks:#?}"),
            Err(error) => format!("{error:#}"),
        };
        expected.assert_eq(&told);
    }

    #[test]
    fn our_own_blocks_are_sound() {
        let names: Vec<String> = ours().into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["perl", "php"]);
    }

    #[test]
    fn what_is_wrong_in_a_block_is_said_with_its_name() {
        check(
            "[adapters.a]\nendings = ['a']\n",
            expect!["`adapters.a`: it has neither `command` nor `port`"],
        );
        check(
            "[adapters.a]\ncomand = ['a']\n",
            expect![[r#"
                `adapters.a`: no key `comand`
                hint: did you mean `command`?"#]],
        );
        check(
            "[adapters.a]\ncommand = ['a']\nendings = ['a']\ndialect = 'x'\n",
            expect![[r#"
                `adapters.a`: no dialect `x`
                hint: lldb, codelldb, gdb, cdt-gdb, delve, rdbg, java, js-debug, perl"#]],
        );
        check("[adapters]\na = 1\n", expect!["`adapters.a`: it takes a table"]);
        check(
            "[adapters.a]\ncommand = ['a']\nendings = ['a']\n",
            expect!["`adapters.a`: it has no `launch`, the arguments of that request"],
        );
    }
}
