//! The names of a target's image, mount point and pool. They are made of the database's and the target's name, so that two
//! databases never collide.

use crate::config::Config;
use pgfsbench_core::helper::Name;
use std::path::PathBuf;

/// A target of a database.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub database: Name,
    pub target: Name,
}

impl Place {
    /// "@" is in no name, so this is never two places'.
    pub fn key(&self) -> String {
        format!("{}@{}", self.database, self.target)
    }

    pub fn of_key(key: &str) -> Option<Self> {
        let (database, target) = key.split_once('@')?;
        Some(Self {
            database: Name::new(database).ok()?,
            target: Name::new(target).ok()?,
        })
    }

    /// The name of one of its images. "@" is in no name, so this is no other target's.
    pub fn image_name(&self, part: &str) -> String {
        format!("{}{part}.img", self.key())
    }

    /// The file of the record of what is written to its images.
    pub fn record_name(&self) -> String {
        format!("{}@record.img", self.key())
    }

    /// The place where the recorder is mounted, in a directory of root's alone.
    pub fn recorder_mount_point(&self, config: &Config) -> PathBuf {
        config.state.join("recorder").join(self.key())
    }

    /// The name of the zfs pool. zfs allows no "@" and "+" in it. No name has ":", so one of them stands for "@", two for "+".
    pub fn pool(&self) -> String {
        let key = self.key().replace('+', "::").replace('@', ":");
        format!("pgfsbench-{key}")
    }

    /// The one dataset in the pool.
    pub fn dataset(&self) -> String {
        format!("{}/data", self.pool())
    }

    pub fn mount_point(&self, config: &Config) -> PathBuf {
        config.mount_root.join(self.key())
    }
}

/// The directory in the filesystem that is the server's: a filesystem's own root may hold lost+found.
pub const DIRECTORY: &str = "pgfsbench";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_places_have_one_pool() {
        let keys = [
            "a@b", "a+@b", "a@b+", "a+b@c", "a@b+c", "a++@b", "a-b@c", "a@b-c",
        ];
        let mut pools: Vec<String> = keys
            .iter()
            .filter_map(|key| Some(Place::of_key(key)?.pool()))
            .collect();
        assert!(pools.iter().all(|pool| !pool.contains(['@', '+', '/'])));
        pools.sort();
        pools.dedup();
        assert_eq!(pools.len(), keys.len());
    }

    #[test]
    fn keys_lead_there_and_back() {
        let place = Place {
            database: Name::new("bench").unwrap(),
            target: Name::new("xfs-1.5+x").unwrap(),
        };
        assert_eq!(place.key(), "bench@xfs-1.5+x");
        assert_eq!(Place::of_key(&place.key()), Some(place));
        for key in ["", "a", "a@", "@a", "a@b@c", "../a@b", "a@b/c"] {
            assert_eq!(Place::of_key(key), None, "{key}");
        }
    }
}
