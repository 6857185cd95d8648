//! Segments of dynamic shared memory, for what is too long for the board: a text, or the counters of scripts. A segment goes with its maker.

use std::{
    ptr, slice,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use pgfsbench_core::workload::script::Counted;
use pgrx::pg_sys;

use crate::errors::{Fault, sqlstate};

/// Bytes before the text, which hold its length.
const HEAD: usize = size_of::<u64>();

/// A segment that this process has made.
pub struct Segment {
    segment: *mut pg_sys::dsm_segment,
    handle: u32,
}

impl Segment {
    /// Makes a segment with the text.
    pub fn publish(text: &str) -> Self {
        // SAFETY: an error leaves no segment. The segment is large enough for head and text, and is kept until this value is dropped.
        unsafe {
            let segment = pg_sys::dsm_create(HEAD + text.len(), 0);
            pg_sys::dsm_pin_mapping(segment);
            let start = pg_sys::dsm_segment_address(segment).cast::<u8>();
            start.cast::<u64>().write(text.len() as u64);
            ptr::copy_nonoverlapping(text.as_ptr(), start.add(HEAD), text.len());
            Self {
                segment,
                handle: pg_sys::dsm_segment_handle(segment),
            }
        }
    }

    /// The text of a segment that `publish` has made.
    pub fn text(&self) -> Result<String, Fault> {
        // SAFETY: written by `publish`; the segment stays as long as this value.
        unsafe { text_in(self.segment) }
    }

    /// Makes a segment with so many counters, which have counted nothing.
    pub fn of_counters(count: usize) -> Self {
        // SAFETY: as above; memory of a segment is aligned for every type.
        unsafe {
            let segment = pg_sys::dsm_create(count.max(1) * size_of::<Counted>(), 0);
            pg_sys::dsm_pin_mapping(segment);
            let made = Self {
                segment,
                handle: pg_sys::dsm_segment_handle(segment),
            };
            made.counters(count).iter().for_each(Counted::reset);
            made
        }
    }

    /// The counters of a segment that was made with so many.
    pub fn counters(&self, count: usize) -> &[Counted] {
        // SAFETY: only atomics, for which all bytes are valid; the segment stays as long as this value.
        unsafe {
            let start = pg_sys::dsm_segment_address(self.segment).cast::<Counted>();
            slice::from_raw_parts(start, count)
        }
    }

    /// Makes a segment with so many counts, which are 0.
    pub fn of_words(count: usize) -> Self {
        // SAFETY: as above.
        unsafe {
            let segment = pg_sys::dsm_create(count.max(1) * size_of::<AtomicU64>(), 0);
            pg_sys::dsm_pin_mapping(segment);
            let made = Self {
                segment,
                handle: pg_sys::dsm_segment_handle(segment),
            };
            let words = made.words(count);
            words.iter().for_each(|word| word.store(0, Relaxed));
            made
        }
    }

    /// The counts of a segment that was made with so many.
    pub fn words(&self, count: usize) -> &[AtomicU64] {
        // SAFETY: all bytes are valid atomics; the segment stays as long as this value.
        unsafe {
            let start = pg_sys::dsm_segment_address(self.segment).cast::<AtomicU64>();
            slice::from_raw_parts(start, count)
        }
    }

    /// The number by which other processes find the segment; never 0.
    pub fn handle(&self) -> u32 {
        self.handle
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: made by `publish`, and not used after this.
        unsafe { pg_sys::dsm_detach(self.segment) }
    }
}

/// The counters in another process's segment, which this process keeps until its end.
pub fn counters(handle: u32, count: usize) -> Result<&'static [Counted], Fault> {
    // SAFETY: the segment was made by `of_counters` with as many.
    unsafe { kept(handle, count) }
}

/// The counts in another process's segment, which this process keeps until its end.
pub fn words(handle: u32, count: usize) -> Result<&'static [AtomicU64], Fault> {
    // SAFETY: the segment was made by `of_words` with as many.
    unsafe { kept(handle, count) }
}

/// # Safety
/// The segment holds as many values of that type, which are atomics.
unsafe fn kept<T>(handle: u32, count: usize) -> Result<&'static [T], Fault> {
    // SAFETY: the caller's duty; the mapping is pinned, and never detached by this process.
    unsafe {
        let segment = match handle {
            0 => ptr::null_mut(),
            handle => pg_sys::dsm_attach(handle),
        };
        if segment.is_null() {
            return Err(Fault::new(
                sqlstate::NOT_IN_THIS_STATE,
                "the counters of the clients are gone",
            )
            .detail("The coordinator of the run has ended."));
        }
        pg_sys::dsm_pin_mapping(segment);
        let start = pg_sys::dsm_segment_address(segment).cast::<T>();
        Ok(slice::from_raw_parts(start, count))
    }
}

/// The text of another process's segment.
pub fn read(handle: u32) -> Result<String, Fault> {
    let gone = || {
        Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            "the texts of the scripts are gone",
        )
        .detail("The process that has given them has ended.")
        .hint("Start the run again.")
    };
    if handle == 0 {
        return Err(gone());
    }
    // SAFETY: the maker has written head and text before it gave the handle to anybody; both are copied before the detach.
    unsafe {
        let segment = pg_sys::dsm_attach(handle);
        if segment.is_null() {
            return Err(gone());
        }
        let text = text_in(segment);
        pg_sys::dsm_detach(segment);
        text
    }
}

/// # Safety
/// A segment that `publish` has made.
unsafe fn text_in(segment: *mut pg_sys::dsm_segment) -> Result<String, Fault> {
    // SAFETY: the maker has written head and text before it gave the handle to any process.
    let bytes = unsafe {
        let start = pg_sys::dsm_segment_address(segment).cast::<u8>();
        let length = start.cast::<u64>().read() as usize;
        slice::from_raw_parts(start.add(HEAD), length).to_vec()
    };
    String::from_utf8(bytes).map_err(|e| Fault::new(sqlstate::INTERNAL, e.to_string()))
}
