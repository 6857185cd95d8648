//! The workload `script` beside pgbench itself: the same seed draws the same parameters, client by client, and chooses the same scripts.

use crate::common::{execute, program, row, rows, run, server};
use pgfsbench_tests::{OwnedDirectory, write_as_owner};

/// Every function that draws, and those whose seed is the run's.
const DRAWS: &str = r"\set uniform random(1, :most)
\set gauss random_gaussian(1, 1000, 2.5)
\set expo random_exponential(1, 1000, 2.5)
\set zipf random_zipfian(1, 1000, 1.1)
\set mixed permute(:uniform, 1000000)
\set hashed hash(:gauss)
\set half :uniform / 2.0
INSERT INTO seen (client, script, found) VALUES (:client_id, 'draws', format('%s %s %s %s %s %s %s %s', :uniform::bigint, :gauss::bigint, :expo::bigint,
    :zipf::bigint, :mixed::bigint, :hashed::bigint, :half::float8, :default_seed::bigint));
";
const OTHER: &str = r"\if :client_id % 2 = 0
\set x random(1, 6)
\else
\set x 10 * random(1, 6)
\endif
INSERT INTO seen (client, script, found) VALUES (:client_id, 'other', :x);
SELECT count(*) AS n FROM seen WHERE client = :client_id \gset
INSERT INTO seen (client, script, found) VALUES (:client_id, 'count', :n);
";
const TABLE: &str = "CREATE TABLE seen (number bigserial, client int, script text, found text)";

#[test]
fn the_same_seed_gives_the_parameters_of_pgbench() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    execute(&mut client, "CREATE DATABASE theirs");
    execute(&mut server.connect("theirs"), TABLE);
    let directory = OwnedDirectory::new("scripts");
    let files: Vec<String> = [("draws", DRAWS, 2), ("other", OTHER, 1)]
        .map(|(name, text, weight)| {
            let path = directory.path().join(name);
            write_as_owner(&path, text);
            format!("{}@{weight}", path.display())
        })
        .to_vec();
    let options = [
        "-n",
        "-M",
        "prepared",
        "-c",
        "3",
        "-j",
        "3",
        "-t",
        "40",
        "--random-seed=7",
        "-D",
        "most=1000000",
    ];
    let scripts = ["-f", &files[0], "-f", &files[1], "theirs"];
    program(&server, "pgbench", &[&options[..], &scripts].concat());
    let id = run(
        &mut client,
        &format!(
            "workload => 'script', clients => 3, transactions => 40, seed => 7, keep => true, variables => '{{\"most\": 1000000}}', \
             init_script => $i${TABLE};$i$, scripts => jsonb_build_array(jsonb_build_object('name', 'draws', 'weight', 2, 'text', $a${DRAWS}$a$), \
               jsonb_build_object('name', 'other', 'text', $b${OTHER}$b$))::text"
        ),
    );
    let name = row(
        &mut client,
        &format!("SELECT work_database FROM fsbench.result WHERE run_id = {id}"),
    );
    let seen = "SELECT client, script, found FROM seen ORDER BY client, number";
    let theirs = rows(&mut server.connect("theirs"), seen);
    assert!(theirs.len() >= 120, "{}", theirs.len());
    assert_eq!(rows(&mut server.connect(&name), seen), theirs);
}
