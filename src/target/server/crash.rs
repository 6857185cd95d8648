//! A target server that is crashed and recovers: what is measured of it.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use pgfsbench_core::{quoting, recovery_log::RecoveryLog, target::server_log::lacks_shared_memory};
use rustix::process::Signal;

use super::{TargetServer, program::not_run, removal::STOP};
use crate::{
    clock,
    errors::{Fault, of_file, sqlstate},
    pg::{
        libpq::{CheckInterrupts, Connection},
        process,
    },
};

/// By what the second start of a server is called in its directory.
pub const RECOVERY: &str = "recovery";

/// For the second start: a log that can be read, and connections for the verification only.
const FOR_RECOVERY: &str = "log_line_prefix = '%n '\n\
    log_min_messages = 'warning'\n\
    lc_messages = 'C'\n";

/// For sessions of a role: statements may take as long as in the window.
const OF_ROLE: &str = "-c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0 \
     -c idle_session_timeout=0 -c client_min_messages=error";

/// A server that has recovered.
pub struct Recovered {
    /// Connected to the wanted database; or the error if the server allows no connections to it.
    pub connection: Result<Connection, Fault>,
    /// When it was started; monotonic clock.
    pub started_ns: u64,
}

impl TargetServer {
    /// Stops it with nothing written that a crash would not have written. It has no connection to anybody then.
    pub fn crash(&self, check_interrupts: CheckInterrupts) -> Result<(), Fault> {
        self.end(Signal::QUIT, STOP, check_interrupts)
    }

    /// Has the cluster on disk again and then forgotten by the kernel, as far as that is possible without unmounting it.
    pub fn sync_and_forget(&self, check_interrupts: CheckInterrupts) -> Result<(), Fault> {
        self.run_sync("sync-again", check_interrupts)?;
        self.forget_pages()
    }

    /// Before it is started again: lets its operating system user connect as a role without a password, which else only the role of that name may.
    pub fn let_in(&self, role: &str, user: &str) -> Result<(), Fault> {
        if role.chars().any(char::is_control) {
            return Err(Fault::new(
                sqlstate::NOT_SUPPORTED,
                "the name of the role contains a control character",
            )
            .detail("After a crash checks are made in a session of the role, whose name has to be a word of pg_hba.conf.")
            .hint("Rename the role, or leave out the checks."));
        }
        let [role, user] = [role, user].map(|name| name.replace('"', "\"\""));
        let rules = self.data().join("pg_hba.conf");
        let names = self.data().join("pg_ident.conf");
        let text = fs::read_to_string(&rules).map_err(|e| of_file("read", &rules, &e))?;
        // The first rule that fits decides.
        let text = format!("local all \"{role}\" peer map=pgfsbench\n{text}");
        for (path, text) in [
            (&rules, text),
            (&names, format!("pgfsbench \"{user}\" \"{role}\"\n")),
        ] {
            fs::write(path, text).map_err(|e| of_file("write", path, &e))?;
        }
        Ok(())
    }

    /// Connects as that role to the server that has recovered.
    pub fn connect_as_role(
        &self,
        role: &str,
        user: &str,
        database: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<Connection, Fault> {
        self.connect_as(role, user, database, OF_ROLE, check_interrupts)
    }

    /// Starts it again, and waits until it has recovered, however long that takes. `preloaded` is its shared_preload_libraries.
    pub fn recover(
        &self,
        bindir: &Path,
        user: &str,
        database: &str,
        preloaded: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<Recovered, Fault> {
        let log = self.directory.join(RECOVERY);
        self.recover_with_log(bindir, (user, database), preloaded, &log, check_interrupts)
    }

    /// Starts it again, with its log in a file of this path.
    pub(super) fn recover_with_log(
        &self,
        bindir: &Path,
        (user, database): (&str, &str),
        preloaded: &str,
        log: &Path,
        check_interrupts: CheckInterrupts,
    ) -> Result<Recovered, Fault> {
        let file = self.settings_file();
        let preloaded = preloaded.replace('\\', "\\\\").replace('\'', "''");
        let settings = format!("shared_preload_libraries = '{preloaded}'\n{FOR_RECOVERY}");
        OpenOptions::new()
            .append(true)
            .open(&file)
            .and_then(|mut file| file.write_all(settings.as_bytes()))
            .map_err(|e| of_file("write", &file, &e))?;
        let argv = self.postgres(bindir);
        let program = PathBuf::from(&argv[0]);
        let mut command = self.command_with_output(&program, log)?;
        command.args(&argv[1..]);
        let started_ns = clock::now_ns();
        let mut child =
            process::spawn_bound(&mut command, Signal::QUIT).map_err(|e| not_run(&program, &e))?;
        // It says there that it is ready: who asked by connecting would have it log each time that it is not.
        while !self.is_ready(child.id()) {
            check_interrupts()?;
            if child.try_wait().is_ok_and(|ended| ended.is_some()) {
                return Err(self.did_not_recover());
            }
            process::wait(Duration::from_millis(5));
        }
        let connection = match self.connect_after_crash(user, database, check_interrupts) {
            Err(fault) if fault.sqlstate == sqlstate::CONNECTION_LOST => {
                if child.try_wait().is_ok_and(|ended| ended.is_some()) {
                    return Err(self.did_not_recover());
                }
                Err(fault)
            }
            other => Ok(other?),
        };
        Ok(Recovered {
            connection,
            started_ns,
        })
    }

    /// The change that allows connections to the database again was committed last, and may be lost with more.
    fn connect_after_crash(
        &self,
        user: &str,
        database: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<Connection, Fault> {
        let refused = match self.connect(user, database, check_interrupts) {
            Err(fault) if fault.sqlstate == sqlstate::CONNECTION_LOST => fault,
            other => return other,
        };
        let mut connection = self.connect(user, "postgres", check_interrupts)?;
        let name = quoting::sql_identifier(database);
        let allow = format!("ALTER DATABASE {name} WITH ALLOW_CONNECTIONS true");
        match connection.query(&allow, &[], check_interrupts) {
            Ok(_) => self.connect(user, database, check_interrupts),
            Err(fault) if fault.sqlstate == sqlstate::NO_SUCH_DATABASE => Err(refused),
            Err(fault) => Err(fault),
        }
    }

    fn did_not_recover(&self) -> Fault {
        let sqlstate = match lacks_shared_memory(&self.whole_recovery_log()) {
            true => sqlstate::NO_RESOURCES,
            false => sqlstate::SYSTEM,
        };
        let ended = Fault::new(sqlstate, "");
        Fault {
            sqlstate: sqlstate.into(),
            message: "the target server did not recover from the crash".into(),
            ..self.did_not_start(&ended)
        }
        .hint("Its settings and its filesystem are those that it crashed with; see the kernel's log, too.")
    }

    /// Whether the postmaster of that pid takes connections, as pg_ctl sees it: in the last line of its file.
    fn is_ready(&self, pid: u32) -> bool {
        let file = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        let mut lines = file.lines();
        lines.next() == Some(pid.to_string().as_str())
            && lines.nth(6).is_some_and(|status| status.trim() == "ready")
    }

    /// Text of the log since the server was started again; empty if it cannot be read.
    pub fn whole_recovery_log(&self) -> String {
        let text = fs::read(self.log()).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Log since it was started again.
    pub fn recovery_log(&self) -> RecoveryLog {
        RecoveryLog::parse(&fs::read_to_string(self.log()).unwrap_or_default())
    }
}
