//! Directories that may hold prepared data: which of them count, which data of theirs may be removed, and which stay known after that.

use std::path::PathBuf;

/// Device and inode of a directory.
pub type Identity = (u64, u64);

/// Why a directory may hold data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It belongs to the data directory of this server.
    Inside,
    /// The setting names it.
    Named,
    /// The setting has named it. Another server may use it now.
    Remembered,
}

impl Role {
    /// Whether this server has made data there. Both servers are system identifiers; notes of earlier versions have none.
    pub fn is_own(self, made_by: Option<u64>, this_server: u64) -> bool {
        self == Self::Inside || made_by == Some(this_server)
    }

    /// Whether an operator of this server may remove data there.
    pub fn is_removable(self, made_by: Option<u64>, this_server: u64) -> bool {
        self == Self::Named || self.is_own(made_by, this_server)
    }
}

/// A directory that may hold data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    pub path: PathBuf,
    pub role: Role,
    /// None if it is missing.
    pub identity: Option<Identity>,
}

/// Leaves out each further name of a directory. A bind mount gives it a second one.
pub fn each_once(all: Vec<Directory>) -> Vec<Directory> {
    let mut once: Vec<Directory> = Vec::new();
    for one in all {
        let is_same = |other: &Directory| {
            other.path == one.path || one.identity.is_some() && other.identity == one.identity
        };
        if !once.iter().any(is_same) {
            once.push(one);
        }
    }
    once
}

/// The names that stay remembered after those directories were emptied. A name without identity stays: its directory cannot be used now.
pub fn still_remembered(
    remembered: Vec<(String, Option<Identity>)>,
    emptied: &[Identity],
) -> Vec<String> {
    let is_emptied = |identity: Option<Identity>| identity.is_some_and(|it| emptied.contains(&it));
    let stay = remembered
        .into_iter()
        .filter(|(_, identity)| !is_emptied(*identity));
    stay.map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_two_names_counts_once_and_the_first_stays() {
        let directory = |path: &str, role, identity| Directory {
            path: path.into(),
            role,
            identity,
        };
        let named = directory("/disk", Role::Named, Some((1, 2)));
        let inside = directory("/data", Role::Inside, None);
        let elsewhere = directory("/elsewhere", Role::Remembered, Some((3, 2)));
        let missing = directory("/missing", Role::Remembered, None);
        let found = each_once(vec![
            named.clone(),
            inside.clone(),
            directory("/bind", Role::Remembered, Some((1, 2))),
            directory("/disk", Role::Remembered, Some((1, 2))),
            elsewhere.clone(),
            missing.clone(),
        ]);
        assert_eq!(found, [named, inside, elsewhere, missing]);
    }

    #[test]
    fn what_could_not_be_emptied_stays_remembered() {
        let remembered = vec![
            ("/emptied".to_owned(), Some((1, 2))),
            ("/unmounted".to_owned(), None),
            ("/bind".to_owned(), Some((1, 2))),
            ("/other".to_owned(), Some((1, 3))),
        ];
        let stay = still_remembered(remembered.clone(), &[(1, 2)]);
        assert_eq!(stay, ["/unmounted", "/other"]);
        assert_eq!(still_remembered(remembered, &[]).len(), 4);
    }

    #[test]
    fn data_of_another_server_are_removed_only_where_the_setting_names_them() {
        use Role::*;
        for (role, made_by, is_own, is_removable) in [
            (Inside, None, true, true),
            (Inside, Some(2), true, true),
            (Named, Some(1), true, true),
            (Named, Some(2), false, true),
            (Named, None, false, true),
            (Remembered, Some(1), true, true),
            (Remembered, Some(2), false, false),
            (Remembered, None, false, false),
        ] {
            let found = (role.is_own(made_by, 1), role.is_removable(made_by, 1));
            assert_eq!(found, (is_own, is_removable), "{role:?} {made_by:?}");
        }
    }
}
