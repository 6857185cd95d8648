//! A text that a background worker is given and that does not fit into its few bytes: in dynamic shared memory, which is there
//! until the session that has packed it drops it.

use pgrx::pg_sys;

/// Before the text stands its length.
const HEADER: usize = size_of::<u32>();

/// A text for a worker.
pub struct SharedText(*mut pg_sys::dsm_segment);

impl SharedText {
    /// Packs a text.
    pub fn pack(text: &str) -> Self {
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        // SAFETY: the segment has room for the length and the text, and no other process knows of it yet.
        unsafe {
            let segment = pg_sys::dsm_create(HEADER + length as usize, 0);
            let at = pg_sys::dsm_segment_address(segment).cast::<u8>();
            at.cast::<u32>().write_unaligned(length);
            std::ptr::copy_nonoverlapping(text.as_ptr(), at.add(HEADER), length as usize);
            Self(segment)
        }
    }

    /// The number by which the worker finds it.
    pub fn number(&self) -> u32 {
        // SAFETY: the segment is attached until this is dropped.
        unsafe { pg_sys::dsm_segment_handle(self.0) }
    }
}

impl Drop for SharedText {
    fn drop(&mut self) {
        // SAFETY: attached since it was packed, and not used after this.
        unsafe { pg_sys::dsm_detach(self.0) }
    }
}

/// The text with this number; None if it is not there any more.
pub fn unpack(number: u32) -> Option<String> {
    // SAFETY: the process that has packed it has written length and text before any other learnt the number, and writes no more.
    unsafe {
        let segment = pg_sys::dsm_attach(number);
        if segment.is_null() {
            return None;
        }
        let at = pg_sys::dsm_segment_address(segment).cast::<u8>();
        let length = at.cast::<u32>().read_unaligned() as usize;
        let bytes = std::slice::from_raw_parts(at.add(HEADER), length).to_vec();
        pg_sys::dsm_detach(segment);
        String::from_utf8(bytes).ok()
    }
}
