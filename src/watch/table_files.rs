//! The files of the tables of a run: whether they are where the run looks.

use std::{fs, os::unix::fs::MetadataExt, path::PathBuf};

use pgfsbench_core::run::table_files::{self, TableFile};

use crate::{
    errors::{Fault, read_json},
    host::location::{self, Location},
    pg::{session, sql, xact},
};

/// Tables, their TOAST tables and indexes: relations that `initdb` has not made. With the path of the first file of each.
const FILES: &str = "SELECT coalesce(jsonb_agg(jsonb_build_array(relname, pg_relation_filepath(oid))), '[]') \
     FROM pg_class WHERE oid >= 16384 AND pg_relation_filepath(oid) IS NOT NULL";

/// Refuses tables of this database that are on another filesystem than [`location::data_location`]. A file that cannot be read is no reason.
pub fn check() -> Result<(), Fault> {
    let text = xact::transaction(|| sql::read(FILES, &[]))?;
    let files: Vec<(String, String)> = read_json("files", &text.unwrap_or_default())?;
    let Some(tables) = location::data_location() else {
        return Ok(());
    };
    let Some(place) = tables.place() else {
        return Ok(());
    };
    let elsewhere = files.into_iter().flat_map(|(relation, path)| {
        let all = segments(session::data_directory().join(path));
        let moved = all.filter(|path| {
            let metadata = fs::metadata(path);
            metadata.is_ok_and(|metadata| metadata.dev() != tables.device)
        });
        let found: Vec<TableFile> = moved
            .filter_map(|path| table_file(&relation, Location::of(&path)?))
            .collect();
        found
    });
    Ok(table_files::check(&place, elsewhere)?)
}

fn table_file(relation: &str, location: Location) -> Option<TableFile> {
    Some(TableFile {
        relation: relation.to_owned(),
        place: location.place()?,
        file: location.directory,
    })
}

/// The files of a relation: the server begins another one at each gigabyte.
fn segments(first: PathBuf) -> impl Iterator<Item = PathBuf> {
    let further = (1..).map({
        let first = first.clone();
        move |segment| {
            let mut path = first.clone().into_os_string();
            path.push(format!(".{segment}"));
            PathBuf::from(path)
        }
    });
    std::iter::once(first).chain(further.take_while(|path| path.exists()))
}
