//! The databases with experiments to go on with. Their tables have the details. This area only says that a conductor has to look there, and when.

use std::sync::atomic::{
    AtomicI64, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
};

/// The longest pause in seconds until a conductor looks again after a failure.
const LONGEST_PAUSE: u64 = 60;
/// Databases that can have experiments that are on or wait, at the same time.
pub const EXPERIMENT_SLOTS: usize = 32;

/// All databases with experiments to go on with.
#[derive(Default)]
#[repr(C)]
pub struct ExperimentSlots {
    /// Each with its place.
    pub places: [ExperimentSlot; EXPERIMENT_SLOTS],
    /// Place plus 1 of the database whose experiment is on; 0 when none is. Written by conductors, of which there is one at a time.
    pub holder: AtomicU32,
    /// How many experiments have ended or changed. Raised by the process that ends or changes one.
    pub endings: AtomicU32,
    /// 1 while that experiment is within a block, so that no other run goes in between. Written as `holder`.
    pub in_block: AtomicU32,
}

/// A database with experiments to go on with.
#[derive(Default)]
#[repr(C)]
pub struct ExperimentSlot {
    /// OID of the database; 0 for a free place. Taken by who has an experiment there that is to go on, given back by the janitor when there
    /// is none any more, or the database is gone.
    pub database: AtomicU32,
    /// Raised by a session that has changed an experiment there, when that is committed.
    pub changes: AtomicU32,
    /// How far a conductor has heard of them. Written by conductors.
    pub heard: AtomicU32,
    /// The run whose end is awaited; 0 for none. Written by conductors.
    pub waits_for: AtomicI64,
    /// Monotonic clock before which no conductor looks again; 0 for at once. Written by conductors, and by the janitor when one has died.
    pub not_before_ns: AtomicU64,
    /// Monotonic clock at which a conductor looks though nothing has changed; 0 for never. Written by conductors.
    pub look_at_ns: AtomicU64,
    /// 1 once the conductor that was launched last has done what it could. Cleared by the janitor, set by that conductor.
    pub is_done: AtomicU32,
    /// 1 once that conductor has found no experiment that is to go on. Cleared by the janitor, set by that conductor.
    pub is_idle: AtomicU32,
    /// How many conductors have failed one after the other. Written by conductors and the janitor.
    pub failures: AtomicU32,
}

impl ExperimentSlots {
    /// Says that an experiment of a database was changed. False when all places are taken. Takes no lock, since a commit is no place
    /// for an error.
    pub fn tell(&self, database: u32) -> bool {
        loop {
            let Some(slot) = self.take(database) else {
                return false;
            };
            slot.changes.fetch_add(1, SeqCst);
            slot.not_before_ns.store(0, Release);
            // The place may just have been given back, by a process that has not seen the change.
            if slot.database.load(SeqCst) == database {
                return true;
            }
        }
    }

    /// The place of a database; a free one becomes its own.
    fn take(&self, database: u32) -> Option<&ExperimentSlot> {
        let takes = |slot: &&ExperimentSlot| match slot
            .database
            .compare_exchange(0, database, SeqCst, SeqCst)
        {
            Ok(_) => true,
            Err(whose) => whose == database,
        };
        self.of(database).or_else(|| self.places.iter().find(takes))
    }

    fn of(&self, database: u32) -> Option<&ExperimentSlot> {
        self.places
            .iter()
            .find(|slot| slot.database.load(Acquire) == database)
    }

    /// Whether a conductor goes on with the experiments of a database.
    pub fn has(&self, database: u32) -> bool {
        self.of(database).is_some()
    }

    /// Whether a database has a place, or would get one.
    pub fn has_room_for(&self, database: u32) -> bool {
        self.has(database) || self.has(0)
    }

    /// Gives back the place of a database that has no experiment to go on with, unless one was changed just now. By the janitor, while no
    /// conductor is there.
    pub fn give_back(&self, place: usize) {
        let slot = &self.places[place];
        if slot.is_changed() || self.holder.load(Acquire) == place as u32 + 1 {
            return;
        }
        let database = slot.database.swap(0, SeqCst);
        // A session has found the place its own before that, and may not have seen that it was given back.
        if database != 0 && slot.is_changed() {
            self.tell(database);
        }
    }

    /// Marks all databases for a check: the experiment that had the turn has it no more.
    pub fn tell_all(&self) {
        for slot in &self.places {
            if slot.database.load(Acquire) != 0 {
                slot.changes.fetch_add(1, AcqRel);
            }
        }
    }

    /// Runs of others may be begun again, if the experiment of this place is on: it does not go on with its block for now.
    pub fn leave_block(&self, place: usize) {
        if self.holder.load(Acquire) == place as u32 + 1 {
            self.in_block.store(0, Release);
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
    pub fn database_of_holder(&self) -> Option<u32> {
        let place = self.holder.load(Acquire).checked_sub(1)?;
        let slot = self.places.get(place as usize)?;
        Some(slot.database.load(Acquire))
    }

    /// Whether an experiment is within a block, so that only its own runs are begun.
    pub fn block_is_running(&self) -> bool {
        self.holder.load(Acquire) != 0 && self.in_block.load(Acquire) == 1
    }
}

impl ExperimentSlot {
    /// Gives the place back: its database is gone. By the janitor.
    pub fn free(&self) {
        self.waits_for.store(0, Relaxed);
        self.not_before_ns.store(0, Relaxed);
        self.look_at_ns.store(0, Relaxed);
        self.failures.store(0, Relaxed);
        self.heard.store(self.changes.load(Acquire), Relaxed);
        self.database.store(0, Release);
    }

    /// Delays the next look after a failure. By the monotonic clock.
    pub fn pause_after_failure(&self, now_ns: u64) {
        let failures = self.failures.load(Acquire).saturating_add(1);
        self.failures.store(failures, Release);
        let seconds = (1u64 << failures.min(6)).min(LONGEST_PAUSE);
        let until = now_ns + seconds * 1_000_000_000;
        self.not_before_ns.store(until, Release);
    }

    /// Whether an experiment has changed since a conductor looked.
    pub fn is_changed(&self) -> bool {
        self.changes.load(SeqCst) != self.heard.load(Acquire)
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::atomic::AtomicBool, thread};

    use super::*;

    /// /// Acts as a conductor that finds no experiment, then as the janitor.
    fn look(slots: &ExperimentSlots, place: usize) {
        let slot = &slots.places[place];
        slot.heard.store(slot.changes.load(Acquire), Release);
        slots.give_back(place);
    }

    #[test]
    fn a_place_is_kept_as_long_as_there_is_something_to_do() {
        let slots = ExperimentSlots::default();
        assert!((1..=EXPERIMENT_SLOTS as u32).all(|database| slots.tell(database)));
        assert!(!slots.tell(99) && !slots.has_room_for(99) && slots.has_room_for(7));
        // No conductor has looked there yet.
        slots.give_back(6);
        assert!(slots.has(7));
        look(&slots, 6);
        assert!(!slots.has(7) && slots.has_room_for(99));
        assert!(slots.tell(99));
        assert!(slots.has(99) && slots.places[6].is_changed());
    }

    #[test]
    fn the_experiment_that_is_on_keeps_its_place() {
        let slots = ExperimentSlots::default();
        assert!(slots.tell(5) && slots.hold(0));
        look(&slots, 0);
        assert!(slots.has(5));
        slots.let_go(0);
        look(&slots, 0);
        assert!(!slots.has(5));
    }

    #[test]
    fn a_block_is_left_by_the_experiment_that_is_on() {
        let slots = ExperimentSlots::default();
        assert!(slots.hold(0));
        slots.in_block.store(1, Release);
        slots.leave_block(1);
        assert!(slots.block_is_running());
        slots.leave_block(0);
        assert!(!slots.block_is_running() && !slots.hold(1));
    }

    #[test]
    fn a_database_has_one_place_whatever_was_given_back_before_it() {
        let slots = ExperimentSlots::default();
        assert!(slots.tell(1) && slots.tell(2));
        look(&slots, 0);
        assert!(slots.tell(2));
        assert_eq!(slots.places[0].database.load(Acquire), 0);
    }

    /// Changes come while places are given back: the last one is always seen.
    #[test]
    fn no_change_is_lost_when_a_place_is_given_back() {
        const TOLD: u64 = 100_000;
        let slots = ExperimentSlots::default();
        let (told, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
        let heard = thread::scope(|scope| {
            scope.spawn(|| {
                for n in 1..=TOLD {
                    told.store(n, SeqCst);
                    assert!(slots.tell(7));
                }
                is_over.store(true, SeqCst);
            });
            let mut heard = 0;
            loop {
                let was_over = is_over.load(SeqCst);
                for place in 0..EXPERIMENT_SLOTS {
                    let slot = &slots.places[place];
                    if slot.database.load(SeqCst) != 0 && slot.is_changed() {
                        let changes = slot.changes.load(SeqCst);
                        heard = told.load(SeqCst);
                        slot.heard.store(changes, SeqCst);
                        slots.give_back(place);
                    }
                }
                if was_over {
                    return heard;
                }
            }
        });
        assert_eq!(heard, TOLD);
    }
}
