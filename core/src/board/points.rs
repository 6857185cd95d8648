//! Injection points: named places where a test holds the processes that come there. A release has none.

use std::sync::atomic::{
    AtomicI32, AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use super::TextCell;

/// Points that can be attached at the same time.
const MOST: usize = 4;

/// The attached points. A lock of the caller guards [`Points::attach`] and [`Points::detach`]; the others need none. All bytes zero is the
/// valid empty state.
#[repr(C)]
pub struct Points {
    /// How many points are attached.
    attached: AtomicU32,
    /// The last number of an attachment.
    numbers: AtomicU32,
    points: [Point; MOST],
}

#[repr(C)]
struct Point {
    /// Number of the attachment, 0 while the point is free.
    number: AtomicU32,
    /// Arrivals that pass before one is held.
    passing: AtomicU32,
    /// Arrivals so far.
    arrivals: AtomicU32,
    /// How many of them were held.
    held: AtomicU32,
    /// Process id of the last one.
    pid: AtomicI32,
    name: TextCell<64>,
}

/// An attachment that holds the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldPoint {
    index: usize,
    number: u32,
}

impl Points {
    /// No points.
    pub const fn new() -> Self {
        Self {
            attached: AtomicU32::new(0),
            numbers: AtomicU32::new(0),
            points: [const { Point::new() }; MOST],
        }
    }

    /// Holds each process that comes to this point, after that many arrivals. Processes of an earlier attachment go on. False if too many points
    /// are attached.
    pub fn attach(&self, name: &str, passing: u32) -> bool {
        let earlier = self.find(name).map(|(_, point)| point);
        let free = || self.points.iter().find(|point| point.number() == 0);
        let Some(point) = earlier.or_else(free) else {
            return false;
        };
        point.name.set(name);
        point.passing.store(passing, Relaxed);
        point.arrivals.store(0, Relaxed);
        point.held.store(0, Relaxed);
        let number = self.numbers.load(Relaxed).wrapping_add(1).max(1);
        self.numbers.store(number, Relaxed);
        point.number.store(number, Release);
        if earlier.is_none() {
            self.attached.fetch_add(1, Release);
        }
        true
    }

    /// Lets the held processes go on, and holds no more. False if the point is not attached.
    pub fn detach(&self, name: &str) -> bool {
        let Some((_, point)) = self.find(name) else {
            return false;
        };
        point.number.store(0, Release);
        self.attached.fetch_sub(1, Release);
        true
    }

    /// Whether any point is attached. The one question of a process that nothing holds.
    #[inline]
    pub fn any(&self) -> bool {
        self.attached.load(Acquire) != 0
    }

    /// Counts the arrival of this process. The attachment that holds it, if one does.
    pub fn arrive(&self, name: &str, pid: i32) -> Option<HeldPoint> {
        let (index, point) = self.find(name)?;
        let number = point.number();
        let before = point.arrivals.fetch_add(1, AcqRel);
        if number == 0 || before < point.passing.load(Relaxed) {
            return None;
        }
        point.pid.store(pid, Relaxed);
        point.held.fetch_add(1, Release);
        Some(HeldPoint { index, number })
    }

    /// Whether the attachment still holds.
    pub fn holds(&self, held: HeldPoint) -> bool {
        self.points[held.index].number() == held.number
    }

    /// How many processes the point has held, and the id of the last one; None if it is not attached.
    pub fn held(&self, name: &str) -> Option<(u32, i32)> {
        let (_, point) = self.find(name)?;
        let held = point.held.load(Acquire);
        Some((held, point.pid.load(Relaxed)))
    }

    fn find(&self, name: &str) -> Option<(usize, &Point)> {
        let mut points = self.points.iter().enumerate();
        points.find(|(_, point)| point.number() != 0 && point.name.get() == name)
    }
}

impl Point {
    const fn new() -> Self {
        Self {
            number: AtomicU32::new(0),
            passing: AtomicU32::new(0),
            arrivals: AtomicU32::new(0),
            held: AtomicU32::new(0),
            pid: AtomicI32::new(0),
            name: TextCell::new(),
        }
    }

    fn number(&self) -> u32 {
        self.number.load(Acquire)
    }
}

impl Default for Points {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_holds_from_its_attachment_to_its_end() {
        let points = Points::new();
        assert!(!points.any() && points.arrive("load", 7).is_none());
        assert!(points.attach("load", 0) && points.any());
        assert_eq!(points.arrive("vacuum", 7), None);
        let held = points.arrive("load", 7).expect("it is attached");
        assert!(points.holds(held));
        assert_eq!(points.held("load"), Some((1, 7)));
        assert!(points.detach("load") && !points.detach("load"));
        assert!(!points.any() && !points.holds(held));
        assert_eq!(points.held("load"), None);
    }

    #[test]
    fn a_process_of_an_earlier_attachment_is_not_held_by_a_later_one() {
        let points = Points::new();
        points.attach("load", 0);
        let earlier = points.arrive("load", 7).expect("it is attached");
        points.attach("load", 0);
        assert!(!points.holds(earlier));
        assert_eq!(points.held("load").map(|(held, _)| held), Some(0));
    }

    #[test]
    fn the_first_arrivals_pass_where_that_was_asked_for() {
        let points = Points::new();
        points.attach("collect", 2);
        assert_eq!(points.arrive("collect", 8), None);
        assert_eq!(points.arrive("collect", 8), None);
        assert_eq!(points.held("collect"), Some((0, 0)));
        assert!(points.arrive("collect", 8).is_some());
        assert_eq!(points.held("collect"), Some((1, 8)));
    }

    #[test]
    fn only_so_many_are_attached_at_a_time() {
        let points = Points::new();
        for name in ["a", "a", "b", "c", "d"] {
            assert!(points.attach(name, 0), "{name}");
        }
        assert!(!points.attach("e", 0));
        assert!(points.detach("b") && points.attach("e", 0));
        for name in ["a", "c", "d", "e"] {
            assert!(points.any() && points.detach(name), "{name}");
        }
        assert!(!points.any());
    }
}
