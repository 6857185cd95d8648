//! The workload `tpcb`: balances that are not what its transactions have left fail the run.

use crate::common::{ending, execute, row, run, server};
use crate::held::Held;

#[test]
fn an_account_that_holds_something_else_fails_the_run_however_many_there_are() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    // Accounts of more than a gigabyte, ten times the pages that these need, are read only where the history names them.
    for (scale, read, which) in [(1, "all", "min"), (9, "changed", "max")] {
        let arguments = format!(
            "scale => {scale}, clients => 2, transactions => 100, warmup => '0', rate => 100, \
             options => '{{\"fillfactor\": 10, \"unlogged\": true}}'"
        );
        let sound = run(&mut client, &format!("{arguments}, keep => true"));
        let told = row(
            &mut client,
            &format!(
                "SELECT work_database, balances ->> 'accounts_read', balances ->> 'accounts', balances ->> 'fingerprint' \
                 FROM fsbench.run_log WHERE run_id = {sound}"
            ),
        );
        // The fingerprint is that of all accounts, however they were read.
        let database = told.split('|').next().expect("a name");
        let there = row(
            &mut server.connect(database),
            "SELECT sum(abalance), sum(hashint8extended(aid, abalance)) FROM pgbench_accounts WHERE abalance <> 0",
        );
        assert_eq!(told, format!("{database}|{read}|{there}"));
        execute(&mut client, &format!("DROP DATABASE \"{database}\""));

        let mut held = Held::after(&server, &arguments, 40);
        let mut other = server.connect(&held.database());
        let change = format!(
            "UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = (SELECT {which}(aid) FROM pgbench_history)"
        );
        assert_eq!(other.execute(&change, &[]).expect(&change), 1);
        held.release();
        let ended = ending(&mut client, &held.id);
        let wanted = "failed XX001; the data does not agree with what was measured";
        assert!(ended.starts_with(wanted), "{read}: {ended}");
        let detail = format!(
            "SELECT error_detail FROM fsbench.run_log WHERE run_id = {}",
            held.id
        );
        let detail = row(&mut client, &detail);
        assert!(
            detail.contains("the balances of pgbench_accounts sum up to")
                && detail.contains("(+1)"),
            "{read}: {detail}"
        );
        server.nothing_is_left_at_once();
    }
}
