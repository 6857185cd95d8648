//! The steps of a run: its plan, by which it is carried out, and what is stored of them.

use pgfsbench_core::{
    run::plan::{self, Begun, Place},
    spec::Act,
};
use serde_json::{Value, json};

use super::Run;
use crate::{
    clock,
    errors::{Fault, sqlstate},
    pg::report,
    run::plan::nothing_carries_out,
};

impl Run {
    /// Makes the plan of what is to come.
    pub fn plan(&mut self, place: Place) {
        self.cursor.set(plan::steps(&self.spec, place));
    }

    /// Begins the next step of the plan. The workload, or the coordinator of a run on a target, carries out the steps until the results are stored;
    /// the coordinator carries out the rest.
    pub fn next_step(&mut self) -> Option<Act> {
        self.cursor
            .begin(clock::ms(self.started_ns, clock::now_ns()))
    }

    /// Tells a step of removing what a run has made that has failed: its plan does not hold any more.
    pub fn tell_removal(&mut self, act: Act) {
        let started_ms = clock::ms(self.started_ns, clock::now_ns());
        self.cursor.tell_step(act, started_ms);
    }

    /// The server on the target has begun these. Its run was begun then.
    pub fn take_over_steps(&mut self, mut there: Vec<Begun>, before_ns: u64) {
        let offset = clock::ms(self.started_ns, before_ns);
        for begun in &mut there {
            begun.started_ms += offset;
        }
        if !self.cursor.take_over(there) && !self.remote_has_ended {
            // Another server may tell what it likes: no fault of ours.
            self.warn_of_plan();
        }
    }

    fn warn_of_plan(&self) {
        report::log_warning(
            &Fault::new(
                sqlstate::INTERNAL,
                format!("run {} is not as planned", self.run_id),
            )
            .detail("The server on the target has told other steps than those that were planned."),
        );
    }

    /// Carries out the steps that all workloads with a work database share.
    pub fn carry_out_step(&mut self, act: Act) -> Result<(), Fault> {
        match act {
            Act::MakeDatabase => self.provision(),
            Act::TakeDatabase => self.adopt(),
            Act::FillWal => self.fill_wal(),
            // It comes before the clients: its worker would need a slot in addition to theirs.
            Act::Checkpoint => self.checkpoint(),
            other => Err(nothing_carries_out(other)),
        }
    }

    /// A plan without an end.
    pub fn stored_nothing(&self) -> Fault {
        Fault::new(sqlstate::INTERNAL, "the plan of the run stores nothing")
    }

    /// As they are stored.
    pub fn steps_begun(&self) -> Value {
        json!(self.cursor.begun())
    }
}
