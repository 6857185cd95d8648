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

fn a_service_and_a_password_file_let_the_helper_in(bench: &Bench) {
    let mut client = bench.client();
    execute(
        &mut client,
        "CREATE ROLE guard SUPERUSER LOGIN PASSWORD 'a:b\\c'",
    );
    let hba = bench.server.data().join("pg_hba.conf");
    write_as_owner(&hba, "local all guard scram-sha-256\nlocal all all trust\n");
    bench.server.reload();
    let beside = |name: &str| bench.server.data().with_file_name(name);
    let (services, passwords) = (beside("services.conf"), beside("passwords"));
    let by_server = bench.connection("postgres").replace("user=postgres", "");
    put(
        &services,
        &format!(
            "[bench]\n{}\nuser=guard\npassfile={}\n",
            by_server.trim().replace(' ', "\n"),
            passwords.display()
        ),
        0o644,
    );
    put(&passwords, "*:*:postgres:guard:a\\:b\\\\c\n", 0o600);
    let usual = bench.lab.usual();
    bench.lab.configure(&usual.replace(
        "host=/nowhere user=postgres",
        &format!("service=bench servicefile={}", services.display()),
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
fn services_and_password_files_let_the_helper_in() {
    let Some(bench) = Bench::new("services_and_password_files_let_the_helper_in") else {
        return;
    };
    where_services_are_can_be_said_to_the_unit(&bench);
    bench.start_anew();
    a_service_and_a_password_file_let_the_helper_in(&bench);
}

fn where_services_are_can_be_said_to_the_unit(bench: &Bench) {
    let services = bench.server.data().with_file_name("services.conf");
    let parameters = bench.connection("postgres").replace(' ', "\n");
    put(&services, &format!("[bench]\n{parameters}\n"), 0o644);
    bench.lab.configure(
        &bench
            .lab
            .usual()
            .replace("host=/nowhere user=postgres", "service=bench"),
    );
    let job = ask(&mut bench.client(), "t", "release", "{}");
    let mut command = bench.lab.command(&["run-once"]);
    let status = command.env("PGSERVICEFILE", &services).status();
    assert!(status.expect("the helper runs").success());
    let status = format!("SELECT status FROM fsbench.helper_job WHERE job_id = {job}");
    assert_eq!(row(&mut bench.client(), &status), "done");
}
