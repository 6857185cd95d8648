//! Which generator each client and thread of a run has, in pgbench's order of draws.

use super::generator::Generator;
use super::program::Program;
use super::variables::DEFAULT_SEED;

/// The generators of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Seeds {
    pub seed: i64,
    /// The value of `:default_seed`, unless the caller gives one.
    pub default_seed: i64,
    clients: Vec<Generator>,
    threads: Vec<Thread>,
}

/// The generators of one of pgbench's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Chooses scripts.
    pub choice: Generator,
    /// Waits between transactions under a rate.
    pub throttle: Generator,
    /// Chooses transactions that are logged.
    pub sample: Generator,
}

impl Seeds {
    /// The generators of `pgbench --random-seed=SEED -c CLIENTS -j THREADS`.
    pub fn new(program: &Program, seed: i64, clients: u32, threads: u32) -> Self {
        let mut base = Generator::new(seed.cast_unsigned());
        let mut draw = || Generator::new(base.bits());
        let clients = (0..clients).map(|_| draw()).collect();
        let is_given = program.given.iter().any(|(slot, _)| *slot == DEFAULT_SEED);
        let default_seed = if is_given {
            0
        } else {
            base.bits().cast_signed()
        };
        let mut draw = || Generator::new(base.bits());
        let threads = (0..threads)
            .map(|_| Thread {
                choice: draw(),
                throttle: draw(),
                sample: draw(),
            })
            .collect();
        Self {
            seed,
            default_seed,
            clients,
            threads,
        }
    }

    /// The generator of a client, from 0.
    pub fn client(&self, id: u32) -> Generator {
        self.clients[id as usize]
    }

    /// The generators of a thread, from 0.
    pub fn thread(&self, number: u32) -> Thread {
        self.threads[number as usize]
    }
}
