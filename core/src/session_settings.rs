//! Settings of sessions under which our SQL is written. A file, a database, a role or a session can give them other values, with which SQL is
//! read in another way or values are printed in another way.

/// Settings that decide how SQL is read and how values are printed. Each statement of the library is executed with these, and functions in SQL
/// and PL/pgSQL have them by sql/schema/6_install.sql. All of them are settings that every user may set.
pub const READING_AND_PRINTING: [(&str, &str); 10] = [
    ("array_nulls", "on"),
    ("backslash_quote", "safe_encoding"),
    ("bytea_output", "hex"),
    ("datestyle", "ISO"),
    ("extra_float_digits", "1"),
    ("intervalstyle", "postgres"),
    ("quote_all_identifiers", "off"),
    ("standard_conforming_strings", "on"),
    ("timezone", "GMT"),
    ("transform_null_equals", "off"),
];

/// Further settings of sessions that a worker must not have from people: with them triggers do not fire, transactions wait, rows or views are
/// hidden, or statistics are old.
pub const OF_WORKERS: [(&str, &str); 5] = [
    ("default_transaction_deferrable", "off"),
    // Not in all minor versions.
    ("restrict_nonsystem_relation_kind", ""),
    ("row_security", "on"),
    ("session_replication_role", "origin"),
    ("stats_fetch_consistency", "cache"),
];

/// The first list as options of libpq, for sessions on other servers.
pub fn as_options() -> String {
    let options = READING_AND_PRINTING.map(|(name, value)| format!("-c {name}={value}"));
    options.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The functions of the schema have the same settings as the statements of the library.
    #[test]
    fn functions_get_the_same_settings_from_the_script() {
        let script = include_str!("../../sql/schema/6_install.sql");
        let given: Vec<(&str, &str)> = script
            .split("SET ")
            .skip(1)
            .filter_map(|rest| rest.split_once(" = "))
            .map(|(name, rest)| (name, rest.split([' ', '\n', '$']).next().unwrap_or(rest)))
            .map(|(name, value)| (name, value.trim_matches('\'')))
            .collect();
        assert_eq!(given, READING_AND_PRINTING);
    }

    #[test]
    fn options_need_no_quotes() {
        let options = as_options();
        assert!(options.starts_with("-c array_nulls=on -c ") && !options.contains(['\'', '\\']));
        let words = options.split(' ');
        assert_eq!(words.count(), 2 * READING_AND_PRINTING.len());
    }
}
