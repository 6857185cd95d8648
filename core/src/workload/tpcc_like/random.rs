//! Random values as the specification draws them: non-uniform numbers, last names, and strings.

use crate::random::{Purpose, Stream};

/// Ranges of the constants C, by A of NURand (clause 2.1.6).
const LAST_NAME_A: i64 = 255;
const CUSTOMER_A: i64 = 1023;
const ITEM_A: i64 = 8191;
/// Distances that the specification allows between C of the load and C of the run, for last names, and those within that it excludes.
const DELTA: (i64, i64) = (65, 119);
const EXCLUDED_DELTAS: [i64; 2] = [96, 112];

/// C with which last names are loaded. Data are loaded once for runs of any seed.
pub const LAST_NAME_LOADED: i64 = 123;

/// Constants C of a run, which follow from its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// For last names; it keeps the distance to [`LAST_NAME_LOADED`] that the specification asks for.
    pub last_name: i64,
    /// For customers.
    pub customer: i64,
    /// For items.
    pub item: i64,
}

impl Constants {
    /// The constants of a run with this seed.
    pub fn of_seed(seed: i64) -> Self {
        // Stream of a client that no run has.
        let mut random = Stream::new(seed as u64, u32::MAX, Purpose::Order);
        let last_name = loop {
            let last_name = random.range(0, LAST_NAME_A);
            if is_apart(last_name) {
                break last_name;
            }
        };
        Self {
            last_name,
            customer: random.range(0, CUSTOMER_A),
            item: random.range(0, ITEM_A),
        }
    }

    /// Number of a last name of the run, from 0 to 999.
    pub fn last_name(&self, random: &mut Stream) -> i64 {
        non_uniform(random, LAST_NAME_A, self.last_name, 0, 999)
    }

    /// Number of a customer in its district.
    pub fn customer(&self, random: &mut Stream) -> i64 {
        non_uniform(random, CUSTOMER_A, self.customer, 1, super::CUSTOMERS)
    }

    /// Number of an item.
    pub fn item(&self, random: &mut Stream) -> i64 {
        non_uniform(random, ITEM_A, self.item, 1, super::ITEMS)
    }
}

fn is_apart(last_name: i64) -> bool {
    let delta = (last_name - LAST_NAME_LOADED).abs();
    (DELTA.0..=DELTA.1).contains(&delta) && !EXCLUDED_DELTAS.contains(&delta)
}

/// NURand(A, x, y) of clause 2.1.6.
pub fn non_uniform(random: &mut Stream, a: i64, c: i64, x: i64, y: i64) -> i64 {
    (((random.range(0, a) | random.range(x, y)) + c) % (y - x + 1)) + x
}

/// Number of a last name as customers are loaded with it.
pub fn loaded_last_name(random: &mut Stream) -> i64 {
    non_uniform(random, LAST_NAME_A, LAST_NAME_LOADED, 0, 999)
}

/// Syllables of last names (clause 4.3.2.3).
const SYLLABLES: [&str; 10] = [
    "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING",
];

/// Appends the last name of a number from 0 to 999.
pub fn push_last_name(text: &mut Vec<u8>, number: i64) {
    for place in [100, 10, 1] {
        let syllable = SYLLABLES[(number / place % 10) as usize];
        text.extend_from_slice(syllable.as_bytes());
    }
}

const ALPHANUMERIC: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// Characters that are taken from one random number of 64 bits: the last of them has 62^-10 of its range.
const CHARACTERS: usize = 10;

/// Appends a string of `low` to `high` characters of an alphabet.
fn push_of(text: &mut Vec<u8>, random: &mut Stream, alphabet: &[u8], low: i64, high: i64) {
    let mut left = random.range(low, high) as usize;
    while left > 0 {
        let count = left.min(CHARACTERS);
        let mut bits = random.bits();
        text.extend((0..count).map(|_| {
            let product = u128::from(bits) * alphabet.len() as u128;
            bits = product as u64;
            alphabet[(product >> 64) as usize]
        }));
        left -= count;
    }
}

/// Appends a random a-string (clause 4.3.2.2).
pub fn push_letters(text: &mut Vec<u8>, random: &mut Stream, low: i64, high: i64) {
    push_of(text, random, ALPHANUMERIC, low, high);
}

/// Appends a random n-string.
pub fn push_digits(text: &mut Vec<u8>, random: &mut Stream, length: i64) {
    push_of(text, random, &ALPHANUMERIC[52..], length, length);
}

/// Appends two capital letters.
pub fn push_state(text: &mut Vec<u8>, random: &mut Stream) {
    push_of(text, random, &ALPHANUMERIC[..26], 2, 2);
}

/// Appends data of 26 to 50 characters; one in ten has the word ORIGINAL at a random place (clause 4.3.3.1).
pub fn push_data(text: &mut Vec<u8>, random: &mut Stream) {
    const ORIGINAL: &[u8] = b"ORIGINAL";
    let start = text.len();
    push_letters(text, random, 26, 50);
    if random.range(1, 10) == 1 {
        let last = (text.len() - ORIGINAL.len()) as i64;
        let place = random.range(start as i64, last) as usize;
        text[place..place + ORIGINAL.len()].copy_from_slice(ORIGINAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        Stream::new(7, 0, Purpose::Measure)
    }

    #[test]
    fn last_names_are_those_of_the_specification() {
        let name = |number| {
            let mut text = Vec::new();
            push_last_name(&mut text, number);
            String::from_utf8(text).unwrap()
        };
        assert_eq!(name(371), "PRICALLYOUGHT");
        assert_eq!(name(0), "BARBARBAR");
        assert_eq!(name(999), "EINGEINGEING");
    }

    #[test]
    fn c_of_the_run_keeps_its_distance_from_that_of_the_load() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..2000 {
            let constants = Constants::of_seed(seed);
            let delta = (constants.last_name - LAST_NAME_LOADED).abs();
            assert!((65..=119).contains(&delta) && delta != 96 && delta != 112);
            assert!((0..=1023).contains(&constants.customer));
            assert!((0..=8191).contains(&constants.item));
            seen.insert(constants.last_name);
        }
        assert!(seen.len() > 50, "{seen:?}");
        assert_eq!(Constants::of_seed(5), Constants::of_seed(5));
    }

    #[test]
    fn numbers_that_are_not_uniform_stay_in_their_range_and_favour_some() {
        let (constants, mut random) = (Constants::of_seed(1), stream());
        let mut counts = vec![0; 3001];
        for _ in 0..300_000 {
            counts[constants.customer(&mut random) as usize] += 1;
            assert!((1..=100_000).contains(&constants.item(&mut random)));
            assert!((0..=999).contains(&constants.last_name(&mut random)));
        }
        assert_eq!(counts[0], 0);
        // Uniform numbers would be drawn 100 times each, none of them more than 200 times.
        assert!(counts.iter().any(|count| *count > 500));
    }

    #[test]
    fn strings_have_their_length_and_alphabet() {
        let mut random = stream();
        let mut lengths = std::collections::BTreeSet::new();
        for _ in 0..2000 {
            let mut text = Vec::new();
            push_letters(&mut text, &mut random, 8, 16);
            assert!(text.iter().all(u8::is_ascii_alphanumeric));
            lengths.insert(text.len());
            text.clear();
            push_digits(&mut text, &mut random, 16);
            assert!(text.len() == 16 && text.iter().all(u8::is_ascii_digit));
            text.clear();
            push_state(&mut text, &mut random);
            assert!(text.len() == 2 && text.iter().all(u8::is_ascii_uppercase));
        }
        assert_eq!(
            lengths.into_iter().collect::<Vec<_>>(),
            (8..=16).collect::<Vec<_>>()
        );
    }

    #[test]
    fn one_in_ten_is_original() {
        let mut random = stream();
        let mut originals = 0;
        for _ in 0..10_000 {
            let mut text = b"before".to_vec();
            push_data(&mut text, &mut random);
            assert!(text.starts_with(b"before") && (32..=56).contains(&text.len()));
            originals += i32::from(text.windows(8).any(|part| part == b"ORIGINAL"));
        }
        assert!((900..1100).contains(&originals), "{originals}");
    }
}
