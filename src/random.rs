//! Random bits of the kernel.

use rustix::rand::{GetRandomFlags, getrandom};

pub fn fill(bytes: &mut [u8]) {
    // Linux gives 256 bytes at once, never fewer.
    for piece in bytes.chunks_mut(256) {
        let _ = getrandom(piece, GetRandomFlags::empty());
    }
}

fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    fill(&mut bytes);
    bytes
}

/// 128 random bits in hexadecimal: by which something is recognized that was made.
pub fn mark() -> String {
    format!("{:032x}", u128::from_be_bytes(bytes()))
}

/// A random seed that is not negative, for runs that were given none.
pub fn seed() -> i64 {
    i64::from(u32::from_le_bytes(bytes()))
}

/// A number that no other caller gets.
pub fn ticket() -> i64 {
    i64::from_le_bytes(bytes()) & i64::MAX
}
