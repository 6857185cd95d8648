//! The texts of runs of scripts: stored once, by their hash.

use crate::{
    errors::{Fault, sqlstate},
    pg::sql,
};

/// The hash of a text.
pub fn sha256(text: &str) -> Result<String, Fault> {
    let hash = sql::read(
        "SELECT encode(sha256(convert_to($1, 'UTF8')), 'hex')",
        &[Some(text)],
    )?;
    hash.ok_or_else(|| Fault::new(sqlstate::INTERNAL, "a text has no hash"))
}

/// Stores a text, unless it is there.
pub fn insert(sha256: &str, text: &str) -> Result<(), Fault> {
    sql::write(
        "INSERT INTO fsbench.script (sha256, document) VALUES ($1, $2) ON CONFLICT (sha256) DO NOTHING",
        &[Some(sha256), Some(text)],
    )?;
    Ok(())
}

/// Reads a text; an error if it is gone or is another.
pub fn read(hash: &str) -> Result<String, Fault> {
    let text = sql::read(
        "SELECT document FROM fsbench.script WHERE sha256 = $1",
        &[Some(hash)],
    )?;
    let wrong = |message: &str| {
        Fault::new(sqlstate::NOT_IN_THIS_STATE, message)
            .detail(format!("Table fsbench.script has them under {hash}."))
            .hint("Start the run again.")
    };
    let text = text.ok_or_else(|| wrong("the scripts of the run are gone"))?;
    match sha256(&text)? == hash {
        true => Ok(text),
        false => Err(wrong("the scripts of the run were changed")),
    }
}
