//! Settings that make a COMMIT promise less.

use crate::finding_row::Text;

pub fn fsync_off() -> Text {
    let hint = "Set fsync to on and reload: without it nothing waits for storage, and a crash loses the database.";
    Text::new("fsync_off", "fsync is off", hint)
}

pub fn synchronous_commit_off() -> Text {
    let hint =
        "Commits did not wait for WAL to be on disk: compare such a run only with others like it.";
    Text::new("synchronous_commit_off", "synchronous_commit is off", hint)
}

pub fn full_page_writes_off() -> Text {
    let hint = "Keep it off only on a filesystem that never tears a page; else set full_page_writes to on and reload.";
    Text::new("full_page_writes_off", "full_page_writes is off", hint)
}

pub fn unlogged() -> Text {
    let hint = "Commits did not wait for storage, and a crash empties the tables: compare such a run only with others like it.";
    Text::new("unlogged", "the tables are unlogged", hint)
}
