//! The shape of an array argument.

use pgrx::{Array, array::RawArray};

/// All values of an array, the last dimension first, and the length of each dimension: none for an empty array.
pub fn shaped(array: Array<'_, f64>) -> (Vec<usize>, Vec<Option<f64>>) {
    let values = array.iter().collect();
    // SAFETY: the array is an argument of this call, detoasted, and lives as long as the call; its header is only read.
    let raw = unsafe { RawArray::from_array(array) };
    let dimensions = raw.map_or_else(Vec::new, |raw| {
        raw.dims().iter().map(|&n| n.max(0) as usize).collect()
    });
    (dimensions, values)
}
