//! The phases of a run, and how long each took.

use serde_json::{Value, json};

use super::Run;
use crate::{
    board::Phase,
    clock,
    pg::{points::point, shmem},
};

/// A phase that is over, or the one that is on.
pub struct PhaseTime {
    pub phase: Phase,
    pub started_ns: u64,
    pub ended_ns: Option<u64>,
}

/// A phase of a run on a target, before or after the run of the server there.
pub struct Span {
    pub name: &'static str,
    pub began_ns: u64,
    pub ended_ns: u64,
}

impl Span {
    /// As it is stored among the phases of a run that began then.
    pub fn as_phase(&self, started_ns: u64) -> Value {
        json!({
            "phase": self.name,
            "started_ms": clock::ms(started_ns, self.began_ns),
            "ms": clock::ms(self.began_ns, self.ended_ns),
        })
    }
}

impl Run {
    /// Enters a phase of this many steps, which ends the one before.
    pub fn enter(&mut self, phase: Phase, total: u64) {
        self.end_phase();
        let now = clock::now_ns();
        self.phases.push(PhaseTime {
            phase,
            started_ns: now,
            ended_ns: None,
        });
        self.board.run.enter(phase, now, total);
        shmem::announce();
        point!("coordinator in {}", phase.as_str());
    }

    /// The phase that is on is over.
    pub fn end_phase(&mut self) {
        if let Some(last) = self.phases.last_mut() {
            last.ended_ns.get_or_insert_with(clock::now_ns);
        }
    }

    /// How long a phase took so far.
    pub fn ms_of(&self, phase: Phase) -> f64 {
        self.phases
            .iter()
            .filter(|p| p.phase == phase)
            .map(|p| clock::ms(p.started_ns, p.ended_ns.unwrap_or_else(clock::now_ns)))
            .sum()
    }

    /// The phases as they are stored.
    pub fn phase_times(&self) -> Value {
        self.phases
            .iter()
            .enumerate()
            .map(|(index, p)| {
                // The phases of the server that carries the run out follow it.
                let is_its_server = index == 0 && !self.spec.is_here();
                json!({
                    "phase": if is_its_server { "server" } else { p.phase.as_str() },
                    "started_ms": clock::ms(self.started_ns, p.started_ns),
                    "ms": p.ended_ns.map(|end| clock::ms(p.started_ns, end)),
                })
            })
            .collect()
    }
}
