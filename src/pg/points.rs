//! Injection points: places in the code where a test holds a process. Only builds with debug assertions have them, and tools/stage refuses a
//! release with one of their functions.
//!
//! A test makes the functions at the end of this file with CREATE FUNCTION … LANGUAGE c, which takes a superuser: the extension's SQL has none
//! of them.

/// A place where a test can hold this process; the name is that of `format!`. The process handles interrupts there, and leaves with the
/// postmaster.
macro_rules! point {
    ($($name:tt)*) => {
        #[cfg(debug_assertions)]
        $crate::pg::points::hold_at(|| format!($($name)*));
    };
}
pub(crate) use point;

#[cfg(debug_assertions)]
pub use debug::hold_at;

#[cfg(debug_assertions)]
mod debug {
    // pgrx wants its own ErrorReport from a function, whatever its size.
    #![allow(clippy::result_large_err)]

    use std::time::Duration;

    use pgrx::{pg_extern, pg_sys::panic::ErrorReport};

    use crate::{
        board::Board,
        errors::{Fault, sqlstate},
        pg::{process, shmem},
    };

    /// A process that is held looks again after so long. It is woken when the point is detached.
    const PATROL: Duration = Duration::from_secs(60);

    /// Holds this process as long as a test has attached the point.
    #[inline]
    pub fn hold_at(name: impl FnOnce() -> String) {
        let attached = shmem::board().filter(|board| board.points.any());
        if let Some(board) = attached
            && let Some(held) = board.points.arrive(&name(), process::my_pid())
        {
            shmem::announce();
            while !shmem::wait_for_change(PATROL, || !board.points.holds(held)) {}
        }
    }

    fn board() -> Result<&'static Board, Fault> {
        shmem::board()
            .ok_or_else(|| Fault::new(sqlstate::NOT_IN_THIS_STATE, "pgfsbench is not preloaded"))
    }

    fn refused(point: &str, why: &str) -> Fault {
        Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            format!("injection point \"{point}\" {why}"),
        )
    }

    /// Holds each process that comes to the point, after that many arrivals. Processes that it holds already go on.
    #[pg_extern(sql = false)]
    fn point_attach(point: &str, passing: i32) -> Result<(), ErrorReport> {
        let board = board()?;
        let passing = passing.max(0) as u32;
        let is_attached = shmem::locked(|| board.points.attach(point, passing));
        shmem::announce();
        match is_attached {
            true => Ok(()),
            false => Err(refused(point, "is one too many").into()),
        }
    }

    /// Lets the held processes go on.
    #[pg_extern(sql = false)]
    fn point_detach(point: &str) -> Result<(), ErrorReport> {
        let board = board()?;
        let is_detached = shmem::locked(|| board.points.detach(point));
        shmem::announce();
        match is_detached {
            true => Ok(()),
            false => Err(refused(point, "is not attached").into()),
        }
    }

    /// Waits until the point has held that many processes; gives the id of the last one. NULL if that takes longer than these seconds.
    #[pg_extern(sql = false)]
    fn point_wait(point: &str, processes: i32, seconds: i32) -> Result<Option<i32>, ErrorReport> {
        let board = board()?;
        let wanted = processes.max(0) as u32;
        let patience = Duration::from_secs(seconds.max(0) as u64);
        let have_come = || {
            let held = board.points.held(point);
            held.is_none_or(|(held, _)| held >= wanted)
        };
        let is_in_time = shmem::wait_for_change(patience, have_come);
        match board.points.held(point) {
            Some((_, pid)) => Ok(is_in_time.then_some(pid)),
            None => Err(refused(point, "is not attached").into()),
        }
    }
}
