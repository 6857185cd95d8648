//! The plan of a run: its steps, and how the server, its cache and its storage take part in them.

use super::ClientsDo;
use crate::{
    refusal::Refusal,
    spec::{ScriptArguments, Spec, Step},
};

/// Steps of a run of a workload, and what they need and touch.
pub trait Plan {
    /// Whether it works in a database; else on files beside it, without WAL and transaction ids.
    fn uses_database(&self) -> bool {
        true
    }

    /// Whether it runs transactions that write.
    fn writes(&self) -> bool;

    /// Whether checkpoints write much of what its transactions have written: a verdict then needs windows of whole checkpoint cycles.
    fn depends_on_checkpoints(&self) -> bool {
        self.writes()
    }

    /// The clients' work in the measured window.
    fn clients_do(&self) -> ClientsDo {
        ClientsDo::Transactions
    }

    /// Whether transactions leave dead rows, which VACUUM has to remove.
    fn leaves_dead_rows(&self) -> bool {
        self.writes()
    }

    /// Whether it reads data from storage if they are larger than memory, and is meant to.
    fn reads_storage(&self) -> bool {
        true
    }

    /// Whether it is measured how fast something is written, so that what a commit promises matters.
    fn measures_writes(&self) -> bool {
        true
    }

    /// Whether it puts its table into the cache or out of it by itself before each unit of work, as the option `cache` says.
    fn sets_cache(&self) -> bool {
        false
    }

    /// Refuses a filesystem on which the cache cannot be as the option wants it. `is_cached_below`: it lies in an image that is read
    /// through the page cache of another filesystem.
    fn check_cache(
        &self,
        _spec: &Spec,
        _filesystem: &str,
        _is_cached_below: bool,
    ) -> Result<(), Refusal> {
        Ok(())
    }

    /// Refuses data that a server with so much shared_buffers cannot hold as the option `cache` wants it.
    fn check_buffers(&self, _spec: &Spec, _shared_buffers_bytes: u64) -> Result<(), Refusal> {
        Ok(())
    }

    /// Settings that a target's server needs for it, beside those for its workers.
    fn server_settings(&self, _spec: &Spec) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Whether the writes of the target are recorded, and the power is cut at moments of the record.
    fn cuts_power(&self) -> bool {
        false
    }

    /// The hash of the document that travels with a run; None if none does.
    fn document_hash(&self, _spec: &Spec) -> Option<String> {
        None
    }

    /// The arguments by which another server runs that document. The error says that it is no such document.
    fn arguments_of_document(
        &self,
        _spec: &Spec,
        _document: &str,
    ) -> serde_json::Result<ScriptArguments> {
        Ok(ScriptArguments::default())
    }

    /// Whether it makes tables in a database of a user's own.
    fn loads_on_own(&self, _spec: &Spec) -> bool {
        true
    }

    /// Whether it vacuums a table of a user's own before the window.
    fn vacuums_own(&self) -> bool {
        false
    }

    /// True if it syncs files by itself, so that settings of the server do not count.
    fn syncs_itself(&self) -> bool {
        false
    }

    /// Whether parts of the window do unlike work, one after the other.
    fn has_unlike_parts(&self, _spec: &Spec) -> bool {
        false
    }

    /// All steps of the workload in the measured server, in order, from its work database, if it has one, to its results. The plan of a run leaves
    /// out those that the run does not need.
    fn steps(&self) -> &'static [Step];
}
