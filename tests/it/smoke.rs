//! The least: the library can be preloaded, the extension created, and the server stopped.

use pgfsbench_tests::{PRELOADED, Stop, TestServer};

#[test]
fn the_extension_loads_answers_and_stops_cleanly() {
    let server = TestServer::start(PRELOADED);
    let mut client = server.connect("postgres");
    client
        .batch_execute("CREATE EXTENSION pgfsbench")
        .expect("CREATE EXTENSION");

    let version: String = client
        .query_one("SELECT fsbench.version()", &[])
        .expect("fsbench.version()")
        .get(0);
    assert_eq!(version, env!("CARGO_PKG_VERSION"));

    drop(client);
    server.stop(Stop::Fast);
    assert_eq!(server.processes(), []);
    assert!(!server.log().contains("PANIC"), "{}", server.log());
}
