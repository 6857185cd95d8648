//! Runs whose figure no ratio can be made of.

use super::{SHORT, outcomes, targets, wait_for};
use crate::common::{execute, row, rows, server};
use pgfsbench_tests::assert_columns;

#[test]
fn a_figure_of_zero_counts_and_is_found() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        &format!(
            "CREATE FUNCTION zero() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.tps := 0; RETURN NEW; END'; \
             CREATE TRIGGER zero BEFORE UPDATE ON fsbench.run_log FOR EACH ROW WHEN (NEW.target = 'b' AND NEW.status = 'done') EXECUTE FUNCTION zero(); \
             SELECT fsbench.experiment('e', '{{a,b}}', baseline => 'a', {SHORT})"
        ),
    );
    wait_for(&mut client, "e");
    assert_eq!(outcomes(&mut client, "e"), ["measured 6"]);
    let why = "SELECT DISTINCT x.why, f.severity, f.message FROM fsbench.experiment_run x JOIN fsbench.finding f USING (run_id) WHERE f.code = 'not_positive'";
    assert_eq!(
        rows(&mut client, why),
        ["not_positive: tps is 0|warning|tps is 0, of which no ratio can be made"]
    );
    assert_columns(
        &mut client,
        "FROM fsbench.compare('e')",
        &[
            ("target", "b"),
            ("ratio IS NULL", "t"),
            ("warnings ~ 'not_positive'", "t"),
        ],
    );
    let again = "SELECT count(*) FROM fsbench.run_log r, fsbench.judge(r.run_id) j WHERE j.code = 'not_positive'";
    assert_eq!(row(&mut client, again), "3");
}
