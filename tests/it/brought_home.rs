//! Results of a run on a target come home: from a server that was made for the run, and from another server.

use crate::common::{execute, server};
use crate::directory_target::Place;
use crate::{fsync, io, maintenance, scripts, statistics, sustainable_rate};
use pgfsbench_tests::Leaves;

#[test]
fn figures_of_each_workload_come_home_from_targets() {
    let asking = server(&[statistics::STATEMENTS]);
    execute(
        &mut asking.connect("postgres"),
        "CREATE EXTENSION pg_stat_statements",
    );
    let place = Place::beside(asking, "");
    let there = server(&[("max_worker_processes", "8")]);
    there.value("CREATE ROLE bench LOGIN");
    there.value("SELECT fsbench.grant_operator('bench')");
    place.value(&format!(
        "SELECT fsbench.create_target('there', connection => '{}'), fsbench.create_target('superuser', connection => '{}')",
        there.connection("bench"),
        there.connection("postgres")
    ));
    statistics::statistics_come_home(&place);
    maintenance::steps_come_home(&place);
    sustainable_rate::probes_come_home(&place);
    fsync::tests_come_home(&place, &there);
    io::jobs_come_home(&place, &there);
    scripts::transactions_come_home(&place);
    place.nothing_is_left("runs on targets");
    there.nothing_is_left("runs by connection");
}
