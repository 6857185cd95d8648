//! How pages read: all at one moment, and nothing else.

use super::{OTHERS, parts};
use crate::common::{execute, row};
use pgfsbench_tests::{SHORT, TestServer};
use postgres::{Client, SimpleQueryMessage};

/// A page shows an experiment whole that is removed meanwhile: it waits for a lock between two charts.
pub(super) fn of_one_moment(server: &TestServer, client: &mut Client) {
    execute(client, "BEGIN; LOCK TABLE fsbench.fsync");
    let page = server.background("postgres", "SELECT fsbench.report(run_ids => '{200,201}')");
    let waits = format!(
        "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = {}",
        page.pid
    );
    server.wait_for("postgres", &waits, SHORT);
    let mut other = server.connect("postgres");
    execute(
        &mut other,
        "DELETE FROM fsbench.recovery WHERE run_id IN (200, 201)",
    );
    execute(client, "COMMIT");
    let messages = page.join().expect("a page");
    let page = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    assert!(parts(page.expect("a page")).contains(&"recovery"));
}

/// No page of any kind takes more than reading: also a standby has it.
pub(super) fn writes_nothing(server: &TestServer, client: &mut Client) {
    execute(client, OTHERS);
    let standby = server.copy(&["--write-recovery-conf"]);
    standby.start_again();
    let mut on_standby = standby.connect("postgres");
    assert_eq!(row(&mut on_standby, "SELECT pg_is_in_recovery()"), "t");
    execute(client, "BEGIN READ ONLY");
    for call in [
        "report('new server')",
        "report('new server', redact => true)",
        "report(study => 'heron-2010')",
        "report(run_ids => '{200,201}')",
        "report(history => 'weekly')",
        "report('new server', format => 'text')",
        "report('new server', format => 'markdown')",
        "report(study => 'heron-2010', format => 'text')",
        "report(history => 'weekly', format => 'markdown')",
        "chart_svg('new server')",
        "chart_svg('heron-2010')",
    ] {
        let call = format!("SELECT fsbench.{call}");
        assert!(row(client, &call).len() > 100, "{call}");
        assert!(row(&mut on_standby, &call).len() > 100, "{call}");
    }
    execute(client, "COMMIT");
}
