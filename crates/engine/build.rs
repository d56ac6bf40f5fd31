//! Builds the compiled half of the Python recorder into `OUT_DIR/holdpoint_record.so`, by `rustc` alone.
//!
//! It depends on nothing, so no cargo runs inside of cargo. Where it cannot be built the file is empty, and
//! programs are recorded by the pure half; `HOLDPOINT_NO_RECORDER` asks for that.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

const SOURCES: &str = "../../recorder/python/src";
/// The rules of secrets are the engine's own; the library has them from there.
const RULES: &str = "src/secrets";

fn main() -> io::Result<()> {
    tell("rerun-if-env-changed=HOLDPOINT_NO_RECORDER");
    tell(&format!("rerun-if-changed={SOURCES}"));
    tell(&format!("rerun-if-changed={RULES}"));
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("holdpoint_record.so");
    // Offsets and constants are those of Linux on 64 bits.
    let is_known = variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("CARGO_CFG_TARGET_POINTER_WIDTH") == "64"
        && env::var_os("HOLDPOINT_NO_RECORDER").is_none();
    if !is_known || !built(&out) {
        fs::write(&out, b"")?;
        if is_known {
            tell(
                "warning=the compiled Python recorder could not be built; programs are recorded by the pure one",
            );
        }
    }
    Ok(())
}

fn built(out: &Path) -> bool {
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024", "--crate-type", "cdylib", "--crate-name", "holdpoint_record"]);
    rustc.args([
        "-C",
        "opt-level=3",
        "-C",
        "codegen-units=1",
        "-C",
        "lto=fat",
        "-C",
        "strip=symbols",
    ]);
    rustc.args(["--target", &variable("TARGET")]).arg("-o").arg(out);
    rustc.arg(Path::new(SOURCES).join("lib.rs"));
    rustc.status().is_ok_and(|it| it.success())
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn tell(what: &str) {
    println!("cargo::{what}");
}
