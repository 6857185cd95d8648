//! pgbench's functions that scatter keys: two hashes of eight bytes, and a permutation that is computed and not stored.

use super::generator::Generator;

/// MurmurHash64A (Appleby) of the eight bytes of `value`.
#[inline]
pub fn murmur2(value: i64, seed: i64) -> i64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    const R: u32 = 47;
    let mut block = value.cast_unsigned().wrapping_mul(M);
    block ^= block >> R;
    let mut hash = seed.cast_unsigned() ^ M.wrapping_mul(8);
    hash = (hash ^ block.wrapping_mul(M)).wrapping_mul(M);
    hash = (hash ^ (hash >> R)).wrapping_mul(M);
    (hash ^ (hash >> R)).cast_signed()
}

/// FNV-1a (Fowler, Noll and Vo) of the eight bytes of `value`, the lowest first.
#[inline]
pub fn fnv1a(value: i64, seed: i64) -> i64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    (value.to_le_bytes().iter())
        .fold(BASIS ^ seed.cast_unsigned(), |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
        })
        .cast_signed()
}

/// Rounds of [`permute`].
const ROUNDS: usize = 6;

/// The place of `value` (taken modulo `size`, as unsigned) in the permutation of 0 to `size` - 1 that `seed` names.
///
/// Each round mixes the lower numbers, as many as the largest power of two within the size, then the upper ones, then moves all.
pub fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let size = size.cast_unsigned();
    let bits = size.ilog2();
    let mut generator = Generator::new(seed.cast_unsigned());
    let mut at = value.cast_unsigned() % size;
    for _ in 0..ROUNDS {
        at = mixed(&mut generator, at, bits);
        at = size - 1 - mixed(&mut generator, size - 1 - at, bits);
        let moved = generator.up_to(size - 1);
        // Both are below 2^63.
        at = (at + moved) % size;
    }
    at.cast_signed()
}

/// Multiplies by an odd number, flips bits and rotates by one bit: a bijection of the numbers of so many bits. Others stay.
#[inline]
fn mixed(generator: &mut Generator, at: u64, bits: u32) -> u64 {
    let mask = (1 << bits) - 1;
    let factor = generator.bits() & mask | 1;
    let flipped = generator.bits() & mask;
    if at > mask {
        return at;
    }
    let at = (at.wrapping_mul(factor) ^ flipped) & mask;
    (at << 1) & mask | at >> (bits - 1)
}
