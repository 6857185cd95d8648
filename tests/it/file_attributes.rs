//! Attributes that `chattr` sets, a filesystem without fallocate, and extents: mount options show none of them.

use std::{path::Path, process::Command};

use crate::common::{row, rows, server};
use pgfsbench_tests::{LoopFs, OwnedDirectory, assert_columns, program, skip};
use postgres::Client;

const SHORT: &str = "scale => 1, clients => 1, transactions => 20, seed => 1, warmup => '0'";

fn change_attributes(change: &str, path: &Path) {
    let chattr = program("chattr").expect("chattr");
    let status = Command::new(chattr).arg(change).arg(path).status();
    assert!(status.expect("chattr").success(), "chattr {change}");
}

/// The number of a run on a target in this directory.
fn run_in(client: &mut Client, name: &str, place: &Path) -> String {
    let directory = place.display();
    row(
        client,
        &format!("SELECT fsbench.create_target('{name}', directory => '{directory}')"),
    );
    row(
        client,
        &format!("SELECT run_id FROM fsbench.run(target => '{name}', {SHORT})"),
    )
}

#[test]
fn attributes_of_a_directory_are_those_of_the_files_of_a_run() {
    let test = "attributes_of_a_directory_are_those_of_the_files_of_a_run";
    if program("chattr").is_none() {
        return skip(test, "there is no chattr");
    }
    let fs = match LoopFs::btrfs(1500) {
        Ok(fs) => fs,
        Err(reason) => return skip(test, &reason),
    };
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let nocow = OwnedDirectory::within(&fs.path(), "nocow.");
    change_attributes("+C", nocow.path());
    let compressed = OwnedDirectory::within(&fs.path(), "compressed.");
    change_attributes("+c", compressed.path());
    let one = run_in(&mut client, "nocow", nocow.path());
    let other = run_in(&mut client, "compressed", compressed.path());
    // chattr +c sets the property, too.
    let compress = "compress,compression=zlib";
    for (run, attribute) in [(&one, "nocow"), (&other, compress)] {
        assert_columns(
            &mut client,
            &format!("FROM fsbench.environment WHERE run_id = {run}"),
            &[
                ("data_attributes", attribute),
                ("data_file_attributes", attribute),
                ("pg_wal_attributes", attribute),
                ("pg_wal_file_attributes", attribute),
                ("fallocate", "t"),
            ],
        );
    }
    let found = |client: &mut Client, run: &str| {
        let codes = "'{btrfs_nodatacow,compression,file_attributes}'";
        rows(
            client,
            &format!(
                "SELECT message FROM fsbench.finding WHERE run_id = {run} AND code = ANY ({codes})"
            ),
        )
    };
    assert_eq!(
        found(&mut client, &one),
        ["btrfs works without checksums of the data (attribute nocow of the files of the run)"]
    );
    assert_eq!(
        found(&mut client, &other),
        ["the filesystem compresses (attribute compression=zlib of the files of the run)"]
    );
    let diff = format!(
        "SELECT concat_ws(' ', a, b, matters) FROM fsbench.diff({one}, {other}) WHERE name = 'data_file_attributes'"
    );
    assert_eq!(row(&mut client, &diff), format!("nocow {compress} much"));
}

#[test]
fn a_filesystem_without_fallocate_is_found_by_trying_and_its_extents_are_counted() {
    let fs = match LoopFs::ext3(1000) {
        Ok(fs) => fs,
        Err(reason) => {
            let test =
                "a_filesystem_without_fallocate_is_found_by_trying_and_its_extents_are_counted";
            return skip(test, &reason);
        }
    };
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let place = OwnedDirectory::within(&fs.path(), "target.");
    let run = run_in(&mut client, "ext3", place.path());
    assert_columns(
        &mut client,
        &format!("FROM fsbench.environment WHERE run_id = {run}"),
        &[
            ("filesystem", "ext3"),
            ("fallocate", "f"),
            ("data_file_attributes", ""),
        ],
    );
    // Versions without the setting write zeros before 16, and use fallocate since.
    let by_fallocate = "SELECT coalesce((SELECT setting = 'posix_fallocate' FROM pg_settings WHERE name = 'file_extend_method'), \
        current_setting('server_version_num')::integer >= 160000)";
    let found = format!(
        "SELECT EXISTS (SELECT FROM fsbench.finding WHERE run_id = {run} AND code = 'fallocate_missing')"
    );
    assert_eq!(row(&mut client, &found), row(&mut client, by_fallocate));
    // A table has at least one extent in each of its files, and the filesystem tells.
    let scan = row(
        &mut client,
        "SELECT run_id FROM fsbench.run(target => 'ext3', workload => 'scan', scale => 1, \
           options => '{\"degrees\": [1], \"repeats\": 1, \"readers\": []}')",
    );
    let extents = format!(
        "SELECT bool_and(extents BETWEEN 1 AND bytes / 4096) FROM fsbench.scan WHERE run_id = {scan}"
    );
    assert_eq!(row(&mut client, &extents), "t");
}
