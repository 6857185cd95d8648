//! Experiments whose stored rows cannot be used.

use super::{LONGER, targets, wait_for_no_run};
use crate::common::{execute, row, server};
use pgfsbench_tests::{LONG, assert_columns, wait_until};

#[test]
fn one_that_cannot_be_read_is_paused_and_the_next_one_goes_on() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        &format!(
            "SELECT fsbench.experiment('odd', '{{a,b}}', start => false, {LONGER}), fsbench.experiment('sound', '{{a,b}}', start => false, {LONGER}); \
             UPDATE fsbench.experiment SET looks = '\"never\"' WHERE experiment = 'odd'; \
             SELECT fsbench.resume_experiment('odd'), fsbench.resume_experiment('sound')"
        ),
    );
    wait_until("the next one is on", LONG, || {
        let on = "SELECT run_id IS NOT NULL FROM fsbench.experiments WHERE experiment = 'sound'";
        (row(&mut client, on) == "t").then_some(())
    });
    assert_columns(
        &mut client,
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
        &mut client,
        "SELECT fsbench.cancel_experiment('sound'), fsbench.cancel_experiment('odd')",
    );
    wait_for_no_run(&mut client);
}
