//! Work that the arrays below data and WAL do for themselves while a run is measured.

use pgfsbench_core::sys;

use crate::host::{location, storage, tree::ThisMachine};

/// The arrays, watched from the start of the window on.
#[derive(Default)]
pub struct Arrays {
    /// Name of each array, and the file that tells its work.
    files: Vec<(String, String)>,
    /// All work that was seen, each once; None when a look saw nothing because a file could not be read.
    pub work: Option<Vec<String>>,
}

impl Arrays {
    /// Finds the arrays, and takes the first look.
    pub fn find() -> Self {
        let device = storage::read(
            location::data_location().as_ref(),
            location::wal_location().as_ref(),
        );
        let layers = [device.layers, device.wal_layers].into_iter().flatten();
        let mut files: Vec<_> = layers
            .flat_map(|layers| sys::action_files(&ThisMachine, &layers))
            .collect();
        files.sort();
        files.dedup();
        let mut arrays = Self {
            files,
            work: Some(Vec::new()),
        };
        arrays.look();
        arrays
    }

    /// Looks at them now.
    pub fn look(&mut self) {
        let seen = sys::array_work(&ThisMachine, &self.files);
        self.work = sys::all_work(self.work.take(), seen);
    }
}
