//! What is known of the storage below a run.

use serde::{Deserialize, Serialize};

/// The filesystem and what it lies on. None is: not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StorageFacts {
    /// Mount options that were asked for and that the kernel does not show; None where nothing was made.
    pub mount_options_not_shown: Option<Vec<String>>,
    /// Properties of zfs that were asked for and are not in force; None where nothing was made.
    pub properties_not_in_force: Option<Vec<String>>,
}
