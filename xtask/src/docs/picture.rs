//! The picture of the page that the README shows: a program that stands at a breakpoint, in a real browser.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::chromium::Chromium;
use crate::install::chromium;
use crate::process::{Background, Show, run};
use crate::scratch::Home;
use crate::workspace::Workspace;

pub(super) const PICTURE: &str = "docs/page.webp";

const LIMIT: Duration = Duration::from_secs(60);
/// As wide as the place where it is shown; the quality keeps letters sharp in some 40 KB.
const QUALITY: u32 = 85;

/// Half of what a program owes its customers is a cent too little.
const PROGRAM: &str = r#"RATES = {"book": 0.07, "lamp": 0.19, "tea": 0.07}


def tax(price, kind):
    return int(price * RATES[kind] * 100) / 100


def total(items):
    owed = 0.0
    for name, kind, price in items:
        gross = price + tax(price, kind)
        owed += gross
        print(f"{name:<12}{gross:8.2f}")
    return round(owed, 2)


basket = [
    ("Momo", "book", 14.95),
    ("Desk lamp", "lamp", 39.9),
    ("Assam", "tea", 8.49),
]
print("to pay", total(basket))
"#;
const LOOP_LINE: u32 = 12;
const TAX_LINE: u32 = 5;

pub(super) fn write(workspace: &Workspace, binary: &Path) -> Result<()> {
    let browser = chromium(workspace, "the picture")?;
    let home = Home::new()?;
    let scene = Scene { binary, home: &home };
    let mut command = scene.command(&["serve", "--port", "0"]);
    command.stderr(Stdio::null());
    let _server = Background::start(&mut command)?;
    scene.until_it_listens()?;
    let folder = home.0.join("shop");
    fs::create_dir(&folder)?;
    let program = folder.join("basket.py");
    fs::write(&program, PROGRAM)?;
    scene.tool("breakpoint_set", &json!({ "file": program, "line": LOOP_LINE }))?;
    let tracepoint = json!({ "file": program, "line": TAX_LINE, "log_message": "{kind} {price}" });
    scene.tool("tracepoint_set", &tracepoint)?;
    scene.tool("debug_launch", &json!({ "program": program, "stop_on_entry": false }))?;
    scene.tool("debug_continue", &json!({}))?;
    let entrance = scene.said(&["open", "--print"])?;
    let entrance = entrance.split_whitespace().find(|it| it.starts_with("http://"));
    let entrance = entrance.context("`holdpoint open --print` printed no address")?;
    let mut browser = Chromium::start(&browser)?;
    let tab = browser.tab()?;
    browser.open(&tab, entrance)?;
    let session = browser.eval(&tab, "location.origin + '/sessions/s1'")?;
    browser.open(&tab, session.as_str().context("no address")?)?;
    browser.until(&tab, "document.querySelector('#live')?.dataset.state === 'live'")?;
    let asked = json!({ "format": "webp", "quality": QUALITY });
    let shot = browser.ask(Some(&tab), "Page.captureScreenshot", asked)?;
    let data = shot.get("data").and_then(Value::as_str).context("no picture")?;
    let path = workspace.root.join(PICTURE);
    fs::write(&path, base64(data)).with_context(|| format!("writing `{}`", path.display()))
}

struct Scene<'a> {
    binary: &'a Path,
    home: &'a Home,
}

impl Scene<'_> {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.binary);
        command.args(arguments).env("HOLDPOINT_HOME", &self.home.0).current_dir(&self.home.0);
        command
    }

    fn until_it_listens(&self) -> Result<()> {
        let start = Instant::now();
        while !self.home.0.join("port").exists() {
            if start.elapsed() > LIMIT {
                bail!("the server did not listen");
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    fn tool(&self, name: &str, arguments: &Value) -> Result<()> {
        self.said(&["tool", name, &arguments.to_string()]).map(drop)
    }

    fn said(&self, arguments: &[&str]) -> Result<String> {
        let finished = run(&mut self.command(arguments), LIMIT, Show::Nothing)?;
        if !finished.success() {
            bail!("{arguments:?} failed\n{}", finished.last_words());
        }
        Ok(finished.stdout)
    }
}

fn base64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut held, mut bits) = (0_u32, 0);
    for letter in text.bytes() {
        let Some(six) = LETTERS.iter().position(|known| *known == letter) else { continue };
        held = held << 6 | u32::try_from(six).unwrap_or_default();
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).unwrap_or_default());
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_browser_sends_is_read() {
        assert_eq!(base64("aG9sZHBvaW50"), b"holdpoint");
        assert_eq!(base64("aG9sZA=="), b"hold");
    }
}
