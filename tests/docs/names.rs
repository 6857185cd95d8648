//! Names of the extension in prose and code: there is such a table, view, column, function, argument or setting.

use crate::page::Page;
use postgres::Client;
use std::collections::BTreeSet;

/// The names that the database has.
pub struct Names {
    /// `table`, `table.column` and `function`, without the schema.
    objects: BTreeSet<String>,
    arguments: BTreeSet<String>,
    settings: BTreeSet<String>,
}

/// Ends of the names of files, which are no settings.
const FILES: [&str; 4] = ["control", "so", "toml", "service"];

fn column(client: &mut Client, sql: &str) -> BTreeSet<String> {
    let rows = client
        .query(sql, &[])
        .unwrap_or_else(|e| panic!("{sql}: {e}"));
    rows.iter().map(|row| row.get(0)).collect()
}

impl Names {
    pub fn read(client: &mut Client) -> Self {
        let objects = "SELECT proname::text FROM pg_proc WHERE pronamespace = 'fsbench'::regnamespace \
             UNION SELECT relname::text FROM pg_class WHERE relnamespace = 'fsbench'::regnamespace \
             UNION SELECT relname || '.' || attname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid \
                    WHERE relnamespace = 'fsbench'::regnamespace AND NOT attisdropped";
        let arguments = "SELECT DISTINCT unnest(proargnames)::text FROM pg_proc \
             WHERE pronamespace IN ('fsbench'::regnamespace, 'pg_catalog'::regnamespace)";
        let settings = "SELECT name FROM pg_settings WHERE name LIKE 'pgfsbench.%'";
        Self {
            objects: column(client, objects),
            arguments: column(client, arguments),
            settings: column(client, settings),
        }
    }

    fn unknown_in(&self, text: &str) -> Vec<String> {
        let mut unknown = Vec::new();
        for (at, _) in text.match_indices("fsbench.") {
            let before = text[..at].chars().next_back();
            let name = words_with_dots(&text[at + "fsbench.".len()..]);
            match before {
                Some('p' | 'g') if text[..at].ends_with("pg") => {
                    let known = self.settings.contains(&format!("pgfsbench.{name}"));
                    if !known && !FILES.contains(&name) && !name.is_empty() {
                        unknown.push(format!("there is no setting pgfsbench.{name}"));
                    }
                }
                Some(c) if c.is_alphanumeric() || "_/@-".contains(c) => {}
                _ if name.is_empty() || self.objects.contains(name) => {}
                _ => unknown.push(format!("there is no fsbench.{name}")),
            }
        }
        for (at, _) in text.match_indices(" =>") {
            let begin = text[..at]
                .rfind(|c: char| !is_of_word(c))
                .map_or(0, |i| i + 1);
            let name = &text[begin..at];
            if !name.is_empty() && !self.arguments.contains(name) {
                unknown.push(format!("no function has an argument {name}"));
            }
        }
        unknown
    }

    /// Names on a page that the database does not have.
    pub fn unknown(&self, page: &Page) -> Vec<String> {
        let spans = page.spans().into_iter();
        let mut faults: Vec<String> = spans
            .flat_map(|(line, span)| {
                let at = page.at(line);
                let unknown = self.unknown_in(span).into_iter();
                unknown.map(move |fault| format!("{at}: {fault}"))
            })
            .collect();
        for block in page.blocks.iter().filter(|b| b.kind != "text") {
            for (line, text) in (block.line + 1..).zip(block.text.lines()) {
                let at = page.at(line);
                let unknown = self.unknown_in(text).into_iter();
                faults.extend(unknown.map(|fault| format!("{at}: {fault}")));
            }
        }
        faults
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `name` or `name.column` at the beginning.
fn words_with_dots(text: &str) -> &str {
    let end = text.find(|c: char| !is_of_word(c) && c != '.');
    text[..end.unwrap_or(text.len())].trim_end_matches('.')
}
