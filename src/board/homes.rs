//! The databases that have experiments to go on with. What is known of these stands in their tables; here it only stands that somebody
//! has to look there, and when.

use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use crate::clock;

/// Seconds that pass at most until somebody looks again after a failure.
const LONGEST_PAUSE: u64 = 60;
/// Databases that can have experiments at the same time.
const HOMES: usize = 32;

/// All of them.
#[repr(C)]
pub struct Homes {
    /// Each with its place.
    pub places: [Home; HOMES],
    /// Place plus 1 of the database whose experiment is on; 0 when none is. Written by conductors, of which there is one at a time.
    pub holder: AtomicU32,
    /// How many experiments have ended or changed. Raised by the process that ends or changes one.
    pub endings: AtomicU32,
    /// 1 while that experiment is within a block, so that no other run goes in between. Written as `holder`.
    pub in_block: AtomicU32,
}

/// A database.
#[repr(C)]
pub struct Home {
    /// Its OID; 0 for a place that is free. Taken by who first has an experiment there, given back by the janitor when the database is gone.
    pub database: AtomicU32,
    /// Raised by a session that has changed an experiment there, when that is committed.
    pub changes: AtomicU32,
    /// How far a conductor has heard of them. Written by conductors.
    pub heard: AtomicU32,
    /// The run whose end is awaited; 0 for none. Written by conductors.
    pub waits_for: AtomicI64,
    /// Monotonic clock before which no conductor looks again; 0 for at once. Written by conductors, and by the janitor when one has died.
    pub not_before_ns: AtomicU64,
    /// Monotonic clock at which somebody looks though nothing has changed; 0 for never. Written by conductors.
    pub look_at_ns: AtomicU64,
    /// 1 once the conductor that was launched last has done what it could. Cleared by the janitor, set by that conductor.
    pub is_done: AtomicU32,
    /// How many conductors have failed one after the other. Written by conductors and the janitor.
    pub failures: AtomicU32,
}

impl Homes {
    /// Says that an experiment of a database was changed. False when all places are taken. Takes no lock, since a commit is no place
    /// for an error.
    pub fn tell(&self, database: u32) -> bool {
        let takes =
            |home: &&Home| match home.database.compare_exchange(0, database, AcqRel, Acquire) {
                Ok(_) => true,
                Err(whose) => whose == database,
            };
        let Some(home) = self.places.iter().find(takes) else {
            return false;
        };
        home.changes.fetch_add(1, AcqRel);
        home.not_before_ns.store(0, Release);
        true
    }

    /// Says that all databases are to be looked at: the one whose experiment was on has none any more.
    pub fn tell_all(&self) {
        for home in &self.places {
            if home.database.load(Acquire) != 0 {
                home.changes.fetch_add(1, AcqRel);
            }
        }
    }

    /// Lets go of the experiment that is on, if it is that of this place.
    pub fn let_go(&self, place: usize) {
        if self.holder.load(Acquire) == place as u32 + 1 {
            self.in_block.store(0, Release);
            self.holder.store(0, Release);
            self.tell_all();
        }
    }

    /// Takes the turn for the experiment of this place; false when another one is on.
    pub fn hold(&self, place: usize) -> bool {
        let own = place as u32 + 1;
        let taken = self.holder.compare_exchange(0, own, AcqRel, Acquire);
        taken.is_ok() || taken == Err(own)
    }

    /// How many experiments have ended or changed, to wait for the next one.
    pub fn endings(&self) -> u32 {
        self.endings.load(Acquire)
    }

    /// The database whose experiment is on.
    pub fn home_of_holder(&self) -> Option<u32> {
        let place = self.holder.load(Acquire).checked_sub(1)?;
        let home = self.places.get(place as usize)?;
        Some(home.database.load(Acquire))
    }

    /// Whether an experiment is within a block, so that only its own runs are begun.
    pub fn is_in_block(&self) -> bool {
        self.holder.load(Acquire) != 0 && self.in_block.load(Acquire) == 1
    }
}

impl Home {
    /// Gives the place back: its database is gone. By the janitor.
    pub fn free(&self) {
        self.waits_for.store(0, Relaxed);
        self.not_before_ns.store(0, Relaxed);
        self.look_at_ns.store(0, Relaxed);
        self.failures.store(0, Relaxed);
        self.heard.store(self.changes.load(Acquire), Relaxed);
        self.database.store(0, Release);
    }

    /// Delays the next look after a failure.
    pub fn pause_after_failure(&self) {
        let failures = self.failures.load(Acquire).saturating_add(1);
        self.failures.store(failures, Release);
        let seconds = (1u64 << failures.min(6)).min(LONGEST_PAUSE);
        let until = clock::now_ns() + seconds * 1_000_000_000;
        self.not_before_ns.store(until, Release);
    }

    /// Whether somebody has changed an experiment since a conductor looked.
    pub fn is_changed(&self) -> bool {
        self.changes.load(Acquire) != self.heard.load(Acquire)
    }
}

/// Whether this process starts runs of the experiment that is on.
static FOR_EXPERIMENT: AtomicBool = AtomicBool::new(false);

/// From now on, what this process starts are runs of the experiment that is on.
pub fn start_for_experiment() {
    FOR_EXPERIMENT.store(true, Release);
}

/// Whether this process starts runs of the experiment that is on.
pub fn starts_for_experiment() -> bool {
    FOR_EXPERIMENT.load(Acquire)
}
