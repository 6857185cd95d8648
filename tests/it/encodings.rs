//! Databases in other encodings than UTF-8: what is asked for in words that are not ASCII comes out as it went in.

use crate::common::{QUICK, assert_refused, execute, owned_directory, row, rows, run, server};
use pgfsbench_tests::assert_columns;

#[test]
fn words_that_are_not_ascii_come_out_as_they_went_in() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    for encoding in ["LATIN1", "SQL_ASCII", "EUC_JP"] {
        // The own name stands in a catalog that databases of all encodings share.
        let database = match encoding {
            "LATIN1" => "latin_gr\u{f6}\u{df}e".to_owned(),
            _ => encoding.to_ascii_lowercase(),
        };
        execute(
            &mut client,
            &format!(
                "CREATE DATABASE \"{database}\" TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'"
            ),
        );
        let mut there = server.connect(&database);
        execute(&mut there, "CREATE EXTENSION pgfsbench");
        let label = match encoding {
            "EUC_JP" => "\u{65e5}\u{672c}",
            _ => "gr\u{f6}\u{df}e",
        };
        let made = run(&mut there, &format!("{QUICK}, label => '{label}'"));
        // Through the queue too.
        let waited = row(
            &mut there,
            &format!(
                "SELECT fsbench.start({QUICK}, label => '{label} 2', options => '{{\"sample\": false}}')"
            ),
        );
        execute(&mut there, &format!("CALL fsbench.wait({waited})"));
        for (run, label) in [
            (made.clone(), label.to_owned()),
            (waited, format!("{label} 2")),
        ] {
            assert_columns(
                &mut there,
                &format!("FROM fsbench.result WHERE run_id = {run}"),
                &[
                    ("status", "done"),
                    ("label", &label),
                    ("used->>'label'", &label),
                    ("asked->>'label'", &label),
                ],
            );
        }
        // Results of the library's functions are converted, too.
        let varied = run(
            &mut there,
            &format!("{QUICK}, settings => '{{\"dynamic_library_path\": \"$libdir:{label}\"}}'"),
        );
        let said = rows(
            &mut there,
            &format!(
                "SELECT name || ' ' || b FROM fsbench.diff({made}, {varied}) WHERE b LIKE '%{label}%'"
            ),
        );
        assert_eq!(said.len(), 1, "{encoding}: {said:?}");
        let place = owned_directory("encodings.");
        let target = format!(
            "SELECT fsbench.create_target('place', directory => '{}')",
            place.path().display()
        );
        execute(&mut there, &target);
        execute(
            &mut there,
            &format!(
                "SELECT fsbench.experiment('{label}', targets => '{{default,place}}', duration => '2 s', start => false)"
            ),
        );
        assert_eq!(
            row(
                &mut there,
                &format!("SELECT fsbench.drop_experiment('{label}')")
            ),
            label
        );
        assert_eq!(
            rows(
                &mut there,
                "SELECT datname FROM pg_database WHERE datname LIKE 'fsbench%'"
            ),
            [""; 0],
            "{encoding}"
        );
        // As names, sizes, options and settings they are refused, in our words.
        let said = assert_refused(
            &mut there,
            &format!("SELECT fsbench.create_target('{label}', directory => '/tmp')"),
            "22023",
            &["is no name of a target"],
        );
        let escaped = match encoding {
            "EUC_JP" => "\\u65e5\\u672c",
            "LATIN1" => "gr\\u00f6\\u00dfe",
            _ => label,
        };
        assert!(said.contains(escaped), "{encoding}: {said}");
        for (arguments, words) in [
            (format!("target => '{label}'"), "does not exist"),
            (format!("size => '{label}'"), "size"),
            (format!("options => '{{\"{label}\": 1}}'"), "does not exist"),
            (format!("settings => '{{\"{label}\": 1}}'"), "setting"),
        ] {
            let sql = format!("SELECT fsbench.start({arguments})");
            assert_refused(&mut there, &sql, "22023", &[words]);
        }
    }
    // Text that is no UTF-8, in a database without an encoding.
    let mut there = server.connect("sql_ascii");
    assert_refused(
        &mut there,
        &format!("SELECT fsbench.start({QUICK}, label => convert_from('\\xe9', 'SQL_ASCII'))"),
        "22021",
        &["a text is not valid UTF-8", "SQL_ASCII"],
    );
}
