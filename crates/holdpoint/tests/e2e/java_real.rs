//! Java that nobody here wrote: a bug planted in the sources of a real Maven artifact, found with the tools alone.

use std::{path::Path, process::Command};

use holdpoint_testkit::node::{self, Folder};
use serde_json::json;

const BIN: &str = env!("CARGO_BIN_EXE_holdpoint");
const ARTIFACT: &str = "commons-codec:commons-codec:1.16.0:jar:sources";
const JAR: &str =
    ".m2/repository/commons-codec/commons-codec/1.16.0/commons-codec-1.16.0-sources.jar";
const SOUNDEX: &str = "org/apache/commons/codec/language/Soundex.java";

/// The artifact's sources, fetched once.
fn unpacked(folder: &Folder) {
    let jar = Path::new(&std::env::var_os("HOME").unwrap()).join(JAR);
    if !jar.is_file() {
        let artifact = format!("-Dartifact={ARTIFACT}");
        let mut maven = Command::new("mvn");
        maven.args(["-B", "-q", "dependency:get", "-Dtransitive=false", &artifact]);
        assert!(maven.status().expect("mvn on PATH").success());
    }
    let done = Command::new("jar").arg("xf").arg(&jar).current_dir(folder.path()).status();
    assert!(done.expect("jar of the JDK").success());
}

/// Letters of one sound are written once, unless a vowel stands between them: the vowel is forgotten.
#[test]
fn a_bug_in_commons_codec_is_found() {
    let folder = Folder::default();
    unpacked(&folder);
    let source = std::fs::read_to_string(folder.path().join(SOUNDEX)).unwrap();
    let right = "            lastDigit = digit;\n        }";
    let wrong = "            lastDigit = digit == '0' ? lastDigit : digit;\n        }";
    assert!(source.contains(right));
    let file = folder.write(SOUNDEX, source.replace(right, wrong));
    let check = "import org.apache.commons.codec.language.Soundex;\n\npublic class Check {\n    \
                 public static void main(String[] args) {\n        \
                 String code = new Soundex().encode(\"Tymczak\");\n        \
                 if (!code.equals(\"T522\")) {\n            \
                 throw new IllegalStateException(\"Tymczak is T522, not \" + code);\n        }\n    }\n}\n";
    let program = folder.write("Check.java", check);
    let mut debug = node::start(BIN);
    let said = debug.launch(&program, json!({ "stop_on_entry": false, "timeout_s": 60 }));
    said.stands("exception", 7).has(&["Tymczak is T522, not T520", "code"]);
    // Where a letter is written, or not: the `K` behind the vowel.
    let text = std::fs::read_to_string(&file).unwrap();
    let at = text.lines().position(|it| it.contains("if (digit != '0' && digit")).unwrap() + 1;
    let point = json!({ "file": file, "line": at, "condition": "ch == 'K'" });
    debug.ok("breakpoint_set", point);
    let said = debug.ok("debug_restart", json!({}));
    said.stands("breakpoint", at).has(&["Soundex.soundex", "lastDigit", "'2'"]);
    // The letter before it is a vowel, whose digit is 0: it should have been the last one.
    let before = debug.eval("map(str.charAt(i - 1)) == '0' && lastDigit != '0'");
    assert!(before.contains("true"), "{before}");
}
