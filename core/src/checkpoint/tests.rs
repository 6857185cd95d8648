use super::*;
use proptest::prelude::*;

/// Recorded from PostgreSQL 15.
const STARTING: &str = "checkpoint starting: immediate force wait";
const COMPLETE_15: &str = "checkpoint complete: wrote 925 buffers (5.6%); 0 WAL file(s) added, 0 removed, 1 recycled; \
    write=0.010 s, sync=0.004 s, total=0.020 s; sync files=302, longest=0.003 s, average=0.001 s; \
    distance=4225 kB, estimate=4225 kB";
const COMPLETE_18: &str = "checkpoint complete: wrote 925 buffers (5.6%), wrote 3 SLRU buffers; 0 WAL file(s) added, \
    0 removed, 1 recycled; write=0.010 s, sync=0.004 s, total=0.020 s; sync files=302, longest=0.003 s, average=0.001 s; \
    distance=4225 kB, estimate=4226 kB; lsn=0/1A2B3C8, redo lsn=0/1A2B370";
/// The texts of PostgreSQL 15's translations.
const STARTING_DE: &str = "Checkpoint beginnt: wal time";
const COMPLETE_DE: &str = "Checkpoint komplett: 925 Puffer geschrieben (5.6%); 0 WAL-Datei(en) hinzugefügt, 0 entfernt, \
    1 wiederverwendet; Schreiben=0,010 s, Sync=0,004 s, gesamt=0,020 s; sync. Dateien=302, längste=0,003 s, \
    Durchschnitt=0.001 s; Entfernung=4225 kB, Schätzung=4225 kB";
const STARTING_JA: &str = "チェックポイント開始: time";
const COMPLETE_FR: &str = "checkpoint terminé : a écrit 925 tampons (5.6%); 0 fichiers WAL ajoutés, 0 supprimés, \
    1 recyclés ; écriture=0.010 s, synchronisation=0.004 s, total=0.020 s; fichiers synchronisés=302, plus long=0.003 s, \
    moyenne=0.001 s; distance=4225 kB, estimation=4225 kB";

fn words_of(message: &str) -> Vec<&'static str> {
    cause_words(cause(message.as_bytes())).collect()
}

#[test]
fn messages_are_known_by_their_untranslated_text() {
    let of = |text: &str| event(text.as_bytes());
    for (name, is_restartpoint) in [("checkpoint", false), ("restartpoint", true)] {
        assert_eq!(
            of(&format!("{name} starting:%s%s%s%s%s%s%s%s")),
            Some(Event::Starting { is_restartpoint })
        );
        assert_eq!(
            of(&format!("{name} complete: wrote %d buffers (%.1f%%); ")),
            Some(Event::Complete { is_restartpoint })
        );
    }
    for other in [
        "",
        "checkpoint",
        "checkpoint skipped because system is idle",
        "checkpoints are occurring too frequently (%d second apart)",
        COMPLETE_DE,
    ] {
        assert_eq!(of(other), None);
    }
}

#[test]
fn the_cause_is_read_in_any_language() {
    assert_eq!(words_of(STARTING), ["immediate", "force", "wait"]);
    assert_eq!(
        words_of("checkpoint starting: fast force wait"),
        ["fast", "force", "wait"]
    );
    assert_eq!(words_of(STARTING_DE), ["wal", "time"]);
    assert_eq!(words_of(STARTING_JA), ["time"]);
    assert_eq!(
        words_of("checkpoint starting: shutdown immediate"),
        ["shutdown", "immediate"]
    );
    assert_eq!(
        words_of("checkpoint starting: end-of-recovery immediate wait flush-all"),
        ["end-of-recovery", "immediate", "wait", "flush-all"]
    );
}

#[test]
fn what_is_no_cause_is_none() {
    for text in [
        "",
        "checkpoint starting:",
        "checkpoint starting: later",
        "time travel",
    ] {
        assert_eq!(words_of(text), [""; 0], "{text}");
    }
    // Words of the language before the colon are not taken for a cause.
    assert_eq!(words_of("it is time for: wal"), ["wal"]);
}

#[test]
fn distance_and_estimate_are_read_where_they_are_in_english() {
    let of = |text: &str| distance_and_estimate(text.as_bytes());
    assert_eq!(of(COMPLETE_15), (Some(4225), Some(4225)));
    assert_eq!(of(COMPLETE_18), (Some(4225), Some(4226)));
    assert_eq!(of(COMPLETE_DE), (None, None));
    assert_eq!(of(COMPLETE_FR), (Some(4225), None));
    for broken in [
        " distance=",
        " distance= kB",
        " distance=12",
        " distance=12 MB",
        " distance=-1 kB",
        " distance=99999999999999999999 kB",
    ] {
        assert_eq!(of(broken), (None, None), "{broken}");
    }
}

const SECOND: u64 = 1_000_000_000;

fn checkpoint(start_s: u64, end_s: u64, starting: &str) -> Checkpoint {
    Checkpoint {
        cause: cause(starting.as_bytes()),
        start_ns: start_s * SECOND,
        end_ns: end_s * SECOND,
        distance_kb: Some(2),
        ..Checkpoint::default()
    }
}

#[test]
fn those_that_touch_the_window_are_in_it_and_only_whole_ones_are_complete() {
    let window = Window {
        start_ns: 100 * SECOND,
        end_ns: 200 * SECOND,
    };
    let ended = [
        checkpoint(90, 99, "x: time"),
        checkpoint(95, 105, "x: time"),
        checkpoint(110, 120, "x: time"),
        checkpoint(130, 131, STARTING),
        checkpoint(190, 210, "x: wal"),
        checkpoint(215, 216, "x: wal"),
    ];
    let found = window.of(&ended, None);
    let marks: Vec<_> = found
        .rows
        .iter()
        .map(|row| {
            (
                row.number,
                row.start_second,
                row.end_second.unwrap(),
                row.started_before,
                row.ended_after,
            )
        })
        .collect();
    assert_eq!(
        marks,
        [
            (1, -5, 5, true, false),
            (2, 10, 20, false, false),
            (3, 30, 31, false, false),
            (4, 90, 110, false, true)
        ]
    );
    assert_eq!((found.complete, found.began, found.timed), (2, 3, 1));
    let immediate = &found.rows[2];
    assert_eq!(immediate.cause.as_deref(), Some("immediate force wait"));
    assert_eq!(immediate.distance_bytes, Some(2048));
    assert_eq!(immediate.estimate_bytes, None);
}

#[test]
fn one_that_still_goes_on_is_there_with_what_is_known() {
    let window = Window {
        start_ns: 100 * SECOND,
        end_ns: 200 * SECOND,
    };
    let going = |start_s| {
        Some(OpenCheckpoint {
            start_ns: start_s * SECOND,
            cause: cause(b"x: wal"),
            ..OpenCheckpoint::default()
        })
    };
    let found = window.of(&[checkpoint(110, 120, STARTING)], going(150));
    assert_eq!(
        (found.complete, found.began, found.timed, found.rows.len()),
        (1, 2, 0, 2)
    );
    let row = &found.rows[1];
    assert_eq!((row.number, row.ended_after), (2, true));
    assert_eq!(row.cause.as_deref(), Some("wal"));
    assert_eq!(row.start_second, 50);
    assert_eq!((row.total_ms, &row.ended_at), (None, &None));
    // From before the window: it touches all of it.
    assert!(window.of(&[], going(50)).rows[0].started_before);
    assert_eq!(window.of(&[], going(201)), OfWindow::default());
}

#[test]
fn a_cause_that_is_not_known_is_none() {
    let window = Window {
        start_ns: 0,
        end_ns: 10 * SECOND,
    };
    assert_eq!(
        window.of(&[checkpoint(1, 2, "?")], None).rows[0].cause,
        None
    );
}

proptest! {
    #[test]
    fn reading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        event(&bytes);
        cause(&bytes);
        distance_and_estimate(&bytes);
    }
}

#[test]
fn what_began_before_a_checkpoint_that_is_over_does_not_go_on() {
    let going = |start_ns| {
        Some(OpenCheckpoint {
            started_us: 7,
            start_ns,
            ..OpenCheckpoint::default()
        })
    };
    assert_eq!(still_going(going(100), &[], 100), going(100));
    assert_eq!(still_going(going(99), &[], 100), None);
    assert_eq!(still_going(None, &[], 0), None);
    let ended = Checkpoint {
        started_us: 7,
        ..Checkpoint::default()
    };
    assert_eq!(still_going(going(100), &[ended], 0), None);
}
