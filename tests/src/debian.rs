//! A cluster as Debian makes it, by its own tools, in a directory of its own: their configuration, their pg_hba.conf with peer and
//! scram-sha-256. Its programs are those of the private PostgreSQL, which has the extension. Nothing of the machine's is touched.

use crate::as_server::{as_server, server_owner};
use crate::owned::{make_owned, open_directory};
use crate::scratch::scratch;
use crate::server::{must, prefix, run};
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// Name of the cluster.
const NAME: &str = "bench";

/// Stopped and removed when the value is dropped.
pub struct DebianCluster {
    /// Root's; what is in it is the servers' user's.
    place: TempDir,
    port: u16,
}

impl DebianCluster {
    /// Makes one; None where the tools, or the right to become the servers' user, are missing.
    pub fn create() -> Option<Self> {
        server_owner()?;
        if !Path::new("/usr/bin/pg_createcluster").exists() {
            return None;
        }
        let place = open_directory("pgfsbench-debian.", scratch());
        let cluster = Self {
            place,
            port: free_port(),
        };
        for directory in ["etc", "sockets"] {
            make_owned(&cluster.path(directory));
        }
        let mut create = cluster.tool("pg_createcluster");
        create.args(["--start-conf", "manual", "--locale", "C.UTF-8", "-p"]);
        create.arg(cluster.port.to_string());
        for (option, what) in [("-d", "data"), ("-s", "sockets"), ("-l", "log")] {
            create.arg(option).arg(cluster.path(what));
        }
        must(create.args(["15", NAME]));
        cluster.keep_to_its_socket();
        Some(cluster)
    }

    /// By then another program may listen on a port that was free a moment ago.
    fn keep_to_its_socket(&self) {
        let mut set = self.tool("pg_conftool");
        must(set.args(["15", NAME, "set", "listen_addresses", ""]));
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Path of its postgresql.conf.
    pub fn configuration(&self) -> PathBuf {
        self.path("etc/15").join(NAME)
    }

    /// One of Debian's tools, which looks for clusters in this one's directory.
    pub fn tool(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command
            .env("PG_CLUSTER_CONF_ROOT", self.path("etc"))
            .env_remove("RUST_BACKTRACE")
            .current_dir("/");
        command
    }

    pub fn start(&self) {
        self.pg_ctl("start", &[]);
    }

    pub fn restart(&self) {
        self.pg_ctl("restart", &["-m", "fast"]);
    }

    fn pg_ctl(&self, verb: &str, options: &[&str]) {
        let mut command = as_server(prefix().join("bin/pg_ctl"));
        let file = self.configuration().join("postgresql.conf");
        command
            .args([verb, "-s", "-w", "-t", "120", "-D"])
            .arg(self.path("data"))
            .arg("-o")
            .arg(format!("-c config_file={}", file.display()))
            .arg("-l")
            .arg(self.path("log"))
            .args(options);
        if let Err(message) = run(&mut command) {
            panic!("{message}\n{}", self.log());
        }
    }

    pub fn log(&self) -> String {
        fs::read(self.path("log"))
            .map(|log| String::from_utf8_lossy(&log).into_owned())
            .unwrap_or_default()
    }

    /// One of PostgreSQL's programs as the servers' user, whom pg_hba.conf knows by that alone.
    pub fn program(&self, name: &str) -> Command {
        let mut command = as_server(prefix().join("bin").join(name));
        command
            .env("PGHOST", self.path("sockets"))
            .env("PGPORT", self.port.to_string());
        command
    }

    /// Output of psql for these statements, one after the other, without decoration. Panics if one fails.
    pub fn psql(&self, database: &str, sql: &str) -> String {
        let mut command = self.program("psql");
        command
            .args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut psql = command.spawn().expect("psql runs");
        let mut input = psql.stdin.take().expect("a pipe");
        input.write_all(sql.as_bytes()).expect("psql reads");
        drop(input);
        let output = psql.wait_with_output().expect("psql ends");
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        assert!(output.status.success(), "{sql}: {}", said(&output.stderr));
        said(&output.stdout)
    }
}

impl Drop for DebianCluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- log of the cluster ---\n{}\n---", self.log());
        }
        let mut stop = as_server(prefix().join("bin/pg_ctl"));
        stop.args(["stop", "-s", "-w", "-m", "immediate", "-D"])
            .arg(self.path("data"));
        let _ = run(&mut stop);
    }
}

/// A port without a listener, and that the kernel does not give to programs that ask for any: those begin at 32768.
fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let tried = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 20_000 + (std::process::id().wrapping_mul(16).wrapping_add(tried)) % 10_000;
        let port = u16::try_from(port).expect("below 30000");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
