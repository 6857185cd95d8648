//! pgbench's generator of random numbers: xoroshiro128** (Blackman and Vigna, 2018), its state filled by splitmix64.

/// The state of one generator. A copy draws the same numbers: a retried transaction begins with the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generator {
    s0: u64,
    s1: u64,
}

impl Generator {
    #[inline]
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        let (s0, s1) = (splitmix(&mut state), splitmix(&mut state));
        // xoroshiro128** stays at zero for ever; two numbers of splitmix64 in a row are never both zero.
        Self { s0, s1 }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let (s0, mixed) = (self.s0, self.s0 ^ self.s1);
        self.s0 = s0.rotate_left(24) ^ mixed ^ (mixed << 16);
        self.s1 = mixed.rotate_left(37);
        s0.wrapping_mul(5).rotate_left(7).wrapping_mul(9)
    }

    /// A number from 0 to `high`, both included. No bits are drawn when `high` is 0.
    #[inline]
    pub fn up_to(&mut self, high: u64) -> u64 {
        if high == 0 {
            return 0;
        }
        let shift = high.leading_zeros();
        loop {
            let drawn = self.bits() >> shift;
            if drawn <= high {
                return drawn;
            }
        }
    }

    /// A number from `low` to `high`, both included; `low` must not be above `high`.
    #[inline]
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        low.wrapping_add_unsigned(self.up_to(high.wrapping_sub(low).cast_unsigned()))
    }

    /// A number from 0 (included) to 1 (excluded), a multiple of 2^-52.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 12) as f64 * (1.0 / (1u64 << 52) as f64)
    }
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
