//! A headless Chromium without a network, spoken with over a pipe: pages are opened in windows of any size, keys are pressed, and what it
//! shows, prints and complains of is seen.

use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;
use tempfile::TempDir;

use crate::{LONG, SHORT};

const PROGRAMS: &[&str] = &["chromium-headless-shell", "chromium"];
/// The browser reads commands from descriptor 3 and writes answers to descriptor 4.
const START: &str = "exec \"$0\" \"$@\" 3<\"$COMMANDS\" 4>\"$ANSWERS\" > \"$OUTPUT\" 2>&1";

/// The browser, and one page of it. It ends when this is dropped.
pub struct Browser {
    process: Child,
    commands: File,
    answers: Receiver<Value>,
    session: Option<String>,
    number: u64,
    /// Messages of pages on the console, and their errors.
    pub said: Vec<String>,
    /// Addresses that pages have fetched, except for data within the page.
    pub fetched: Vec<String>,
    directory: Option<TempDir>,
}

impl Browser {
    /// None where there is no Chromium.
    pub fn start() -> Option<Self> {
        let program = program()?;
        let directory = TempDir::with_prefix("pgfsbench-browser.").expect("a directory");
        let place = |name: &str| directory.path().join(name);
        for name in ["commands", "answers"] {
            let made = Command::new("mkfifo").arg(place(name)).status();
            assert!(made.expect("mkfifo").success(), "{name}");
        }
        let process = Command::new("bash")
            .args(["-c", START])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
                "--host-resolver-rules=MAP * ~NOTFOUND",
            ])
            .arg(format!("--user-data-dir={}", place("profile").display()))
            .env("COMMANDS", place("commands"))
            .env("ANSWERS", place("answers"))
            .env("OUTPUT", place("output"))
            .stdin(Stdio::null())
            .spawn()
            .expect("bash");
        // Each waits for the other end, in the order in which bash opens them.
        let commands = File::options().write(true).open(place("commands"));
        let answers = read_from(File::open(place("answers")).expect("answers"));
        let mut browser = Self {
            process,
            commands: commands.expect("commands"),
            answers,
            session: None,
            number: 0,
            said: Vec::new(),
            fetched: Vec::new(),
            directory: Some(directory),
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.call(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Sends a command, and gives its result. What happens meanwhile is noted.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut command = json!({"id": self.number, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let text = format!("{command}\0");
        (self.commands.write_all(text.as_bytes())).expect("the browser is there");
        loop {
            let answer = self.answers.recv_timeout(LONG);
            let answer = answer.unwrap_or_else(|error| panic!("{method}: {error}"));
            if answer["id"] == json!(self.number) {
                assert_eq!(answer["error"], Value::Null, "{method}");
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    fn note(&mut self, event: &Value) {
        let what = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded") => {
                self.said.push(what.to_string());
            }
            Some("Network.requestWillBeSent") => {
                let url = what["request"]["url"].as_str().unwrap_or_default();
                if !url.starts_with("data:") && !url.starts_with("blob:") {
                    self.fetched.push(url.to_owned());
                }
            }
            _ => (),
        }
    }

    /// Opens a page in a window of this size, and waits until it is loaded.
    pub fn open(&mut self, page: &Path, width: u32, height: u32) {
        self.resize(width, height);
        let url = format!("file://{}", page.display());
        self.call("Page.navigate", json!({"url": url}));
        self.evaluate(
            "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))",
        );
    }

    /// Gives the window this size.
    pub fn resize(&mut self, width: u32, height: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}),
        );
    }

    /// The value of an expression of JavaScript, in the page; of a promise what it promises.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let result = self.call(
            "Runtime.evaluate",
            json!({"expression": expression, "awaitPromise": true, "returnByValue": true}),
        );
        assert_eq!(result["exceptionDetails"], Value::Null, "{expression}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true in the page.
    pub fn wait_until(&mut self, expression: &str) {
        self.evaluate(&format!(
            "new Promise(done => {{ (function look() {{ ({expression}) ? done() : setTimeout(look, 20); }}()); }})"
        ));
    }

    /// Presses and releases a key, as a user does.
    pub fn press(&mut self, key: &str, number: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            self.call(
                "Input.dispatchKeyEvent",
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": number}),
            );
        }
    }

    /// A picture of what stands in this part of the window: left, top, width and height.
    pub fn picture(&mut self, part: [f64; 4], file: &Path) {
        let [x, y, width, height] = part;
        let shot = self.call(
            "Page.captureScreenshot",
            json!({"clip": {"x": x, "y": y, "width": width, "height": height, "scale": 1}}),
        );
        fs::write(file, from_base64(&shot["data"])).expect("a picture");
    }

    /// The page as it is printed: PDF.
    pub fn print(&mut self, file: &Path) -> Vec<u8> {
        let printed = self.call("Page.printToPDF", json!({"printBackground": false}));
        let bytes = from_base64(&printed["data"]);
        fs::write(file, &bytes).expect("a file");
        bytes
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let close = json!({"id": 0, "method": "Browser.close"}).to_string() + "\0";
        let _ = self.commands.write_all(close.as_bytes());
        // It closes its end when it is done.
        while self.answers.recv_timeout(SHORT).is_ok() {}
        let _ = self.process.kill();
        let _ = self.process.wait();
        // A process of it may still write there.
        let place = self.directory.take().map(TempDir::keep);
        let gone = |place: &PathBuf| fs::remove_dir_all(place).is_ok() || !place.exists();
        let until = Instant::now() + SHORT;
        while place.as_ref().is_some_and(|place| !gone(place)) && Instant::now() < until {
            std::thread::yield_now();
        }
    }
}

fn program() -> Option<PathBuf> {
    let directories = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = std::env::split_paths(&directories).collect();
    let mut programs = PROGRAMS
        .iter()
        .flat_map(|name| places.iter().map(move |d| d.join(name)));
    programs.find(|program| program.is_file())
}

/// Messages end with a null byte. Nothing comes any more when the browser has ended.
fn read_from(file: File) -> Receiver<Value> {
    let (found, messages) = channel();
    std::thread::spawn(move || {
        let mut file = BufReader::new(file);
        let mut message = Vec::new();
        while file
            .read_until(0, &mut message)
            .is_ok_and(|bytes| bytes > 0)
        {
            message.pop();
            let value = serde_json::from_slice(&message).unwrap_or_default();
            if found.send(value).is_err() {
                break;
            }
            message.clear();
        }
    });
    messages
}

fn from_base64(text: &Value) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let text = text.as_str().unwrap_or_default().as_bytes();
    let digits: Vec<u8> = text.iter().filter_map(|byte| digit(*byte)).collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let number = (0..4).fold(0, |n, i| {
            n << 6 | u32::from(four.get(i).copied().unwrap_or(0))
        });
        number.to_be_bytes()[1..four.len().max(1)].to_vec()
    });
    bytes.collect()
}
