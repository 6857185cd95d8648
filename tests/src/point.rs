//! Injection points of the extension: places where a test holds the processes of a run. See src/pg/points.rs.

use crate::server::TestServer;
use crate::wait::LONG;
use postgres::{Client, NoTls};
use std::time::Duration;

/// The functions go with their session.
const FUNCTIONS: &str = "SET client_min_messages = warning; \
    CREATE OR REPLACE FUNCTION pg_temp.attach(text, integer) RETURNS void LANGUAGE c AS 'pgfsbench', 'point_attach_wrapper'; \
    CREATE OR REPLACE FUNCTION pg_temp.detach(text) RETURNS void LANGUAGE c AS 'pgfsbench', 'point_detach_wrapper'; \
    CREATE OR REPLACE FUNCTION pg_temp.wait(text, integer, integer) RETURNS integer LANGUAGE c AS 'pgfsbench', 'point_wait_wrapper'";

/// An attached point: each process that comes there waits until this value is dropped, or the server ends.
pub struct Point {
    session: Client,
    name: String,
}

impl TestServer {
    /// Holds each process that comes to this point from now on.
    pub fn hold_at(&self, point: &str) -> Point {
        self.hold_at_after(point, 0)
    }

    /// Holds each process that comes to this point, once that many have passed.
    pub fn hold_at_after(&self, point: &str, passing: u32) -> Point {
        // Views of statements do not show those of a test.
        let mut session = self.config("postgres", "template1");
        session.options("-c pg_stat_statements.track=none");
        let mut session = session.connect(NoTls).expect("a session");
        session.batch_execute(FUNCTIONS).expect(FUNCTIONS);
        let mut point = Point {
            session,
            name: point.to_owned(),
        };
        point.again_after(passing);
        point
    }
}

impl Point {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Lets the held processes go on, and holds processes again once that many have passed.
    pub fn again_after(&mut self, passing: u32) {
        let attach = "SELECT pg_temp.attach($1, $2)";
        let attached = self
            .session
            .execute(attach, &[&self.name, &(passing as i32)]);
        attached.unwrap_or_else(|error| panic!("{}: {error:?}", self.name));
    }

    /// Waits until the point has held that many processes. The pid of the last one.
    pub fn wait_for(&mut self, processes: u32) -> i32 {
        self.wait_within(processes, LONG)
            .unwrap_or_else(|| panic!("{processes} processes did not come to \"{}\"", self.name))
    }

    /// Waits so long; None if fewer processes have come by then.
    pub fn wait_within(&mut self, processes: u32, patience: Duration) -> Option<i32> {
        let wait = "SELECT pg_temp.wait($1, $2, $3)";
        let seconds = patience.as_secs() as i32;
        let waited = self
            .session
            .query_one(wait, &[&self.name, &(processes as i32), &seconds]);
        let waited = waited.unwrap_or_else(|error| panic!("{}: {error:?}", self.name));
        waited.get(0)
    }
}

impl Drop for Point {
    fn drop(&mut self) {
        // A server that has ended, or restarted after a crash, holds no process.
        let _ = self
            .session
            .execute("SELECT pg_temp.detach($1)", &[&self.name]);
    }
}
