//! Segments of dynamic shared memory, for what is too long for the board: a text, or the counters of transaction types. A segment goes with its maker.

use std::{ptr, slice, sync::atomic::AtomicU64};

use pgfsbench_core::workload::mix::{Counted, Shape};
use pgrx::pg_sys;

use crate::errors::{Fault, sqlstate};

/// Bytes before the text, which hold its length.
const HEAD: usize = size_of::<u64>();
/// Bytes before counters, which hold their shape: a whole cache line.
const SHAPE: usize = 64;
const _: () = assert!(size_of::<Shape>() <= SHAPE);

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

    /// Makes a segment with counters of that shape, which have counted nothing.
    pub fn of_counters(shape: &Shape) -> Result<Self, Fault> {
        let bytes = shape.bytes().and_then(|bytes| bytes.checked_add(SHAPE));
        let bytes = bytes.ok_or_else(|| Fault::new(sqlstate::TOO_MUCH, "too many counters"))?;
        // SAFETY: an error leaves no segment. The segment has so many bytes, is aligned for every type, and is kept until this value is
        // dropped.
        unsafe {
            let segment = pg_sys::dsm_create(bytes, 0);
            pg_sys::dsm_pin_mapping(segment);
            let start = pg_sys::dsm_segment_address(segment).cast::<u8>();
            // Memory that an earlier segment has had is not empty.
            start.write_bytes(0, bytes);
            start.cast::<Shape>().write(*shape);
            Ok(Self {
                segment,
                handle: pg_sys::dsm_segment_handle(segment),
            })
        }
    }

    /// The counters of all clients, in a segment that `of_counters` has made.
    pub fn counters(&self) -> (Shape, Counted<'_>) {
        // SAFETY: made by `of_counters`; the segment stays as long as this value.
        unsafe { counters_in(self.segment) }
    }

    /// Makes a segment with so many counts, which are 0.
    pub fn of_words(count: usize) -> Self {
        let bytes = count.max(1) * size_of::<AtomicU64>();
        // SAFETY: as above.
        unsafe {
            let segment = pg_sys::dsm_create(bytes, 0);
            pg_sys::dsm_pin_mapping(segment);
            pg_sys::dsm_segment_address(segment)
                .cast::<u8>()
                .write_bytes(0, bytes);
            Self {
                segment,
                handle: pg_sys::dsm_segment_handle(segment),
            }
        }
    }

    /// The counts of a segment that `of_words` has made with so many.
    pub fn words(&self, count: usize) -> &[AtomicU64] {
        // SAFETY: all bytes are valid atomics; the segment stays as long as this value.
        unsafe { slice::from_raw_parts(pg_sys::dsm_segment_address(self.segment).cast(), count) }
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

/// A client's counters in the coordinator's segment, which this process keeps until its end.
pub fn counters(handle: u32, client: usize) -> Result<Counted<'static>, Fault> {
    // SAFETY: the segment was made by `of_counters`; its mapping is pinned.
    let (shape, all) = unsafe { counters_in(keep(handle)?) };
    let types = all.types.get(shape.types_of(client));
    let commands = all.commands.get(shape.commands_of(client));
    types
        .zip(commands)
        .map(|(types, commands)| Counted { types, commands })
        .ok_or_else(|| {
            Fault::new(
                sqlstate::INTERNAL,
                "the run has no counters for this client",
            )
        })
}

/// The counts in the coordinator's segment, which this process keeps until its end.
pub fn words(handle: u32, count: usize) -> Result<&'static [AtomicU64], Fault> {
    // SAFETY: the segment was made by `of_words` with as many; its mapping is pinned.
    unsafe {
        let segment = keep(handle)?;
        Ok(slice::from_raw_parts(
            pg_sys::dsm_segment_address(segment).cast(),
            count,
        ))
    }
}

/// Attaches a segment of the coordinator, which this process never detaches.
fn keep(handle: u32) -> Result<*mut pg_sys::dsm_segment, Fault> {
    // SAFETY: a handle of a segment that is gone gives none; the mapping is pinned.
    unsafe {
        let segment = match handle {
            0 => ptr::null_mut(),
            handle => pg_sys::dsm_attach(handle),
        };
        if segment.is_null() {
            return Err(Fault::new(
                sqlstate::NOT_IN_THIS_STATE,
                "the counters of the run are gone",
            )
            .detail("The coordinator of the run has ended."));
        }
        pg_sys::dsm_pin_mapping(segment);
        Ok(segment)
    }
}

/// # Safety
/// A segment that `of_counters` has made, which stays attached for the lifetime.
unsafe fn counters_in<'a>(segment: *mut pg_sys::dsm_segment) -> (Shape, Counted<'a>) {
    // SAFETY: the maker has written the shape, and zeroes behind it, before it gave the handle to any process; counters are atomics, for
    // which all bytes are valid.
    unsafe {
        let start = pg_sys::dsm_segment_address(segment).cast::<u8>();
        let shape = start.cast::<Shape>().read();
        let types = start.add(SHAPE);
        let commands = types.add(shape.bytes_of_types());
        let counted = Counted {
            types: slice::from_raw_parts(types.cast(), shape.clients * shape.types),
            commands: slice::from_raw_parts(commands.cast(), shape.clients * shape.commands),
        };
        (shape, counted)
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
