//! A witness of power cuts: numbers that another server has acknowledged to this one are counted there after it was killed.

use crate::common::rows;
use pgfsbench_tests::{LONG, Stop, TestServer, refusal};
use std::fs;
use std::process::Command;

/// The witness, and the server whose power is cut.
struct Pair {
    here: TestServer,
    there: TestServer,
}

impl Pair {
    fn start() -> Self {
        let pair = Self {
            here: TestServer::with_extension(&[]),
            there: TestServer::with_extension(&[]),
        };
        let connection = pair.there.connection("postgres");
        pair.here.value(&format!(
            "SELECT fsbench.create_target('there', connection => '{connection}')"
        ));
        pair
    }

    /// Watches until the other server, which has acknowledged some numbers, is killed.
    fn watch_until_killed(&self) {
        let watch = self
            .here
            .background("postgres", "CALL fsbench.power_cut_watch('there')");
        let on = "SELECT EXISTS (SELECT FROM fsbench.power_cut_watch WHERE ended_at IS NULL AND acknowledged >= 30)";
        self.here.wait_for("postgres", on, LONG);
        self.there.kill();
        watch.join().expect("the watch ends with the link");
    }

    /// The watches that are counted: the part of the sentence without figures, and whether some commits were acknowledged and all or none are missing.
    fn verify(&self) -> Vec<String> {
        rows(
            &mut self.here.connect("postgres"),
            "SELECT watch_id, acknowledged >= 30, missing = 0, missing = acknowledged, first_missing, regexp_replace(says, '[0-9]+ of [0-9]+', 'N') \
             FROM fsbench.power_cut_verify()",
        )
    }
}

#[test]
fn a_server_that_is_killed_has_all_that_it_has_acknowledged() {
    let pair = Pair::start();
    pair.watch_until_killed();
    let ended = "SELECT ended_by FROM fsbench.power_cut_watch";
    assert_eq!(pair.here.value(ended), "lost");
    // While that server is down nothing is known.
    let mut client = pair.here.connect("postgres");
    let down = refusal(&mut client, "SELECT * FROM fsbench.power_cut_verify()");
    assert!(down.message().contains("could not connect"), "{down}");
    pair.there.start_again();
    assert_eq!(
        pair.verify(),
        ["1|t|t|f||N acknowledged commits are missing"]
    );
    assert!(pair.verify().is_empty(), "it was counted");
    // A count that is rolled back leaves the numbers there: the next one finds them all.
    pair.watch_until_killed();
    pair.there.start_again();
    client
        .batch_execute("BEGIN; SELECT * FROM fsbench.power_cut_verify(); ROLLBACK")
        .expect("the count");
    assert_eq!(
        pair.verify(),
        ["2|t|t|f||N acknowledged commits are missing"]
    );
    // The numbers of the first watch, which was counted before, are removed there.
    let left = "SELECT count(DISTINCT mark) FROM fsbench.power_cut_commit";
    assert_eq!(pair.there.value(left), "1");
}

#[test]
fn commits_that_an_older_copy_lacks_are_counted() {
    let pair = Pair::start();
    pair.there.stop(Stop::Fast);
    let data = pair.there.data();
    let copy = data.with_extension("copy");
    let cp = |from: &std::path::Path, to: &std::path::Path| {
        let status = Command::new("cp").arg("-a").args([from, to]).status();
        assert!(status.expect("cp").success());
    };
    cp(&data, &copy);
    pair.there.start_again();
    pair.watch_until_killed();
    fs::remove_dir_all(&data).expect("the data directory is removed");
    cp(&copy, &data);
    pair.there.start_again();
    assert_eq!(
        pair.verify(),
        ["1|t|f|t|1|N acknowledged commits are missing, the first is number 1"]
    );
    fs::remove_dir_all(&copy).expect("the copy is removed");
}

#[test]
fn a_watch_without_a_cut_shows_nothing() {
    let pair = Pair::start();
    let mut client = pair.here.connect("postgres");
    client
        .batch_execute("CALL fsbench.power_cut_watch('there', '1 s')")
        .expect("it ends after its time");
    assert_eq!(
        pair.here
            .value("SELECT ended_by || ' ' || (acknowledged > 0) FROM fsbench.power_cut_watch"),
        "duration true"
    );
    let says = &rows(
        &mut client,
        "SELECT says FROM fsbench.power_cut_verify('there')",
    )[0];
    assert!(says.ends_with("so this shows nothing"), "{says}");
    // It is counted again until the server has restarted.
    pair.there.kill();
    pair.there.start_again();
    assert_eq!(
        pair.here
            .value("SELECT count(*) || ' ' || sum(missing) FROM fsbench.power_cut_verify('there')"),
        "1 0"
    );
    for (call, words) in [
        (
            "CALL fsbench.power_cut_watch('default')",
            "has no connection",
        ),
        ("CALL fsbench.power_cut_watch(NULL)", "must not be null"),
        (
            "CALL fsbench.power_cut_watch('there', '-1 s')",
            "not above zero",
        ),
        (
            "BEGIN; CALL fsbench.power_cut_watch('there')",
            "transaction block",
        ),
        ("SELECT fsbench._watch_commit(1)", "verb is unknown"),
    ] {
        let refused = refusal(&mut client, call);
        assert!(refused.message().contains(words), "{call}: {refused}");
        client.batch_execute("ROLLBACK").expect("rollback");
    }
}
