//! A study whose runs make their tables in a copy of the user's server.

use crate::common::{create_target, execute, owned_directory, row, rows};
use crate::study::DEFINITION;
use postgres::Client;

pub(super) fn is_carried_out_in_the_copy(client: &mut Client) {
    let _places = ["a", "b"].map(|name| {
        let place = owned_directory("pgfsbench-study");
        create_target(client, name, place.path());
        place
    });
    // A published question is left out: its figures are for data of a fixed size.
    let definition = DEFINITION
        .replace("\"is_published\": true", "\"is_published\": false")
        .replace("\"transactions\": 20", "\"duration_seconds\": 1");
    let define = format!("SELECT fsbench.define_study('{definition}')");
    assert_eq!(row(client, &define), "tiny");
    let start = "SELECT fsbench.study('tiny', quick => true, data => 'shop', database => 'shop')";
    assert_eq!(row(client, start), "tiny");
    execute(client, "CALL fsbench.wait_experiment('tiny q')");
    let runs = "SELECT e.status, r.status, r.used #>> '{own_database,data}', r.used #>> '{own_database,database}', count(*) >= 6 \
        FROM fsbench.experiment_run x JOIN fsbench.experiment e USING (experiment_id) JOIN fsbench.run_log r USING (run_id) \
        WHERE e.experiment = 'tiny q' GROUP BY 1, 2, 3, 4";
    assert_eq!(rows(client, runs), ["done|done|shop|shop|t"]);
}
