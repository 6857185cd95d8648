//! Values and errors of expressions.

use super::client::{End, Run};

/// Where we differ on purpose: the expression, and what it gives here.
const DIFFERENT: [(&str, &str); 4] = [
    // A parameter of a distribution is finite and in its range.
    (
        "random_exponential(1,10,0.0/0)",
        "ABORT exponential parameter must be greater than zero (not NaN)",
    ),
    (
        "random_exponential(1,10,1.0/0)",
        "ABORT exponential parameter must be greater than zero (not Infinity)",
    ),
    // A boolean is no number.
    ("abs(false)", "ABORT cannot coerce boolean to int or double"),
    // Refused before the run.
    (
        "greatest(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)",
        "PARSE too many function arguments, maximum is 16",
    ),
];

fn result(expression: &str) -> String {
    let script = format!("\\set x debug({expression})\n");
    let outcome = Run::of(&script).outcome();
    match outcome.end {
        End::Over => outcome.debug.last().cloned().unwrap_or_default(),
        End::Refused(error) => {
            let message = error.message.strip_suffix(" in command \"set\"");
            assert!(["42601", "22023"].contains(&error.sqlstate), "{error:?}");
            assert!(script.contains(&error.part) && error.line == 1, "{error:?}");
            format!("PARSE {}", message.unwrap_or(&error.message))
        }
        End::Failed(_, error) => format!("ABORT {error}"),
    }
}

#[test]
fn expressions_have_the_values_and_errors_of_pgbench() {
    let oracle = include_str!("../data/pgbench-oracle-expr.tsv");
    let mut wrong = Vec::new();
    for line in oracle.lines().filter(|line| !line.starts_with("# ")) {
        let (expression, expected) = line.split_once('\t').expect(line);
        let other = DIFFERENT.iter().find(|(one, _)| *one == expression);
        let expected = other.map_or(expected, |(_, here)| here);
        let found = result(expression);
        if found != expected {
            wrong.push(format!("{expression}: {found}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
