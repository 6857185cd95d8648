//! A helper next to a server, with images in a directory of its own. Takes root and loop devices.

use pgfsbench_tests::{LONG, Signal, TestServer, can_make, program, wait_until};
use rustix::process::{Pid, kill_process};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

pub struct Lab {
    place: TempDir,
    helper: Option<Child>,
}

/// The helper's program, next to that of the tests, where cargo puts it.
pub fn helper() -> PathBuf {
    if let Some(path) = std::env::var_os("PGFSBENCH_HELPER") {
        return path.into();
    }
    let tests = std::env::current_exe().expect("a program");
    let target = tests.ancestors().nth(2).expect("target/debug");
    let path = target.join("pgfsbench-helper");
    assert!(path.exists(), "run cargo build -p pgfsbench-helper");
    path
}

/// Path of a program of the private PostgreSQL.
pub fn server_program(name: &str) -> PathBuf {
    let prefix = std::env::var_os("PGFSBENCH_PREFIX").map(PathBuf::from);
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/pg15");
    prefix.unwrap_or_else(default).join("bin").join(name)
}

impl Lab {
    /// A directory for a helper that does not serve yet.
    pub fn new(connection: &str) -> Self {
        let place = TempDir::with_prefix_in("pgfsbench-docs.", pgfsbench_tests::on_disk())
            .expect("a directory");
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("chmod");
        let lab = Self {
            place,
            helper: None,
        };
        fs::create_dir(lab.path("images")).expect("a directory");
        lab.configure(connection, "");
        lab
    }

    /// The configuration, with further lines.
    pub fn configure(&self, connection: &str, further: &str) {
        let text = format!(
            "mount_root = {:?}\nstate = {:?}\n[[database]]\nname = \"bench\"\nconnection = {connection:?}\n\
             [[images]]\ndirectory = {:?}\nmax_bytes = \"8GB\"\n{further}",
            self.path("mnt"),
            self.path("state"),
            self.path("images"),
        );
        let path = self.path("helper.toml");
        fs::write(&path, text).expect("the configuration");
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("chmod");
    }

    /// A helper that serves the database bench of this server.
    pub fn serve(server: &TestServer) -> Self {
        let (sockets, port) = server.socket();
        let connection = format!("host={sockets} port={port} dbname=bench user=postgres");
        let mut lab = Self::new(&connection);
        let log = fs::File::create(lab.path("log")).expect("a log");
        let serving = lab.command("serve").stderr(log).spawn();
        lab.helper = Some(serving.expect("the helper runs"));
        let is_there = "SELECT EXISTS (SELECT FROM fsbench.helper_description)";
        server.wait_for("bench", is_there, LONG);
        lab
    }

    /// Whether this machine can make and mount a filesystem; why not.
    pub fn can(&self, filesystem: &str) -> Result<(), String> {
        can_make(&mut self.command("plan"), filesystem)
    }

    pub fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(helper());
        command.arg("--config").arg(self.path("helper.toml"));
        command
            .arg(subcommand)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        command
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    fn mounts(&self) -> Vec<String> {
        let root = self.path("mnt").display().to_string();
        let mounts = pgfsbench_tests::mounts();
        let places = mounts.lines().filter_map(|line| line.split(' ').nth(1));
        places
            .filter(|place| place.starts_with(&root))
            .map(str::to_owned)
            .collect()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if let Some(mut helper) = self.helper.take() {
            if let Some(pid) = Pid::from_raw(helper.id() as i32) {
                let _ = kill_process(pid, Signal::TERM);
            }
            let _ = helper.wait();
            if std::thread::panicking() {
                eprintln!("--- log of the helper ---\n{}\n---", self.log());
            }
        }
        let _ = self.command("cleanup").stderr(Stdio::null()).status();
        for mount in self.mounts().iter().rev() {
            let umount = program("umount").expect("umount");
            let _ = Command::new(umount).args(["-l", mount]).status();
        }
        if !std::thread::panicking() {
            wait_until("nothing is mounted", LONG, || {
                self.mounts().is_empty().then_some(())
            });
        }
    }
}
