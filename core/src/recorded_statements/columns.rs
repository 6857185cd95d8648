//! Which columns the parameters of a statement are compared with, or stored in. Unknown where that is not clear: a wrong column would have
//! values drawn that the application never has.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Column,
    tokens::{Token, name_of, word_at},
};

/// Parameters that a statement compares for equality with a column in its only WHERE, or in the condition of a join.
pub(super) fn compared(tokens: &[Token]) -> BTreeMap<u32, Column> {
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
pub(super) fn stored(tokens: &[Token]) -> BTreeMap<u32, Column> {
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
            Token::Mark('(' | '[') => depth += 1,
            Token::Mark(')' | ']') => depth -= 1,
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
    // Not of a table of the database: a subquery, or one of WITH.
    let hidden = subqueries(tokens);
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
    for (name, table) in &mut named {
        let is_hidden = |table: &mut Table| table.schema.is_none() && hidden.contains(&table.name);
        if hidden.contains(name) || table.as_mut().is_some_and(is_hidden) {
            *table = None;
        }
    }
    named
}

/// Names of subqueries: `(...) AS name`, and `name AS (...)` or `name (columns) AS MATERIALIZED (...)` of WITH. Others may be among them.
fn subqueries(tokens: &[Token]) -> BTreeSet<String> {
    let word = |at: usize| word_at(tokens, at);
    let mut names = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        if *token == Token::Mark(')') {
            let behind = at + 1 + usize::from(word(at + 1) == "as");
            names.extend(tokens.get(behind).and_then(name_of));
        }
        let is_before = word(at + 1) == "as";
        let behind = (at + 2..).find(|&at| !["not", "materialized"].contains(&word(at)));
        if is_before && behind.is_some_and(|at| tokens.get(at) == Some(&Token::Mark('('))) {
            let before = match token {
                // A list of columns.
                Token::Mark(')') => (0..at).rev().find(|&at| tokens[at] == Token::Mark('(')),
                _ => Some(at + 1),
            };
            let name = before
                .and_then(|at| at.checked_sub(1))
                .and_then(|at| tokens.get(at));
            names.extend(name.and_then(name_of));
        }
    }
    names
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
    use crate::recorded_statements::{in_comment, tokens::tokens};

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
            // No table of the database.
            (
                "SELECT o.* FROM (SELECT row_number() OVER () AS n, o.* FROM orders o) o WHERE o.n = $1",
                vec![],
            ),
            (
                "WITH orders (n) AS NOT MATERIALIZED (SELECT 1), item AS (SELECT 2) SELECT FROM orders o, item, shop.item AS s WHERE o.n = $1 AND item.n = $2 AND s.id = $3",
                vec![(3, "id".to_owned())],
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
            (
                "INSERT INTO orders (a, b) VALUES (ARRAY[$1, $2], $3)",
                of(&[(3, "orders.b")]),
            ),
            ("INSERT INTO orders VALUES ($1)", vec![]),
            ("INSERT INTO orders (a) SELECT $1", vec![]),
            ("SELECT * FROM item WHERE note = $1", vec![]),
        ] {
            assert_eq!(found(sql), expected, "{sql}");
        }
    }
}
