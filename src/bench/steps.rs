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
};

impl Run {
    /// Makes the plan of what is to come.
    pub fn plan(&mut self, place: Place) {
        self.course.set(plan::steps(&self.spec, place));
    }

    /// Begins the next step of the plan. A workload carries out what comes, until what it has measured is stored.
    pub fn next_step(&mut self) -> Option<Act> {
        let act = self.course.next()?;
        self.step(act);
        Some(act)
    }

    /// A step begins.
    pub fn step(&mut self, act: Act) {
        let started_ms = clock::ms(self.started_ns, clock::now_ns());
        if !self.course.begin(act, started_ms) {
            self.is_not_as_planned(act.action());
        }
    }

    /// The server on the target has begun these. Its run was begun then.
    pub fn take_over_steps(&mut self, mut there: Vec<Begun>, before_ns: u64) {
        let offset = clock::ms(self.started_ns, before_ns);
        for begun in &mut there {
            begun.started_ms += offset;
        }
        if !self.course.take_over(there) {
            // Another server may tell what it likes: no fault of ours, and none that an assertion may see.
            self.warn_of_plan("what the server did");
        }
    }

    /// The end of a run that is done: nothing that was planned is left.
    pub fn check_plan_is_done(&self) {
        if !self.course.is_through() {
            self.is_not_as_planned("the end");
        }
    }

    /// A fault of ours, and none of what was measured.
    fn is_not_as_planned(&self, what: &str) {
        self.warn_of_plan(what);
        debug_assert!(false, "{what} is not as planned");
    }

    fn warn_of_plan(&self, what: &str) {
        let next = self.course.next().map_or("the end", Act::action);
        report::log_warning(
            &Fault::new(
                sqlstate::INTERNAL,
                format!("run {} is not as planned", self.run_id),
            )
            .detail(format!("This is done: {what}; and was to be done: {next}.")),
        );
    }

    /// What every workload does that has a work database.
    pub fn carry_out_step(&mut self, act: Act) -> Result<(), Fault> {
        match act {
            Act::MakeDatabase => self.provision(),
            Act::TakeDatabase => self.adopt(),
            Act::FillWal => self.fill_wal(),
            // Before the clients, whose worker slots it would need beside theirs.
            Act::Checkpoint => self.checkpoint(),
            other => Err(Fault::new(
                sqlstate::INTERNAL,
                format!("nothing carries out step \"{}\"", other.action()),
            )),
        }
    }

    /// A plan without an end.
    pub fn stored_nothing(&self) -> Fault {
        Fault::new(sqlstate::INTERNAL, "the plan of the run stores nothing")
    }

    /// As they are stored.
    pub fn steps_begun(&self) -> Value {
        json!(self.course.begun())
    }
}
