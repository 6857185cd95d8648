//! A script of statements that pg_stat_statements has recorded: a start, to be edited. Their constants are parameters there, and a parameter
//! that is compared with an integer column gets values from the column's range.

mod columns;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};

use columns::{compared, stored};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokens::{Token, parameters, tokens, with_variables, without_constants};

/// The greatest weight of a script.
const MOST_WEIGHT: u64 = 1000;
/// Most statements of a script.
const MOST_STATEMENTS: i32 = 100;

/// A statement of pg_stat_statements.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Recorded {
    pub query: String,
    pub calls: u64,
    /// Blocks that it has changed, which are written sooner or later.
    pub blocks: u64,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Column {
    /// None: found by the search_path.
    pub schema: Option<String>,
    pub table: String,
    pub column: String,
}

/// Smallest and largest value of an integer column.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Range {
    #[serde(flatten)]
    pub column: Column,
    pub low: i64,
    pub high: i64,
}

/// Number of statements that are asked for; None if it is out of range.
pub fn count(top: i32) -> Option<usize> {
    let is_allowed = (1..=MOST_STATEMENTS).contains(&top);
    usize::try_from(top).ok().filter(|_| is_allowed)
}

/// The first statements by calls and by blocks in turn: each is among the first of one of them.
pub fn chosen(all: Vec<Recorded>, count: usize) -> Vec<Recorded> {
    let all: Vec<Recorded> = all
        .into_iter()
        .filter(|one| is_of_clients(&one.query))
        .collect();
    let ranks = |key: fn(&Recorded) -> u64| {
        let mut order: Vec<usize> = (0..all.len()).filter(|&at| key(&all[at]) > 0).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(key(&all[at])));
        order
    };
    let (by_calls, by_blocks) = (ranks(|one| one.calls), ranks(|one| one.blocks));
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    for rank in 0..all.len() {
        for order in [&by_calls, &by_blocks] {
            if taken.len() < count {
                taken.extend(order.get(rank).copied());
            }
        }
    }
    let mut chosen: Vec<Recorded> = taken.into_iter().map(|at| all[at].clone()).collect();
    chosen.sort_by_key(|one| std::cmp::Reverse(one.calls));
    chosen
}

/// First words of statements that are no utility statements.
const PLANNABLE: [&str; 8] = [
    "select", "insert", "update", "delete", "merge", "with", "values", "table",
];

/// Whether a script can have it: it is no utility statement.
fn is_of_clients(query: &str) -> bool {
    let first = tokens(query).into_iter().next();
    matches!(first, Some(Token::Word(word)) if PLANNABLE.contains(&word.as_str()))
}

/// The text of a statement on a user's own data: without constants, and of a utility statement the first word. pg_stat_statements leaves constants in
/// utility statements, and in statements that were begun before its records were reset.
pub fn without_values(query: &str) -> Option<String> {
    let mut tokens = tokens(query).into_iter();
    let Some(Token::Word(word)) = tokens.find(|token| *token != Token::Mark('(')) else {
        return None;
    };
    let form = match PLANNABLE.contains(&word.as_str()) {
        true => without_constants(query),
        false => None,
    };
    Some(form.unwrap_or_else(|| word.to_uppercase()))
}

/// The columns of all statements that parameters are compared with.
pub fn columns(statements: &[Recorded]) -> BTreeSet<Column> {
    let all = statements.iter().map(|one| compared(&tokens(&one.query)));
    all.flat_map(BTreeMap::into_values).collect()
}

/// The scripts as the argument `scripts` takes them: a JSON array.
pub fn scripts(statements: &[Recorded], ranges: &[Range]) -> String {
    let most = statements
        .iter()
        .map(|one| one.calls)
        .max()
        .unwrap_or(1)
        .max(1);
    let all = statements.iter().zip(1..).map(|(one, number)| {
        let weight = one.calls.saturating_mul(MOST_WEIGHT).div_ceil(most).max(1);
        json!({"name": format!("statement {number}"), "weight": weight, "text": text(one, ranges)})
    });
    let all: Vec<_> = all.collect();
    serde_json::to_string_pretty(&all).unwrap_or_default()
}

/// The text of a script: parameters with a known range are drawn, the others are listed.
fn text(statement: &Recorded, ranges: &[Range]) -> String {
    let tokens = tokens(&statement.query);
    let (compared, stored) = (compared(&tokens), stored(&tokens));
    let mut text = format!(
        "-- A start, to be edited: {} calls, {} blocks changed.\n",
        statement.calls, statement.blocks
    );
    for number in parameters(&statement.query) {
        let range = (compared.get(&number))
            .and_then(|column| ranges.iter().find(|range| range.column == *column));
        if let Some(range) = range {
            text.push_str(&format!(
                "-- ${number}: range of {}\n\\set p{number} random({}, {})\n",
                in_comment(&range.column),
                range.low,
                range.high
            ));
            continue;
        }
        let of = match (compared.get(&number), stored.get(&number)) {
            (Some(column), _) => format!(" is compared with {}", in_comment(column)),
            (_, Some(column)) => format!(" is stored in {}", in_comment(column)),
            _ => String::new(),
        };
        text.push_str(&format!("-- choose: ${number}{of}\n"));
    }
    text.push_str(&with_variables(&statement.query));
    text.push_str(";\n");
    text
}

/// A column in a comment, which ends with the line.
fn in_comment(column: &Column) -> String {
    let name = format!("{}.{}", column.table, column.column);
    name.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        spec::ScriptArguments,
        workload::{self, script::Document},
    };
    use proptest::prelude::*;

    fn one(query: &str, calls: u64, blocks: u64) -> Recorded {
        Recorded {
            query: query.into(),
            calls,
            blocks,
        }
    }

    fn column(table: &str, column: &str) -> Column {
        Column {
            schema: None,
            table: table.into(),
            column: column.into(),
        }
    }

    #[test]
    fn the_first_by_calls_and_the_first_by_blocks_are_chosen() {
        let all = vec![
            one("SELECT 1", 1000, 0),
            one("select 2", 900, 0),
            one("UPDATE t SET n = $1", 3, 5000),
            one("VACUUM t", 5000, 9000),
            one("COMMIT", 90_000, 0),
        ];
        let queries = |count| -> Vec<String> {
            let chosen = chosen(all.clone(), count).into_iter();
            chosen.map(|one| one.query).collect()
        };
        assert_eq!(queries(2), ["SELECT 1", "UPDATE t SET n = $1"]);
        assert_eq!(queries(9).len(), 3);
        assert_eq!((count(0), count(1), count(101)), (None, Some(1), None));
    }

    #[test]
    fn a_statement_on_a_users_own_data_has_no_values() {
        for (query, stored) in [
            (
                "SELECT card FROM secret WHERE id = 7",
                Some("SELECT card FROM secret WHERE id = ?"),
            ),
            (
                "(SELECT $1) UNION VALUES ('4711')",
                Some("(SELECT $1) UNION VALUES (?)"),
            ),
            ("SET app.tenant = '4711-0815'", Some("SET")),
            ("/* 4711 */ call book(4711)", Some("CALL")),
            ("NOTIFY sold, '4711'", Some("NOTIFY")),
            ("EXPLAIN SELECT 4711", Some("EXPLAIN")),
            ("SELECT E'\\'4711'", Some("SELECT")),
            ("'4711'", None),
            ("", None),
        ] {
            assert_eq!(without_values(query).as_deref(), stored, "{query}");
        }
    }

    #[test]
    fn what_comes_out_is_a_script_and_lists_what_is_to_be_chosen() {
        let statements = [
            one("SELECT stock FROM item WHERE id = $1 AND note = $2", 20, 0),
            one("UPDATE item SET stock = $1::int WHERE id=$2", 1, 7),
        ];
        let all = columns(&statements);
        assert_eq!(all.len(), 2);
        let ranges = [Range {
            column: column("item", "id"),
            low: -3,
            high: 500,
        }];
        let text = scripts(&statements, &ranges);
        let document = Document::of(&ScriptArguments {
            scripts: Some(text),
            ..ScriptArguments::default()
        })
        .expect("scripts");
        let weights: Vec<u32> = document.scripts.iter().map(|s| s.weight).collect();
        assert_eq!(weights, [1000, 50]);
        assert_eq!(
            document.scripts[0].text,
            "-- A start, to be edited: 20 calls, 0 blocks changed.\n-- $1: range of item.id\n\\set p1 random(-3, 500)\n\
             -- choose: $2 is compared with item.note\nSELECT stock FROM item WHERE id = :p1 AND note = :p2;\n"
        );
        assert!(document.scripts[1].text.contains("-- choose: $1\n"));
        let insert = one("INSERT INTO item (note) VALUES ($1)", 1, 1);
        assert!(super::text(&insert, &ranges).contains("-- choose: $1 is stored in item.note\n"));
        assert!(
            document.scripts[1]
                .text
                .ends_with("SET stock = :p1::int WHERE id=:p2;\n")
        );
        document
            .compile(workload::script::Settings::default().protocol())
            .expect("it can be compiled");
    }

    proptest! {
        /// Statements are of other users, too.
        #[test]
        fn no_statement_stops_it(query in "[ a-zA-Z0-9$'\"./*=(),;\\n:é-]{0,60}") {
            let statement = one(&query, 1, 1);
            let text = text(&statement, &[]);
            prop_assert!(text.starts_with("-- A start"));
            without_values(&format!("SELECT {query}"));
            columns(&[statement]);
        }
    }
}
