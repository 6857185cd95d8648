//! A table of a user's own that is scanned in a copy of the user's server: its name, and whether it can be scanned.

use std::fmt;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    quoting,
    refusal::{Kind, Refusal, quoted},
    spec::values,
};

/// Bytes of a name in PostgreSQL; the server cuts off the rest.
const LONGEST: usize = 63;
/// The schema of a name without one.
const SCHEMA: &str = "public";

/// The name of a table with its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableName {
    schema: String,
    table: String,
}

impl TableName {
    /// Reads a name as SQL does: `orders`, `sales.orders`, `"Sales"."Orders"`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = text;
        loop {
            let (part, after) = identifier(rest)?;
            parts.push(part);
            match after.strip_prefix('.') {
                Some(after) => rest = after,
                None if after.is_empty() => break,
                None => return None,
            }
        }
        let table = parts.pop()?;
        let schema = parts.pop().unwrap_or_else(|| SCHEMA.into());
        parts.is_empty().then_some(Self { schema, table })
    }

    /// The name in a statement.
    pub fn sql(&self) -> String {
        let part = quoting::sql_identifier;
        format!("{}.{}", part(&self.schema), part(&self.table))
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let shown = |part: &str| match identifier(part) {
            Some((read, "")) if read == part => part.to_owned(),
            _ => quoting::sql_identifier(part),
        };
        write!(f, "{}.{}", shown(&self.schema), shown(&self.table))
    }
}

/// The identifier at the beginning of a text, and the rest of the text.
fn identifier(text: &str) -> Option<(String, &str)> {
    let (name, rest) = match text.strip_prefix('"') {
        Some(text) => in_quotes(text)?,
        None => {
            let is_part =
                |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
            let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
            let (name, rest) = text.split_at(end);
            if name.starts_with(|c: char| c.is_ascii_digit() || c == '$') {
                return None;
            }
            (name.to_ascii_lowercase(), rest)
        }
    };
    let is_name = !name.is_empty() && name.len() <= LONGEST && !name.chars().any(char::is_control);
    is_name.then_some((name, rest))
}

/// The text up to the closing quote, and the rest.
fn in_quotes(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if character != '"' {
            name.push(character);
        } else if characters.next_if(|(_, next)| *next == '"').is_some() {
            name.push('"');
        } else {
            return Some((name, &text[at + 1..]));
        }
    }
    None
}

/// The option `table`: the name with its schema.
pub fn option(name: &str, value: &Value) -> Result<Value, Refusal> {
    let text = value.as_str();
    let table = text.and_then(TableName::parse);
    table.map(|table| json!(table.to_string())).ok_or_else(|| {
        Refusal::argument(format!("invalid value of option \"{name}\""))
            .detail(match text {
                Some(text) => format!("It is {}.", quoted(text)),
                None => format!("It is {}.", values::kind(value)),
            })
            .hint("Give a name as SQL has it, such as \"orders\" or \"sales.orders\". A table without a schema is in public.")
    })
}

/// A table as it was found in the copy, with all its partitions.
#[derive(Clone, Debug, Deserialize)]
pub struct FoundTable {
    /// The column `relkind` of pg_class; None if there is no relation of the name.
    pub kind: Option<String>,
    /// Whether the relation belongs to PostgreSQL itself.
    pub is_of_system: bool,
    /// Whether the role that asked may read the table.
    pub may_read: bool,
    /// Whether policies hide rows from the role that asked.
    pub hides_rows: bool,
    /// The table itself and its partitions, or the tables that inherit from it.
    pub parts: Vec<FoundPart>,
}

/// A table or a partition.
#[derive(Clone, Debug, Deserialize)]
pub struct FoundPart {
    pub oid: u32,
    /// The name with its schema, as it stands in a statement.
    pub name: String,
    /// The column `relkind` of pg_class.
    pub kind: String,
    /// The column `relpersistence` of pg_class.
    pub persistence: String,
    /// Name of the table access method; None without storage.
    pub access_method: Option<String>,
    /// Bytes of its rows.
    pub bytes: u64,
}

/// The parts of a table that have rows of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Number and name of each.
    pub parts: Vec<(u32, String)>,
    pub bytes: u64,
}

impl FoundTable {
    /// The parts that are scanned. Refuses a table that cannot be scanned.
    pub fn parts(&self, name: &TableName) -> Result<Parts, Refusal> {
        let table = quoted(&name.to_string());
        let refuse = |kind, message: String, detail: String, hint: &str| {
            Err(Refusal::new(kind, message).detail(detail).hint(hint))
        };
        let wrong = |message: String, detail: String, hint: &str| {
            refuse(Kind::NotInThisState, message, detail, hint)
        };
        const ANOTHER: &str = "Give the name of another table.";
        let Some(kind) = &self.kind else {
            return wrong(
                format!("table {table} does not exist in the copied database"),
                "The copy has the tables that the database had when the server was copied.".into(),
                "Give the schema, too, as in \"sales.orders\", or copy the server again.",
            );
        };
        if self.is_of_system {
            return wrong(
                format!("{table} is a table of PostgreSQL itself"),
                "The server reads and writes it during the run.".into(),
                ANOTHER,
            );
        }
        if !["r", "p"].contains(&kind.as_str()) {
            return wrong(
                format!("{table} is no table"),
                format!("It is {}.", kind_in_words(kind)),
                "Give the name of a table that it reads.",
            );
        }
        if !self.may_read {
            return refuse(
                Kind::NotAllowed,
                format!("permission denied for table {table}"),
                "When the server was copied, the role that asks was not permitted to read it."
                    .into(),
                "GRANT SELECT on the table, and copy the server again.",
            );
        }
        if self.hides_rows {
            return refuse(
                Kind::NotAllowed,
                format!("permission denied for all rows of table {table}"),
                "Policies hide rows from the role that asks, and a scan reads all of them.".into(),
                "Have a superuser make the run.",
            );
        }
        if let Some(part) = self.parts.iter().find(|part| !part.can_be_read()) {
            return wrong(
                format!("a part of table {table} cannot be scanned"),
                format!("The partition {} is {}.", part.name, part.in_words()),
                "Give the name of a table whose partitions are all ordinary tables, or of one partition.",
            );
        }
        let parts = self.parts.iter().filter(|part| part.kind == "r");
        let parts = Parts {
            parts: parts.clone().map(|p| (p.oid, p.name.clone())).collect(),
            bytes: parts.map(|part| part.bytes).sum(),
        };
        if parts.bytes == 0 {
            return wrong(
                format!("table {table} is empty in the copied database"),
                "A scan of an empty table reads nothing.".into(),
                ANOTHER,
            );
        }
        Ok(parts)
    }
}

impl FoundPart {
    /// Whether it has no rows of its own, or has them in files of the usual form that a copy has.
    fn can_be_read(&self) -> bool {
        let is_heap = self.access_method.as_deref() == Some("heap");
        self.kind == "p" || self.kind == "r" && self.persistence == "p" && is_heap
    }

    fn in_words(&self) -> String {
        match (&self.kind[..], &self.persistence[..]) {
            ("r", "u") => "an unlogged table, which is empty in a copy".into(),
            ("r", "t") => "a temporary table, which a copy does not have".into(),
            ("r", _) => format!(
                "stored by the table access method {}",
                quoted(self.access_method.as_deref().unwrap_or_default())
            ),
            (kind, _) => kind_in_words(kind).into(),
        }
    }
}

fn kind_in_words(kind: &str) -> &'static str {
    match kind {
        "v" => "a view",
        "m" => "a materialized view",
        "f" => "a foreign table, whose rows are in another server",
        "i" | "I" => "an index",
        "S" => "a sequence",
        "t" => "a TOAST table",
        "c" => "a type",
        _ => "another relation",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;

    fn name(text: &str) -> TableName {
        TableName::parse(text).unwrap_or_else(|| panic!("{text} is a name"))
    }

    #[test]
    fn names_are_read_as_sql_reads_them() {
        for (text, shown, sql) in [
            ("orders", "public.orders", r#""public"."orders""#),
            ("Sales.ORDERS", "sales.orders", r#""sales"."orders""#),
            (
                r#""Sales".orders"#,
                r#""Sales".orders"#,
                r#""Sales"."orders""#,
            ),
            (
                r#""a.b"."say ""x""""#,
                r#""a.b"."say ""x""""#,
                r#""a.b"."say ""x""""#,
            ),
            ("größe$1", "public.größe$1", r#""public"."größe$1""#),
        ] {
            let name = name(text);
            assert_eq!((name.to_string(), name.sql()), (shown.into(), sql.into()));
            assert_eq!(TableName::parse(&name.to_string()), Some(name));
        }
        let long = "x".repeat(64);
        for text in [
            "",
            ".",
            "a.",
            ".a",
            "a.b.c",
            "1a",
            "$a",
            "a b",
            "a;b",
            "a--",
            "\"a",
            "\"\"",
            "a\"b\"",
            "\"a\"b",
            "\"a\nb\"",
            "(select 1)",
            &long,
        ] {
            assert_eq!(TableName::parse(text), None, "{text}");
            check::style(&option("table", &json!(text)).expect_err("no name"));
        }
        check::style(&option("table", &json!(5)).expect_err("no name"));
    }

    fn part(kind: &str, bytes: u64) -> FoundPart {
        FoundPart {
            oid: 16_400,
            name: "public.orders".into(),
            kind: kind.into(),
            persistence: "p".into(),
            access_method: (kind == "r").then(|| "heap".into()),
            bytes,
        }
    }

    fn found(kind: &str, parts: Vec<FoundPart>) -> FoundTable {
        FoundTable {
            kind: Some(kind.into()),
            is_of_system: false,
            may_read: true,
            hides_rows: false,
            parts,
        }
    }

    #[test]
    fn parts_with_rows_are_scanned() {
        let plain = found("r", vec![part("r", 8192)]);
        assert_eq!(plain.parts(&name("orders")).unwrap().bytes, 8192);
        let parts = vec![part("p", 0), part("r", 8192), part("r", 0)];
        let parts = found("p", parts).parts(&name("orders")).unwrap();
        assert_eq!((parts.parts.len(), parts.bytes), (2, 8192));
    }

    #[test]
    fn what_cannot_be_scanned_is_refused_with_the_reason() {
        let unlogged = FoundPart {
            persistence: "u".into(),
            ..part("r", 0)
        };
        let columnar = FoundPart {
            access_method: Some("columnar".into()),
            ..part("r", 8192)
        };
        let ordinary = || found("r", vec![part("r", 8192)]);
        let missing = FoundTable {
            kind: None,
            ..found("", Vec::new())
        };
        let of_system = FoundTable {
            is_of_system: true,
            ..ordinary()
        };
        let unreadable = FoundTable {
            may_read: false,
            ..ordinary()
        };
        let with_policies = FoundTable {
            hides_rows: true,
            ..ordinary()
        };
        for (table, kind, words) in [
            (missing, Kind::NotInThisState, "does not exist"),
            (of_system, Kind::NotInThisState, "PostgreSQL itself"),
            (
                found("v", vec![part("v", 0)]),
                Kind::NotInThisState,
                "is no table",
            ),
            (unreadable, Kind::NotAllowed, "permission denied for table"),
            (with_policies, Kind::NotAllowed, "all rows"),
            (
                found("p", vec![part("p", 0), part("f", 0)]),
                Kind::NotInThisState,
                "a part of",
            ),
            (
                found("r", vec![unlogged]),
                Kind::NotInThisState,
                "a part of",
            ),
            (
                found("r", vec![columnar]),
                Kind::NotInThisState,
                "a part of",
            ),
            (
                found("p", vec![part("p", 0)]),
                Kind::NotInThisState,
                "is empty",
            ),
        ] {
            let refusal = table.parts(&name("orders")).expect_err(words);
            check::style(&refusal);
            assert_eq!(refusal.kind, kind);
            assert!(refusal.message.contains(words), "{refusal}");
        }
    }
}
