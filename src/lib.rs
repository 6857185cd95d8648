//! pgfsbench: benchmarks of filesystems, run inside the PostgreSQL server.
//!
//! Floors, from the roof down; a file imports only what stands on a lower floor or in its own room, and no files import each other
//! in a circle (`tools/check arrows`). `unsafe` is allowed in `pg` only, and in `entry`, whose functions the server calls by name.
//!
//! ```text
//! entry
//! api
//! process
//! workload
//! bench
//! run
//! watch
//! target
//! store host
//! pg
//! board
//! errors clock random
//! ```
#![deny(unsafe_code)]

use pgrx::extension_sql_file;

mod api;
mod bench;
mod board;
mod clock;
mod entry;
mod errors;
mod host;
mod pg;
mod process;
mod random;
mod run;
mod store;
mod target;
mod watch;
mod workload;

pgrx::pg_module_magic!(name, version);

extension_sql_file!("../sql/schema/1_tables.sql", name = "tables", bootstrap);
extension_sql_file!(
    "../sql/schema/1_server.sql",
    name = "server",
    requires = ["tables"]
);
extension_sql_file!(
    "../sql/schema/1_waits.sql",
    name = "waits",
    requires = ["tables"]
);
extension_sql_file!(
    "../sql/schema/1_fsync.sql",
    name = "fsync",
    requires = ["tables"]
);
extension_sql_file!(
    "../sql/schema/1_scan.sql",
    name = "scan",
    requires = ["tables"]
);
extension_sql_file!(
    "../sql/schema/1_history.sql",
    name = "acknowledgements",
    requires = ["tables"]
);
extension_sql_file!(
    "../sql/schema/1_recovery.sql",
    name = "recovery",
    requires = ["tables"]
);
extension_sql_file!(
    "../sql/schema/1_maintenance.sql",
    name = "maintenance",
    requires = ["tables"]
);
extension_sql_file!(
    "../sql/schema/1_probe.sql",
    name = "probe",
    requires = ["tables"]
);
extension_sql_file!(
    "../sql/schema/2_targets.sql",
    name = "targets",
    requires = [
        "tables",
        "server",
        "waits",
        "fsync",
        "scan",
        "recovery",
        "maintenance",
        "probe"
    ]
);
extension_sql_file!(
    "../sql/schema/2_experiments.sql",
    name = "experiments",
    requires = ["targets"]
);
extension_sql_file!(
    "../sql/schema/2_import.sql",
    name = "imports",
    requires = ["experiments"]
);
extension_sql_file!(
    "../sql/schema/2_studies.sql",
    name = "studies",
    requires = ["experiments"]
);
extension_sql_file!(
    "../sql/schema/3_functions.sql",
    name = "functions",
    requires = ["targets"]
);
extension_sql_file!(
    "../sql/schema/3_experiments.sql",
    name = "experiment_functions",
    requires = ["functions", "experiments"]
);
extension_sql_file!(
    "../sql/schema/3_scan.sql",
    name = "scan_functions",
    requires = ["functions"]
);
extension_sql_file!(
    "../sql/schema/3_runs.sql",
    name = "run_functions",
    requires = ["functions"]
);
extension_sql_file!(
    "../sql/schema/3_verdict.sql",
    name = "verdict_functions",
    requires = ["functions"]
);
extension_sql_file!(
    "../sql/schema/3_charts.sql",
    name = "charts",
    requires = ["functions", "scan_functions"]
);
extension_sql_file!(
    "../sql/schema/3_evidence.sql",
    name = "evidence",
    requires = ["functions"]
);
extension_sql_file!(
    "../sql/schema/3_help.sql",
    name = "help",
    requires = ["functions"]
);
extension_sql_file!(
    "../sql/schema/4_views.sql",
    name = "views",
    requires = [
        "functions",
        "scan_functions",
        "run_functions",
        "verdict_functions",
        "experiment_functions",
        "help"
    ]
);
extension_sql_file!(
    "../sql/schema/4_experiments.sql",
    name = "experiment_views",
    requires = ["views"]
);
extension_sql_file!(
    "../sql/schema/4_charts.sql",
    name = "chart_views",
    requires = ["experiment_views"]
);
extension_sql_file!(
    "../sql/schema/4_history.sql",
    name = "history",
    requires = ["chart_views", "acknowledgements", "evidence", "imports"]
);
extension_sql_file!(
    "../sql/schema/4_export.sql",
    name = "export_functions",
    requires = ["chart_views", "imports"]
);
extension_sql_file!(
    "../sql/schema/4_import.sql",
    name = "import_functions",
    requires = ["export_functions"]
);
extension_sql_file!(
    "../sql/schema/4_report.sql",
    name = "report",
    requires = ["views"]
);
extension_sql_file!(
    "../sql/schema/4_studies.sql",
    name = "study_functions",
    requires = ["history", "studies"]
);
extension_sql_file!(
    "../sql/schema/5_rights.sql",
    name = "rights",
    requires = [
        "study_functions",
        "views",
        "import_functions",
        "report",
        "charts",
        "experiment_views",
        "chart_views",
        "history"
    ]
);
extension_sql_file!(
    "../sql/schema/6_install.sql",
    name = "install",
    requires = ["rights"],
    finalize
);
