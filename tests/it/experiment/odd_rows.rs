//! Experiments whose stored rows or figures cannot be used.

use super::{LONGER, SHORT, outcomes, targets, wait_for, wait_for_no_run};
use crate::common::{execute, row, rows, server};
use pgfsbench_tests::{LONG, assert_columns, wait_until};
use postgres::Client;

#[test]
fn one_that_cannot_be_read_is_paused_and_a_figure_of_zero_counts() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    one_that_cannot_be_read_is_paused_and_the_next_one_goes_on(&mut client);
    a_figure_of_zero_counts_and_is_found(&mut client);
}

fn one_that_cannot_be_read_is_paused_and_the_next_one_goes_on(client: &mut Client) {
    execute(
        client,
        &format!(
            "SELECT fsbench.experiment('odd', '{{a,b}}', start => false, {LONGER}), fsbench.experiment('sound', '{{a,b}}', start => false, {LONGER}); \
             UPDATE fsbench.experiment SET looks = '\"never\"' WHERE experiment = 'odd'; \
             SELECT fsbench.resume_experiment('odd'), fsbench.resume_experiment('sound')"
        ),
    );
    wait_until("the next one is on", LONG, || {
        let on = "SELECT run_id IS NOT NULL FROM fsbench.experiments WHERE experiment = 'sound'";
        (row(client, on) == "t").then_some(())
    });
    assert_columns(
        client,
        "FROM fsbench.experiments WHERE experiment = 'odd'",
        &[
            ("status", "paused"),
            (
                "status_reason ~ '^it could not go on: the stored experiment cannot be read'",
                "t",
            ),
        ],
    );
    execute(
        client,
        "SELECT fsbench.cancel_experiment('sound'), fsbench.cancel_experiment('odd')",
    );
    wait_for_no_run(client);
}

/// No ratio can be made of it.
fn a_figure_of_zero_counts_and_is_found(client: &mut Client) {
    execute(
        client,
        &format!(
            "CREATE FUNCTION zero() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.tps := 0; RETURN NEW; END'; \
             CREATE TRIGGER zero BEFORE UPDATE ON fsbench.run_log FOR EACH ROW WHEN (NEW.target = 'b' AND NEW.status = 'done') EXECUTE FUNCTION zero(); \
             SELECT fsbench.experiment('e', '{{a,b}}', baseline => 'a', {SHORT})"
        ),
    );
    wait_for(client, "e");
    assert_eq!(outcomes(client, "e"), ["measured 6"]);
    let why = "SELECT DISTINCT x.why, f.severity, f.message FROM fsbench.experiment_run x JOIN fsbench.finding f USING (run_id) \
         JOIN fsbench.experiment USING (experiment_id) WHERE f.code = 'not_positive' AND experiment = 'e'";
    assert_eq!(
        rows(client, why),
        ["not_positive: tps is 0|warning|tps is 0, of which no ratio can be made"]
    );
    assert_columns(
        client,
        "FROM fsbench.compare('e')",
        &[
            ("target", "b"),
            ("ratio IS NULL", "t"),
            ("warnings ~ 'not_positive'", "t"),
        ],
    );
    let again = "SELECT count(*) FROM fsbench.experiment_run x JOIN fsbench.experiment USING (experiment_id), fsbench.judge(x.run_id) j \
         WHERE j.code = 'not_positive' AND experiment = 'e'";
    assert_eq!(row(client, again), "3");
}
