//! Errors of the disk: one operation of it fails under a server that commits, and the server is started again and judged.

use pgfsbench_core::{
    helper::record::{self, CutEnded, CutMounted, FaultOn},
    workload::power_cut::{Course, History, Losses},
};
use serde_json::{Value, json};

use super::{RemoteRunRow, check_recorder, commits_table, insert_commit};
use crate::{
    bench::Run, clock, errors::Fault, process::coordinator::on_target::server_setup::ServerSetup,
};

/// Commits of a client before an operation of the disk fails.
const COMMITS_BEFORE_ERROR: u64 = 20;
/// Commits that are tried from then on, until one fails.
const COMMITS_AFTER_ERROR: u64 = 50;

/// The table of commits while an operation of the disk fails.
const ERROR_TABLE: &str = "fsbench_disk_error";

impl Run {
    /// Lets one operation of the disk fail under a server that commits, and starts the server again.
    pub(super) fn fail_disk(
        &mut self,
        server: &mut ServerSetup,
        before: &RemoteRunRow,
        cut: &record::Cut,
        on: FaultOn,
    ) -> Result<Course, Fault> {
        let target = server.target.name.clone();
        let mounted: CutMounted = self.ask_for_cut(&target, "cut", &json!(cut))?;
        if !mounted.mounted {
            return Ok(Course {
                not_begun: Some(mounted.why_not.unwrap_or_default()),
                ..Course::default()
            });
        }
        let mut course = Course::default();
        let mut times = Vec::new();
        match self.commit_until_error(server, before, on, &mut times) {
            Ok(error) => {
                course.error = error;
                course.log = server.server()?.log_until_error(on)?;
            }
            Err(fault) => course.not_begun = Some(self.in_words(fault)?),
        }
        course.acknowledged = times.len() as u64;
        server.server()?.stop()?;
        if course.not_begun.is_none() {
            let again: CutMounted = self.ask_for_cut(&target, "cut_again", &json!({}))?;
            course.after = Some(match again.mounted {
                true => {
                    let history = History::of(vec![times]);
                    let judged = self.judge_after_error(server, before, &history);
                    match judged {
                        Ok(judged) => Ok(judged),
                        Err(fault) => Err(self.in_words(fault)?),
                    }
                }
                false => Err(again.why_not.unwrap_or_default()),
            });
            server.server()?.stop()?;
        }
        let ended: CutEnded = self.ask_for_cut(&target, "cut_end", &json!({}))?;
        check_recorder(&ended)?;
        course.errors = ended.faults;
        Ok(course)
    }

    /// Starts the server on the cut, and commits until a statement fails. Returns the error of that statement; None without one. `times` has when
    /// each commit was acknowledged.
    fn commit_until_error(
        &mut self,
        server: &mut ServerSetup,
        before: &RemoteRunRow,
        on: FaultOn,
        times: &mut Vec<u64>,
    ) -> Result<Option<String>, Fault> {
        self.write_settings(server)?;
        let there = server.server()?;
        there.forget_postmaster()?;
        let programs = server.programs;
        let session = (&programs.user[..], &before.work_database[..]);
        let started = there.start_to_fail(&programs.bindir, session, on, &mut || {
            self.check_interrupts()
        })?;
        let mut connection = started.connection?;
        self.ask(&mut connection, &commits_table(ERROR_TABLE), &[])?;
        let insert = insert_commit(ERROR_TABLE);
        for number in 1..=COMMITS_BEFORE_ERROR {
            self.ask(&mut connection, &insert, &[Some(&number.to_string())])?;
            times.push(clock::now_ns());
        }
        there.sync_before_error(&mut || self.check_interrupts())?;
        let fault = record::Fault { on, lasting: false };
        let _: Value = self.ask_for_cut(&server.target.name, "fault", &json!(fault))?;
        for number in COMMITS_BEFORE_ERROR + 1..=COMMITS_BEFORE_ERROR + COMMITS_AFTER_ERROR {
            match self.ask(&mut connection, &insert, &[Some(&number.to_string())]) {
                Ok(_) => times.push(clock::now_ns()),
                Err(fault) => return self.in_words(fault).map(Some),
            }
        }
        // A page of a table may be what was not written.
        match self.ask(&mut connection, "CHECKPOINT", &[]) {
            Ok(_) => Ok(None),
            Err(fault) => self.in_words(fault).map(Some),
        }
    }

    /// Starts the server on the disk as the error has left it, and compares its rows with the acknowledged commits.
    fn judge_after_error(
        &mut self,
        server: &mut ServerSetup,
        before: &RemoteRunRow,
        history: &History,
    ) -> Result<Losses, Fault> {
        self.write_settings(server)?;
        let there = server.server()?;
        there.forget_postmaster()?;
        let programs = server.programs;
        let recovered = there.recover(
            &programs.bindir,
            &programs.user,
            &before.work_database,
            &server.preloaded_after_crash(),
            &mut || self.check_interrupts(),
        )?;
        let mut connection = recovered.connection?;
        self.survivors(&mut connection, ERROR_TABLE, history, clock::now_ns())
    }
}
