//! Compares psql's output with the output that a page shows.

/// A statement of a psql session, and the lines below it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Step {
    pub statement: String,
    pub shown: String,
}

/// A table as psql prints it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// The statement's part of a line, if a prompt (`bench=# ` or `bench-# `) begins it.
fn behind_prompt(line: &str) -> Option<(bool, &str)> {
    let first = line.strip_prefix("bench=# ").map(|rest| (true, rest));
    first.or_else(|| line.strip_prefix("bench-# ").map(|rest| (false, rest)))
}

fn is_complete(statement: &str) -> bool {
    let last = statement.lines().last().unwrap_or("");
    let code = last.split("--").next().unwrap_or(last).trim_end();
    code.ends_with(';') || statement.starts_with('\\')
}

/// The steps of a session. Lines below a statement that is not complete belong to it, with or without a prompt.
pub fn session(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in text.lines() {
        let (begins, code) = behind_prompt(line).unwrap_or((false, line));
        match steps.last_mut() {
            Some(step) if !begins && !is_complete(&step.statement) => {
                step.statement += "\n";
                step.statement += code;
            }
            Some(step) if !begins => {
                step.shown += line;
                step.shown += "\n";
            }
            _ => steps.push(Step {
                statement: code.to_owned(),
                shown: String::new(),
            }),
        }
    }
    steps
}

fn cells(line: &str) -> Vec<String> {
    line.split(" | ")
        .map(|cell| cell.trim().to_owned())
        .collect()
}

fn is_rule(line: &str) -> bool {
    line.len() > 1 && line.starts_with('-') && line.chars().all(|c| c == '-' || c == '+')
}

/// The tables in what was printed: a line of names above a line of dashes, and rows up to `(n rows)` or an empty line.
pub fn tables(text: &str) -> Vec<Table> {
    let lines: Vec<&str> = text.lines().collect();
    let mut tables = Vec::new();
    for (at, pair) in lines.windows(2).enumerate() {
        if !is_rule(pair[1]) {
            continue;
        }
        let rows = lines[at + 2..].iter();
        let rows = rows.take_while(|line| !line.trim().is_empty() && !line.starts_with('('));
        tables.push(Table {
            columns: cells(pair[0]),
            rows: rows.map(|line| cells(line)).collect(),
        });
    }
    tables
}

/// Figures replaced by N, and names of filesystems of the last NOTICE by FS: what must be the same on every machine.
pub fn masked(line: &str) -> String {
    let mut masked = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        if first.is_ascii_digit() {
            masked.push('N');
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            for unit in [" ms", " s", " min", " h", " MB", " GB"] {
                let behind = rest.strip_prefix(unit);
                if let Some(behind) = behind.filter(|b| !b.starts_with(char::is_alphanumeric)) {
                    rest = behind;
                    break;
                }
            }
        } else {
            masked.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    match masked.split_once(" is done: ") {
        Some((run, what)) => {
            let what = what.split(" on ").next().unwrap_or(what);
            format!("{run} is done: {what} on FS")
        }
        None => masked.replace("no warm-up", "N warm-up"),
    }
}

/// Lines of a message that a page shows and that must come. The number of progress messages is a matter of time.
pub fn messages(text: &str) -> Vec<String> {
    let kinds = [
        "NOTICE:  ",
        "HINT:  ",
        "WARNING:  ",
        "ERROR:  ",
        "DETAIL:  ",
    ];
    let lines = text.lines().filter(|line| {
        kinds.iter().any(|kind| line.starts_with(kind))
            && !line.contains(": measure, ")
            && !line.ends_with(": cleanup")
    });
    lines.map(masked).collect()
}

/// Tables of a page that did not come, in their order; others may have come between them.
pub fn missing(shown: &str, printed: &str) -> Vec<String> {
    let mut came = tables(printed).into_iter();
    let mut faults = Vec::new();
    if tables(shown).is_empty() {
        faults.push("a text without a table is compared with nothing".to_owned());
    }
    for table in tables(shown) {
        let is_it = |real: Table| real.columns == table.columns && !real.rows.is_empty();
        if !came.any(is_it) {
            faults.push(format!("no rows with the columns {:?} came", table.columns));
            came = tables(printed).into_iter();
        }
    }
    faults
}

/// Lines that a page shows below a statement and psql did not print.
pub fn differences(shown: &str, printed: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let came = messages(printed);
    for message in messages(shown) {
        if !came.contains(&message) {
            faults.push(format!(
                "the message {message:?} did not come; {came:?} did"
            ));
        }
    }
    let mut came = tables(printed).into_iter();
    for table in tables(shown) {
        match came.next() {
            None => faults.push(format!(
                "no table with the columns {:?} came",
                table.columns
            )),
            Some(real) if real.columns != table.columns => faults.push(format!(
                "the columns are {:?}, and not {:?}",
                real.columns, table.columns
            )),
            Some(real) if real.rows.is_empty() && !table.rows.is_empty() => {
                faults.push(format!("no row came with the columns {:?}", table.columns));
            }
            Some(_) => {}
        }
    }
    faults
}
