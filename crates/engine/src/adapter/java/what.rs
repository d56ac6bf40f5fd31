//! What a launch comes to: a Java, its words, and where its sources are.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::{compile, maven, serving::Entry, sources::package_of};
use crate::{
    adapter::{Around, has_ending, one_of},
    failure::{Code, Failure},
    launch::Launch,
};

pub(super) struct What {
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) entry: Option<Entry>,
    pub(super) roots: Vec<PathBuf>,
    /// Why this Java.
    pub(super) why: String,
    pub(super) note: Option<String>,
    /// Whether something is built first, for as long as that takes.
    pub(super) builds: bool,
}

/// Folders of a project that hold compiled classes.
const CLASSES: &[&str] =
    &["target/classes", "build/classes/java/main", "out/production/classes", "bin", "classes", "."];

impl What {
    pub(super) async fn of(launch: &Launch, around: &Around, agent: &str) -> Result<What, Failure> {
        match (&launch.program, &launch.module, launch.command.as_slice(), &launch.test) {
            (Some(program), None, [], None) => file(program, launch, around, agent).await,
            (None, Some(class), [], None) => class_named(class, launch, agent),
            (None, None, [first, rest @ ..], None) => command(first, rest, launch, agent),
            (None, None, [], Some(test)) => maven::test(test, launch, agent),
            _ => Err(one_of()),
        }
    }
}

/// The program file of a tool, and why that one.
pub(super) fn java(launch: &Launch) -> Result<(PathBuf, String), Failure> {
    if let Some(given) = &launch.interpreter {
        return Ok((given.clone(), "the launch names it".to_owned()));
    }
    let home = launch.env.get("JAVA_HOME").cloned().or_else(|| std::env::var("JAVA_HOME").ok());
    if let Some(java) = home.map(|it| Path::new(&it).join("bin/java")).filter(|it| it.is_file()) {
        return Ok((java, "of `JAVA_HOME`".to_owned()));
    }
    let found = on_path("java", launch);
    found.map(|it| (it, "the first on the path".to_owned())).ok_or_else(|| {
        Failure::new(Code::LaunchFailed, "there is no `java` on this machine")
            .hint("install a JDK of 17 or later, or pass its `java` as `interpreter`")
    })
}

/// The first of that name on the search path of the program that is launched.
pub(super) fn on_path(name: &str, launch: &Launch) -> Option<PathBuf> {
    let path = launch.env.get("PATH").map(OsString::from).or_else(|| std::env::var_os("PATH"))?;
    std::env::split_paths(&path).map(|it| it.join(name)).find(|it| it.is_file())
}

fn words(launch: &Launch, agent: &str, own: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args = vec![OsString::from(agent)];
    args.extend(own);
    args.extend(launch.args.iter().map(OsString::from));
    args
}

async fn file(
    program: &Path,
    launch: &Launch,
    around: &Around,
    agent: &str,
) -> Result<What, Failure> {
    let (java, why) = java(launch)?;
    let folder = program.parent().unwrap_or(&launch.cwd).to_owned();
    let mut roots = vec![folder.clone()];
    if !folder.starts_with(&launch.cwd) {
        roots.push(launch.cwd.clone());
    } else {
        roots = vec![launch.cwd.clone()];
    }
    let (own, entry): (Vec<OsString>, Option<Entry>) = if has_ending(program, &["jar"]) {
        (vec!["-jar".into(), program.into()], Some(any_main()))
    } else if has_ending(program, &["class"]) {
        let (root, class) = class_file(program);
        let entry = Entry { class: class.clone(), method: Some("main".to_owned()) };
        (vec!["-cp".into(), root.into(), class.into()], Some(entry))
    } else {
        let compiled = compile::compile(program, launch, around, &java).await?;
        let entry = Entry { class: compiled.main.clone(), method: Some("main".to_owned()) };
        let mut path = OsString::from(&compiled.classes);
        if let Some(more) = launch.env.get("CLASSPATH") {
            path.push(":");
            path.push(more);
        }
        (vec!["-cp".into(), path, compiled.main.into()], Some(entry))
    };
    let args = words(launch, agent, own);
    Ok(What { program: java, args, cwd: None, entry, roots, why, note: None, builds: false })
}

/// Where only the program itself knows its first class.
fn any_main() -> Entry {
    Entry { class: "*".to_owned(), method: Some("main".to_owned()) }
}

fn class_named(class: &str, launch: &Launch, agent: &str) -> Result<What, Failure> {
    let (java, why) = java(launch)?;
    let mut path: Vec<String> = launch.env.get("CLASSPATH").cloned().into_iter().collect();
    let found = CLASSES.iter().map(|it| launch.cwd.join(it)).filter(|it| it.is_dir());
    path.extend(found.map(|it| it.display().to_string()));
    let own = vec!["-cp".into(), path.join(":").into(), OsString::from(class)];
    let entry = Some(Entry { class: class.to_owned(), method: Some("main".to_owned()) });
    let roots = vec![launch.cwd.clone()];
    let args = words(launch, agent, own);
    Ok(What { program: java, args, cwd: None, entry, roots, why, note: None, builds: false })
}

fn command(first: &str, rest: &[String], launch: &Launch, agent: &str) -> Result<What, Failure> {
    let name = Path::new(first).file_name().and_then(|it| it.to_str()).unwrap_or_default();
    if name.starts_with("mvn") {
        return maven::command(first, rest, launch, agent);
    }
    let whole = Path::new(first);
    let program = if whole.is_absolute() { Some(whole.to_owned()) } else { on_path(first, launch) };
    let program = program.ok_or_else(|| {
        Failure::new(Code::LaunchFailed, format!("there is no `{first}` on the path"))
    })?;
    let args = words(launch, agent, rest.iter().map(OsString::from));
    let (entry, roots) = (Some(any_main()), vec![launch.cwd.clone()]);
    let why = "the command names it".to_owned();
    Ok(What { program, args, cwd: None, entry, roots, why, note: None, builds: false })
}

/// The folder of classes that a compiled file is in, and its class's name.
fn class_file(path: &Path) -> (PathBuf, String) {
    let stem = path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new("."));
    let ends = ["classes", "test-classes", "main", "bin", "out"];
    let mut names = vec![stem.clone()];
    let mut root = folder;
    loop {
        let name = root.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        if ends.contains(&name) {
            names.reverse();
            return (root.to_owned(), names.join("."));
        }
        match root.parent().filter(|_| !name.is_empty()) {
            Some(above) => {
                names.push(name.to_owned());
                root = above;
            }
            None => return (folder.to_owned(), stem),
        }
    }
}

/// The class of a source file that has its `main`: `com.shop.Main`.
pub(super) fn main_class(text: &str, stem: &str) -> String {
    let package = package_of(text);
    // The class that encloses it, at the outermost level.
    let before = text.split("static void main").next().unwrap_or_default();
    let kinds = ["class ", "record ", "enum ", "interface "];
    let mut outer =
        before.lines().filter(|it| !it.starts_with([' ', '\t', '/', '*'])).filter_map(|line| {
            kinds.iter().find_map(|kind| {
                let (modifiers, rest) = line.split_once(kind)?;
                let is_head =
                    modifiers.split_whitespace().all(|it| it.chars().all(char::is_alphabetic));
                let name: String = rest
                    .chars()
                    .take_while(|it| it.is_alphanumeric() || matches!(it, '_' | '$'))
                    .collect();
                (is_head && !name.is_empty()).then_some(name)
            })
        });
    let class = outer.next_back().unwrap_or_else(|| stem.to_owned());
    if package.is_empty() { class } else { format!("{package}.{class}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_with_the_main_is_found() {
        let text = "package a.b;\n\nclass Item {}\n\npublic final class Shop {\n  static class Inner {}\n  public static void main(String[] a) {}\n}\nclass Last {}\n";
        assert_eq!(main_class(text, "Shop"), "a.b.Shop");
        assert_eq!(
            main_class(
                "record P(int x) {}\nclass Go {\n public static void main(String... a) {}\n}",
                "X"
            ),
            "Go"
        );
        assert_eq!(main_class("// nothing", "X"), "X");
    }

    #[test]
    fn a_compiled_class_says_its_name_by_where_it_is() {
        let (root, class) = class_file(Path::new("/app/target/classes/com/shop/Main.class"));
        assert_eq!((root, class), ("/app/target/classes".into(), "com.shop.Main".to_owned()));
        assert_eq!(class_file(Path::new("/app/Main.class")).1, "Main");
    }
}
