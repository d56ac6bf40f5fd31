//! The folder of the tools that are built in: every file of it is right, or nothing is built.

use std::{fs, path::Path};

use crate::ToolSpec;

/// One file that is right.
pub struct File {
    /// `symbol_calls.yaml`
    pub name: String,
    pub spec: ToolSpec,
}

/// All files of a folder by their names, or what is wrong with them, a line each.
pub fn folder(path: &Path) -> Result<Vec<File>, String> {
    let entries = fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| format!("{}: {error}", path.display()))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    let (mut files, mut wrong) = (Vec::new(), Vec::new());
    for name in names {
        match file(&path.join(&name), &name) {
            Ok(spec) => files.push(File { name, spec }),
            Err(complaints) => wrong.extend(complaints),
        }
    }
    match wrong.is_empty() {
        true => Ok(files),
        false => Err(wrong.join("\n")),
    }
}

fn file(path: &Path, name: &str) -> Result<ToolSpec, Vec<String>> {
    let Some(stem) = name.strip_suffix(".yaml") else {
        return Err(vec![format!("tools/{name}: it is no `.yaml`")]);
    };
    let text = fs::read_to_string(path).map_err(|error| vec![format!("tools/{name}: {error}")])?;
    let spec = ToolSpec::read(&text).map_err(|complaints| {
        complaints
            .iter()
            .map(|it| format!("tools/{name}:{}: {}", it.line, it.text))
            .collect::<Vec<_>>()
    })?;
    // So no two have one name.
    match spec.name == stem {
        true => Ok(spec),
        false => {
            Err(vec![format!("tools/{name}: the tool is called `{}`, so is its file", spec.name)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands in `tools/` is what the build puts through the same reader.
    #[test]
    fn every_tool_that_is_built_in_is_right() {
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools");
        let files = folder(&tools).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert!(files.len() >= 28, "{} files", files.len());
        for File { name, spec } in files {
            for param in &spec.params {
                assert!(!param.examples.is_empty(), "{name}: {}", param.name);
                for example in &param.examples {
                    assert_eq!(param.check(example), Ok(()), "{name}: {} {example}", param.name);
                }
            }
            for example in &spec.examples {
                assert_eq!(spec.check(example), Ok(()), "{name}: {example}");
            }
        }
    }

    #[test]
    fn a_folder_with_a_file_that_is_wrong_says_which_and_where() {
        let folder_of =
            std::env::temp_dir().join(format!("holdpoint-tools-{}", std::process::id()));
        fs::create_dir_all(&folder_of).unwrap();
        fs::write(folder_of.join("a_b.yaml"), "name: a_c\nunknown: 1\n").unwrap();
        fs::write(folder_of.join("notes.txt"), "").unwrap();
        let wrong = folder(&folder_of).err().unwrap();
        fs::remove_dir_all(&folder_of).unwrap();
        assert!(wrong.contains("tools/a_b.yaml:2: a tool has no key `unknown`"), "{wrong}");
        assert!(wrong.contains("tools/notes.txt: it is no `.yaml`"), "{wrong}");
    }
}
