//! A guest of QEMU is killed, and its disk loses what was not flushed. A witness outside counts the commits that are missing.

use super::boot::{MISSING, boot_command, last_lines, place, processes, root};
use crate::common::row;
use pgfsbench_tests::{Signal, TestServer, send, server_owner, skip, wait_until};
use postgres::{Client, NoTls};
use std::fs::{self, File};
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, chown};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A guest without acceleration boots slowly on a busy machine.
const BOOT: Duration = Duration::from_secs(600);

/// A guest whose disk has a volatile write cache.
struct Guest {
    boot: Child,
    place: TempDir,
    port: u16,
    password: Password,
}

/// The password of the guest's superuser: each user of this machine reaches the guest's port.
struct Password {
    text: String,
    /// The guest has this in its place; others may read it.
    verifier: String,
    /// The witness has it in a file of the server's user.
    file: PathBuf,
    _directory: TempDir,
}

impl Password {
    fn new(witness: &TestServer) -> Self {
        let text = witness.value("SELECT gen_random_uuid()");
        let verifier = witness.value(&format!(
            "SET password_encryption = 'scram-sha-256'; CREATE ROLE like_in_guest PASSWORD '{text}'; \
             SELECT rolpassword FROM pg_authid WHERE rolname = 'like_in_guest'"
        ));
        assert!(verifier.starts_with("SCRAM-SHA-256$"), "{verifier}");
        let directory = TempDir::new().expect("a directory");
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(directory.path(), open).expect("a mode");
        let file = directory.path().join("password");
        let mut options = File::options();
        let mut made = options.write(true).create_new(true).mode(0o600).open(&file);
        let made = made.as_mut().expect("a file");
        writeln!(made, "*:*:*:*:{text}").expect("written");
        if let Some(owner) = server_owner() {
            chown(&file, Some(owner), None).expect("an owner");
        }
        Self {
            text,
            verifier,
            file,
            _directory: directory,
        }
    }
}

impl Guest {
    /// Its server has these options, and its filesystem these options of mount.
    fn boot(mount_options: &str, server_options: &str, password: Password) -> Self {
        let place = place();
        let script = place.path().join("script.sh");
        let text = fs::read_to_string(root().join("tests/lab/power-cut.sh")).expect("it");
        let verifier = &password.verifier;
        let set = format!(
            "mount_options='{mount_options}'\nserver_options='{server_options}'\nverifier='{verifier}'\n{text}"
        );
        fs::write(&script, set).expect("written");
        // The guest's files are in a directory of their own.
        let files = place.path().join("files");
        fs::create_dir(&files).expect("a directory");
        let port = free_port();
        let console = File::create(place.path().join("console")).expect("a file");
        let mut command = boot_command();
        command.args(["-t", "1800", "-s", "1G", "-c", &port.to_string(), "-d"]);
        command.arg(&files).arg(&script);
        command.env("CASES", "ext4").env("QEMU", "1");
        command
            .stdin(Stdio::null())
            .stderr(console.try_clone().expect("a file"));
        let boot = command.stdout(console).spawn().expect("boot runs");
        Self {
            boot,
            place,
            port,
            password,
        }
    }

    /// The connection to its server. It asks nothing for ever: a guest that is killed does not answer.
    fn connection(&self) -> String {
        format!(
            "host=127.0.0.1 port={} user=postgres dbname=postgres",
            self.port
        )
    }

    fn files(&self) -> PathBuf {
        self.place.path().join("files")
    }

    fn console(&self) -> String {
        fs::read_to_string(self.place.path().join("console")).expect("it")
    }

    /// Waits until its server answers. None if it has no filesystem or no server any more.
    fn comes_back(&mut self) -> Option<Client> {
        let password = &self.password.text;
        let connection = format!(
            "{} connect_timeout=5 password={password}",
            self.connection()
        );
        wait_until("the guest's server answers", BOOT, || {
            match self.boot.try_wait().expect("a child") {
                None => Client::connect(&connection, NoTls).ok().map(Some),
                Some(_) => {
                    let console = self.console();
                    assert!(console.contains("it does not come back"), "{console}");
                    Some(None)
                }
            }
        })
    }

    fn answers(&mut self) -> Client {
        let client = self.comes_back();
        client.unwrap_or_else(|| panic!("{}", self.console()))
    }

    /// Cuts its power: it boots again with what its disk has kept.
    fn cut(&self) {
        let directory = fs::read_dir(self.files()).expect("it").next();
        let directory = directory
            .expect("the guest's directory")
            .expect("it")
            .path();
        File::create(directory.join("cut")).expect("a file");
    }

    fn end(mut self) {
        let made = self
            .answers()
            .batch_execute("COPY (SELECT) TO PROGRAM 'touch /run/lab/sockets/end'");
        made.expect("a file in the guest");
        let status = wait_until("the guest ends", BOOT, || self.boot.try_wait().expect("it"));
        assert_eq!(status.code(), Some(0), "{}", self.console());
        assert_eq!(fs::read_dir(self.files()).expect("it").count(), 0);
        assert_eq!(processes(&self.files()), [""; 0]);
    }
}

impl Drop for Guest {
    /// A test that has failed leaves no guest.
    fn drop(&mut self) {
        let pid = self.boot.id().cast_signed();
        if let Ok(None) = self.boot.try_wait() {
            send(pid, Signal::TERM);
            let _ = self.boot.wait();
        }
    }
}

/// A port that no program takes by itself, and none has now.
fn free_port() -> u16 {
    let first = 20_000 + u16::try_from(std::process::id() % 10_000).expect("small");
    let mut ports = first..32_000;
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.find(is_free).expect("a free port")
}

/// Acknowledged commits, and those that are missing after a power cut: all of them where the server does not come back.
fn lost(mount_options: &str, server_options: &str) -> (u64, u64) {
    let witness = TestServer::with_extension(&[]);
    let mut guest = Guest::boot(mount_options, server_options, Password::new(&witness));
    drop(guest.answers());
    let without_password = Client::connect(&guest.connection(), NoTls);
    assert!(without_password.is_err(), "any user is let in");
    witness.value(&format!(
        "SELECT fsbench.create_target('there', connection => '{} passfile={}')",
        guest.connection(),
        guest.password.file.display()
    ));
    let watch = witness.background("postgres", "CALL fsbench.power_cut_watch('there')");
    let on = "SELECT EXISTS (SELECT FROM fsbench.power_cut_watch WHERE ended_at IS NULL AND acknowledged >= 30)";
    witness.wait_for("postgres", on, BOOT);
    guest.cut();
    watch.join().expect("the watch ends with the link");
    let mut client = witness.connect("postgres");
    let watched = "SELECT ended_by, acknowledged FROM fsbench.power_cut_watch";
    let watched = row(&mut client, watched);
    let acknowledged = watched.strip_prefix("lost|").expect("the link was lost");
    if guest.comes_back().is_none() {
        let acknowledged = acknowledged.parse().expect("a number");
        return (acknowledged, acknowledged);
    }
    let counted = "SELECT acknowledged, missing FROM fsbench.power_cut_verify()";
    let counted = row(&mut client, counted);
    guest.end();
    let (acknowledged, missing) = counted.split_once('|').expect("two figures");
    let number = |text: &str| text.parse().expect("a number");
    (number(acknowledged), number(missing))
}

#[test]
#[ignore = "`make soak` has it"]
fn a_guest_that_is_killed_lacks_commits_only_where_a_protection_is_off() {
    let test = "a_guest_that_is_killed_lacks_commits_only_where_a_protection_is_off";
    let mut look = boot_command();
    look.args(["-n", "-c", "1"])
        .env("CASES", "ext4")
        .env("QEMU", "1");
    let output = look.output().expect("boot");
    if output.status.code() == Some(MISSING) {
        return skip(test, &last_lines(&output.stderr));
    }
    let (acknowledged, missing) = lost("noatime", "");
    assert!(
        acknowledged >= 30 && missing == 0,
        "{missing} of {acknowledged}"
    );
    // Controls: without them, nothing may be missing because the disk loses nothing.
    for (mount_options, server_options) in [("barrier=0", ""), ("noatime", "-c fsync=off")] {
        let (acknowledged, missing) = lost(mount_options, server_options);
        assert!(
            missing > 0,
            "{mount_options} {server_options}: {missing} of {acknowledged}"
        );
    }
}
