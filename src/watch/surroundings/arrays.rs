//! Work that the arrays below data and WAL do for themselves while a run is measured.

use pgfsbench_core::sys::{self, ArrayWatch};

use crate::host::{
    location::{self, Location},
    tree::ThisMachine,
};

/// The arrays, watched from the start of the window on.
#[derive(Default)]
pub struct Arrays {
    watches: Vec<ArrayWatch>,
    /// All work that was seen, each once; None when a look saw nothing because an array could not be watched.
    pub work: Option<Vec<String>>,
}

impl Arrays {
    /// Finds the arrays, and takes the first look.
    pub fn find() -> Self {
        let places = [location::data_location(), location::wal_location()];
        let below: Vec<_> = places.iter().flatten().map(Location::below).collect();
        let mut arrays = Self {
            watches: sys::array_watches(&ThisMachine, &below),
            work: Some(Vec::new()),
        };
        arrays.look();
        arrays
    }

    /// Looks at them now.
    pub fn look(&mut self) {
        let seen = sys::array_work(&ThisMachine, &self.watches);
        self.work = sys::all_work(self.work.take(), seen);
    }
}
