//! A statement that runs in a session of its own while the test goes on.

use postgres::{CancelToken, Client, Error, NoTls, SimpleQueryMessage};
use std::thread::JoinHandle;

pub struct Background {
    /// The backend's process id.
    pub pid: i32,
    cancel: CancelToken,
    thread: JoinHandle<Result<Vec<SimpleQueryMessage>, Error>>,
}

impl Background {
    pub(crate) fn start(mut client: Client, sql: &str) -> Self {
        let pid = client
            .query_one("SELECT pg_backend_pid()", &[])
            .expect("pg_backend_pid()")
            .get(0);
        let cancel = client.cancel_token();
        let sql = sql.to_owned();
        Self {
            pid,
            cancel,
            thread: std::thread::spawn(move || client.simple_query(&sql)),
        }
    }

    /// Cancels the statement, as Ctrl-C in psql does.
    pub fn cancel(&self) {
        self.cancel
            .cancel_query(NoTls)
            .expect("a request to cancel");
    }

    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Wait for the statement's end.
    pub fn join(self) -> Result<Vec<SimpleQueryMessage>, Error> {
        self.thread.join().expect("the session's thread")
    }
}
