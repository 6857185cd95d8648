//! Data that share their blocks with the prepared ones: where that can be, and what is said where it cannot.

use crate::common::{assert_refused, create_target, row, server, set};
use pgfsbench_tests::{Leaves, LoopFs, OwnedDirectory, assert_columns};

const RUN: &str = r#"target => 'here', scale => 1, clients => 1, transactions => 50, seed => 1, options => '{"data": "cloned"}'"#;

#[test]
fn data_are_cloned_where_files_can_share_blocks_and_else_the_run_says_why() {
    let fs = match LoopFs::btrfs(1500) {
        Ok(fs) => fs,
        Err(reason) => {
            return pgfsbench_tests::skip(
                "data_are_cloned_where_files_can_share_blocks_and_else_the_run_says_why",
                &reason,
            );
        }
    };
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let place = OwnedDirectory::within(&fs.path(), "target.");
    create_target(&mut client, "here", place.path());
    // The prepared data are in the data directory, which is on another filesystem.
    assert_refused(
        &mut client,
        &format!("SELECT * FROM fsbench.run({RUN})"),
        "58000",
        &[
            "could not clone the prepared data",
            "failed to clone",
            "within one filesystem",
            "pgfsbench.prepared_data_directory",
        ],
    );
    server.nothing_is_left("a run on a clone");

    let kept = OwnedDirectory::within(&fs.path(), "kept.");
    let directory = kept.path().display().to_string();
    set(
        &server,
        &mut client,
        "pgfsbench.prepared_data_directory",
        &directory,
    );
    let id = row(
        &mut client,
        &format!("SELECT run_id FROM fsbench.run({RUN})"),
    );
    assert_columns(
        &mut client,
        &format!(
            "FROM fsbench.environment JOIN fsbench.run_log USING (run_id) JOIN fsbench.finding f USING (run_id) WHERE run_id = {id} AND code = 'cloned_data'"
        ),
        &[
            ("(storage #>> '{data,cloned}')::boolean", "t"),
            ("used #>> '{options,data}'", "cloned"),
            ("f.severity", "warning"),
        ],
    );
    // Data of an earlier directory stay known.
    set(
        &server,
        &mut client,
        "pgfsbench.prepared_data_directory",
        "",
    );
    assert_columns(
        &mut client,
        "FROM fsbench.prepared_data",
        &[
            (
                &format!("count(*) FILTER (WHERE starts_with(directory, '{directory}'))"),
                "1",
            ),
            ("count(*)", "2"),
        ],
    );
    row(&mut client, "SELECT fsbench.drop_prepared_data() > 0");
    server.nothing_is_left("a run on a clone");
}
