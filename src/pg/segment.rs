//! A text in a segment of dynamic shared memory: for texts that are too long for the board. The segment goes with its maker.

use std::{ptr, slice};

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
        let start = pg_sys::dsm_segment_address(segment).cast::<u8>();
        let length = start.cast::<u64>().read() as usize;
        let bytes = slice::from_raw_parts(start.add(HEAD), length).to_vec();
        pg_sys::dsm_detach(segment);
        String::from_utf8(bytes).map_err(|e| Fault::new(sqlstate::INTERNAL, e.to_string()))
    }
}
