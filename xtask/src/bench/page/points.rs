//! A program under a tracepoint, with ten pages open that show it and with none.
//!
//! What a browser does with what it is told is not the server's: the pages here are ten connections that read all that a
//! page reads, as fast as it comes, so that two cores are not shared with ten windows being painted.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

use super::Stage;
use crate::bench::client::{Home, StdioClient};
use crate::bench::median;
use crate::bench::table::{Goal, Row, Unit};

const PAGES: usize = 10;
const TURNS: usize = 5;
const HITS: u32 = 20_000;
const TIMES: f64 = 1.05;
const RUN_S: u32 = 120;

const PROGRAM: &str = "import sys, time

def price(index):
    total = index * 3 + 1
    return total

start = time.perf_counter_ns()
for index in range(int(sys.argv[1])):
    price(index)
with open(sys.argv[2], 'w') as out:
    out.write(str(time.perf_counter_ns() - start))
";
const HIT_LINE: u32 = 5;

pub(super) fn rows(stage: &Stage) -> Result<Vec<Row>> {
    eprintln!("a tracepoint with {PAGES} pages and without …");
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        without.push(run(stage, 0)?);
        with.push(run(stage, PAGES)?);
    }
    Ok(vec![Row {
        what: format!("a tracepoint's hit with {PAGES} pages open, beside without"),
        unit: Unit::Microseconds,
        ours: median(with),
        floor: median(without),
        goal: Goal::TimesFloor(TIMES),
    }])
}

/// Microseconds of one hit.
fn run(stage: &Stage, pages: usize) -> Result<f64> {
    let mut client = StdioClient::over_pipes(&stage.server("mcp"))?;
    client.initialize()?;
    client.settle()?;
    let folder = Home::new()?;
    let (file, took) = (folder.0.join("loop.py"), folder.0.join("took"));
    std::fs::write(&file, PROGRAM)?;
    let point = json!({ "file": file, "line": HIT_LINE, "log_message": "total {total}" });
    client.call("tracepoint_set", point)?;
    let open: Vec<OpenPage> =
        (0..pages).map(|_| OpenPage::at(stage, client.home())).collect::<Result<_>>()?;
    let launch = json!({
        "program": file, "args": [HITS.to_string(), took], "interpreter": stage.python,
        "stop_on_entry": false, "timeout_s": RUN_S,
    });
    let result = client.call("debug_launch", launch)?;
    if result.pointer("/structuredContent/data/exit/code").and_then(Value::as_i64) != Some(0) {
        bail!("the program did not end well: {result}");
    }
    for page in open {
        page.close()?;
    }
    let nanoseconds: f64 = std::fs::read_to_string(&took)?.trim().parse()?;
    Ok(nanoseconds / 1e3 / f64::from(HITS))
}

/// What a page reads of its stream, by somebody who was let in.
struct OpenPage {
    stream: TcpStream,
    reader: JoinHandle<usize>,
}

impl OpenPage {
    fn at(stage: &Stage, home: &Home) -> Result<Self> {
        let entrance = stage.entrance(home)?;
        let (host, path) = entrance
            .strip_prefix("http://")
            .and_then(|it| it.split_once('/'))
            .with_context(|| entrance.clone())?;
        let mut stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let head =
            |path: &str, more: &str| format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n");
        stream.write_all(head(path, "Connection: close\r\n").as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let cookie = answer.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("set-cookie").then(|| value.split(';').next())?
        });
        let cookie = cookie.with_context(|| format!("no cookie in {answer}"))?;
        let mut stream = TcpStream::connect(host)?;
        let more = format!("Cookie:{cookie}\r\nSec-Fetch-Site: same-origin\r\n");
        stream.write_all(head("page/live?at=/&has=", &more).as_bytes())?;
        // The first answer says that it is a page like any other.
        let mut first = [0; 512];
        let read = stream.read(&mut first)?;
        let first = String::from_utf8_lossy(first.get(..read).unwrap_or_default()).into_owned();
        if !first.starts_with("HTTP/1.1 200") {
            bail!("the page's stream was refused: {first}");
        }
        let mut reads = stream.try_clone()?;
        let reader = thread::Builder::new().name("page".into()).spawn(move || {
            let (mut bytes, mut room) = (0, vec![0; 64 * 1024]);
            while let Ok(read @ 1..) = reads.read(&mut room) {
                bytes += read;
            }
            bytes
        })?;
        Ok(Self { stream, reader })
    }

    fn close(self) -> Result<()> {
        self.stream.shutdown(Shutdown::Both)?;
        let bytes = self.reader.join().map_err(|_| anyhow!("a page panicked"))?;
        if bytes == 0 {
            bail!("a page was told nothing");
        }
        Ok(())
    }
}
