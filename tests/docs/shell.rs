//! Commands of the shell: the program is there, and knows the options. Nothing is executed but `--help` and `make -n`.

use crate::page::{Page, repository};
use pgfsbench_tests::program;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, OnceLock};

/// Words of a command, without quotes. A comment begins at ` #`.
fn words(command: &str) -> Vec<String> {
    let code = command.split(" #").next().unwrap_or(command);
    let mut words: Vec<String> = Vec::new();
    for (part, text) in code.split(['"', '\'']).enumerate() {
        let quoted = part % 2 == 1;
        let mut pieces = text.split(|c: char| !quoted && c.is_whitespace());
        // Text right after a quote, or within one, continues the last word.
        let first = pieces.next().unwrap_or("");
        match words.last_mut() {
            Some(word) => word.push_str(first),
            None => words.push(first.to_owned()),
        }
        words.extend(pieces.map(str::to_owned));
    }
    words.retain(|word| !word.is_empty());
    words
        .into_iter()
        .skip_while(|word| word == "sudo")
        .collect()
}

/// The commands of a line.
fn commands(line: &str) -> Vec<&str> {
    let parts = line.split("&&").flat_map(|part| part.split(" | "));
    parts.map(str::trim).filter(|c| !c.is_empty()).collect()
}

fn printed_by(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(repository())
        .env_remove("MAKEFLAGS")
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(said(&output.stdout)),
        false => Err(format!(
            "{} {arguments:?}: {}",
            program.display(),
            said(&output.stderr)
        )),
    }
}

/// Asks each question once.
fn asked_once(key: &str, ask: impl FnOnce() -> Result<String, String>) -> Result<String, String> {
    static ANSWERS: OnceLock<Mutex<BTreeMap<String, Result<String, String>>>> = OnceLock::new();
    let answers = ANSWERS.get_or_init(Mutex::default);
    let known = answers.lock().expect("no panic").get(key).cloned();
    known.unwrap_or_else(|| {
        let answer = ask();
        let mut answers = answers.lock().expect("no panic");
        answers.insert(key.to_owned(), answer.clone());
        answer
    })
}

fn check_make(arguments: &[&str]) -> Result<(), String> {
    let key = format!("make {arguments:?}");
    let dry = [&["-n"], arguments].concat();
    asked_once(&key, || printed_by(Path::new("/usr/bin/make"), &dry)).map(drop)
}

/// Every option must be in the help of its subcommand.
fn check_helper(arguments: &[&str]) -> Result<(), String> {
    let subcommand = arguments.iter().find(|word| !word.starts_with('-'));
    let asked: Vec<&str> = subcommand.copied().into_iter().chain(["--help"]).collect();
    let key = format!("pgfsbench-helper {asked:?}");
    let help = asked_once(&key, || printed_by(&crate::lab::helper(), &asked))?;
    let mut known = help.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    let mut options = arguments.iter().filter(|word| word.starts_with("--"));
    match options.find(|option| !known.any(|word| word == **option)) {
        Some(option) => Err(format!("pgfsbench-helper {asked:?} does not know {option}")),
        None => Ok(()),
    }
}

fn check(command: &str) -> Result<(), String> {
    let words = words(command);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some((first, arguments)) = words.split_first() else {
        return Ok(());
    };
    match *first {
        "make" => check_make(arguments),
        "pgfsbench-helper" => check_helper(arguments),
        path if path.contains('/') => match repository().join(path).exists() {
            true => Ok(()),
            false => Err(format!("there is no {path}")),
        },
        name => match program(name).is_some() || crate::lab::server_program(name).exists() {
            true => Ok(()),
            false => Err(format!("there is no program {name}")),
        },
    }
}

/// Faults of the lines of a block.
pub fn faults_of_lines(at: &str, text: &str) -> Vec<String> {
    let checked = text.lines().flat_map(commands).map(check);
    checked
        .filter_map(Result::err)
        .map(|fault| format!("{at}: {fault}"))
        .collect()
}

/// Faults of the commands in a page's prose: those of make, of the helper, and of this repository's scripts.
pub fn faults_of_prose(page: &Page) -> Vec<String> {
    let ours = ["make ", "pgfsbench-helper ", "tools/", "bench/run"];
    let spans = page.spans().into_iter();
    let commands = spans.filter(|(_, span)| ours.iter().any(|begin| span.starts_with(begin)));
    let faults = commands.flat_map(|(line, span)| faults_of_lines(&page.at(line), span));
    faults.collect()
}
