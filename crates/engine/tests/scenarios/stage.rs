//! Carries out the lines of a script: a caller on one side of the engine, the adapter on the other.

use std::{cell::RefCell, collections::VecDeque, path::PathBuf, rc::Rc, sync::Arc, time::Duration};

use holdpoint_engine::{
    adapter::{Connected, Started},
    attach::{At, Attach, Mappings},
    backend::{
        Backend, Step,
        dap::{
            Dap, Setup,
            dialect::{
                About, CDT_GDB, CODELLDB, DELVE, Dialect, GDB, JAVA, JS_DEBUG, LLDB, PERL, Pydevd,
                RDBG,
            },
        },
    },
    breakpoints::{Asked, Breakpoints, Place, Trace},
    failure::{Code, Failure},
    ids::{BreakpointId, Seq, SessionId},
    limits,
    log::{Log, Read, Reader},
    session::{Origin, Session},
};
use holdpoint_testkit::adapter::{PIPE_BYTES, PROGRAM, Scripted, Way};
use serde_json::{Value, json};
use tokio::{io::DuplexStream, sync::mpsc};

use crate::show;

/// With the clock paused, it is over when everybody waits for something.
const SETTLED: Duration = Duration::from_millis(1);
/// How often everybody else may go on before the line after one that ends with `&`.
const BESIDE: usize = 200;

pub(crate) struct Stage {
    /// The program's, and that of a child.
    adapters: [Scripted; 2],
    connections: VecDeque<DuplexStream>,
    joining: Rc<RefCell<Option<mpsc::Sender<Connected>>>>,
    breakpoints: Arc<Breakpoints>,
    log: Arc<Log>,
    reader: Reader,
    session: Rc<RefCell<Option<Arc<Session>>>>,
    /// What callers were answered since the last line.
    answers: Rc<RefCell<Vec<String>>>,
    callers: tokio::task::LocalSet,
}

impl Default for Stage {
    fn default() -> Stage {
        let log = Arc::new(Log::default());
        let (main, first) = tokio::io::duplex(PIPE_BYTES);
        let (child, second) = tokio::io::duplex(PIPE_BYTES);
        Stage {
            adapters: [Scripted::over(first), Scripted::over(second)],
            connections: [main, child].into(),
            joining: Rc::default(),
            breakpoints: Arc::default(),
            reader: log.reader(Seq::START),
            log,
            session: Rc::default(),
            answers: Rc::default(),
            callers: tokio::task::LocalSet::new(),
        }
    }
}

impl Stage {
    /// Does what a line says; what came of it.
    pub(crate) async fn take(&mut self, line: &str) -> Vec<String> {
        let (now, is_beside) = line.strip_suffix(" &").map_or((line, false), |it| (it, true));
        let mut patience = SETTLED;
        match now.split_once(' ') {
            _ if line.is_empty() || line.starts_with('#') => return Vec::new(),
            Some(("$", command)) => self.call(command),
            Some(("<", doing)) => adapter_does(&self.adapters[0], doing),
            Some(("<2", doing)) => adapter_does(&self.adapters[1], doing),
            Some(("~", time)) => patience = seconds(time),
            _ => panic!("no such line: {line}"),
        }
        if is_beside {
            let some = async {
                for _ in 0..BESIDE {
                    tokio::task::yield_now().await;
                }
            };
            self.callers.run_until(some).await;
            return Vec::new();
        }
        self.callers.run_until(tokio::time::sleep(patience)).await;
        self.came()
    }

    fn came(&mut self) -> Vec<String> {
        let mut came: Vec<String> = Vec::new();
        for (adapter, mark) in self.adapters.iter().zip([">", ">2"]) {
            let heard = adapter.heard().into_iter();
            came.extend(heard.map(|it| format!("{mark} {}", show::request(&it))));
        }
        came.extend(self.reader.take(usize::MAX).iter().map(|read| match read {
            Read::Record(record) => format!("= {}", show::event(&record.event)),
            Read::Gap { first, last } => format!("= gap {first} to {last}"),
        }));
        let answers = self.answers.take();
        came.extend(answers.into_iter().map(|it| format!("= {it}")));
        show::folded(came)
    }

    fn call(&mut self, command: &str) {
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        match verb {
            "break" | "trace" => self.set(verb, rest),
            "remove" => {
                let removed = self.breakpoints.remove(BreakpointId(rest.parse().unwrap())).unwrap();
                self.sync(verb, removed.place);
            }
            "launch" | "child" => {
                let stream = self.connections.pop_front().expect("both are connected already");
                self.connect(verb, dialect(rest), stream);
            }
            _ => {
                let Some(session) = self.session.borrow().clone() else {
                    return self.answers.borrow_mut().push(format!("{verb}: nothing is launched"));
                };
                let verb = verb.to_owned();
                self.answer(verb.clone(), async move { ask(&session, &verb).await });
            }
        }
    }

    /// `break 3 if x > 1 hits == 3`, `trace 3 hits == 3 says x is {x}`.
    fn set(&self, kind: &str, rest: &str) {
        let (rest, message) = cut(rest, " says ");
        let (rest, hit_condition) = cut(rest, " hits ");
        let (line, condition) = cut(rest, " if ");
        let place =
            Place::Line { file: PathBuf::from(PROGRAM), line: line.parse().unwrap(), column: None };
        let trace = (kind == "trace").then(|| Trace::new(message, 0, 0).unwrap());
        let asked = Asked { place: place.clone(), condition, hit_condition, trace };
        self.breakpoints.add(asked).unwrap();
        self.sync(kind, place);
    }

    /// Sends what belongs to a place to every process there is.
    fn sync(&self, what: &str, place: Place) {
        let Some(session) = self.session.borrow().clone() else { return };
        let breakpoints = Arc::clone(&self.breakpoints);
        self.answer(what.to_owned(), async move {
            for sent in session.sync_breakpoints(&breakpoints, &place).await {
                sent?;
            }
            Ok("ok".to_owned())
        });
    }

    /// Connects to another adapter: the program's, or that of a child.
    fn connect(&self, verb: &str, dialect: Box<dyn Dialect>, stream: DuplexStream) {
        let (breakpoints, log) = (Arc::clone(&self.breakpoints), Arc::clone(&self.log));
        let (session, joining) = (Rc::clone(&self.session), Rc::clone(&self.joining));
        self.answer(verb.to_owned(), async move {
            let process = process(stream, dialect, &breakpoints).await?;
            let mut joining = joining.borrow_mut();
            if let Some(joining) = &*joining {
                joining.try_send(process).expect("nobody takes the child");
                return Ok("ok".to_owned());
            }
            let (sender, targets) = mpsc::channel(1);
            sender.try_send(process).expect("nobody takes the program");
            *joining = Some(sender);
            let (runtime, program, process, note) = (None, None, None, None);
            let started =
                Started { runtime, program, process, told: None, stands: false, note, targets };
            let (id, name) = (SessionId(1), "main.toy".to_owned());
            let it = Session::adopt(id, name, "toy", origin(), started, breakpoints, log);
            *session.borrow_mut() = Some(it);
            Ok("ok".to_owned())
        });
    }

    /// Does something beside the script, and notes down what came of it.
    fn answer(&self, what: String, doing: impl Future<Output = Result<String, Failure>> + 'static) {
        let answers = Rc::clone(&self.answers);
        self.callers.spawn_local(async move {
            let answer = doing.await.unwrap_or_else(|it| show::failure(&it));
            answers.borrow_mut().push(format!("{what}: {answer}"));
        });
    }
}

fn adapter_does(adapter: &Scripted, doing: &str) {
    let (verb, rest) = doing.split_once(' ').unwrap_or((doing, ""));
    match verb {
        "closes" => adapter.close(),
        "holds" => adapter.way(rest, Way::Hold),
        "refuses" => {
            let (command, why) = rest.split_once(": ").unwrap();
            adapter.way(command, Way::Refuse(why.to_owned()));
        }
        "answers" => {
            let (command, body) = rest.split_once(' ').unwrap();
            adapter.way(command, Way::Answer(json_of(body)));
        }
        "requests" => {
            let (command, arguments) = rest.split_once(' ').unwrap();
            adapter.request(command, json_of(arguments));
        }
        "releases" => match rest.split_once(' ') {
            Some((command, body)) => adapter.release(command, Some(json_of(body))),
            None => adapter.release(rest, None),
        },
        "floods" => {
            let (event, rest) = rest.split_once(' ').unwrap();
            let (body, until) = rest.split_once(" until ").unwrap();
            adapter.flood(event, json_of(body), until);
        }
        // `< 70 × output {…}`
        times if times.parse::<usize>().is_ok() => {
            let one = rest.strip_prefix("× ").unwrap();
            (0..times.parse().unwrap()).for_each(|_| adapter_does(adapter, one));
        }
        event if rest.is_empty() => adapter.event(event, json!({})),
        event => adapter.event(event, json_of(rest)),
    }
}

async fn ask(session: &Session, verb: &str) -> Result<String, Failure> {
    match verb {
        "continue" => session.resume().await?,
        "next" => session.step(None, Step::Over).await?,
        "in" => session.step(None, Step::In).await?,
        "out" => session.step(None, Step::Out).await?,
        "pause" => session.pause().await?,
        "view" => return Ok(show::view(&session.view())),
        "stop" => return Ok(session.stop().await.to_string()),
        other => panic!("no such command: {other}"),
    }
    Ok("ok".to_owned())
}

async fn process(
    stream: DuplexStream,
    dialect: Box<dyn Dialect>,
    breakpoints: &Breakpoints,
) -> Result<Connected, Failure> {
    let (read, write) = tokio::io::split(stream);
    let revision = breakpoints.revision();
    let setup = Setup {
        greeting: &[],
        adapter_id: "toy",
        begin: "launch",
        arguments: json!({}),
        breakpoints: &breakpoints.by_file(),
        functions: &breakpoints.functions(),
        exceptions: &breakpoints.exceptions(),
        tape: None,
        tells_output: true,
    };
    let connecting = Dap::connect(read, write, dialect, setup);
    let connecting = tokio::time::timeout(limits::CONNECT, connecting).await;
    let (dap, signals) = connecting
        .map_err(|_| Failure::new(Code::LaunchFailed, "the program's debugger did not answer"))??;
    let pid = dap.pid();
    Ok(Connected { backend: Backend::Dap(dap), signals, pid, revision, bound: Vec::new() })
}

/// `as java`: whose words the adapter speaks. Nobody's own where none is named.
fn dialect(name: &str) -> Box<dyn Dialect> {
    match name.strip_prefix("as ").unwrap_or("lldb") {
        "cdt-gdb" => Box::new(CDT_GDB),
        "codelldb" => Box::new(CODELLDB),
        "delve" => Box::new(DELVE),
        "gdb" => Box::new(GDB),
        "java" => Box::new(JAVA),
        "js-debug" => Box::new(JS_DEBUG),
        "lldb" => Box::new(LLDB),
        "perl" => Box::new(PERL),
        "pydevd" => Box::new(Pydevd::new(About::default())),
        "rdbg" => Box::new(RDBG),
        other => panic!("no such debugger: {other}"),
    }
}

/// Only a program that we did not start has an end that the adapter alone tells.
fn origin() -> Origin {
    Origin::Attached(Attach {
        at: At::Address { host: "localhost".to_owned(), port: 1 },
        language: None,
        mappings: Mappings::default(),
        just_my_code: true,
        cwd: PathBuf::from("/app"),
    })
}

fn cut<'a>(text: &'a str, at: &str) -> (&'a str, Option<String>) {
    let cut = text.split_once(at);
    cut.map_or((text, None), |(before, after)| (before, Some(after.to_owned())))
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn seconds(text: &str) -> Duration {
    Duration::from_secs(text.strip_suffix('s').and_then(|it| it.parse().ok()).unwrap())
}
