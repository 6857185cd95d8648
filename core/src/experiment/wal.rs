//! WAL of the runs of an experiment, fixed before the first block by what a checkpoint cycle took: how many segments each run finds ready,
//! and max_wal_size, so that checkpoints come when it is time and not when WAL forces them.

use serde::Deserialize;

use crate::texts::steps::{self as text, ForcedBy};

/// Factor by which another cycle may write more than the measured one.
const HEADROOM: f64 = 1.5;
/// WAL may take at most this share of the room that was left.
const SHARE_OF_ROOM: f64 = 0.5;
/// max_wal_size is a multiple of this.
const STEP: u64 = 64 << 20;

/// WAL of a run that does not count.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct WalUse {
    /// WAL of the window.
    pub bytes: f64,
    /// Length of the window.
    pub seconds: f64,
    /// Checkpoints that WAL has forced in it.
    pub forced: u32,
    /// wal_segment_size.
    pub segment_bytes: u64,
    /// max_wal_size.
    pub max_bytes: u64,
    /// checkpoint_completion_target.
    pub completion: f64,
    /// wal_recycle.
    pub recycles: bool,
    /// Bytes free on the filesystem of WAL before the run, without the data and their changes; None where not known.
    pub room_bytes: Option<u64>,
}

impl WalUse {
    /// WAL of this many seconds.
    fn in_seconds(&self, seconds: f64) -> f64 {
        match self.seconds > 0.0 {
            true => self.bytes * seconds / self.seconds,
            false => self.bytes,
        }
    }
}

/// WAL settings of all later runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixed {
    /// Segments that are ready before the warm-up.
    pub segments: u64,
    /// max_wal_size, where it is raised.
    pub max_bytes: Option<u64>,
    /// In words.
    pub why: String,
}

/// Fixes the WAL settings by the run with the most WAL. A max_wal_size that the caller gave stays.
pub fn fix(seen: &[WalUse], cycle_seconds: Option<f64>, max_is_given: bool) -> Fixed {
    let of_cycle = |seen: &WalUse| seen.in_seconds(cycle_seconds.unwrap_or(seen.seconds));
    let most = (seen.iter()).max_by(|a, b| of_cycle(a).total_cmp(&of_cycle(b)));
    let Some(most) = most else {
        return Fixed {
            segments: 0,
            max_bytes: None,
            why: text::wal_not_known(),
        };
    };
    let bytes = of_cycle(most);
    let least_room = seen.iter().filter_map(|seen| seen.room_bytes).min();
    let room = least_room.map_or(f64::INFINITY, |room| room as f64 * SHARE_OF_ROOM);
    // A checkpoint begins for WAL when this much was written since the one before (CalculateCheckpointSegments of PostgreSQL).
    let needed = up_to_step(bytes * HEADROOM * (1.0 + most.completion));
    let has_forced = seen.iter().any(|seen| seen.forced > 0);
    let is_forced = has_forced || bytes * (1.0 + most.completion) > most.max_bytes as f64;
    let raised = (is_forced && !max_is_given && needed > most.max_bytes && needed as f64 <= room)
        .then_some(needed);
    let max = raised.unwrap_or(most.max_bytes);
    // The first checkpoint after the warm-up gives back what was written before it only when it is complete. Where nothing is used again nothing is made ready,
    // whatever the others find.
    let recycling = seen.iter().filter(|seen| seen.recycles);
    let recycling = recycling.max_by(|a, b| of_cycle(a).total_cmp(&of_cycle(b)));
    let segment = most.segment_bytes.max(1) as f64;
    let segments = recycling.map_or(0.0, |seen| {
        let wanted = of_cycle(seen) * (1.0 + seen.completion.max(0.0));
        (wanted / segment)
            .ceil()
            .min((max as f64).min(room) / segment)
    });
    let fixed = segments.max(0.0) as u64;
    let stays = most.max_bytes;
    let forced = is_forced.then_some(match raised {
        Some(to) => ForcedBy::Raised { from: stays, to },
        None if max_is_given => ForcedBy::AsGiven(stays),
        None if needed <= stays => ForcedBy::IsEnough(stays),
        None => ForcedBy::NoRoom { stays, needed },
    });
    Fixed {
        segments: fixed,
        max_bytes: raised,
        why: text::wal(text::Wal {
            cycle: bytes as u64,
            ready: recycling.map(|_| (fixed, fixed * most.segment_bytes)),
            forced,
        }),
    }
}

fn up_to_step(bytes: f64) -> u64 {
    (bytes.max(0.0) as u64).div_ceil(STEP) * STEP
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    /// 300 MB in a cycle, with PostgreSQL's own settings.
    fn seen() -> WalUse {
        WalUse {
            bytes: 300.0 * MB as f64,
            seconds: 60.0,
            forced: 0,
            segment_bytes: 16 * MB,
            max_bytes: 1024 * MB,
            completion: 0.9,
            recycles: true,
            room_bytes: Some(100 * 1024 * MB),
        }
    }

    fn fixed(seen: WalUse, is_given: bool) -> Fixed {
        fix(&[seen], Some(60.0), is_given)
    }

    #[test]
    fn as_many_as_are_written_until_the_first_are_given_back() {
        let f = fixed(seen(), false);
        assert_eq!((f.segments, f.max_bytes), (36, None));
        assert_eq!(
            f.why,
            "a checkpoint cycle takes 300 MB of WAL: 36 segments (576 MB) ready before each warm-up"
        );
        // A run of another length is scaled; of several, the one with the most WAL decides.
        let longer = WalUse {
            seconds: 120.0,
            ..seen()
        };
        assert_eq!(
            fix(std::slice::from_ref(&longer), Some(60.0), false).segments,
            18
        );
        assert_eq!(fix(&[longer, seen()], Some(60.0), false).segments, 36);
        let small = WalUse {
            bytes: 1.0,
            ..seen()
        };
        assert_eq!(fixed(small, false).segments, 1);
    }

    #[test]
    fn max_wal_size_is_raised_where_wal_forces_checkpoints() {
        let forced = WalUse {
            bytes: 900.0 * MB as f64,
            forced: 1,
            ..seen()
        };
        let f = fixed(forced.clone(), false);
        assert_eq!((f.segments, f.max_bytes), (107, Some(2624 * MB)));
        assert!(
            f.why
                .ends_with("max_wal_size of all runs is raised from 1024 MB to 2624 MB"),
            "{}",
            f.why
        );
        // A given max_wal_size stays, and it is raised only where there is room.
        let given = fixed(forced.clone(), true);
        assert_eq!((given.segments, given.max_bytes), (64, None));
        assert!(given.why.ends_with("as it was given"), "{}", given.why);
        let small = WalUse {
            room_bytes: Some(1024 * MB),
            ..forced
        };
        let small = fixed(small, false);
        assert_eq!((small.segments, small.max_bytes), (32, None));
        assert!(
            small.why.contains(
                "no room for more: 2624 MB would do, for which twice as much has to be free"
            ),
            "{}",
            small.why
        );
        // None was forced in that cycle, and one would be in the next.
        let near = WalUse {
            bytes: 600.0 * MB as f64,
            ..seen()
        };
        assert!(fixed(near, false).max_bytes.is_some());
    }

    #[test]
    fn where_nothing_is_used_again_nothing_is_made_ready() {
        let f = fixed(
            WalUse {
                recycles: false,
                ..seen()
            },
            false,
        );
        assert_eq!((f.segments, f.max_bytes), (0, None));
        assert!(f.why.contains("wal_recycle is off"), "{}", f.why);
        let f = fix(&[], Some(60.0), false);
        assert_eq!((f.segments, f.max_bytes), (0, None));
        // One that does not use them again, and writes the most, leaves the others theirs.
        let most = WalUse {
            bytes: 400.0 * MB as f64,
            recycles: false,
            ..seen()
        };
        let f = fix(&[most, seen()], Some(60.0), false);
        assert_eq!(f.segments, 36, "{}", f.why);
    }

    #[test]
    fn what_was_forced_at_full_speed_may_be_enough_at_a_rate() {
        let at_rate = WalUse {
            forced: 3,
            ..seen()
        };
        let f = fixed(at_rate, false);
        assert_eq!(f.max_bytes, None);
        assert!(
            f.why
                .ends_with("which is enough for what the runs will write"),
            "{}",
            f.why
        );
    }
}
