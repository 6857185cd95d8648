//! A run that a test holds: its clients wait for a table that a session of the test has locked. What is done meanwhile is done in that
//! phase, however slow the machine is.

use crate::common::{row, rows};
use pgfsbench_tests::{LONG, TestServer, ending, wait_until};
use postgres::Client;

/// Where the clients of tpcb wait: only they write it.
pub const BRANCHES: &str = "pgbench_branches IN EXCLUSIVE MODE";

pub struct Held<'a> {
    pub id: String,
    /// Name of the work database, which is open to everybody.
    pub database: String,
    server: &'a TestServer,
    client: Client,
    lock: String,
    phase: String,
    /// It has the lock.
    holder: Option<Client>,
}

impl<'a> Held<'a> {
    /// A run with these arguments, held in its window. A number of transactions ends that, and they take a second or two.
    pub fn in_window(server: &'a TestServer, arguments: &str) -> Self {
        Self::at(server, arguments, "measure", "true", BRANCHES)
    }

    /// A run that is held in this phase once this holds of its row of fsbench.progress, by this table and mode of lock. Where the machine
    /// was too slow for that, the phase being over by then, another run is made.
    pub fn at(
        server: &'a TestServer,
        arguments: &str,
        phase: &str,
        condition: &str,
        lock: &str,
    ) -> Self {
        wait_until("a run is held", LONG, || {
            let mut client = server.connect("postgres");
            let id = row(&mut client, &format!("SELECT fsbench.start({arguments})"));
            let mut held = Self {
                id,
                database: String::new(),
                server,
                client,
                lock: lock.to_owned(),
                phase: phase.to_owned(),
                holder: None,
            };
            if held.wait_for(condition) && held.open() && held.hold() {
                return Some(held);
            }
            held.end();
            None
        })
    }

    /// The value of this expression in the run's row of fsbench.progress; None without a row.
    pub fn progress(&mut self, what: &str) -> Option<String> {
        let sql = format!(
            "SELECT {what} FROM fsbench.progress WHERE run_id = {}",
            self.id
        );
        rows(&mut self.client, &sql).pop()
    }

    /// Waits until this holds in the phase; false if the run is further.
    pub fn wait_for(&mut self, condition: &str) -> bool {
        let what = format!(
            "CASE WHEN phase = '{}' THEN ({condition})::text ELSE phase END",
            self.phase
        );
        let mut has_come = false;
        wait_until("the run is in the phase", LONG, || {
            let seen = self.progress(&what);
            has_come |= matches!(seen.as_deref(), Some("true" | "false"));
            match seen.as_deref() {
                None => Some(false),
                Some("true") => Some(true),
                Some(other) if has_come && other != "false" => Some(false),
                Some(_) => None,
            }
        })
    }

    /// The phase that it is held in ends by itself: waits until it is in this one, of which its coordinator has seen to the start.
    pub fn goes_on_to(&mut self, phase: &str) {
        self.phase = phase.to_owned();
        assert!(self.wait_for("true"), "the run is not held");
        let waits = "SELECT wait_event_type = 'Extension' FROM pg_stat_activity JOIN fsbench.progress ON pid = coordinator_pid";
        wait_until("the coordinator waits", LONG, || {
            (rows(&mut self.client, waits) == ["t"]).then_some(())
        });
    }

    /// Lets others into the work database; false if it is gone.
    fn open(&mut self) -> bool {
        let open = format!(
            "UPDATE pg_database SET datallowconn = true FROM fsbench.run_log \
             WHERE run_id = {} AND datname = work_database RETURNING datname",
            self.id
        );
        match rows(&mut self.client, &open).pop() {
            Some(name) => self.database = name,
            None => return false,
        }
        true
    }

    /// Takes the lock, and waits until all clients wait for it; false if the phase is over, and it is not held.
    pub fn hold(&mut self) -> bool {
        let lock = format!("BEGIN; LOCK TABLE {}", self.lock);
        // The own statements are none of the run's.
        let mut holder = self.server.config("postgres", &self.database);
        holder.options("-c pg_stat_statements.track=none");
        let Ok(mut holder) = holder.connect(postgres::NoTls) else {
            return false;
        };
        // The run may end before, and drop the database.
        if holder.batch_execute(&lock).is_err() {
            return false;
        }
        self.holder = Some(holder);
        let all_wait = "(SELECT coalesce(bool_and(coalesce(wait_event_type = 'Lock', false)), false) FROM pg_stat_activity \
            WHERE backend_type = 'fsbench client')";
        let is_held = self.wait_for(all_wait);
        if !is_held {
            self.release();
        }
        is_held
    }

    /// The clients go on.
    pub fn release(&mut self) {
        self.holder = None;
    }

    /// The session that has the lock, in its transaction.
    pub fn session(&mut self) -> &mut Client {
        self.holder.as_mut().expect("it is held")
    }

    /// The clients go on, and the run is to end well. Gives its id.
    pub fn end(mut self) -> String {
        self.release();
        assert_eq!(ending(&mut self.client, &self.id), "done");
        self.id
    }
}
