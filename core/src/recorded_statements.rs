//! A script of statements that pg_stat_statements has recorded: a start, to be edited. Their constants are parameters there, and a parameter
//! that is compared with an integer column gets values from the column's range.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::json;

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

/// Whether a script can have it: it is no utility statement.
fn is_of_clients(query: &str) -> bool {
    let first = tokens(query).into_iter().next();
    let words = [
        "select", "insert", "update", "delete", "merge", "with", "values", "table",
    ];
    matches!(first, Some(Token::Word(word)) if words.contains(&word.as_str()))
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

/// A part of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A keyword or a name, in lower case.
    Word(String),
    /// A name in quotes.
    Quoted(String),
    Parameter(u32),
    /// A constant.
    Constant,
    Operator(String),
    /// A single character: parenthesis, comma, dot, semicolon.
    Mark(char),
}

/// Where a parameter stands, and its number.
struct Place {
    start: usize,
    end: usize,
    number: u32,
    /// Where the type of a constant stands before it.
    of_type: Option<std::ops::Range<usize>>,
}

/// Types that may stand before a constant, and cannot before a parameter.
const TYPES: [&str; 20] = [
    "bit",
    "box",
    "bytea",
    "cidr",
    "circle",
    "date",
    "inet",
    "interval",
    "json",
    "jsonb",
    "line",
    "lseg",
    "numeric",
    "path",
    "point",
    "polygon",
    "time",
    "timestamp",
    "timestamptz",
    "uuid",
];

/// Where a type stands at the end of these tokens, which begin at `starts`: `interval`, `timestamp with time zone`.
fn type_at_end(tokens: &[Token], starts: &[usize], end: usize) -> Option<std::ops::Range<usize>> {
    let word = |back: usize| match tokens.len().checked_sub(back).and_then(|at| tokens.get(at)) {
        Some(Token::Word(word)) => word.as_str(),
        _ => "",
    };
    let has_zone = word(1) == "zone" && word(2) == "time" && ["with", "without"].contains(&word(3));
    let back = match has_zone {
        true if ["time", "timestamp"].contains(&word(4)) => 4,
        true => return None,
        false if TYPES.contains(&word(1)) => 1,
        false => return None,
    };
    Some(starts[tokens.len() - back]..end)
}

fn tokens(sql: &str) -> Vec<Token> {
    scan(sql).0
}

/// The tokens of a statement, and the places of its parameters. Comments and constants are skipped.
fn scan(sql: &str) -> (Vec<Token>, Vec<Place>) {
    let bytes = sql.as_bytes();
    let (mut tokens, mut places) = (Vec::new(), Vec::new());
    // Where each token begins, and where the last one ends.
    let (mut starts, mut end): (Vec<usize>, usize) = (Vec::new(), 0);
    let mut at = 0;
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80;
    while at < bytes.len() {
        let rest = &sql[at..];
        let first = bytes[at];
        let length = match first {
            _ if first.is_ascii_whitespace() => 1,
            b'-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => end_of_comment(rest),
            b'\'' | b'"' => {
                let end = end_of_quotes(rest, first);
                tokens.push(match first {
                    b'"' => {
                        let inner = rest[1..end].trim_end_matches('"');
                        Token::Quoted(inner.replace("\"\"", "\""))
                    }
                    _ => Token::Constant,
                });
                end
            }
            b'$' => {
                let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
                match rest[1..=digits].parse() {
                    Ok(number) => {
                        places.push(Place {
                            start: at,
                            end: at + 1 + digits,
                            number,
                            of_type: type_at_end(&tokens, &starts, end),
                        });
                        tokens.push(Token::Parameter(number));
                        1 + digits
                    }
                    Err(_) => {
                        tokens.push(Token::Constant);
                        end_of_dollars(rest)
                    }
                }
            }
            _ if first.is_ascii_digit() => {
                tokens.push(Token::Constant);
                let is_of_number = |b: &u8| b.is_ascii_alphanumeric() || *b == b'.';
                rest.bytes().take_while(is_of_number).count()
            }
            _ if is_word(first) => {
                let length = rest.bytes().take_while(|b| is_word(*b)).count();
                tokens.push(Token::Word(rest[..length].to_lowercase()));
                length
            }
            _ if b"+-*/<>=~!@#%^&|`?:".contains(&first) => {
                let is_of_operator = |b: &u8| b"+-*/<>=~!@#%^&|`?:".contains(b);
                let length = rest.bytes().take_while(is_of_operator).count();
                tokens.push(Token::Operator(rest[..length].to_owned()));
                length
            }
            _ => {
                tokens.push(Token::Mark(char::from(first)));
                1
            }
        };
        if tokens.len() > starts.len() {
            starts.push(at);
            end = at + length;
        }
        at += length;
    }
    (tokens, places)
}

fn end_of_comment(text: &str) -> usize {
    text.find("*/").map_or(text.len(), |end| end + 2)
}

/// The end of a text in quotes, which are doubled in it.
fn end_of_quotes(text: &str, quote: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        if bytes[at] == quote {
            if bytes.get(at + 1) != Some(&quote) {
                return at + 1;
            }
            at += 1;
        }
        at += 1;
    }
    text.len()
}

/// The end of a text in dollar quotes, or of a lone dollar sign.
fn end_of_dollars(text: &str) -> usize {
    let Some(end) = text[1..].find('$') else {
        return 1;
    };
    let tag = &text[..end + 2];
    let inner = &text[tag.len()..];
    inner
        .find(tag)
        .map_or(text.len(), |end| tag.len() + end + tag.len())
}

/// Numbers of the parameters of a statement, each once.
fn parameters(sql: &str) -> BTreeSet<u32> {
    scan(sql).1.iter().map(|place| place.number).collect()
}

/// The statement with variables of a script in place of its parameters. A type before a parameter becomes a cast.
fn with_variables(sql: &str) -> String {
    let mut text = String::new();
    let mut from = 0;
    for place in scan(sql).1 {
        let number = place.number;
        match place.of_type {
            Some(of_type) => {
                text.push_str(&sql[from..of_type.start]);
                text.push_str(&format!(":p{number}::{}", &sql[of_type]));
            }
            None => {
                text.push_str(&sql[from..place.start]);
                text.push_str(&format!(":p{number}"));
            }
        }
        from = place.end;
    }
    text.push_str(&sql[from..]);
    text.trim_end().trim_end_matches(';').to_owned()
}

/// Parameters that a statement compares for equality with a column in its only WHERE, or in the condition of a join.
fn compared(tokens: &[Token]) -> BTreeMap<u32, Column> {
    let (only, named) = (only_table(tokens), named_tables(tokens));
    let starts =
        |token: &Token| matches!(token, Token::Word(w) if ["where", "on"].contains(&w.as_str()));
    let Some(start) = tokens.iter().position(starts) else {
        return BTreeMap::new();
    };
    let mut found = BTreeMap::new();
    for (at, part) in tokens.windows(3).enumerate().skip(start) {
        let [name, Token::Operator(operator), Token::Parameter(number)] = part else {
            continue;
        };
        let (Some(column), "=") = (name_of(name), operator.as_str()) else {
            continue;
        };
        let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
        let qualifier = match before(1) {
            Some(Token::Mark('.')) => before(2).and_then(name_of),
            _ => None,
        };
        let first = if qualifier.is_some() { 3 } else { 1 };
        // An operator or a cast behind the parameter may change its value.
        let is_whole = !matches!(tokens.get(at + 3), Some(Token::Operator(_)));
        let is_plain = matches!(before(first), Some(Token::Mark('(') | Token::Word(_)));
        let table = match &qualifier {
            Some(name) => named.get(name).cloned().flatten(),
            None => only.clone(),
        };
        if let Some(table) = table.filter(|_| is_whole && is_plain) {
            found.insert(*number, table.column(column));
        }
    }
    found
}

/// Parameters that a statement stores as they are: in a list of VALUES behind a list of columns, or by SET.
fn stored(tokens: &[Token]) -> BTreeMap<u32, Column> {
    let word = |at: usize| word_at(tokens, at);
    match word(0) {
        "insert" => inserted(tokens).unwrap_or_default(),
        "update" => {
            let Some((table, next)) = table_at(tokens, 1) else {
                return BTreeMap::new();
            };
            let is_end = |at: &usize| ["where", "from"].contains(&word(*at));
            let end = (next..tokens.len()).find(is_end).unwrap_or(tokens.len());
            let assigned = |at: usize| {
                let [before, name, operator, value] = tokens.get(at..at + 4)? else {
                    return None;
                };
                let begins = *before == Token::Mark(',') || *before == Token::Word("set".into());
                let ends = at + 4 == end || tokens.get(at + 4) == Some(&Token::Mark(','));
                match (operator, value) {
                    (Token::Operator(o), Token::Parameter(number))
                        if o == "=" && begins && ends =>
                    {
                        Some((*number, table.column(name_of(name)?)))
                    }
                    _ => None,
                }
            };
            (next..end).filter_map(assigned).collect()
        }
        _ => BTreeMap::new(),
    }
}

/// INSERT INTO table (columns) VALUES (values), ...
fn inserted(tokens: &[Token]) -> Option<BTreeMap<u32, Column>> {
    let (table, next) = table_at(tokens, 2)?;
    let end = next + tokens[next..].iter().position(|t| *t == Token::Mark(')'))?;
    let columns: Vec<String> = tokens[next..end].iter().filter_map(name_of).collect();
    // Names, commas between them, and the parenthesis before them.
    let is_list = tokens[next] == Token::Mark('(') && end - next == 2 * columns.len();
    if !is_list || word_at(tokens, end + 1) != "values" {
        return None;
    }
    let mut found = BTreeMap::new();
    let (mut depth, mut column) = (0, 0);
    for (at, token) in tokens.iter().enumerate().skip(end + 2) {
        match token {
            Token::Mark('(') => depth += 1,
            Token::Mark(')') => depth -= 1,
            Token::Mark(',') if depth == 1 => column += 1,
            Token::Mark(',') if depth == 0 => column = 0,
            Token::Word(_) if depth == 0 => break,
            Token::Parameter(number) if depth == 1 => {
                let around = [tokens.get(at - 1), tokens.get(at + 1)];
                let is_alone = around.iter().all(|t| matches!(t, Some(Token::Mark(_))));
                if let Some(name) = columns.get(column).filter(|_| is_alone) {
                    found.insert(*number, table.column(name.clone()));
                }
            }
            _ => {}
        }
    }
    Some(found)
}

/// A table as a statement names it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Table {
    schema: Option<String>,
    name: String,
}

impl Table {
    fn column(&self, column: String) -> Column {
        Column {
            schema: self.schema.clone(),
            table: self.name.clone(),
            column,
        }
    }
}

/// The table whose name begins at a token, with ONLY before it or not, and where the name ends.
fn table_at(tokens: &[Token], at: usize) -> Option<(Table, usize)> {
    let at = at + usize::from(word_at(tokens, at) == "only");
    let first = name_of(tokens.get(at)?)?;
    Some(match tokens.get(at + 1) {
        Some(Token::Mark('.')) => {
            let name = name_of(tokens.get(at + 2)?)?;
            let schema = Some(first);
            (Table { schema, name }, at + 3)
        }
        _ => {
            let (schema, name) = (None, first);
            (Table { schema, name }, at + 1)
        }
    })
}

/// Tables by the names that qualify columns: their aliases, or their own names. None for a name that means more than one.
fn named_tables(tokens: &[Token]) -> BTreeMap<String, Option<Table>> {
    let word = |at: usize| word_at(tokens, at);
    let mut named: BTreeMap<String, Option<Table>> = BTreeMap::new();
    let mut insert = |at: usize| -> Option<usize> {
        let (table, next) = table_at(tokens, at)?;
        if tokens.get(next) == Some(&Token::Mark('(')) {
            return None;
        }
        let next = next + usize::from(word(next) == "as");
        let alias =
            (tokens.get(next).and_then(name_of)).filter(|_| !ENDS_TABLE.contains(&word(next)));
        let next = next + usize::from(alias.is_some());
        let table = Some(table);
        let name = alias.or_else(|| Some(table.as_ref()?.name.clone()))?;
        let known = named.entry(name).or_insert_with(|| table.clone());
        if *known != table {
            *known = None;
        }
        Some(next)
    };
    for at in 0..tokens.len() {
        let is_intro = ["from", "join", "update", "into", "using"].contains(&word(at));
        // FOR UPDATE OF, FOR NO KEY UPDATE OF, DO UPDATE SET.
        let is_intro = is_intro && !["of", "set"].contains(&word(at + 1));
        let mut next = is_intro.then(|| insert(at + 1)).flatten();
        // A list of tables.
        while let Some(at) = next.filter(|&at| tokens.get(at) == Some(&Token::Mark(','))) {
            next = insert(at + 1);
        }
    }
    named
}

/// Words that may stand behind a table, and are no alias.
const ENDS_TABLE: [&str; 28] = [
    "cross",
    "default",
    "except",
    "fetch",
    "for",
    "full",
    "group",
    "having",
    "inner",
    "intersect",
    "join",
    "left",
    "limit",
    "natural",
    "offset",
    "on",
    "order",
    "overriding",
    "returning",
    "right",
    "select",
    "set",
    "tablesample",
    "union",
    "using",
    "values",
    "where",
    "window",
];

fn word_at(tokens: &[Token], at: usize) -> &str {
    match tokens.get(at) {
        Some(Token::Word(word)) => word.as_str(),
        _ => "",
    }
}

fn name_of(token: &Token) -> Option<String> {
    match token {
        Token::Word(name) | Token::Quoted(name) => Some(name.clone()),
        _ => None,
    }
}

/// The table of a statement that has only one.
fn only_table(tokens: &[Token]) -> Option<Table> {
    let word = |at: usize| word_at(tokens, at);
    let count = |wanted: &str| (0..tokens.len()).filter(|&at| word(at) == wanted).count();
    let is_more = [
        "with", "join", "union", "using", "lateral", "merge", "insert",
    ];
    if is_more.iter().any(|wanted| count(wanted) > 0) || count("where") != 1 {
        return None;
    }
    let starts = count("select") + count("update") + count("delete");
    // SELECT ... FOR UPDATE has the word, too.
    let of_locks = (1..tokens.len())
        .filter(|&at| word(at) == "update" && ["for", "key"].contains(&word(at - 1)))
        .count();
    if starts - of_locks != 1 {
        return None;
    }
    // IS DISTINCT FROM has the word, too.
    let is_from = |at: usize| word(at) == "from" && (at == 0 || word(at - 1) != "distinct");
    let froms: Vec<usize> = (0..tokens.len()).filter(|&at| is_from(at)).collect();
    let at = match (word(0), &froms[..]) {
        ("update", []) => 0,
        ("select" | "delete", [from]) => *from,
        _ => return None,
    };
    let (table, next) = table_at(tokens, at + 1)?;
    // A list of tables, or a function.
    let up_to = (next..tokens.len()).find(|&at| ["where", "set"].contains(&word(at)))?;
    let is_list = tokens[next..up_to]
        .iter()
        .any(|token| matches!(token, Token::Mark(',' | '(')));
    (!is_list).then_some(table)
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

    fn found(sql: &str) -> Vec<(u32, String)> {
        let all = compared(&tokens(sql)).into_iter();
        all.map(|(number, column)| (number, column.column))
            .collect()
    }

    #[test]
    fn a_parameter_is_of_a_column_only_where_that_is_clear() {
        let id = |number| vec![(number, "id".to_owned())];
        for (sql, expected) in [
            ("SELECT stock FROM item WHERE id = $1", id(1)),
            (
                "SELECT stock FROM shop.item AS i WHERE i.id = $1 FOR UPDATE",
                id(1),
            ),
            ("UPDATE item SET stock = stock - $1 WHERE (id = $2)", id(2)),
            (
                "UPDATE item SET n = $1 WHERE id = $2 AND note IS DISTINCT FROM $3",
                id(2),
            ),
            (
                "DELETE FROM ONLY \"Item\" WHERE \"id\"=$1 RETURNING *",
                id(1),
            ),
            (
                "SELECT * FROM item WHERE kind IN ($1, $2) AND id = $3 LIMIT $4",
                id(3),
            ),
            (
                "SELECT * FROM orders AS o JOIN item i ON i.id = o.item AND i.id = $1 WHERE o.n = $2 FOR UPDATE OF o",
                vec![(1, "id".to_owned()), (2, "n".to_owned())],
            ),
            (
                "SELECT * FROM item i, shop.orders WHERE orders.id = $1",
                id(1),
            ),
            (
                "UPDATE orders SET total = (SELECT sum(l.n) FROM lines l WHERE l.id = $1) WHERE n = $2",
                id(1),
            ),
            // One name of two tables.
            (
                "SELECT * FROM item i WHERE i.id = $1 AND EXISTS (SELECT FROM orders i WHERE i.id = $2)",
                vec![],
            ),
            ("SELECT * FROM item i WHERE n * i.id = $1", vec![]),
            // Not clear: two tables, an expression, a range, a subquery, an insert.
            ("SELECT * FROM item i, orders o WHERE id = $1", vec![]),
            (
                "SELECT * FROM item JOIN orders USING (id) WHERE id = $1",
                vec![],
            ),
            ("SELECT * FROM item WHERE price * id = $1", vec![]),
            ("SELECT * FROM item WHERE id = $1 + n", vec![]),
            ("SELECT * FROM item WHERE id > $1", vec![]),
            (
                "SELECT * FROM item WHERE id = (SELECT max(id) FROM item WHERE id = $1)",
                vec![],
            ),
            ("SELECT * FROM f(1) WHERE id = $1", vec![]),
            ("INSERT INTO item VALUES ($1)", vec![]),
            ("UPDATE item SET id = $1", vec![]),
            ("SELECT ' WHERE id = ', $1 -- WHERE id = $2", vec![]),
        ] {
            assert_eq!(found(sql), expected, "{sql}");
        }
    }

    #[test]
    fn a_parameter_that_is_stored_as_it_is_has_a_column() {
        let found = |sql: &str| -> Vec<(u32, String)> {
            let all = stored(&tokens(sql)).into_iter();
            all.map(|(number, column)| (number, in_comment(&column)))
                .collect()
        };
        let of = |all: &[(u32, &str)]| -> Vec<(u32, String)> {
            all.iter()
                .map(|(number, name)| (*number, (*name).to_owned()))
                .collect()
        };
        for (sql, expected) in [
            (
                "INSERT INTO shop.orders (customer, \"At\", total) VALUES ($1, now(), $2), ($3, $4, $5 * 2) ON CONFLICT DO NOTHING",
                of(&[
                    (1, "orders.customer"),
                    (2, "orders.total"),
                    (3, "orders.customer"),
                    (4, "orders.At"),
                ]),
            ),
            (
                "INSERT INTO orders (a, b) VALUES (f($1, $2), $3) RETURNING $4",
                of(&[(3, "orders.b")]),
            ),
            (
                "UPDATE item SET n = n - $1, note = $2, kind = CASE WHEN n = $3 THEN $4 END WHERE id = $5",
                of(&[(2, "item.note")]),
            ),
            ("UPDATE item i SET note = $1", of(&[(1, "item.note")])),
            ("INSERT INTO orders VALUES ($1)", vec![]),
            ("INSERT INTO orders (a) SELECT $1", vec![]),
            ("SELECT * FROM item WHERE note = $1", vec![]),
        ] {
            assert_eq!(found(sql), expected, "{sql}");
        }
    }

    #[test]
    fn a_type_before_a_constant_becomes_a_cast() {
        for (sql, expected) in [
            ("SELECT now() - interval $1", "SELECT now() - :p1::interval"),
            (
                "SELECT INTERVAL $1 day, DATE $2",
                "SELECT :p1::INTERVAL day, :p2::DATE",
            ),
            (
                "SELECT timestamp with time zone $1 AT TIME ZONE $2",
                "SELECT :p1::timestamp with time zone AT TIME ZONE :p2",
            ),
            ("SELECT date /* of */ $1;", "SELECT :p1::date"),
            ("SELECT interval, $1", "SELECT interval, :p1"),
            ("SELECT \"date\" = $1", "SELECT \"date\" = :p1"),
        ] {
            assert_eq!(with_variables(sql), expected);
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
            columns(&[statement]);
        }
    }
}
