//! Checks that the tables of a run are on the filesystem that the run describes: filesystem, scope, room and durability are those
//! of the place of the tables, and a table elsewhere would be measured under a wrong name.

use crate::{
    finding::Place,
    refusal::{Kind, Refusal, quoted},
};

/// The file of a table or an index.
#[derive(Clone, Debug)]
pub struct TableFile {
    /// The table or index.
    pub relation: String,
    /// File, with symbolic links resolved.
    pub file: String,
    /// The filesystem of the file.
    pub place: Place,
}

/// Refuses the first file that is on another filesystem than `tables`, the place that the run describes.
pub fn check(tables: &Place, files: impl IntoIterator<Item = TableFile>) -> Result<(), Refusal> {
    let mut files = files.into_iter();
    let elsewhere = files.find(|file| !file.place.is_same_filesystem(tables));
    let Some(found) = elsewhere else {
        return Ok(());
    };
    let on = |place: &Place| format!("{} on {}", place.fs_type, quoted(&place.mount_point));
    let message = format!(
        "table {} of the run is on another filesystem than the run describes",
        quoted(&found.relation)
    );
    Err(Refusal::new(Kind::NotInThisState, message)
        .detail(format!(
            "Its file {} is on {}; the run describes {}.",
            quoted(&found.file),
            on(&found.place),
            on(tables)
        ))
        .hint("Find out what moves tables on this server: a symbolic link in the data directory, or an extension."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check as checked;

    fn place(minor: u32, fs_type: &str, source: &str, mount_point: &str) -> Place {
        Place {
            major: 8,
            minor,
            source: source.into(),
            fs_type: fs_type.into(),
            mount_point: mount_point.into(),
        }
    }

    fn file(relation: &str, place: Place) -> TableFile {
        TableFile {
            relation: relation.into(),
            file: format!("/x/{relation}"),
            place,
        }
    }

    #[test]
    fn a_table_on_another_filesystem_is_refused() {
        let data = place(1, "ext4", "/dev/sda1", "/srv");
        let here = || file("pgbench_tellers", data.clone());
        assert_eq!(check(&data, [here(), here()]), Ok(()));
        assert_eq!(check(&data, []), Ok(()));
        let moved = file("pgbench_accounts", place(17, "xfs", "/dev/sdb1", "/fast"));
        let refusal = check(&data, [here(), moved]).unwrap_err();
        assert_eq!(
            refusal.detail.as_deref(),
            Some(
                "Its file \"/x/pgbench_accounts\" is on xfs on \"/fast\"; the run describes ext4 on \"/srv\"."
            )
        );
        checked::style(&refusal);
    }

    #[test]
    fn subvolumes_of_one_filesystem_are_one_place() {
        let data = place(30, "btrfs", "/dev/sda1", "/srv");
        let other_subvolume = place(31, "btrfs", "/dev/sda1", "/srv/sub");
        assert_eq!(check(&data, [file("t", other_subvolume)]), Ok(()));
    }

    #[test]
    fn files_of_an_overlay_have_the_numbers_of_its_layers() {
        let data = place(30, "overlay", "overlay", "/srv");
        let of_a_layer = place(31, "overlay", "overlay", "/srv");
        assert_eq!(check(&data, [file("t", of_a_layer)]), Ok(()));
        let another = place(32, "overlay", "overlay", "/var");
        assert!(check(&data, [file("t", another)]).is_err());
    }
}
