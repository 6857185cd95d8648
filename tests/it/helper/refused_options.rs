//! Options that mkfs or this kernel does not take: they are named, before a run if it is asked for, and without a page of usage.

use super::bench::Bench;
use crate::common::{assert_refused, execute, row};
use pgfsbench_tests::assert_columns;
use postgres::Client;

/// A mount option of ext4 with a number that no kernel takes.
const BAD: &str = "commit=999999999999";

fn create(target: &str, options: &str) -> String {
    format!("SELECT fsbench.create_target('{target}', filesystem => 'ext4', {options})")
}

fn jobs(client: &mut Client) -> String {
    let jobs = "SELECT string_agg(concat_ws(' ', action, target, status), ', ' ORDER BY job_id) FROM fsbench.helper_job";
    row(client, jobs)
}

#[test]
fn options_are_tried_and_a_program_tells_why_they_fail() {
    let Some(bench) =
        Bench::with_extension("options_are_tried_and_a_program_tells_why_they_fail", &[])
    else {
        return;
    };
    options_are_tried_before_a_target_is_recorded(&bench);
    of_a_program_that_fails_is_told_why_and_not_how_it_is_called(&bench);
}

fn options_are_tried_before_a_target_is_recorded(bench: &Bench) {
    let mut client = bench.client();
    let good = create(
        "good",
        "image_size => '64MB', mount_options => 'noatime', try => true",
    );
    assert_refused(
        &mut client,
        &good,
        "55000",
        &["pgfsbench-helper is not running"],
    );
    let _serving = bench.serve_now();
    execute(&mut client, &good);
    let bad = format!("image_size => '64MB', mount_options => 'noatime,{BAD}', try => true");
    let words = format!("this kernel does not take mount option \"{BAD}\" of ext4");
    assert_refused(&mut client, &create("bad", &bad), "58000", &[&words]);
    let told = row(
        &mut client,
        "SELECT string_agg(target, ' ') FROM fsbench.target WHERE kind <> 'default'",
    );
    assert_eq!(told, "good");
    assert_eq!(
        jobs(&mut client),
        "try good failed, try good done, try bad failed"
    );
    bench.lab.nothing_is_left_at_once();

    let there = "SELECT fsbench.create_target('x', directory => '/tmp', try => true)";
    assert_refused(
        &mut client,
        there,
        "22023",
        &["there are no options to try"],
    );
    execute(&mut client, "BEGIN; CREATE TEMPORARY TABLE t (n int)");
    let again = create("again", "image_size => '64MB', try => true");
    assert_refused(
        &mut client,
        &again,
        "55000",
        &["in a transaction that has written"],
    );
    execute(&mut client, "ROLLBACK");
}

fn of_a_program_that_fails_is_told_why_and_not_how_it_is_called(bench: &Bench) {
    if !bench.lab.has("xfs") {
        return;
    }
    let mut client = bench.client();
    let _serving = bench.serve_now();
    // mkfs.xfs says that, and then its usage.
    let create = "SELECT fsbench.create_target('x', filesystem => 'xfs', image_size => '320MB', mkfs_options => '-d agcount=0', try => true)";
    assert_refused(
        &mut client,
        create,
        "58000",
        &["mkfs.xfs failed (exit code 1)"],
    );
    assert_columns(
        &mut client,
        "FROM fsbench.helper_job ORDER BY job_id DESC LIMIT 1",
        &[
            (
                "array_length(string_to_array(error_detail, E'\\n'), 1) <= 4",
                "t",
            ),
            ("error_detail ILIKE '%agcount%'", "t"),
            ("error_detail ILIKE '%usage%'", "f"),
            ("steps::text ILIKE '%usage%'", "t"),
        ],
    );
    bench.lab.nothing_is_left_at_once();
}
