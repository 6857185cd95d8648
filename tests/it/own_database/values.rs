//! Results have no values of the user's tables.

use crate::common::{execute, row, rows};
use crate::report::has_python;
use postgres::Client;

/// The number of the card in the user's table.
const CARD: &str = "4711-0815";

/// Tables of the extension that have a row with this text.
fn tables_with(client: &mut Client, text: &str) -> Vec<String> {
    let all = "SELECT oid::regclass FROM pg_class WHERE relnamespace = 'fsbench'::regnamespace AND relkind IN ('r', 'p')";
    let mut tables = rows(client, all);
    tables.retain(|table| {
        let found = format!("SELECT EXISTS (SELECT FROM {table} t WHERE t::text LIKE '%{text}%')");
        row(client, &found) == "t"
    });
    tables
}

pub(super) fn are_in_no_table_export_or_page(client: &mut Client) {
    // A text of a script is stored: the search finds it.
    assert_ne!(tables_with(client, "SELECT stock FROM item"), [""; 0]);
    assert_eq!(tables_with(client, CARD), [""; 0], "tables with {CARD}");
    let exported = format!(
        "SELECT line FROM fsbench.export(run_ids => ARRAY(SELECT run_id FROM fsbench.run_log)) line WHERE line LIKE '%{CARD}%'"
    );
    let lines = rows(client, &exported);
    assert_eq!(lines, [""; 0], "lines of the export with {CARD}");
    let test = "own_database::a_copy_gives_no_role_a_right_and_no_result_a_value";
    if !has_python(client, test) {
        return;
    }
    execute(client, "CREATE EXTENSION pgfsbench_report CASCADE");
    let page = row(
        client,
        "SELECT fsbench.report(run_ids => ARRAY(SELECT run_id FROM fsbench.run_log WHERE status = 'done'))",
    );
    let lines: Vec<_> = page.lines().filter(|line| line.contains(CARD)).collect();
    assert_eq!(lines, [""; 0], "lines of the page with {CARD}");
}
