//! Text that a hint gives to be pasted does what it says, and nothing else, whatever databases and roles are called.

use pgfsbench_tests::fake_server::{FakeServer, Message};
use pgfsbench_tests::{TestServer, refusal, value};
use std::process::Command;

const HOSTILE: [&str; 6] = [
    "$(touch /tmp/x)",
    "a\"b'c;--",
    "a`id`&&x|y",
    "-x\\y z",
    "a\nrm -rf x\u{1b}[2J",
    "plain",
];

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// The arguments that a shell gives to a program when this line is pasted into it.
fn arguments(line: &str, program: &str) -> Vec<String> {
    let script = format!("{program}() {{ printf '%s\\0' \"$@\"; }}\n{line}");
    let output = Command::new("bash")
        .args(["-c", &script])
        .output()
        .expect("bash");
    assert!(output.status.success(), "{line}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn hints_are_for_this_database_and_this_role_whatever_their_names() {
    let server = TestServer::with_extension(&[]);
    the_setup_of_the_helper_is_for_this_database_whatever_its_name(&server);
    server.start_anew();
    the_rights_of_a_role_elsewhere_are_for_that_role_whatever_its_name(&server);
}

fn the_setup_of_the_helper_is_for_this_database_whatever_its_name(bench: &TestServer) {
    let (socket, port) = bench.socket();
    for name in HOSTILE {
        bench.value(&format!("CREATE DATABASE {}", identifier(name)));
        let mut client = bench.connect(name);
        client
            .batch_execute("CREATE EXTENSION pgfsbench")
            .expect("CREATE EXTENSION");
        let hint = value(
            &mut client,
            "SELECT hint FROM fsbench.doctor() WHERE subject = 'helper' AND item = 'running'",
        );
        assert_eq!(hint.lines().count(), 1, "{hint}");
        assert!(!hint.chars().any(char::is_control), "{hint:?}");
        let (_, from) = hint.split_once("once: ").expect("a command");
        let (command, _) = from.rsplit_once("; later: ").expect("what to do later");
        assert_eq!(
            arguments(command, "pgfsbench-helper"),
            [
                "setup",
                &format!("--database={name}"),
                &format!("--socket={socket}"),
                &format!("--port={port}"),
                "--allow-images",
                "DIRECTORY"
            ]
        );
    }
}

fn the_rights_of_a_role_elsewhere_are_for_that_role_whatever_its_name(bench: &TestServer) {
    bench.value("SELECT fsbench.create_target('there', connection => 'host=/nowhere')");
    let version = bench.value("SELECT fsbench.version()");
    let mut client = bench.connect("postgres");
    for name in HOSTILE {
        let there = format!(
            r#"SELECT jsonb_build_object('is_this', false, 'database', {0}, 'role', {0}, 'extension', {1}, 'may', false)"#,
            literal(name),
            literal(&version)
        );
        let there = bench.value(&there);
        let server = FakeServer::start(move |asked, link| match asked {
            Message::Statement(_) => link.value(Some(&there)),
            Message::Connection => Ok(()),
        });
        bench.value(&format!(
            "SELECT fsbench.alter_target('there', connection => '{}')",
            server.connection()
        ));
        let error = refusal(&mut client, "SELECT * FROM fsbench.run(target => 'there')");
        assert_eq!(error.code().code(), "42501", "{error:?}");
        let texts = [Some(error.message()), error.detail(), error.hint()];
        for text in texts.into_iter().flatten() {
            assert!(!text.chars().any(char::is_control), "{text:?}");
        }
        let hint = error.hint().expect("a hint");
        let (_, from) = hint.split_once("run ").expect("a statement");
        let (statement, _) = from.rsplit_once(" in that database").expect("its end");
        bench.value(&format!("CREATE ROLE {}", identifier(name)));
        bench.value(statement);
        let may = format!(
            "SELECT has_function_privilege({}, 'fsbench.cancel(bigint)', 'EXECUTE')",
            literal(name)
        );
        assert_eq!(bench.value(&may), "t", "{statement}");
    }
}
