//! Assertions about a row, each column by its name.

use postgres::{Client, SimpleQueryMessage};

/// In the place of a value: the column is only shown when another one fails.
pub const SHOWN: &str = "\0";

/// Asserts that `SELECT columns rest` gives one row, in which each column, an expression, has its value of the list, as `psql -At` would show it. A
/// failure shows all of them and names those that differ.
#[track_caller]
pub fn assert_columns(client: &mut Client, rest: &str, columns: &[(&str, &str)]) {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let sql = format!("SELECT {} {rest}", names.join(", "));
    let messages = match client.simple_query(&sql) {
        Ok(messages) => messages,
        Err(error) => panic!("{sql}: {error:?}"),
    };
    let rows: Vec<Vec<&str>> = messages
        .iter()
        .filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        })
        .map(|row| (0..row.len()).map(|i| row.get(i).unwrap_or("")).collect())
        .collect();
    let [values] = rows.as_slice() else {
        panic!("{sql}: {} rows, not 1: {rows:?}", rows.len());
    };
    assert_eq!(values.len(), columns.len(), "columns of {sql}");
    if let Some(difference) = difference(columns, values) {
        panic!("{rest}\n{difference}");
    }
}

/// All columns with their values, if one of them is not what it should be.
fn difference(columns: &[(&str, &str)], values: &[&str]) -> Option<String> {
    let differs = |wanted: &str, value: &str| wanted != SHOWN && wanted != value;
    let pairs = || columns.iter().zip(values);
    pairs()
        .any(|((_, wanted), value)| differs(wanted, value))
        .then(|| {
            let line = |((name, wanted), value): (&(&str, &str), &&str)| {
                let instead = match differs(wanted, value) {
                    true => format!(", not {wanted:?}  <--"),
                    false => String::new(),
                };
                format!("  {name}: {value:?}{instead}\n")
            };
            pairs().map(line).collect()
        })
}

#[cfg(test)]
mod tests {
    use super::{SHOWN, difference};

    #[test]
    fn the_column_that_differs_is_named() {
        let columns = [("status", "done"), ("tps > 0", "t"), ("tps", SHOWN)];
        assert_eq!(difference(&columns, &["done", "t", "5"]), None);
        assert_eq!(
            difference(&columns, &["done", "f", "0"]).as_deref(),
            Some("  status: \"done\"\n  tps > 0: \"f\", not \"t\"  <--\n  tps: \"0\"\n")
        );
    }
}
