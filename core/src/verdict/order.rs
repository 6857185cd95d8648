//! The order of the runs: Williams squares, in which each target follows each other one equally often (Williams, "Experimental designs balanced
//! for the estimation of residual effects of treatments", 1949), so that what one leaves to the next falls on all alike.
//!
//! One permutation π for an experiment; z_0 = 0, z_p = (p + 1)/2 for odd p, k − p/2 for even p. Blocks come in groups of k, whose
//! shifts s are 0..k−1 in random order; position p of a block runs π[(z_p + s) mod k]. With k odd every second group is
//! mirrored, z_{k−1−p} in place of z_p: there one square alone is not balanced.

use crate::random::{Purpose, Stream};

/// The blocks of an experiment: one seed, one order. Each block is a permutation of the numbers of the targets.
pub fn draw(targets: usize, blocks: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut random = Stream::new(seed, 0, Purpose::Order);
    let mut shuffled = || {
        let mut numbers: Vec<usize> = (0..targets).collect();
        random.shuffle(&mut numbers);
        numbers
    };
    let permutation = shuffled();
    let mut shifts = Vec::new();
    while shifts.len() < blocks && targets > 0 {
        shifts.extend(shuffled());
    }
    shifts.truncate(blocks);
    arrange(&permutation, &shifts)
}

/// The blocks that follow from a permutation and the shifts of the blocks in their order.
pub fn arrange(permutation: &[usize], shifts: &[usize]) -> Vec<Vec<usize>> {
    let k = permutation.len();
    let zigzag: Vec<usize> = (0..k)
        .map(|p| {
            if p % 2 == 1 {
                p.div_ceil(2)
            } else {
                (k - p / 2) % k
            }
        })
        .collect();
    let block = |(number, shift): (usize, &usize)| {
        let mirrored = k % 2 == 1 && number / k % 2 == 1;
        let at = |p: usize| zigzag[if mirrored { k - 1 - p } else { p }];
        (0..k).map(|p| permutation[(at(p) + shift) % k]).collect()
    };
    shifts.iter().enumerate().map(block).collect()
}
