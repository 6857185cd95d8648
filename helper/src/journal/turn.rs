//! The turn of one job at a time among the threads of a helper. The lock of the journal is that of one helper among others.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub struct Turn {
    is_taken: Mutex<bool>,
    is_free: Condvar,
}

/// The turn while it is lent.
struct Lent<'a>(&'a Turn);

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.0.wait();
    }
}

/// The turn, until it is dropped.
pub struct Taken<'a>(&'a Turn);

impl Turn {
    /// Waits for the turn, however long others have it.
    pub fn take(&self) -> Taken<'_> {
        self.wait();
        Taken(self)
    }

    /// Lets others have the turn while `act` goes on, if it is taken, and takes it again.
    pub fn lend<T>(&self, act: impl FnOnce() -> T) -> T {
        if !*self.state() {
            return act();
        }
        self.free();
        // It is taken again even if the act panics.
        let _lent = Lent(self);
        act()
    }

    fn state(&self) -> MutexGuard<'_, bool> {
        self.is_taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self) {
        let state = self
            .is_free
            .wait_while(self.state(), |is_taken| *is_taken)
            .unwrap_or_else(PoisonError::into_inner);
        let mut is_taken = state;
        *is_taken = true;
    }

    fn free(&self) {
        *self.state() = false;
        self.is_free.notify_one();
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.0.free();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn another_thread_has_the_turn_while_it_is_lent_and_not_before() {
        let turn = Turn::default();
        thread::scope(|scope| {
            let own = turn.take();
            let (tell, told) = mpsc::channel();
            let (ended, end) = mpsc::channel::<()>();
            let other = &turn;
            scope.spawn(move || {
                let _theirs = other.take();
                tell.send(()).unwrap();
                // It ends while the first one waits, or just before.
                end.recv().unwrap();
            });
            assert!(told.try_recv().is_err());
            turn.lend(|| {
                told.recv().unwrap();
                ended.send(()).unwrap();
            });
            assert!(*turn.state());
            drop(own);
            assert!(!*turn.state());
            assert_eq!(turn.lend(|| 1), 1, "without a turn there is none to lend");
        });
    }
}
