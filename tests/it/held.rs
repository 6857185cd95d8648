//! A run that a test holds: its clients wait at an injection point. What is done meanwhile is done in that phase, however slow the machine is.

use crate::common::{row, rows};
use pgfsbench_tests::{LONG, Point, TestServer, ending, wait_until};
use postgres::Client;
use std::time::Duration;

/// Phases in which no client comes to a transaction any more.
const OVER: [&str; 5] = ["recovery", "verify", "maintenance", "collect", "cleanup"];

pub struct Held<'a> {
    pub id: String,
    server: &'a TestServer,
    client: Client,
    /// Where the clients wait.
    point: Option<Point>,
    /// Where the coordinator waits once the window has begun.
    window: Option<Point>,
}

impl<'a> Held<'a> {
    /// A run with these arguments, whose clients wait before their first transactions of the window.
    pub fn in_window(server: &'a TestServer, arguments: &str) -> Self {
        Self::after(server, arguments, 0)
    }

    /// A run whose clients wait after that many transactions of the window.
    pub fn after(server: &'a TestServer, arguments: &str, transactions: u32) -> Self {
        Self::at(server, arguments, "window", transactions)
    }

    /// A run whose clients wait after that many transactions of the warm-up. Its coordinator waits for `comes_into_window`.
    pub fn in_warm_up(server: &'a TestServer, arguments: &str, transactions: u32) -> Self {
        Self::at(server, arguments, "warm-up", transactions)
    }

    /// Where the machine was too slow, the time of the run being over by then, another run is made.
    fn at(server: &'a TestServer, arguments: &str, part: &str, transactions: u32) -> Self {
        wait_until("a run is held", LONG, || {
            let point = server.hold_at_after(&format!("transaction of the {part}"), transactions);
            let window = (part == "warm-up").then(|| server.hold_at("coordinator in the window"));
            let mut client = server.connect("postgres");
            let id = row(&mut client, &format!("SELECT fsbench.start({arguments})"));
            let mut held = Self {
                id,
                server,
                client,
                point: Some(point),
                window,
            };
            if held.waits() {
                return Some(held);
            }
            held.end();
            None
        })
    }

    /// Whether all clients wait at the point, once they do or their phase is over.
    fn waits(&mut self) -> bool {
        let clients = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'fsbench client'";
        loop {
            let point = self.point.as_mut().expect("it is held");
            point.wait_within(1, Duration::from_secs(1));
            let left: u32 = row(&mut self.client, clients).parse().expect("a number");
            if left > 0 && point.wait_within(left, Duration::from_secs(1)).is_some() {
                return true;
            }
            let is_over = match self.progress("phase").as_deref() {
                None => true,
                Some("measure") => self.window.is_some(),
                Some(phase) => OVER.contains(&phase),
            };
            if is_over {
                return false;
            }
        }
    }

    /// The value of this expression in the run's row of fsbench.progress; None without a row.
    pub fn progress(&mut self, what: &str) -> Option<String> {
        let sql = format!(
            "SELECT {what} FROM fsbench.progress WHERE run_id = {}",
            self.id
        );
        rows(&mut self.client, &sql).pop()
    }

    /// Waits until this holds in the run's row of fsbench.progress.
    pub fn wait_for(&mut self, condition: &str) {
        let sql = format!(
            "SELECT bool_and({condition}) FROM fsbench.progress WHERE run_id = {}",
            self.id
        );
        self.server.wait_for("postgres", &sql, LONG);
    }

    /// The warm-up, in which the clients wait, ends by itself: waits until the coordinator has begun the window.
    pub fn comes_into_window(&mut self) {
        self.window.take().expect("a warm-up").wait_for(1);
    }

    /// Name of the work database, which is opened to sessions of the test.
    pub fn database(&mut self) -> String {
        let open = format!(
            "UPDATE pg_database SET datallowconn = true FROM fsbench.run_log \
             WHERE run_id = {} AND datname = work_database RETURNING datname",
            self.id
        );
        row(&mut self.client, &open)
    }

    /// The clients go on, and wait again after that many transactions of the window.
    pub fn again_after(&mut self, transactions: u32) {
        let window = "transaction of the window";
        match &mut self.point {
            Some(point) if point.name() == window => point.again_after(transactions),
            // The earlier point lets the clients go when the other one is attached.
            _ => self.point = Some(self.server.hold_at_after(window, transactions)),
        }
        assert!(self.waits(), "the window is over");
    }

    /// The clients go on.
    pub fn release(&mut self) {
        self.point = None;
        self.window = None;
    }

    /// The clients go on, and the run is to end well. Gives its id.
    pub fn end(mut self) -> String {
        self.release();
        assert_eq!(ending(&mut self.client, &self.id), "done");
        self.id
    }
}
