//! Programs that keep the truth: each writes down how often it came by, just before the marked line.

use std::path::{Path, PathBuf};

/// How a program ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Never,
    /// With this exit code, after so many rounds.
    Code(i64),
}

pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) end: End,
    ending: &'static str,
    /// Before the loop, in the loop.
    around: [&'static str; 2],
}

pub(super) const PROGRAMS: &[Program] = &[
    Program { name: "py loop", end: End::Never, ending: "py", around: ["", "time.sleep(0.001)"] },
    Program {
        name: "py threads",
        end: End::Never,
        ending: "py",
        around: [
            "import threading\n\
             def spin():\n    x = 0\n    while True:\n        x += 1\n        time.sleep(0.0005)\n\
             for _ in range(3):\n    threading.Thread(target=spin, daemon=True).start()",
            "time.sleep(0.001)",
        ],
    },
    Program {
        name: "py child",
        end: End::Never,
        ending: "py",
        around: [
            "import subprocess, sys\n\
             subprocess.Popen([sys.executable, '-c', 'import time\\nwhile True: time.sleep(0.01)'])",
            "time.sleep(0.001)",
        ],
    },
    Program {
        name: "py crash",
        end: End::Code(1),
        ending: "py",
        around: ["", "if n > 40: raise ValueError('as it should')"],
    },
    Program {
        name: "py exit",
        end: End::Code(3),
        ending: "py",
        around: ["import sys", "if n > 40: sys.exit(3)"],
    },
    Program {
        name: "py blocked",
        end: End::Never,
        ending: "py",
        around: ["", "time.sleep(600 if n > 20 else 0)"],
    },
    Program { name: "py busy", end: End::Never, ending: "py", around: ["", "sum(range(2000))"] },
    Program { name: "node loop", end: End::Never, ending: "js", around: ["", ""] },
    Program {
        name: "node worker",
        end: End::Never,
        ending: "js",
        around: [
            "new (require('worker_threads').Worker)('setInterval(() => {}, 5)', { eval: true });",
            "",
        ],
    },
    Program {
        name: "node child",
        end: End::Never,
        ending: "js",
        around: [
            "require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 5)']);",
            "",
        ],
    },
    Program {
        name: "node crash",
        end: End::Code(1),
        ending: "js",
        around: ["", "if (n > 40) throw new Error('as it should');"],
    },
    Program {
        name: "node exit",
        end: End::Code(3),
        ending: "js",
        around: ["", "if (n > 40) process.exit(3);"],
    },
];

impl Program {
    pub(super) fn write(&self, folder: &Path) -> PathBuf {
        let file = folder.canonicalize().unwrap().join(format!("program.{}", self.ending));
        let [before, inside] = self.around;
        let text = match self.ending {
            "py" => format!(
                "import os, time\n{before}\n\
                 truth = os.open('truth', os.O_WRONLY | os.O_CREAT | os.O_APPEND)\n\
                 n = 0\n\
                 while True:\n    os.write(truth, b'.')\n    n += 1  # BP: tick\n    {inside}\n    pass\n"
            ),
            _ => format!(
                "const fs = require('fs');\n{before}\n\
                 const truth = fs.openSync('truth', 'a');\n\
                 let n = 0;\n\
                 function tick() {{\n  fs.writeSync(truth, '.');\n  n += 1; // BP: tick\n  {inside}\n}}\n\
                 setInterval(tick, 1);\n"
            ),
        };
        std::fs::write(&file, text).unwrap();
        file
    }
}

/// How often the program came by, by its own word.
pub(super) fn truth(folder: &Path) -> u64 {
    std::fs::metadata(folder.join("truth")).map_or(0, |it| it.len())
}
