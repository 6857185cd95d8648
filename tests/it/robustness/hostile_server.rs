//! Targets of kind `connection` that are no servers with pgfsbench: whatever they send, a run on them ends, says why, and takes no
//! more memory than it says.

use pgfsbench_tests::fake_server::{FakeServer, Link, Message, message, row};
use pgfsbench_tests::{Leaves, TestServer, assert_columns, refusal};
use std::fs;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

const RUN: &str =
    "SELECT * FROM fsbench.run(target => 'there', scale => 1, clients => 1, transactions => 1)";
const MB: u64 = 1 << 20;
/// Memory that a connection may take, with that of the coordinator itself.
const MOST: u64 = 400 * MB;
/// Bytes that are sent where none of them are to be kept: more than that.
const MUCH: u64 = 500 * MB;

/// The most memory that the coordinator has been seen to have.
#[derive(Clone)]
struct Watch {
    /// Not held: the server has to end with its test.
    bench: Weak<TestServer>,
    most: Arc<AtomicU64>,
}

impl Watch {
    fn look(&self) {
        let Some(bench) = self.bench.upgrade() else {
            return;
        };
        let mut processes = bench.processes();
        processes.retain(|process| process.title.starts_with("postgres: fsbench coordinator"));
        for process in processes {
            let status = fs::read_to_string(format!("/proc/{}/status", process.pid));
            let kb = status.unwrap_or_default().lines().find_map(|line| {
                let kb = line.strip_prefix("RssAnon:")?.trim().strip_suffix(" kB")?;
                kb.parse::<u64>().ok()
            });
            self.most
                .fetch_max(kb.unwrap_or(0) * 1024, Ordering::SeqCst);
        }
    }
}

/// Sends pieces until so many bytes are sent, or the client reads no more.
fn flood(
    link: &mut Link,
    watch: &Watch,
    bytes: u64,
    mut piece: impl FnMut(u64) -> Vec<u8>,
) -> io::Result<()> {
    let (mut sent, mut seen) = (0, 0);
    for number in 0.. {
        let piece = piece(number);
        sent += piece.len() as u64;
        let result = link.send_raw(&piece);
        if sent > seen + 16 * MB || result.is_err() {
            watch.look();
            seen = sent;
        }
        result?;
        if sent > bytes {
            break;
        }
    }
    Ok(())
}

/// The attack of a server when it is first asked, or, if so, while it is connected to.
type Attack = fn(&mut Link, &Watch) -> io::Result<()>;

fn notifications(link: &mut Link, watch: &Watch) -> io::Result<()> {
    let payload = "x".repeat(7900);
    let piece = message(b'A', format!("\0\0\0\0channel\0{payload}\0").as_bytes());
    flood(link, watch, MUCH, |_| piece.clone())?;
    link.value(None)
}

fn notices(link: &mut Link, watch: &Watch) -> io::Result<()> {
    let text = "x".repeat(20_000);
    let piece = message(b'N', format!("SNOTICE\0C00000\0M{text}\0\0").as_bytes());
    flood(link, watch, MUCH, |_| piece.clone())?;
    link.value(None)
}

fn parameters(link: &mut Link, watch: &Watch) -> io::Result<()> {
    let value = "x".repeat(20_000);
    flood(link, watch, u64::MAX, |number| {
        message(b'S', format!("p{number}\0{value}\0").as_bytes())
    })
}

fn rows(link: &mut Link, watch: &Watch) -> io::Result<()> {
    link.begin_rows()?;
    let piece = row(Some(&"x".repeat(1000)));
    flood(link, watch, u64::MAX, |_| piece.clone())
}

fn answers(link: &mut Link, watch: &Watch) -> io::Result<()> {
    let piece = message(b'C', b"SELECT 0\0").repeat(1000);
    flood(link, watch, 64 * MB, |_| piece.clone())
}

/// One field of a gigabyte.
fn one_value(link: &mut Link, watch: &Watch) -> io::Result<()> {
    link.begin_rows()?;
    let length = 1_u32 << 30;
    let head = [
        &b"D"[..],
        &length.to_be_bytes(),
        &[0, 1],
        &(length - 10).to_be_bytes(),
    ];
    link.send_raw(&head.concat())?;
    flood(link, watch, u64::MAX, |_| vec![b'x'; 1 << 16])
}

fn one_error(link: &mut Link, watch: &Watch) -> io::Result<()> {
    link.send_raw(
        &[
            &b"E"[..],
            &(1_u32 << 30).to_be_bytes(),
            b"SERROR\0C42501\0M",
        ]
        .concat(),
    )?;
    flood(link, watch, u64::MAX, |_| vec![b'x'; 1 << 16])
}

fn a_copy(link: &mut Link, watch: &Watch) -> io::Result<()> {
    link.send(b'1', b"")?;
    link.send(b'2', b"")?;
    link.send(b'H', &[0, 0, 0])?;
    let piece = message(b'd', &[b'x'; 1000]);
    flood(link, watch, u64::MAX, |_| piece.clone())
}

#[test]
fn a_server_that_floods_ends_the_run_and_takes_no_memory() {
    let bench = Arc::new(TestServer::with_extension(&[]));
    let mut client = bench.connect("postgres");
    bench.value("SELECT fsbench.create_target('there', connection => 'host=/nowhere')");
    let cases: [(&str, bool, Attack, &str, &str); 9] = [
        (
            "notifications",
            false,
            notifications,
            "58000",
            "unreadable answer",
        ),
        ("notices", false, notices, "58000", "unreadable answer"),
        ("answers", false, answers, "58000", "unreadable answer"),
        (
            "parameters",
            false,
            parameters,
            "54000",
            "has sent too much",
        ),
        (
            "parameters at first",
            true,
            parameters,
            "54000",
            "has sent too much",
        ),
        ("rows", false, rows, "54000", "has sent too much"),
        ("one value", false, one_value, "54000", "has sent too much"),
        ("one error", false, one_error, "54000", "has sent too much"),
        ("a copy", false, a_copy, "58000", "unexpected answer"),
    ];
    for (what, at_first, attack, code, words) in cases {
        let watch = Watch {
            bench: Arc::downgrade(&bench),
            most: Arc::default(),
        };
        let watched = watch.clone();
        let server = FakeServer::start(move |asked, link| match asked {
            Message::Connection if at_first => attack(link, &watched),
            Message::Connection => Ok(()),
            Message::Statement(_) => attack(link, &watched),
        });
        bench.value(&format!(
            // A busy machine takes long over so much.
            "SELECT fsbench.alter_target('there', connection => '{} connect_timeout=300')",
            server.connection()
        ));
        let error = refusal(&mut client, RUN);
        assert_eq!(error.code().code(), code, "{what}: {error:?}");
        assert!(error.message().contains(words), "{what}: {error:?}");
        let most = watch.most.load(Ordering::SeqCst);
        assert!(most < MOST, "{what}: the coordinator had {} MB", most / MB);
        // The others are refused before much has come.
        let comes = ["notifications", "notices", "parameters", "rows"].contains(&what);
        assert!(!comes || most > MB, "{what}: nobody was watched");
        bench.nothing_is_left(what);
    }
}

/// Answers of a server that claims to have pgfsbench, and that the run has ended so.
struct Told {
    /// The answer to how it has ended, JSON.
    end: &'static str,
    /// Row, JSON.
    row: &'static str,
}

fn telling(version: String, told: Told) -> FakeServer {
    FakeServer::start(move |asked, link| {
        let Message::Statement(sql) = asked else {
            return Ok(());
        };
        let there = format!(
            r#"{{"is_this": false, "database": "d", "role": "u", "extension": "{version}", "may": true}}"#
        );
        let answer = match sql {
            _ if sql.contains("'is_this'") => Some(there.as_str()),
            _ if sql.contains("fsbench.version()") => Some(version.as_str()),
            _ if sql.contains("pg_cancel_backend") => Some("0"),
            _ if sql.contains("count(*) FROM fsbench._progress()") => Some("0"),
            _ if sql.contains("fsbench._start(") => Some("7"),
            _ if sql.contains("'renewed'") => Some("{}"),
            _ if sql.contains("'fault'") => Some(told.end),
            _ if sql.contains("to_jsonb(r)") => Some(told.row),
            _ => None,
        };
        link.value(answer)
    })
}

#[test]
fn the_row_here_ends_whatever_a_server_tells_of_the_run_there() {
    const DONE: &str = r#"{"status": "done", "fault": {"sqlstate": "", "message": ""}}"#;
    let bench = TestServer::with_extension(&[]);
    let version = bench.value("SELECT fsbench.version()");
    bench.value("SELECT fsbench.create_target('there', connection => 'host=/nowhere')");
    let mut client = bench.connect("postgres");
    for (end, row, code, words) in [
        (
            DONE,
            r#"{"run": {"status": "running", "tps": 1}}"#,
            "58000",
            "the run on the target is not done",
        ),
        (
            DONE,
            r#"{"run": {"status": "done", "status": "queued"}}"#,
            "58000",
            "unreadable answer of the target server",
        ),
        (DONE, r#"{"run": {}}"#, "58000", "unreadable answer"),
        (DONE, "no JSON", "58000", "unreadable answer"),
        (
            r#"{"status": "paused\u001b[2J", "fault": {"sqlstate": "", "message": ""}}"#,
            "{}",
            "58000",
            "the run on the target is not done",
        ),
        (
            r#"{"status": "failed", "fault": {"sqlstate": "00000", "message": "fine\u001b]0;x\u0007\nerased /dev/sda"}}"#,
            "{}",
            "58000",
            "fine ]0;x  erased /dev/sda",
        ),
        (
            r#"{"status": "failed", "fault": {"sqlstate": "53100", "message": ""}}"#,
            "{}",
            "53100",
            "gives no reason",
        ),
        (
            r#"{"status": "failed", "fault": {"sqlstate": "53100", "message": "it broke", "hint": "Paste this."}}"#,
            "{}",
            "53100",
            "it broke",
        ),
        (
            DONE,
            r#"{"run": {"status": "done", "tps": "NaN"}}"#,
            "58000",
            "a figure that no run has",
        ),
        (
            DONE,
            r#"{"run": {"status": "done", "tps": 1e300}}"#,
            "58000",
            "a figure that no run has",
        ),
        (
            DONE,
            r#"{"run": {"status": "done", "scale": -5}}"#,
            "58000",
            "a figure that no run has",
        ),
        (
            DONE,
            r#"{"run": {"status": "done", "facts": [1]}}"#,
            "58000",
            "a figure that no run has",
        ),
    ] {
        let server = telling(version.clone(), Told { end, row });
        bench.value(&format!(
            "SELECT fsbench.alter_target('there', connection => '{}')",
            server.connection()
        ));
        let error = refusal(&mut client, RUN);
        assert_eq!(error.code().code(), code, "{error:?}");
        assert!(error.message().contains(words), "{error:?}");
        assert!(!format!("{error}").contains('\u{1b}'));
        // Advice of that server is not repeated as pgfsbench's own.
        assert!(
            !error.hint().unwrap_or_default().contains("Paste"),
            "{error:?}"
        );
        if end.contains("Paste") {
            let detail = error.detail().unwrap_or_default();
            assert!(
                detail.contains("The server of the target hints: Paste this."),
                "{detail}"
            );
        }
        bench.nothing_is_left(row);
        let last = bench.told("(SELECT max(run_id) FROM fsbench.run_log)");
        assert!(last.starts_with(&format!("failed {code}; ")), "{last}");
    }
    // One that says that it is done, and is: what is its own affair is stored, what is ours is not.
    let row = r#"{"run": {"run_id": 99, "status": "done", "tps": 5, "label": "forged", "requested_by": "forged", "kept": true}}"#;
    let server = telling(version, Told { end: DONE, row });
    bench.value(&format!(
        "SELECT fsbench.alter_target('there', connection => '{}')",
        server.connection()
    ));
    client.batch_execute(RUN).expect("a run");
    assert_columns(
        &mut bench.connect("postgres"),
        "FROM fsbench.run_log ORDER BY run_id DESC LIMIT 1",
        &[
            ("status", "done"),
            ("tps", "5"),
            ("label", ""),
            ("requested_by", "postgres"),
            ("kept", "f"),
        ],
    );
}
