//! Scripts: statements, conditions, variables, and what is refused.

use pgfsbench_core::script::Protocol;
use serde_json::Value;

use super::client::{End, Outcome, Results, Run};

/// Cases whose script is refused before anything is sent: pgbench runs into them. With the beginning of our message.
const REFUSED_EARLIER: [(&str, &str); 9] = [
    ("\\setshell", "\\setshell is not supported"),
    ("\\shell", "\\shell is not supported"),
    (
        "copy (select",
        "COPY from stdin and to stdout is not supported",
    ),
    ("\u{feff}", "script begins with a byte order mark"),
    ("/* abc\n", "unterminated /* comment at or near"),
    ("$$abc", "unterminated dollar-quoted string at or near"),
    (
        "$$ begin perform :x",
        "parameter \":x\" within a word, quotes or a comment",
    ),
    (
        "HH24:MI",
        "parameter \":MI\" within a word, quotes or a comment",
    ),
    (":x", "parameter \":x\" within a word, quotes or a comment"),
];

/// Errors that only a server or an executor of the statements can find.
const OF_THE_SERVER: [&str; 2] = [
    "ERROR:",
    "end of script reached without completing the last transaction",
];

/// The rows of the oracle's statements that store some.
fn answer(sent: &str) -> Results {
    let row = |column, value| vec![(column, Some(value))];
    let (a, b) = (vec![row("a", "1")], vec![row("b", "2")]);
    let two = || vec![row("a", "1"), row("a", "2")];
    match sent.trim_end() {
        "select 1 as a where false" => vec![vec![]],
        "select generate_series(1,2) as a" => vec![two()],
        "select 1" => vec![vec![row("?column?", "1")]],
        "select 1 as \"a b\"" => vec![vec![row("a b", "1")]],
        "select 1 as a" => vec![a],
        "select 'hello' as a" => vec![vec![row("a", "hello")]],
        "select 1 as a ; select 2 as b" => vec![a, b],
        "select 1 as a ; select 2 as b where false" => vec![a, vec![]],
        "select generate_series(1,2) as a ; select 2 as b" => vec![two(), b],
        "select true as v" => vec![vec![row("v", "t")]],
        "select 1.10::numeric as v" => vec![vec![row("v", "1.10")]],
        "select 'no' as v" => vec![vec![row("v", "no")]],
        "select '2024-01-01'::date as v" => vec![vec![row("v", "2024-01-01")]],
        "select ' 12' as v" => vec![vec![row("v", " 12")]],
        "select 77 as a" => vec![vec![row("a", "77")]],
        other => of_case(other)
            .map(|value| vec![vec![row("v", value)]])
            .unwrap_or_default(),
    }
}

/// The value of the oracle's statements with CASE.
fn of_case(sent: &str) -> Option<&'static str> {
    let number = sent.strip_prefix("select case ")?;
    let parameter = number.split_once("$1 = '").map(|(_, parameter)| parameter);
    match parameter.unwrap_or(number).as_bytes()[0] {
        b'1' => Some("1"),
        b'2' => Some("2.5"),
        _ => Some("abc"),
    }
}

fn run(case: &Value) -> Outcome {
    let arguments: Vec<_> = case["args"].as_str().unwrap().split(" -").collect();
    let mut run = Run {
        answer,
        ..Run::of(case["script"].as_str().unwrap())
    };
    for argument in &arguments {
        let argument = argument.trim_start_matches('-');
        let (option, value) = argument.split_at(1);
        match option {
            "t" => run.transactions = value.parse().unwrap(),
            "c" => run.clients = value.parse().unwrap(),
            "j" => run.threads = value.parse().unwrap(),
            "s" => run.scale = value.trim().parse().unwrap(),
            "M" if value != " simple" => run.protocol = Protocol::Prepared,
            "D" => run.given.push(value[1..].split_once('=').unwrap()),
            "r" => run.seed = value.split_once('=').unwrap().1.parse().unwrap(),
            _ => {}
        }
    }
    let mut outcome = run.outcome();
    // The server does not log empty statements with parameters.
    let is_prepared = run.protocol == Protocol::Prepared;
    outcome
        .sent
        .retain(|(_, sent)| !is_prepared || sent[0] != ";");
    outcome
}

#[test]
fn scripts_send_and_fail_as_with_pgbench() {
    let oracle = include_str!("../data/pgbench-oracle-script.jsonl");
    let mut wrong = Vec::new();
    for line in oracle.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let found = run(&case);
        let expected = match case.get("pg18") {
            Some(newer) if newer["rc"] == 0 => newer,
            _ => &case["pg15"],
        };
        if let Some(fault) = fault(&case, expected, &found) {
            wrong.push(format!(
                "{} {} {}\n   {fault}\n   {found:?}",
                case["label"], case["script"], case["args"]
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of them:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn fault(case: &Value, expected: &Value, found: &Outcome) -> Option<String> {
    let sent = sent(expected);
    let error = match &expected["rc"] {
        Value::Number(code) if code.as_u64() == Some(0) => "",
        _ => expected["err"].as_str().unwrap_or_default(),
    };
    let of_server = OF_THE_SERVER.iter().any(|part| error.contains(part));
    let debug: Vec<_> = (expected["debug"].as_array().into_iter().flatten())
        .map(|line| line.as_str().unwrap().rsplit("): ").next().unwrap())
        .collect();
    match &found.end {
        End::Refused(refused) => {
            let ours = format!("s.sql:{}: {refused}", refused.command_line);
            let script = case["script"].as_str().unwrap();
            let is_earlier = (REFUSED_EARLIER.iter()).any(|(part, message)| {
                script.contains(part) && refused.message.starts_with(message)
            });
            // The oracle has the beginnings of long errors only.
            let is_same = ours == error || refused.message.starts_with(error);
            let is_known = !error.is_empty() && is_same || is_earlier && expected["rc"] != 1;
            return (!is_known).then(|| format!("expected {error}"));
        }
        End::Failed(command, failed) => {
            let ours = failed.to_string();
            let is_same = error == ours
                || error.ends_with(&format!(": {ours}"))
                || error.ends_with(&format!("; {ours}"));
            if !is_same {
                return Some(format!("{command}: expected {error}"));
            }
        }
        End::Over if !error.is_empty() && !of_server => return Some(format!("expected {error}")),
        End::Over if of_server => return at_server(error, &sent, found),
        End::Over => {}
    }
    let texts: Vec<_> = found.sent.iter().map(|(_, sent)| sent.clone()).collect();
    (sent != texts || debug != found.debug).then(|| format!("expected {sent:?} {debug:?}"))
}

/// The texts that reached the server by the oracle, without the names of statements.
fn sent(expected: &Value) -> Vec<Vec<String>> {
    (expected["sent"].as_array().into_iter().flatten())
        .map(|sent| {
            (sent.as_array().unwrap().iter())
                .map(|text| text.as_str().unwrap().to_owned())
                .filter(|text| text != "<unnamed>" && !text.starts_with("P_"))
                .collect()
        })
        .collect()
}

/// The server has refused one of the statements that are sent here, after or before it has logged it.
fn at_server(error: &str, sent: &[Vec<String>], found: &Outcome) -> Option<String> {
    let command = error
        .split_once(" in command ")
        .and_then(|(_, rest)| rest.split(' ').next()?.parse::<usize>().ok());
    let ours: Vec<_> = found.sent.iter().map(|(_, sent)| sent.clone()).collect();
    let is_there = (0..ours.len()).any(|last| {
        command.is_none_or(|command| command == found.sent[last].0)
            && (ours[..last] == *sent || ours[..=last] == *sent)
    });
    (!is_there).then(|| format!("expected {sent:?} {error}"))
}
