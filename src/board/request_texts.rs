//! The texts of a request that is being made or carried out. They are long, and few requests are at hand at a time: what only
//! waits has none, since its row in `run_log` has them.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire},
};

use pgfsbench_core::board::TextCell;

/// The texts of one request.
#[repr(C)]
pub struct RequestTexts {
    /// Ticket of the request that they belong to; 0 if they are free. Written by the process that takes them or gives them back.
    holder: AtomicU64,
    /// The specification, JSON. Written by the caller, or by the coordinator of a run that has waited.
    pub spec: TextCell<8192>,
    /// The arguments as given, JSON. Written as the specification.
    pub arguments: TextCell<8192>,
    /// The outcome, JSON of [`crate::board::outcome::Outcome`]. Written by the coordinator, or by the janitor when it could not start or died.
    pub outcome: TextCell<8192>,
}

impl RequestTexts {
    /// Whether they belong to the request of that ticket.
    pub fn belong_to(&self, ticket: u64) -> bool {
        self.holder.load(Acquire) == ticket
    }

    /// Takes them for the request of that ticket, empty; false when they are taken.
    pub fn take(&self, ticket: u64) -> bool {
        let taken = self
            .holder
            .compare_exchange(0, ticket, AcqRel, Acquire)
            .is_ok();
        if taken {
            self.spec.clear();
            self.arguments.clear();
            self.outcome.clear();
        }
        taken
    }

    /// Gives them back, unless they are another's by now.
    pub fn give_back(&self, ticket: u64) {
        let _ = self.holder.compare_exchange(ticket, 0, AcqRel, Acquire);
    }
}
