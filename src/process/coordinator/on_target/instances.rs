//! Several servers on one target: each carries the run out, and all of them begin at the same moment of the clock of this machine.

use std::{
    sync::atomic::Ordering::Release,
    time::{Duration, Instant},
};

use pgfsbench_core::{
    run::{
        instances::{self, Instance},
        remote_request::Executor,
    },
    spec::{ResultTable, Stage},
    workload,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    remote::{Measured, POLL, POLL_SOON, State, read, steps_in},
    server_setup::ServerSetup,
};
use crate::{
    bench::Run,
    clock,
    errors::{Fault, sqlstate, to_json_text},
    pg::libpq::Connection,
};

/// From the order to all servers until they begin: each of them has to have it by then.
const LEAD: Duration = Duration::from_secs(1);
/// How long the servers may take from the first that is ready to the last: each loads or copies as much as the others.
const ALL_READY: Duration = Duration::from_secs(3600);

const START_TOGETHER: &str = "SELECT fsbench._start_together($1::bigint, $2::bigint)";

/// The clock is that of this machine for all servers.
const BEGAN: &str = "SELECT 1000 * extract(epoch FROM measured_from)::float8 FROM fsbench.run_log WHERE run_id = $1::bigint";

/// A run in one of the servers.
struct RemoteRun {
    id: String,
    nobody_since: Option<Instant>,
    is_over: bool,
}

#[derive(Deserialize)]
struct Document {
    run: Map<String, Value>,
}

impl Run {
    /// A fault in the work with one of several servers, which is named; but not where the run was cancelled, or this server has a fault of its own.
    pub(super) fn fault_of_instance(
        &mut self,
        instance: usize,
        server: &ServerSetup,
        fault: Fault,
    ) -> Fault {
        match self.check_interrupts() {
            Ok(()) => server
                .explain(fault)
                .context(&format!("instance {instance}")),
            Err(own) => own,
        }
    }

    /// Has each server carry the run out, all of them at the same time, and makes one result of theirs.
    pub(super) fn run_together(
        &mut self,
        servers: &mut [&mut ServerSetup],
        stage: &Stage,
    ) -> Result<Measured, Fault> {
        let before_ns = clock::now_ns();
        let executor = Executor::Own(stage);
        let mut runs = Vec::new();
        for (instance, server) in (1..).zip(&mut *servers) {
            let id = self.start_remote(server.connected()?, executor);
            runs.push(RemoteRun {
                id: id.map_err(|fault| self.fault_of_instance(instance, server, fault))?,
                nobody_since: None,
                is_over: false,
            });
        }
        self.board.run.remote.store(1, Release);
        let followed = self.follow_all(servers, &mut runs);
        self.board.run.remote.store(0, Release);
        if let Err((at, fault)) = followed {
            let Some(at) = at else { return Err(fault) };
            self.take_over_failed(servers[at].connected()?, &runs[at].id, executor, before_ns);
            return Err(self.fault_of_instance(at + 1, servers[at], fault));
        }
        let mut all = Vec::new();
        for (at, (server, run)) in servers.iter_mut().zip(&runs).enumerate() {
            let fetched = self.fetch_instance(server.connected()?, &run.id, executor, before_ns);
            let (instance, document) =
                fetched.map_err(|fault| self.fault_of_instance(at + 1, server, fault))?;
            if at == 0 {
                self.take_over_steps(steps_in(&document), before_ns);
            }
            all.push(instance);
        }
        let together = instances::together(&all, self.spec.workload);
        let tables = workload::measured_tables().into_iter().map(|table| {
            let rows = together.tables.get(table.name);
            rows.filter(|rows| !rows.is_empty())
                .map(to_json_text)
                .into_iter()
                .collect()
        });
        Ok(Measured {
            document: json!({"run": together.run}).to_string(),
            tables: tables.collect::<Result<_, Fault>>()?,
            is_of_another: false,
            before_ns,
            instances: together.instances,
        })
    }

    /// Follows all runs to their ends, and starts them together. A fault comes with the place of its server; None: this server's own.
    fn follow_all(
        &mut self,
        servers: &mut [&mut ServerSetup],
        runs: &mut [RemoteRun],
    ) -> Result<(), (Option<usize>, Fault)> {
        let mut next = Instant::now();
        let mut one_ready_since = None;
        let mut is_started = false;
        loop {
            let mut states = Vec::new();
            for (at, (server, run)) in servers.iter_mut().zip(&mut *runs).enumerate() {
                if run.is_over {
                    continue;
                }
                let polled = server
                    .connected()
                    .and_then(|connection| {
                        self.poll(connection, &run.id, false, &mut run.nobody_since)
                    })
                    .map_err(|fault| (Some(at), fault))?;
                if polled.is_over && !is_started {
                    return Err((Some(at), ended_alone()));
                }
                run.is_over = polled.is_over;
                states.push(polled.state);
            }
            if let Some(state) = states.into_iter().reduce(State::and) {
                self.mirror(&state);
            }
            if runs.iter().all(|run| run.is_over) {
                return Ok(());
            }
            if !is_started {
                let ready = self.order(servers, runs, None)?;
                if ready.iter().all(|is_ready| *is_ready) {
                    let start_ns = clock::now_ns() + LEAD.as_nanos() as u64;
                    let taken = self.order(servers, runs, Some(start_ns))?;
                    if let Some(at) = taken.iter().position(|is_taken| !is_taken) {
                        return Err((Some(at), ended_alone()));
                    }
                    is_started = true;
                } else if let Some(at) = ready.iter().position(|is_ready| !is_ready)
                    && ready.contains(&true)
                {
                    let since: &mut Instant = one_ready_since.get_or_insert_with(Instant::now);
                    if since.elapsed() > ALL_READY {
                        return Err((Some(at), not_ready()));
                    }
                }
            }
            // Before the start questions disturb no window.
            next = match is_started {
                true => next + POLL,
                false => Instant::now() + POLL_SOON,
            };
            self.rest_until(next).map_err(|fault| (None, fault))?;
        }
    }

    /// Asks each server whether its run waits for the start, and gives it the time of the start.
    fn order(
        &mut self,
        servers: &mut [&mut ServerSetup],
        runs: &[RemoteRun],
        start_ns: Option<u64>,
    ) -> Result<Vec<bool>, (Option<usize>, Fault)> {
        let start_ns = start_ns.map(|ns| ns.to_string());
        let each = servers.iter_mut().zip(runs).enumerate();
        each.map(|(at, (server, run))| {
            let arguments = [Some(&run.id[..]), start_ns.as_deref()];
            let asked = server
                .connected()
                .and_then(|connection| self.ask(connection, START_TOGETHER, &arguments));
            asked
                .map(|answer| answer == "t")
                .map_err(|fault| (Some(at), fault))
        })
        .collect()
    }

    /// Reads the result of one server, and gives its row as it was sent, too.
    fn fetch_instance(
        &mut self,
        connection: &mut Connection,
        remote_id: &str,
        executor: Executor,
        before_ns: u64,
    ) -> Result<(Instance, String), Fault> {
        let measured = self.fetch(connection, remote_id, executor, before_ns)?;
        let began: f64 = read(&self.ask(connection, BEGAN, &[Some(remote_id)])?)?;
        let Document { run } = read(&measured.document)?;
        let names = workload::measured_tables();
        let tables = names.iter().zip(&measured.tables);
        let rows = tables.map(|(table, slices)| rows_of(*table, slices));
        let instance = Instance {
            run,
            tables: rows.collect::<Result<_, Fault>>()?,
            began_ms: began,
        };
        Ok((instance, measured.document))
    }
}

/// Rows as objects of JSON.
type Rows = Vec<Map<String, Value>>;

/// A table with its rows, from arrays of rows.
fn rows_of(table: ResultTable, slices: &[String]) -> Result<(&'static str, Rows), Fault> {
    let mut rows = Vec::new();
    for slice in slices {
        rows.append(&mut read(slice)?);
    }
    Ok((table.name, rows))
}

fn ended_alone() -> Fault {
    Fault::new(
        sqlstate::SYSTEM,
        "the run did not wait for those of the other servers",
    )
    .detail("All servers of a run begin at the same moment.")
}

fn not_ready() -> Fault {
    Fault::new(sqlstate::SYSTEM, "the server is not ready to begin")
        .detail(format!(
            "Another server of the run has waited for it for {} s.",
            ALL_READY.as_secs()
        ))
        .hint("See the log of the target's server and the kernel's.")
}
