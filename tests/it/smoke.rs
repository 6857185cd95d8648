//! The least: the library can be preloaded, the extension created without a warning, and the server stopped; and both are of one version.

use crate::common::{assert_refused, execute, row};
use crate::preload::warning_of_create_extension;
use pgfsbench_tests::{PRELOADED, Stop, TestServer};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn pretend_version(server: &TestServer, version: &str) {
    let sql =
        format!("UPDATE pg_extension SET extversion = '{version}' WHERE extname = 'pgfsbench'");
    execute(&mut server.connect("postgres"), &sql);
}

#[test]
fn the_extension_loads_answers_tells_another_version_and_stops_cleanly() {
    let server = TestServer::start(PRELOADED);
    assert_eq!(warning_of_create_extension(&server), None);
    let mut client = server.connect("postgres");
    assert_eq!(row(&mut client, "SELECT fsbench.version()"), VERSION);

    pretend_version(&server, "0.0.9");
    for sql in [
        "SELECT * FROM fsbench.run()",
        "SELECT fsbench.start()",
        "SELECT * FROM fsbench.wait(1)",
        "SELECT fsbench.cancel(1)",
        "SELECT * FROM fsbench.progress",
    ] {
        let words = ["different versions", VERSION, "0.0.9", "Restart the server"];
        assert_refused(&mut client, sql, "55000", &words);
    }
    assert_eq!(row(&mut client, "SELECT count(*) FROM fsbench.result"), "0");
    pretend_version(&server, VERSION);
    server.nothing_is_left_at_once();

    drop(client);
    server.stop(Stop::Fast);
    assert_eq!(server.processes(), []);
    assert!(!server.log().contains("PANIC"), "{}", server.log());
}
