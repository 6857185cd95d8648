//! A short text in shared memory.

use std::sync::atomic::{
    AtomicU8, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

/// A text of at most N bytes. One writer; all bytes zero is the empty text. A reader that overlaps with a writer may see a
/// mixture of two texts, never anything invalid: use it for texts that are set once, or only shown.
#[repr(C)]
pub struct TextCell<const N: usize> {
    /// Length in bytes. Written by the owner, after the bytes.
    length: AtomicU32,
    /// The bytes, UTF-8. Written by the owner.
    bytes: [AtomicU8; N],
}

impl<const N: usize> TextCell<N> {
    /// The empty text.
    pub const fn new() -> Self {
        Self {
            length: AtomicU32::new(0),
            bytes: [const { AtomicU8::new(0) }; N],
        }
    }

    /// The bytes that fit.
    pub const fn capacity(&self) -> usize {
        N
    }

    /// Stores `text`, cut after the last whole character that fits.
    pub fn set(&self, text: &str) {
        let text = &text[..text.floor_char_boundary(N)];
        self.length.store(0, Release);
        for (cell, byte) in self.bytes.iter().zip(text.bytes()) {
            cell.store(byte, Relaxed);
        }
        self.length.store(text.len() as u32, Release);
    }

    /// Stores the empty text.
    pub fn clear(&self) {
        self.length.store(0, Release);
    }

    /// The text; bytes that are not UTF-8 are replaced.
    pub fn get(&self) -> String {
        let length = (self.length.load(Acquire) as usize).min(N);
        let bytes: Vec<u8> = self.bytes[..length]
            .iter()
            .map(|b| b.load(Relaxed))
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// True if the text is empty.
    pub fn is_empty(&self) -> bool {
        self.length.load(Acquire) == 0
    }
}

impl<const N: usize> Default for TextCell<N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_was_set() {
        let cell = TextCell::<16>::new();
        assert!(cell.is_empty() && cell.get().is_empty());
        for text in ["hello", "", "sixteen bytes ok", "kürzer"] {
            cell.set(text);
            assert_eq!(cell.get(), text);
        }
        cell.clear();
        assert!(cell.is_empty());
    }

    #[test]
    fn cuts_between_characters() {
        let cell = TextCell::<5>::new();
        cell.set("abcdé");
        assert_eq!(cell.get(), "abcd");
        cell.set("🦀🦀");
        assert_eq!(cell.get(), "🦀");
        TextCell::<0>::new().set("x");
    }

    #[test]
    fn survives_a_torn_write() {
        let cell = TextCell::<4>::new();
        cell.bytes[0].store(0xff, Relaxed);
        cell.length.store(999, Relaxed);
        assert_eq!(cell.get().chars().next(), Some('\u{fffd}'));
    }
}
