//! How the helper comes into a server that wants a password: by a service and a password file, and not by its configuration.

use super::bench::{Bench, ask};
use crate::common::{execute, row};
use pgfsbench_tests::{server_owner, write_as_owner};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

/// A file of the servers' user, beside the data.
fn put(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("chmod");
    chown(path, server_owner(), None).expect("chown");
}

fn a_password_file_lets_the_helper_in(bench: &Bench) {
    let mut client = bench.client();
    execute(
        &mut client,
        "CREATE ROLE guard SUPERUSER LOGIN PASSWORD 'a:b\\c'",
    );
    let hba = bench.server.data().join("pg_hba.conf");
    write_as_owner(&hba, "local all guard scram-sha-256\nlocal all all trust\n");
    bench.server.reload();
    let beside = |name: &str| bench.server.data().with_file_name(name);
    let passwords = beside("passwords");
    let by_server = bench.connection("postgres").replace("user=postgres", "");
    put(&passwords, "*:*:postgres:guard:a\\:b\\\\c\n", 0o600);
    let usual = bench.lab.usual();
    bench.lab.configure(&usual.replace(
        "host=/nowhere user=postgres",
        &format!("{by_server} user=guard passfile={}", passwords.display()),
    ));
    let job = ask(&mut client, "t", "release", "{}");
    bench.lab.ok(&["run-once"]);
    let status = format!("SELECT status FROM fsbench.helper_job WHERE job_id = {job}");
    assert_eq!(row(&mut client, &status), "done");

    // One that others can read is not used; nor is a password in the configuration.
    put(&passwords, "*:*:postgres:guard:a\\:b\\\\c\n", 0o644);
    bench
        .lab
        .refused(&["run-once"], &["is open to others", "not every database"]);
    bench.lab.configure(&usual.replace(
        "host=/nowhere user=postgres",
        &format!("{by_server} user=guard password=x"),
    ));
    bench.lab.refused(
        &["run-once"],
        &["must not hold a password", "passfile=FILE"],
    );
}

#[test]
fn a_password_file_of_the_servers_user_is_read() {
    let Some(bench) = Bench::new("a_password_file_of_the_servers_user_is_read") else {
        return;
    };
    a_password_file_lets_the_helper_in(&bench);
}
