//! Tells after DROP EXTENSION what it leaves: things outside of the database, which have to be removed otherwise.

use std::{collections::BTreeSet, path::PathBuf};

use pgfsbench_core::{escape, refusal::quoted, units::format_bytes};

use crate::{
    board::Request,
    errors::Fault,
    pg::{report, session, shmem, sql, xact},
    run::{cleanup, dropped_copies},
    target::prepared_data,
};

/// Things that are left, and advice on them.
#[derive(Default)]
struct Leftovers {
    /// Directories of copies that go with the extension, and their names.
    copies: Vec<(PathBuf, String)>,
    detail: Vec<String>,
    hint: Vec<String>,
}

impl Leftovers {
    fn add(&mut self, detail: String, hint: String) {
        self.detail.push(detail);
        self.hint.push(hint);
    }
}

/// Looks before the extension is dropped, whose tables tell a part of it. None for whom may not drop it anyway. In a
/// transaction; nothing in it keeps DROP EXTENSION from going on.
pub fn before_drop() -> Option<Box<dyn FnOnce()>> {
    let left = xact::attempt(what_is_left).ok()??;
    Some(Box::new(|| left.tell()))
}

fn what_is_left() -> Option<Leftovers> {
    let owner = cleanup::extension().ok()??.owner;
    let may_drop = "SELECT 1 WHERE pg_has_role($1::oid, 'USAGE')";
    sql::read(may_drop, &[Some(&owner.to_string())]).ok()??;
    let mut left = Leftovers::default();
    session::with_rights_of(owner, || left.prepared_targets()).ok()?;
    left.work_databases().ok()?;
    // Copies that cannot be read stay, and have no line.
    let _ = left.copies();
    left.prepared_data();
    left.library();
    Some(left)
}

impl Leftovers {
    fn tell(self) {
        let (directories, names): (Vec<_>, Vec<_>) = self.copies.into_iter().unzip();
        if !names.is_empty() {
            match dropped_copies::remove_on_commit(directories) {
                Ok(()) => report::notice(
                    format!(
                        "copies of this server go with the extension: {}",
                        names.join(", ")
                    ),
                    Some("They are removed when this transaction has committed.".into()),
                ),
                Err(fault) => report::log_warning(&fault.context("copies of this server stay")),
            }
        }
        report::notice_in_full(
            "extension \"pgfsbench\" leaves what is outside of this database",
            self.detail.join("\n"),
            self.hint.join("\n"),
        );
    }

    fn prepared_targets(&mut self) -> Result<(), Fault> {
        if sql::read("SELECT to_regclass('fsbench.prepared_target')", &[])?.is_none() {
            return Ok(());
        }
        let all = "SELECT string_agg(target, ', ' ORDER BY target) FROM fsbench.prepared_target";
        if let Some(targets) = sql::read(all, &[])? {
            self.add(
                format!("Mounted targets: {targets}."),
                "As root: pgfsbench-helper cleanup.".into(),
            );
        }
        Ok(())
    }

    fn work_databases(&mut self) -> Result<(), Fault> {
        let all = "SELECT string_agg(quote_ident(datname), ', ' ORDER BY datname) FROM pg_database \
                   WHERE datname ~ '^fsbench_work_[0-9]+(_[0-9]+)?$' AND datallowconn";
        if let Some(names) = sql::read(all, &[])? {
            self.add(
                format!("Work databases of runs with keep: {names}."),
                "DROP DATABASE removes each of them.".into(),
            );
        }
        Ok(())
    }

    /// Copies that this database has made go with it, but not while runs of another database may be about to use them.
    fn copies(&mut self) -> Result<(), Fault> {
        let board = shmem::board();
        if board.is_some_and(|board| board.requests.iter().any(Request::is_open)) {
            return Ok(());
        }
        for (path, note) in dropped_copies::of_this_database()? {
            let name = quoted(note.name().unwrap_or_default());
            self.copies.push((path, name));
        }
        Ok(())
    }

    fn prepared_data(&mut self) {
        let Ok(mut all) = prepared_data::list() else {
            return;
        };
        all.retain(|(path, _)| self.copies.iter().all(|(copy, _)| copy != path));
        let places: BTreeSet<_> = all.iter().filter_map(|(path, _)| path.parent()).collect();
        for place in places {
            let here = all.iter().filter(|(path, _)| path.parent() == Some(place));
            self.add(
                format!(
                    "Prepared data of {} in \"{}\".",
                    format_bytes(here.map(|(_, note)| note.bytes).sum()),
                    // The whole path, however long: a user changes to that directory.
                    escape::one_line(&place.display().to_string())
                ),
                "Where another database has the extension, fsbench.drop_prepared_data() removes them, and SELECT fsbench.drop_data(data) \
                 FROM fsbench.prepared_data WHERE data IS NOT NULL removes copies of this server. Otherwise they go at a start of the server \
                 that still preloads the library, when no database has had the extension for a day.".into(),
            );
        }
    }

    fn library(&mut self) {
        self.add(
            "The library is preloaded.".into(),
            "Before its files are removed: take pgfsbench out of shared_preload_libraries, or the server does not start.".into(),
        );
    }
}
