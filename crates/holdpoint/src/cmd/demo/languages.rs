//! The same bug in whichever of the languages this machine can debug: one call each, from launch to values.

use anyhow::Context as _;
use holdpoint_engine::adapter::{self, Adapter, debugger};
use serde_json::json;

use super::{Scene, stage::Stage};
use crate::{home, out};

pub(super) const SCENE: Scene =
    Scene { title: "The same bug in other languages", play: |stage| Box::pin(play(stage)) };

/// One program in a language: a file of its own, and the variable whose value is a cent short.
struct Variant {
    language: &'static str,
    file: &'static str,
    source: &'static str,
    cents: &'static str,
}

const VARIANTS: &[Variant] = &[
    Variant {
        language: "node",
        file: "invoice.js",
        source: "const price = 19.99;\nconst cents = Math.trunc(price * 100);\nconsole.log(cents); // BP: cents\n",
        cents: "cents",
    },
    Variant {
        language: "c",
        file: "invoice.c",
        source: "#include <stdio.h>\nint main(void) {\n  double price = 19.99;\n  int cents = (int)(price * 100);\n  printf(\"%d\\n\", cents); // BP: cents\n  return 0;\n}\n",
        cents: "cents",
    },
    Variant {
        language: "rust",
        file: "invoice.rs",
        source: "fn main() {\n    let price = 19.99_f64;\n    let cents = (price * 100.0) as i64;\n    println!(\"{cents}\"); // BP: cents\n}\n",
        cents: "cents",
    },
    Variant {
        language: "go",
        file: "invoice.go",
        source: "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tprice := 19.99\n\tcents := int(price * 100)\n\tfmt.Println(cents) // BP: cents\n}\n",
        cents: "cents",
    },
    Variant {
        language: "java",
        file: "Invoice.java",
        source: "public class Invoice {\n  public static void main(String[] args) {\n    double price = 19.99;\n    int cents = (int) (price * 100);\n    System.out.println(cents); // BP: cents\n  }\n}\n",
        cents: "cents",
    },
    Variant {
        language: "ruby",
        file: "invoice.rb",
        source: "price = 19.99\ncents = (price * 100).to_i\nputs cents # BP: cents\n",
        cents: "cents",
    },
    Variant {
        language: "perl",
        file: "invoice.pl",
        source: "my $price = 19.99;\nmy $cents = int($price * 100);\nprint \"$cents\\n\"; # BP: cents\n",
        cents: "$cents",
    },
];

async fn play(stage: &mut Stage) -> anyhow::Result<()> {
    out::line(
        "19.99 are 1999 cents; cut off they are 1998. One call runs each program to its line and shows why:",
    );
    let (here, absent): (Vec<_>, Vec<_>) = VARIANTS.iter().partition(|it| it.is_here());
    for variant in here {
        let (folder, file) = super::written(variant.file, variant.source)?;
        let line = super::marked(variant.source, "BP: cents")?;
        let expressions = json!([variant.cents]);
        let probe = json!({
            "program": file, "language": variant.language, "file": file, "line": line,
            "expressions": expressions,
        });
        let probed = stage.call("debug_probe", &probe.to_string()).await;
        std::fs::remove_dir_all(&folder).context("the temporary folder stays")?;
        probed?;
    }
    let names: Vec<&str> = absent.iter().map(|it| it.language).collect();
    if !names.is_empty() {
        let names = names.join(", ");
        out::line(format_args!(
            "\nNot on this machine: {names}; `holdpoint adapters list` says what each needs."
        ));
    }
    Ok(())
}

impl Variant {
    /// Whether its language is known here, with all that it takes.
    fn is_here(&self) -> bool {
        let mut all = adapter::all().iter();
        let Some(language) = all.find(|it| it.language() == self.language) else { return false };
        has_runtime(*language) && has_debugger(*language)
    }
}

fn has_runtime(language: &dyn Adapter) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &str| std::env::split_paths(&path).any(|it| it.join(name).is_file());
    language.wants().is_none_or(|it| is_there(it.program))
}

fn has_debugger(language: &dyn Adapter) -> bool {
    let home = home::folder().unwrap_or_default();
    let sought = |it| debugger::seek(language.language(), &it, &home).is_some();
    language.debugger().is_none_or(sought)
}
