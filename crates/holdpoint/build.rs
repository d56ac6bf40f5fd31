//! Puts every file of `tools/` through the reader of described tools, and embeds them: one that is wrong does not
//! compile.

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../tools");
    println!("cargo::rerun-if-changed={}", folder.display());
    let files = holdpoint_metadata::folder(&folder).map_err(|wrong| format!("\n{wrong}\n"))?;
    let mut list = "&[\n".to_owned();
    for file in files {
        let path = folder.join(&file.name);
        writeln!(list, "    (\"tools/{}\", include_str!({path:?})),", file.name)?;
    }
    list += "]\n";
    fs::write(Path::new(&env::var("OUT_DIR")?).join("described.rs"), list)?;
    Ok(())
}
