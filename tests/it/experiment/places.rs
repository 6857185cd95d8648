//! Where experiments are made: in many databases, on this server and another one, and without the helper.

use super::{SHORT, outcomes, targets, wait_for, wait_for_no_run};
use crate::common::{assert_refused, create_remote_target, execute, row, rows, server};
use pgfsbench_tests::{LONG, Leaves, TestServer, assert_columns, wait_until};
use postgres::NoTls;
use std::sync::{Arc, Mutex};

/// Databases whose experiments are gone on with at the same time.
const EXPERIMENT_SLOTS: usize = 32;

#[test]
fn one_database_too_many_says_so_and_has_its_turn_when_another_is_over() {
    let server = server(&[("fsync", "off")]);
    let mut client = server.connect("postgres");
    execute(&mut client, "CREATE DATABASE model");
    {
        let mut model = server.connect("model");
        execute(&mut model, "CREATE EXTENSION pgfsbench");
        let _places = targets(&mut model, &["a", "b"]);
        execute(
            &mut model,
            &format!("SELECT fsbench.experiment('e', '{{a,b}}', start => false, {SHORT})"),
        );
    }
    let resume = "SELECT fsbench.resume_experiment('e')";
    // The first run does not end before it is released.
    let mut held = None;
    for n in 0..=EXPERIMENT_SLOTS {
        wait_until("nobody is connected", LONG, || {
            client
                .batch_execute(&format!("CREATE DATABASE d{n} TEMPLATE model"))
                .ok()
        });
        let mut session = server.connect(&format!("d{n}"));
        if n == 0 {
            execute(
                &mut session,
                "UPDATE fsbench.experiment SET parameters = parameters - 'transactions' || '{\"duration_us\": 300000000, \"rate\": 20}'; \
                 UPDATE fsbench.experiment_target SET target = 'default ' || target_number, target_name = 'default'",
            );
        }
        if n < EXPERIMENT_SLOTS {
            execute(&mut session, resume);
        } else {
            assert_refused(
                &mut session,
                resume,
                "53000",
                &[
                    "too many databases have experiments",
                    "32 databases",
                    "resume_experiment",
                ],
            );
            held = Some(session);
        }
    }
    let mut last = held.expect("the last session");
    assert_eq!(
        row(&mut last, "SELECT status FROM fsbench.experiment"),
        "recorded"
    );
    execute(
        &mut server.connect("d7"),
        "SELECT fsbench.cancel_experiment('e')",
    );
    wait_until("there is room for it", LONG, || {
        last.batch_execute(resume).ok()
    });
}

#[test]
fn runs_wait_for_the_helper_and_this_server_and_another_one_take_turns() {
    let here = server(&[]);
    without_the_helper_its_runs_wait_and_it_says_so(&here);
    here.start_anew();
    this_server_and_another_one_take_turns_and_their_devices_are_named(&here);
}

fn this_server_and_another_one_take_turns_and_their_devices_are_named(here: &TestServer) {
    let there = server(&[]);
    let mut client = here.connect("postgres");
    create_remote_target(&mut client, "there", &there);
    assert_refused(
        &mut client,
        "SELECT fsbench.experiment('e', '{default,there}', cycle => '1 min')",
        "22023",
        &["cycle cannot be set for target"],
    );
    // One of its runs would not use too many; those that are here together would.
    assert_refused(
        &mut client,
        "SELECT fsbench.experiment('e', '{default,there}', scale => 1, clients => 1, rate => 10000, duration => '1 h')",
        "55000",
        &[
            "all runs of the experiment together: the run would use too many transaction ids",
            "It needs about 4",
            "force => true",
        ],
    );
    execute(
        &mut client,
        &format!(
            "SELECT fsbench.experiment('e', '{{default,there}}', baseline => 'default', {SHORT})"
        ),
    );
    wait_for(&mut client, "e");
    assert_eq!(outcomes(&mut client, "e"), ["measured 6"]);
    let kinds = "SELECT DISTINCT r.target FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id) ORDER BY 1";
    assert_eq!(rows(&mut client, kinds), ["default", "there"]);
    execute(
        &mut client,
        "UPDATE fsbench.experiment SET too_short = false",
    );
    assert_columns(
        &mut client,
        "FROM fsbench.compare('e')",
        &[
            ("verdict", "inconclusive"),
            (
                "starts_with(says, 'inconclusive (device confounded): ')",
                "t",
            ),
        ],
    );
    here.nothing_is_left("an experiment");
    there.nothing_is_left("an experiment");
}

fn without_the_helper_its_runs_wait_and_it_says_so(server: &TestServer) {
    let notices = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&notices);
    let mut client = server
        .config("postgres", "postgres")
        .notice_callback(move |notice| {
            let mut all = sink.lock().expect("one thread");
            all.push(notice.message().to_owned());
        })
        .connect(NoTls)
        .expect("a session");
    execute(
        &mut client,
        &format!(
            "SELECT fsbench.experiment('e', filesystems => '{{ext4,xfs}}', image_size => '1GB', {SHORT})"
        ),
    );
    let said = "pgfsbench-helper is not running; the runs wait for it".to_owned();
    let told = notices.lock().expect("one thread").clone();
    assert!(told.contains(&said), "{told:?}");
    // The number is stored after it was started.
    wait_until("a run of it waits", LONG, || {
        let phase = "SELECT phase FROM fsbench.experiments";
        (row(&mut client, phase) == "provision").then_some(())
    });
    assert_columns(
        &mut client,
        "FROM fsbench.experiments",
        &[
            ("status", "running"),
            ("over_at_latest > clock_timestamp()", "t"),
        ],
    );
    let patience = "SELECT used #>> '{options,wait_for_helper_ms}' FROM fsbench.run_log";
    assert_eq!(row(&mut client, patience), "3600000");
    execute(&mut client, "SELECT fsbench.cancel_experiment('e')");
    wait_for_no_run(&mut client);
    server.nothing_is_left("runs that have waited");
}
