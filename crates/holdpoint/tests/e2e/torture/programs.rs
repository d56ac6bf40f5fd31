//! Programs that keep the truth: each loop writes down every pass before it counts it, in a log of its own.
//!
//! All of them have the same loop, whose lines are marked; what is around it differs.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::lang::Language;

/// How a program ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Never,
    /// With this exit code, after [`LAST`] passes.
    Code(i64),
    /// By an exception that nobody catches, after as many.
    Crash,
    /// By this signal, which it sends itself, after as many.
    Signal(i64),
}

/// The pass in which a program ends that ends by itself.
pub(super) const LAST: u64 = 61;
/// Passes that are printed.
pub(super) const PRINTED: u64 = 30;

#[derive(Debug)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) end: End,
    pub(super) ending: &'static str,
    /// How many loops there are, each with its log: `log-0` is the program's own.
    pub(super) loops: usize,
    /// After some passes it is inside of a call that does not return.
    pub(super) blocks: bool,
    /// Its second loop is a child process.
    pub(super) has_child: bool,
    before: &'static str,
    inside: &'static str,
    start: &'static str,
    /// Another language's, which the suite's table tells of, and how its loop is told to end.
    pub(super) language: Option<(&'static Language, &'static str)>,
}

const PY: Program = Program {
    name: "py loop",
    end: End::Never,
    ending: "py",
    loops: 1,
    blocks: false,
    has_child: false,
    before: "",
    inside: "time.sleep(0.001)",
    start: "loop('0')",
    language: None,
};

const JS: Program =
    Program { name: "node loop", ending: "js", inside: "void 0;", start: "loop('0');", ..PY };

pub(super) const PROGRAMS: &[Program] = &[
    PY,
    Program { name: "py busy", inside: "sum(range(2000))", ..PY },
    Program {
        name: "py threads",
        loops: 3,
        before: "import threading",
        start: "for me in '12': threading.Thread(target=loop, args=(me,), daemon=True).start()\n\
                loop('0')",
        ..PY
    },
    Program {
        name: "py spinning threads",
        before: "import threading\n\
                 def spin():\n    x = 0\n    while True:\n        x += 1\n        time.sleep(0.0005)",
        start: "for _ in '12': threading.Thread(target=spin, daemon=True).start()\nloop('0')",
        ..PY
    },
    Program {
        name: "py asyncio",
        loops: 2,
        before: "import asyncio",
        inside: "await asyncio.sleep(0.001)",
        start: "async def main(): await asyncio.gather(loop('0'), loop('1'))\nasyncio.run(main())",
        ..PY
    },
    Program {
        name: "py child",
        loops: 2,
        has_child: true,
        before: "import subprocess",
        start: "if sys.argv[1:] == ['child']: loop('1')\n\
                subprocess.Popen([sys.executable, __file__, 'child'])\nloop('0')",
        ..PY
    },
    Program {
        name: "py fork",
        loops: 2,
        has_child: true,
        start: "if os.fork() == 0: loop('1')\nloop('0')",
        ..PY
    },
    Program {
        name: "py crash",
        end: End::Crash,
        inside: "if n >= 61: raise ValueError('as it should')",
        ..PY
    },
    Program { name: "py exit", end: End::Code(3), inside: "if n >= 61: sys.exit(3)", ..PY },
    Program { name: "py done", end: End::Code(0), inside: "if n >= 61: return", ..PY },
    Program { name: "py quit", end: End::Code(7), inside: "if n >= 61: os._exit(7)", ..PY },
    Program {
        name: "py signal",
        end: End::Signal(15),
        inside: "if n >= 61: os.kill(os.getpid(), 15)",
        ..PY
    },
    Program { name: "py sleeps", blocks: true, inside: "time.sleep(600 if n >= 21 else 0)", ..PY },
    // A call into C that keeps the interpreter to itself: nobody in the program can do anything.
    Program {
        name: "py held",
        blocks: true,
        before: "import ctypes",
        inside: "if n >= 21: ctypes.PyDLL(None).sleep(600)",
        ..PY
    },
    JS,
    Program {
        name: "node worker",
        loops: 2,
        before: "const { Worker, isMainThread } = require('worker_threads');",
        start: "if (isMainThread) new Worker(__filename);\nloop(isMainThread ? '0' : '1');",
        ..JS
    },
    Program {
        name: "node child",
        loops: 2,
        has_child: true,
        before: "const { fork } = require('child_process');",
        start: "if (!process.argv[2]) fork(__filename, ['child']);\n\
                loop(process.argv[2] ? '1' : '0');",
        ..JS
    },
    Program {
        name: "node crash",
        end: End::Crash,
        inside: "if (n >= 61) throw new Error('as it should');",
        ..JS
    },
    Program { name: "node exit", end: End::Code(3), inside: "if (n >= 61) process.exit(3);", ..JS },
    Program {
        name: "node signal",
        end: End::Signal(15),
        inside: "if (n >= 61) process.kill(process.pid, 'SIGTERM');",
        ..JS
    },
    Program { name: "node endless", blocks: true, inside: "for (let i = 0; n >= 21; i++) ;", ..JS },
    Program {
        name: "node blocked",
        blocks: true,
        inside: "if (n >= 21) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600000);",
        ..JS
    },
];

/// Where everything is that is marked.
pub(super) const MARKS: [&str; 7] = ["write", "tick", "call", "inside", "back", "say", "rest"];

impl Program {
    /// The suite's loop of a language.
    pub(super) fn of_language(language: &'static Language, end: &'static str) -> Program {
        let blocks = end == "sleep";
        let end_of_it = language.end(end);
        Program {
            name: end,
            end: end_of_it,
            ending: "",
            blocks,
            language: Some((language, end)),
            ..PY
        }
    }

    /// How a client may step in it.
    pub(super) fn steps(&self) -> &'static [&'static str] {
        let all: &[&str] = &["next", "next", "step_in", "step_out"];
        let some = self.language.and_then(|(language, _)| language.steps.as_deref());
        some.unwrap_or(all)
    }

    pub(super) fn is_python(&self) -> bool {
        self.ending == "py"
    }

    /// A variable as the program's language writes it.
    pub(super) fn variable(&self, name: &str) -> String {
        self.language.map_or_else(|| name.to_owned(), |(language, _)| language.name(name))
    }

    /// How the end of a program that was killed is told.
    pub(super) fn killed(&self) -> Value {
        self.language.map_or_else(|| json!({ "signal": 9 }), |(it, _)| it.exit("killed_exit"))
    }

    /// How the end of one that crashed is told.
    pub(super) fn crashed(&self) -> Value {
        self.language.map_or_else(|| json!({ "code": 1 }), |(it, _)| it.exit("crash_exit"))
    }

    /// Runs on for ever, and comes by its lines again and again.
    pub(super) fn is_endless(&self) -> bool {
        self.end == End::Never && !self.blocks
    }

    /// It ends as it does after this many passes of its loop.
    pub(super) fn write(&self, folder: &Path) -> PathBuf {
        if let Some((language, _)) = self.language {
            return language.write(folder);
        }
        let file = folder.canonicalize().unwrap().join(format!("program.{}", self.ending));
        let Program { before, inside, start, .. } = self;
        let text = if self.is_python() {
            let word = if inside.starts_with("await") { "async " } else { "" };
            PYTHON
                .replace("BEFORE", before)
                .replace("INSIDE", inside)
                .replace("START", start)
                .replace("ASYNC ", word)
        } else {
            NODE.replace("BEFORE", before).replace("INSIDE", inside).replace("START", start)
        };
        std::fs::write(&file, text).unwrap();
        file
    }
}

const PYTHON: &str = "\
import os, sys, time
BEFORE

def work(me, k):
    r = k * 2  # BP: inside
    return r  # BP: back

ASYNC def loop(me):
    log = os.open('log-' + me, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    n = 0
    while True:
        os.write(log, b'.')  # BP: write
        n += 1  # BP: tick
        m = work(me, n)  # BP: call
        if n <= 30: os.write(1, b'line %s %d\\n' % (me.encode(), n))  # BP: say
        INSIDE  # BP: rest

START
";

const NODE: &str = "\
const fs = require('fs');
BEFORE
function work(me, k) {
  const r = k * 2; // BP: inside
  return r; // BP: back
}
function loop(me) {
  const log = fs.openSync('log-' + me, 'w');
  let n = 0;
  const tick = () => {
    fs.writeSync(log, '.'); // BP: write
    n += 1; // BP: tick
    const m = work(me, n); // BP: call
    if (n <= 30) console.log('line', me, n); // BP: say
    INSIDE // BP: rest
  };
  setInterval(tick, 1);
}
START
";

/// How often a loop came by, by its own word.
pub(super) fn passes(folder: &Path, me: &str) -> u64 {
    std::fs::metadata(folder.join(format!("log-{me}"))).map_or(0, |it| it.len())
}
