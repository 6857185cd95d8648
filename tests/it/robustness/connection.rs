//! Targets of kind `connection`: another server carries the run out, and whatever becomes of the one that asked, of the link or of
//! the one that was asked, the run ends on both, and nothing is left on either.

use pgfsbench_tests::{
    LONG, Leaves, Signal, TestServer, assert_columns, refusal, server_owner, value, wait_until,
};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;

const SHORT_RUN: &str =
    "target => 'there', scale => 1, clients => 2, transactions => 50, seed => 1";
const LONG_RUN: &str =
    "target => 'there', scale => 1, clients => 2, duration => '1 h', warmup => '0', rate => 50";
/// With a lease that is short, and longer than a busy machine keeps who has to renew it from that.
const LEASED_RUN: &str = r#"target => 'there', scale => 1, clients => 2, duration => '1 h', warmup => '0', rate => 50, options => '{"lease_ms": 12000}'"#;

/// A server that asks, and one that is measured.
struct Two {
    here: TestServer,
    there: TestServer,
}

impl Two {
    fn start() -> Self {
        Self::start_with("")
    }

    fn start_with(further: &str) -> Self {
        let two = Self {
            here: TestServer::with_extension(&[]),
            there: TestServer::with_extension(&[("shared_buffers", "24MB")]),
        };
        two.create_target(&format!("{} {further}", two.there.connection("postgres")));
        two
    }

    fn create_target(&self, connection: &str) {
        let created = self.here.value(&format!(
            "SELECT fsbench.create_target('there', connection => '{connection}')"
        ));
        assert_eq!(created, "there");
    }

    fn wait_for_phase(&self, phase: &str) {
        self.here.wait_for_phase(phase);
        self.there.wait_for_phase(phase);
    }

    /// The session there that starts the run and asks how far it is.
    fn session_there(&self) -> i32 {
        let sql = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'pgfsbench %'";
        self.there.value(sql).parse().expect("one such session")
    }
}

impl Leaves for Two {
    fn left(&self) -> Vec<String> {
        [self.here.left(), self.there.left()].concat()
    }
}

/// The end of the last run there.
fn last_told(server: &TestServer) -> String {
    server.told("(SELECT max(run_id) FROM fsbench.run_log)")
}

#[test]
fn another_server_is_measured_and_its_result_lands_here() {
    let two = Two::start();
    let mut client = two.here.connect("postgres");
    // Numbers of the two servers differ.
    two.there.a_run_works("nothing");
    let run = value(
        &mut client,
        &format!("SELECT run_id FROM fsbench.run({SHORT_RUN})"),
    );
    two.nothing_is_left("a run on another server");
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result r WHERE run_id = {run}"),
        &[
            ("target", "there"),
            ("status", "done"),
            ("scale", "1"),
            ("clients", "2"),
            ("transactions_total", "100"),
            ("forced", "f"),
            ("tps > 0", "t"),
            ("scope", "data and WAL"),
            ("findings > 0", "t"),
            ("data_directory", &two.there.data().display().to_string()),
            ("settings->'shared_buffers'->>'setting'", "24MB"),
            ("work_database IS NULL", "t"),
            (
                "(SELECT sum(transactions) FROM fsbench.sample s WHERE s.run_id = r.run_id)",
                "100",
            ),
            (
                "(SELECT count(*) FROM fsbench.histogram h WHERE h.run_id = r.run_id)",
                "2",
            ),
            (
                "(SELECT storage->>'remote_run_id' FROM fsbench.environment e WHERE e.run_id = r.run_id)",
                "2",
            ),
            // That server has measured its own target; here it is what this server calls it.
            ("target_version", "1"),
            ("target_definition ->> 'kind'", "connection"),
            ("target_definition ? 'connection'", "t"),
        ],
    );
    let phases = format!(
        "SELECT string_agg(p->>'phase', ' ' ORDER BY n) FROM fsbench.run_log, \
           jsonb_array_elements(phases) WITH ORDINALITY t(p, n) WHERE run_id = {run}"
    );
    assert_eq!(
        value(&mut client, &phases),
        "server provision load vacuum checkpoint measure verify collect cleanup"
    );
    // It is somebody else's: what nobody asked for was not forced there, and its row stays.
    assert_columns(
        &mut two.there.connect("postgres"),
        "FROM fsbench.run_log WHERE run_id = 2",
        &[
            ("status", "done"),
            ("forced", "f"),
            ("label LIKE 'pgfsbench %'", "t"),
            ("used->'options'->>'lease_ms'", "60000"),
        ],
    );
    // This server itself makes the same transactions.
    let here = SHORT_RUN.replace("'there'", "'default'");
    let other = value(
        &mut client,
        &format!("SELECT run_id FROM fsbench.run({here})"),
    );
    let balances = format!(
        "SELECT count(DISTINCT balances) FROM fsbench.run_log WHERE run_id IN ({run}, {other})"
    );
    assert_eq!(value(&mut client, &balances), "1");
    // Values that depend on the machine are chosen there, also if this server could not carry them out.
    let few = "ALTER SYSTEM SET max_worker_processes = 9";
    two.there.value(few);
    two.there.restart();
    let chosen =
        "SELECT run_id FROM fsbench.run(target => 'there', transactions => 10, force => true)";
    let run = value(&mut client, chosen);
    // Four for each processor, and as many as there are slots.
    let processors = available_parallelism().expect("their number").get();
    let clients = (4 * processors).min(5).to_string();
    assert_columns(
        &mut client,
        &format!("FROM fsbench.run_log WHERE run_id = {run}"),
        &[
            ("status", "done"),
            ("scale", "10"),
            ("clients", &clients),
            ("used->'clients'", &clients),
            ("used->'chosen_there'", r#"["scale", "clients"]"#),
        ],
    );
}

#[test]
fn a_server_that_cannot_carry_a_run_out_says_what_it_lacks() {
    let two = Two::start();
    let mut client = two.here.connect("postgres");
    let run = format!("SELECT * FROM fsbench.run({SHORT_RUN})");
    let mut refused = |code: &str, message: &str, hint: &str| {
        let error = refusal(&mut client, &run);
        assert_eq!(error.code().code(), code, "{error:?}");
        assert!(error.message().contains(message), "{error:?}");
        // A hint of the other server is told as one.
        let told = error
            .detail()
            .unwrap_or_default()
            .split_once("The server of the target hints: ");
        let hints = [error.hint(), told.map(|(_, told)| told)];
        assert!(
            hints.into_iter().flatten().any(|said| said.contains(hint)),
            "{error:?}"
        );
        two.here.nothing_is_left(message);
    };
    // Others' neighbours are theirs, and only the caller says that they do not matter.
    two.there
        .value("SELECT pg_create_physical_replication_slot('standby')");
    refused(
        "55000",
        "on the target: cannot run a benchmark while this server is replicated",
        "force => true",
    );
    two.there
        .value("SELECT pg_drop_replication_slot('standby')");
    let version = "UPDATE pg_extension SET extversion = '9.9' WHERE extname = 'pgfsbench'";
    two.there.value(version);
    refused("55000", "another version of pgfsbench", "same version");
    two.there.value("DROP EXTENSION pgfsbench");
    refused(
        "55000",
        "is not installed in database",
        "CREATE EXTENSION pgfsbench",
    );
    assert_eq!(
        two.there
            .value("SELECT count(*) FROM pg_extension WHERE extname = 'pgfsbench'"),
        "0",
        "a run has created the extension in somebody's server"
    );
    two.there.value("CREATE EXTENSION pgfsbench");
    two.there.value("CREATE ROLE guest LOGIN");
    let alter = |connection: &str| {
        let sql = format!("SELECT fsbench.alter_target('there', connection => '{connection}')");
        assert_eq!(two.here.value(&sql), "there");
    };
    alter(&two.there.connection("guest"));
    refused(
        "42501",
        "role \"guest\" may not make runs",
        "fsbench.grant_operator('guest')",
    );
    two.there.value("SELECT fsbench.grant_operator('guest')");
    two.here.value(&run);
    two.there.configure(&[("shared_preload_libraries", "")]);
    two.there.restart();
    refused(
        "55000",
        "on the target: pgfsbench must be loaded",
        "shared_preload_libraries",
    );
    alter(&two.here.connection("postgres"));
    refused("55000", "leads to this server", "default");
    alter("host=/does/not/exist dbname=postgres");
    refused("08001", "could not connect", "Check its connection");
}

#[test]
fn passwords_come_from_files_of_the_servers_user_and_from_nowhere_else() {
    let two = Two::start();
    two.there.value(
        "SET password_encryption = 'scram-sha-256'; CREATE ROLE guest LOGIN PASSWORD 'right'",
    );
    two.there.value("SELECT fsbench.grant_operator('guest')");
    two.there.put_first_in_hba("local all guest scram-sha-256");
    let directory = tempfile::tempdir().expect("a directory");
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).expect("chmod");
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("chmod");
        if let Some(owner) = server_owner() {
            std::os::unix::fs::chown(&path, Some(owner), None).expect("chown");
        }
        path.display().to_string()
    };
    let right = file("right", "*:*:*:*:right\n");
    let wrong = file("wrong", "*:*:*:*:wrong\n");
    let guest = two.there.connection("guest");
    let in_lines = guest.replace(' ', "\n");
    let services = file(
        "services",
        &format!("[server]\n{in_lines}\npassfile={right}\n"),
    );
    // The file where the server looks for services; usually ~/.pg_service.conf of its user.
    two.here.stop(pgfsbench_tests::Stop::Fast);
    let environment = [("PGSERVICEFILE", services.as_str())];
    two.here.try_start_with(&environment).expect("it starts");
    let mut client = two.here.connect("postgres");
    let run = format!("SELECT tps > 0 FROM fsbench.run({SHORT_RUN})");
    for (connection, said) in [
        (guest.clone(), "no password supplied"),
        (
            format!("{guest} passfile={wrong}"),
            "password authentication failed",
        ),
        (format!("{guest} passfile={right}"), ""),
        ("service=server".to_owned(), ""),
        (
            "service=other".to_owned(),
            "definition of service \"other\" not found",
        ),
    ] {
        let alter = format!("SELECT fsbench.alter_target('there', connection => '{connection}')");
        assert_eq!(value(&mut client, &alter), "there");
        if said.is_empty() {
            assert_eq!(value(&mut client, &run), "t", "{connection}");
            continue;
        }
        let error = refusal(&mut client, &run);
        assert_eq!(error.code().code(), "08001", "{error:?}");
        assert!(
            error.detail().unwrap_or_default().contains(said),
            "{error:?}"
        );
    }
    two.nothing_is_left("runs with and without passwords");
}

#[test]
fn a_run_that_ends_here_ends_there_at_once() {
    let two = Two::start();
    for (phase, terminated) in [("load", false), ("measure", false), ("measure", true)] {
        let run = two.here.start_run(LONG_RUN);
        if phase == "load" {
            // Over before it can be seen here, so that any moment will do.
            let begun = "SELECT EXISTS (SELECT FROM fsbench.progress)";
            two.there.wait_for("postgres", begun, LONG);
        } else {
            two.wait_for_phase(phase);
        }
        let wanted = if terminated {
            let coordinator = two.here.coordinator();
            two.here.terminate(coordinator);
            "failed 57P01"
        } else {
            two.here.value(&format!("SELECT fsbench.cancel({run})"));
            "cancelled 57014"
        };
        two.here.nothing_is_left(phase);
        // By our word and not by the lease, and before it is over here.
        let there = last_told(&two.there);
        assert!(there.starts_with("cancelled 57014"), "{phase}: {there}");
        two.there.nothing_is_left(phase);
        let here = two.here.told(&run);
        assert!(here.starts_with(wanted), "{phase}: {here}");
    }
    // A statement that waits, and that is cancelled.
    let waiting = two.here.background(
        "postgres",
        &format!("SELECT * FROM fsbench.run({LONG_RUN})"),
    );
    two.wait_for_phase("measure");
    waiting.cancel();
    assert!(waiting.join().is_err());
    two.nothing_is_left("Ctrl-C");
    assert!(last_told(&two.there).starts_with("cancelled 57014"));
    let works = format!("SELECT tps > 0 FROM fsbench.run({SHORT_RUN})");
    assert_eq!(two.here.value(&works), "t");
}

#[test]
fn a_run_whose_asking_server_is_killed_ends_by_its_lease() {
    let two = Two::start();
    let run = two.here.start_run(LEASED_RUN);
    two.wait_for_phase("measure");
    two.here.kill();
    two.there
        .nothing_is_left("the death of the server that asked");
    let there = last_told(&two.there);
    assert!(
        there.starts_with("cancelled 57P05; the lease of the run has run out"),
        "{there}"
    );
    two.here.start_again();
    two.nothing_is_left("a restart of the server that asked");
    assert!(two.here.told(&run).starts_with("failed 57P02"));
    let works = format!("SELECT tps > 0 FROM fsbench.run({SHORT_RUN})");
    assert_eq!(two.here.value(&works), "t");
    // A queued run has a lease too, and nobody else's run is hit.
    let other = two
        .there
        .start_run("scale => 1, clients => 1, duration => '1 h', rate => 20");
    let queued = two
        .there
        .start_run(r#"scale => 1, clients => 1, options => '{"lease_ms": 2000}'"#);
    let ended = format!(
        "SELECT status = 'cancelled' AND error_code = '57P05' FROM fsbench.run_log WHERE run_id = {queued}"
    );
    two.there.wait_for("postgres", &ended, LONG);
    assert_eq!(
        two.there
            .value(&format!("SELECT fsbench._renew_lease({other})")),
        "f"
    );
    assert_eq!(
        two.there.value(&format!("SELECT fsbench.cancel({other})")),
        "t"
    );
    two.there
        .nothing_is_left("a lease that ran out in the queue");
}

#[test]
fn a_server_that_hangs_does_not_keep_a_run_from_being_cancelled() {
    let two = Two::start_with("connect_timeout=10");
    let run = two.here.start_run(LEASED_RUN);
    two.wait_for_phase("measure");
    let hung = [two.session_there(), two.there.postmaster()];
    for pid in hung {
        two.there.signal(pid, Signal::STOP);
    }
    two.here.value(&format!("SELECT fsbench.cancel({run})"));
    two.here
        .nothing_is_left("a cancelled run on a server that hangs");
    assert!(two.here.told(&run).starts_with("cancelled 57014"));
    // Only the postmaster would note that its processes have ended.
    wait_until("the lease has run out", LONG, || {
        let processes = two.there.processes();
        let mut clients = processes
            .iter()
            .filter(|p| p.title.contains("fsbench client"));
        clients.next().is_none().then_some(())
    });
    for pid in hung {
        two.there.signal(pid, Signal::CONT);
    }
    two.there.nothing_is_left("hanging");
    let there = last_told(&two.there);
    assert!(there.starts_with("cancelled 57P05"), "{there}");
}

#[test]
fn where_nobody_answers_a_run_ends_in_time_and_can_be_cancelled() {
    let two = Two::start();
    // The kernel accepts, and nobody ever reads.
    let hole = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = hole.local_addr().expect("its address").port();
    let alter = |timeout: u32| {
        two.here.value(&format!(
            "SELECT fsbench.alter_target('there', connection => 'host=127.0.0.1 port={port} connect_timeout={timeout}')"
        ))
    };
    alter(1);
    let mut client = two.here.connect("postgres");
    let error = refusal(
        &mut client,
        &format!("SELECT * FROM fsbench.run({SHORT_RUN})"),
    );
    assert_eq!(error.code().code(), "08001", "{error:?}");
    let detail = error.detail().unwrap_or_default();
    assert_eq!(detail, "It does not answer within 1 s (connect_timeout).");
    alter(100_000);
    let run = two.here.start_run(LONG_RUN);
    let connecting = hole.accept().expect("it connects");
    two.here.value(&format!("SELECT fsbench.cancel({run})"));
    two.here.nothing_is_left("a black hole");
    assert!(two.here.told(&run).starts_with("cancelled 57014"));
    drop(connecting);
}

#[test]
fn what_ends_the_run_there_ends_it_here_with_the_reason_and_the_phases() {
    let two = Two::start();
    let phases = |run: &str| {
        two.here.value(&format!(
            "SELECT string_agg(p->>'phase', ' ' ORDER BY n) FROM fsbench.run_log, \
               jsonb_array_elements(phases) WITH ORDINALITY t(p, n) WHERE run_id = {run}"
        ))
    };
    let run = two.here.start_run(LONG_RUN);
    two.wait_for_phase("measure");
    assert_eq!(
        two.there
            .value("SELECT fsbench.cancel(run_id) FROM fsbench.progress"),
        "t"
    );
    two.nothing_is_left("a cancel there");
    assert_eq!(
        two.here.told(&run),
        "cancelled 57014; the run was canceled; It was canceled by fsbench.cancel() of role \"postgres\"."
    );
    assert_eq!(
        phases(&run),
        "server provision load vacuum checkpoint measure"
    );

    let run = two.here.start_run(LONG_RUN);
    two.wait_for_phase("measure");
    two.there.crash(two.there.pid_of("checkpointer"));
    two.nothing_is_left("a crash there");
    let ended = two.here.told(&run);
    assert!(ended.starts_with("failed 08006; "), "{ended}");
    assert!(
        ended.contains("The run there has ended: the server crashed during the run, has recovered, and serves again. Its log says: "),
        "{ended}"
    );
    let known = phases(&run);
    assert!(
        known.starts_with("server ") && known.ends_with("measure"),
        "{known}"
    );
    let log = two.here.log();
    assert!(
        !log.contains("terminating connection because of crash"),
        "{log}"
    );
}

/// Hands on what is sent to it, until it is frozen: then it takes everything and says nothing, and no link is closed.
struct Proxy {
    port: u16,
    frozen: Arc<AtomicBool>,
}

impl Proxy {
    fn to(socket: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let frozen = Arc::new(AtomicBool::new(false));
        let proxy = Self {
            port,
            frozen: Arc::clone(&frozen),
        };
        std::thread::spawn(move || {
            for from in listener.incoming().flatten() {
                let to = UnixStream::connect(&socket).expect("the server");
                let (from_again, to_again) = (from.try_clone(), to.try_clone());
                hand_on(from, to, &frozen);
                hand_on(
                    to_again.expect("a copy"),
                    from_again.expect("a copy"),
                    &frozen,
                );
            }
        });
        proxy
    }
}

fn hand_on(
    mut from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    frozen: &Arc<AtomicBool>,
) {
    let frozen = Arc::clone(frozen);
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            if !frozen.load(Ordering::SeqCst) && to.write_all(&buffer[..n]).is_err() {
                break;
            }
        }
        while frozen.load(Ordering::SeqCst) {
            std::thread::park();
        }
    });
}

/// In how many hundredths of a second the kernel sends a keepalive on a link to this port; None while it waits for something else.
fn keepalive(port: u16) -> Option<u64> {
    let table = fs::read_to_string("/proc/net/tcp").expect("the kernel's table");
    let remote = format!(":{port:04X}");
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (kind, when) = fields.get(5)?.split_once(':')?;
        let is_it = fields[2].ends_with(&remote) && fields[3] == "01" && kind == "02";
        is_it.then(|| u64::from_str_radix(when, 16).expect("a number"))
    })
}

#[test]
fn a_link_that_goes_silent_is_watched_and_ends_the_run_there_by_its_lease() {
    let two = Two {
        here: TestServer::with_extension(&[]),
        there: TestServer::with_extension(&[]),
    };
    let (directory, port) = two.there.socket();
    let proxy = Proxy::to(Path::new(&directory).join(format!(".s.PGSQL.{port}")));
    two.create_target(&format!(
        "host=127.0.0.1 port={} dbname=postgres user=postgres",
        proxy.port
    ));
    let run = two.here.start_run(LEASED_RUN);
    two.wait_for_phase("measure");
    // 10 s after the last word, where the kernel's own idea is two hours.
    let next = wait_until("nothing is on its way", LONG, || keepalive(proxy.port));
    assert!(next <= 1000, "{next} hundredths of a second");
    // The server there hears no more from the one that asked.
    proxy.frozen.store(true, Ordering::SeqCst);
    two.there.nothing_is_left("a silent link");
    let there = last_told(&two.there);
    let wanted = "cancelled 57P05; the lease of the run has run out";
    assert!(there.starts_with(wanted), "{there}");
    // Here it can be cancelled while nothing comes.
    two.here.value(&format!("SELECT fsbench.cancel({run})"));
    two.here.nothing_is_left("a silent link");
    let here = two.here.told(&run);
    assert!(here.starts_with("cancelled 57014"), "{here}");
}
