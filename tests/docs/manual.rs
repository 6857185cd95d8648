//! The surroundings of the reader of each page, and substitutions for commands of a page. What is not run as it stands is listed
//! here, and nowhere else, but for blocks of `sh`, which are only checked (shell.rs), and of `toml`, which the helper only reads
//! (configuration.rs).

use crate::page::Block;
use crate::shown::{Step, Table, masked, tables};

/// Things beside the server of a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Requirement {
    /// The page itself makes the database and the extension.
    EmptyServer,
    Helper,
    /// A kernel with the filesystem that the page makes.
    Xfs,
    /// `{other}` is how to connect to it.
    OtherHost,
}

#[derive(Debug)]
pub struct Reader {
    pub page: &'static str,
    pub requires: &'static [Requirement],
    /// SQL that the page supposes to have been run.
    pub before: &'static str,
    /// Substitutions: text of the page, and what is run in its place; `{directory}` is a mount point.
    pub instead: &'static [(&'static str, &'static str)],
    /// Statements in cells of tables are run, after the blocks.
    pub calls_in_tables: bool,
    /// Blocks that have these words are not run, for this reason.
    pub not_run: &'static [(&'static str, &'static str)],
}

const NOTHING: Reader = Reader {
    page: "",
    requires: &[],
    before: "",
    instead: &[],
    calls_in_tables: false,
    not_run: &[],
};

const A_SMALL_EXPERIMENT: &str = r"
    SELECT fsbench.create_target(name, directory => '{directory}') FROM unnest('{a,b}'::text[]) AS name;
    SELECT fsbench.experiment('new server', '{a,b}', scale => 1, clients => 1, transactions => 20, max_blocks => 3);
    CALL fsbench.wait_experiment('new server');";

/// The smallest run.
const SMALL: &str = "scale => 1, clients => 2, duration => '1 s'";
const BY_CRON_DEBIAN: &str = "tests/it/cron_debian.rs runs it on a cluster as Debian makes it";

pub const READERS: &[Reader] = &[
    Reader {
        page: "README.md",
        requires: &[Requirement::EmptyServer],
        calls_in_tables: true,
        instead: &[
            (
                "fsbench.run()",
                "fsbench.run(scale => 1, clients => 2, duration => '1 s', label => 'nightly')",
            ),
            (
                "fsbench.run(workload => 'fsync')",
                "fsbench.run(workload => 'fsync', duration => '1 s', options => '{\"methods\": [\"fdatasync\"], \"writers\": [1]}')",
            ),
            (
                "fsbench.run(workload => 'io')",
                "fsbench.run(workload => 'io', duration => '3 s', options => '{\"pattern\": \"read\", \"size\": \"4MB\", \"jobs\": 1}')",
            ),
            ("fsbench.power_cut('xfs')", "fsbench.help('power_cut')"),
            // The table's experiments take hours: they are planned.
            (
                "fsbench.experiment('disk'",
                "fsbench.plan_experiment('disk'",
            ),
            (
                "fsbench.experiment('layout'",
                "fsbench.plan_experiment('layout'",
            ),
            (
                "fsbench.experiment('noatime'",
                "fsbench.plan_experiment('noatime'",
            ),
            (
                "fsbench.experiment('xfs log'",
                "fsbench.plan_experiment('xfs log'",
            ),
            (
                "fsbench.experiment('clients'",
                "fsbench.plan_experiment('clients'",
            ),
            (
                "fsbench.experiment('wal size'",
                "fsbench.plan_experiment('wal size'",
            ),
            // No disk is erased: what is mounted is compared.
            (
                "fsbench.experiment('new disk', filesystems => '{ext4,xfs,btrfs}', device => '/dev/disk/by-id/nvme-EXAMPLE', size => '2x ram', clients => 32);",
                "fsbench.create_target(name, directory => '{directory}') FROM unnest('{a,b}'::text[]) AS name; \
                 SELECT fsbench.experiment('new disk', '{a,b}', scale => 1, clients => 1, transactions => 20, max_blocks => 3);",
            ),
        ],
        ..NOTHING
    },
    Reader {
        page: "docs/build.md",
        not_run: &[("pgrx --precise", "it is for a copy of the tree")],
        ..NOTHING
    },
    Reader {
        page: "docs/commits.md",
        instead: &[("duration => '18 s'", "duration => '2 s'")],
        ..NOTHING
    },
    Reader {
        page: "docs/compare-tools.md",
        ..NOTHING
    },
    Reader {
        page: "docs/crash.md",
        requires: &[Requirement::Helper, Requirement::Xfs],
        instead: &[
            ("'4GB'", "'1GB'"),
            ("scale => 32, clients => 16, duration => '30 s'", SMALL),
        ],
        ..NOTHING
    },
    Reader {
        page: "docs/cron.md",
        before: "SELECT run_id FROM fsbench.run(scale => 1, clients => 1, duration => '1 s', label => 'nightly')",
        not_run: &[
            ("cron.schedule('alarm'", BY_CRON_DEBIAN),
            ("pg_conftool", BY_CRON_DEBIAN),
            ("CREATE EXTENSION pg_cron", BY_CRON_DEBIAN),
            ("SET ROLE bench_operator", BY_CRON_DEBIAN),
            ("label = 'nightly'", BY_CRON_DEBIAN),
            ("vacuumdb", BY_CRON_DEBIAN),
        ],
        ..NOTHING
    },
    Reader {
        page: "docs/experiments.md",
        before: "SELECT fsbench.create_target(name, directory => '{directory}') FROM unnest('{ext4,xfs,btrfs}'::text[]) AS name;",
        instead: &[(
            "size => '2x ram', clients => 32",
            "scale => 1, clients => 1, transactions => 20, max_blocks => 3",
        )],
        ..NOTHING
    },
    Reader {
        page: "docs/export.md",
        before: A_SMALL_EXPERIMENT,
        ..NOTHING
    },
    Reader {
        page: "docs/findings.md",
        ..NOTHING
    },
    Reader {
        page: "docs/first-steps.md",
        instead: &[
            (
                "fsbench.run()",
                "fsbench.run(scale => 1, clients => 2, duration => '1 s')",
            ),
            ("/mnt/a", "{directory}"),
            ("/mnt/b", "{directory}"),
            (
                "scale => 10, clients => 8, cycle => '30 s', budget => '20 min'",
                "scale => 1, clients => 1, transactions => 20, max_blocks => 3",
            ),
        ],
        ..NOTHING
    },
    Reader {
        page: "docs/helper-reference.md",
        ..NOTHING
    },
    Reader {
        page: "docs/helper.md",
        requires: &[Requirement::Helper, Requirement::Xfs],
        instead: &[("'8GB'", "'1GB'")],
        ..NOTHING
    },
    Reader {
        page: "docs/install.md",
        requires: &[Requirement::EmptyServer],
        ..NOTHING
    },
    Reader {
        page: "docs/io.md",
        instead: &[
            (
                "target => 'xfs', workload => 'io', duration => '5 min', options => '{\"size\": \"2x ram\"}'",
                "workload => 'io', duration => '3 s', options => '{\"pattern\": \"read\", \"size\": \"4MB\"}'",
            ),
            (
                "workload => 'io', options => '{\"pattern\": \"write\", \"jobs\": 1",
                "workload => 'io', duration => '3 s', options => '{\"pattern\": \"write\", \"jobs\": 1",
            ),
            ("size=1g\nruntime=60", "size=1m\nruntime=1"),
        ],
        ..NOTHING
    },
    Reader {
        page: "docs/limits.md",
        ..NOTHING
    },
    Reader {
        page: "docs/method.md",
        // Names of all pages are looked up in its database.
        before: "CREATE EXTENSION pgfsbench_report CASCADE",
        ..NOTHING
    },
    Reader {
        page: "docs/my-database.md",
        before: r"CREATE DATABASE shop;
            \c shop
            CREATE TABLE item (id int PRIMARY KEY, stock int);
            INSERT INTO item SELECT n, 100 FROM generate_series(1, 1000) n;",
        instead: &[
            // The test has one disk.
            (
                "ALTER SYSTEM SET pgfsbench.prepared_data_directory = '/mnt/spare';\n",
                "",
            ),
            ("/mnt/xfs", "{directory}"),
            ("duration => '10 s'", "duration => '1 s'"),
            // The experiment takes hours: it is planned. It has no answer then.
            (
                "fsbench.experiment('shop fs'",
                "fsbench.plan_experiment('shop fs'",
            ),
            ("scripts => :'scripts'", "scripts => 'SELECT 1;'"),
            ("CALL fsbench.wait_experiment('shop fs');", ""),
            ("fsbench.compare('shop fs')", "fsbench.comparison"),
            (
                "SELECT part, says FROM fsbench.recommend('shop fs')",
                "SELECT * FROM fsbench.help('recommend')",
            ),
        ],
        not_run: &[(
            "script_from_statements",
            "its server has no pg_stat_statements",
        )],
        ..NOTHING
    },
    Reader {
        page: "docs/own-sql.md",
        // The folder of scripts.
        before: r"\! echo 'SELECT count(*) FROM pgbench_branches;' > my.sql
\o {directory}/order.sql
\qecho '\\set id random(1, 10)'
\qecho 'UPDATE item SET stock = stock - 1 WHERE id = :id;'
\o {directory}/stock.sql
\qecho 'SELECT sum(stock) FROM item;'
\o {directory}/init.txt
\qecho 'CREATE TABLE item AS SELECT id, 100 AS stock FROM generate_series(1, 10) id;'
\o",
        instead: &[
            (
                "scale => 100, keep => true",
                "scale => 1, clients => 2, duration => '1 s', keep => true",
            ),
            ("/srv/shop", "{directory}"),
            // It has no helper.
            (
                "fsbench.experiment('shop', filesystems => '{ext4,xfs}', image_size => '8GB', workload",
                "fsbench.run(workload",
            ),
            (
                "clients => 8, rate => '70%', metric => 'latency_p99_ms of order'",
                "clients => 2, duration => '1 s', warmup => '0'",
            ),
        ],
        ..NOTHING
    },
    Reader {
        page: "docs/parameters.md",
        ..NOTHING
    },
    Reader {
        page: "docs/power-cuts.md",
        requires: &[Requirement::Helper],
        // Power cuts take minutes, and a machine that can record writes: they are planned.
        instead: &[
            (
                "SELECT part, outcome, says FROM fsbench.power_cut('ext4', cuts => 300)",
                "SELECT action FROM fsbench.plan('ext4', 'power-cut')",
            ),
            (
                "SELECT fsbench.start('ext4', 'power-cut'",
                "SELECT action FROM fsbench.plan('ext4', 'power-cut'",
            ),
        ],
        not_run: &[(
            "power_cut_watch('db2')",
            "tests/it/power_cut_watch.rs has a second server",
        )],
        ..NOTHING
    },
    Reader {
        page: "docs/rate.md",
        instead: &[
            // The loosest limit takes the fewest cycles. Each cycle makes a row.
            (
                "'default', 20, scale => 100, clients => 32",
                "'default', 1000000, scale => 1, clients => 2, warmup => '0', duration => '1 s'",
            ),
            (
                "latency_limit_ms => 100, scale => 32, clients => 16, duration => '10 s'",
                "latency_limit_ms => 1000000, scale => 1, clients => 2, warmup => '0', duration => '1 s'",
            ),
        ],
        ..NOTHING
    },
    Reader {
        page: "docs/remote.md",
        requires: &[Requirement::OtherHost],
        instead: &[
            ("scale => 100, clients => 32, duration => '5 min'", SMALL),
            ("host=db2", "{other}"),
        ],
        ..NOTHING
    },
    Reader {
        page: "docs/repeat-a-study.md",
        // The helper knows which filesystems this machine makes. The runs would take an hour.
        requires: &[Requirement::Helper, Requirement::Xfs],
        instead: &[(
            "SELECT fsbench.study('heron-2010', image_size => '4GB')",
            "SELECT fsbench.study('heron-2010', image_size => '4GB', start => false)",
        )],
        ..NOTHING
    },
    Reader {
        page: "docs/report.md",
        before: A_SMALL_EXPERIMENT,
        ..NOTHING
    },
    Reader {
        page: "docs/results.md",
        // Four runs: the third differs from the first as the page says, and the first sees a checkpoint.
        before: r#"
            SELECT fsbench.start(scale => 1, clients => 1, duration => '3 s', warmup => '0', seed => 1) AS run \gset
            DO $$BEGIN WHILE EXISTS (SELECT FROM fsbench.progress WHERE phase <> 'measure') LOOP
                PERFORM pg_sleep(0.02); END LOOP; END$$;
            CHECKPOINT;
            CALL fsbench.wait(:run);
            -- Where that came too late.
            INSERT INTO fsbench.checkpoint (run_id, number, kind, cause, started_at, start_second, started_before, ended_after)
              SELECT :run, 1, 'checkpoint', 'immediate force wait', now(), 0, false, false WHERE NOT EXISTS (SELECT FROM fsbench.checkpoint);
            SELECT run_id FROM fsbench.run(scale => 1, clients => 1, duration => '1 s');
            SELECT run_id FROM fsbench.run(scale => 2, clients => 2, duration => '3 s', warmup => '0', seed => 2,
                                           settings => '{"synchronous_commit": "off", "work_mem": "5MB"}');"#,
        ..NOTHING
    },
    Reader {
        page: "docs/runs.md",
        instead: &[
            (
                "fsbench.run();",
                "fsbench.run(scale => 1, clients => 2, duration => '1 s');",
            ),
            (
                "size => '2x ram', clients => 32, duration => '30 min'",
                "size => '16MB', clients => 2, duration => '1 s'",
            ),
            (
                "scale => 100, clients => 32, rate",
                "scale => 1, clients => 2, rate",
            ),
            ("duration => '5 min'", "duration => '1 s'"),
            (
                "scale => 32, clients => 32, transactions => 1000",
                "scale => 1, clients => 2, transactions => 50",
            ),
            ("scale => 32, clients => 16, duration => '1 min'", SMALL),
            (
                "scale => 10, transactions => 1000",
                "scale => 1, transactions => 50",
            ),
        ],
        ..NOTHING
    },
    Reader {
        page: "docs/scans.md",
        requires: &[Requirement::Helper],
        before: "SELECT fsbench.create_target('xfs', directory => '{directory}')",
        instead: &[
            ("size => '50% ram'", "size => '20MB'"),
            ("[1,2,4,8,16,17,21,32,64]", "[1,2]"),
            ("scan_curve(9)", "scan_curve(1)"),
            ("scan_knee(9)", "scan_knee(1)"),
            // The experiments take an hour: they are planned.
            (
                "fsbench.experiment('read-ahead of",
                "fsbench.plan_experiment('read-ahead of",
            ),
        ],
        ..NOTHING
    },
    Reader {
        page: "docs/studies.md",
        ..NOTHING
    },
    Reader {
        page: "docs/targets.md",
        instead: &[
            ("/mnt/xfs", "{directory}"),
            ("scale => 10, clients => 8, duration => '10 s'", SMALL),
        ],
        ..NOTHING
    },
    Reader {
        page: "docs/tpcc.md",
        instead: &[("scale => 10, clients => 32, duration => '30 min'", SMALL)],
        ..NOTHING
    },
    Reader {
        page: "docs/verdicts.md",
        ..NOTHING
    },
];

/// Blocks for the server on the other host.
const THERE: &[&str] = &["SELECT fsbench.grant_operator('bench');"];

/// Statements that a page shows with rows, and that have none where nothing of the kind was seen.
const MAY_BE_EMPTY: &[&str] = &[
    "code = 'cpu_bound'",
    "fsbench.power_cut_point",
    "fsbench.power_cut_error",
];

/// Statements whose rows are the same everywhere, figures and all.
const EXACT: &[&str] = &["fsbench.verdict(", "fsbench.student_t("];

/// Statements of which some columns are the same everywhere, but for figures.
const SAME: &[(&str, &[&str])] = &[
    ("fsbench.plan(", &["step", "who", "action"]),
    ("fsbench.diff(", &["area", "name", "matters", "why"]),
];

/// Words that these lists look for on all pages.
pub fn said_of_all_pages() -> impl Iterator<Item = &'static str> {
    let lists = [THERE, MAY_BE_EMPTY, EXACT].into_iter().flatten().copied();
    lists.chain(SAME.iter().map(|(words, _)| *words))
}

/// The reader of a page.
pub fn reader(page: &str) -> &'static Reader {
    let mut readers = READERS.iter();
    let reader = readers.find(|reader| reader.page == page);
    reader.unwrap_or_else(|| panic!("{page} has no reader in tests/docs/manual.rs"))
}

impl Reader {
    pub fn substituted(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (said, instead) in self.instead {
            text = text.replace(said, instead);
        }
        text
    }

    /// Why a block is not run, if it is listed.
    pub fn not_run(&self, block: &Block) -> Option<&'static str> {
        let mut listed = self.not_run.iter();
        listed
            .find(|(words, _)| block.text.contains(words))
            .map(|(_, reason)| *reason)
    }

    pub fn is_there(&self, block: &Block) -> bool {
        THERE.iter().any(|words| block.text.contains(words))
    }

    pub fn may_be_empty(&self, statement: &str) -> bool {
        MAY_BE_EMPTY.iter().any(|words| statement.contains(words))
    }

    /// Rows that are to be the same everywhere, and are not.
    pub fn cells_that_differ(&self, step: &Step, printed: &str) -> Vec<String> {
        let mut faults = Vec::new();
        let said = |words: &&str| step.statement.contains(words);
        for (shown, came) in tables(&step.shown).iter().zip(tables(printed)) {
            if EXACT.iter().any(said) && shown.rows != came.rows {
                faults.push(format!(
                    "the rows are {:?}, and not {:?}",
                    came.rows, shown.rows
                ));
            }
            for (_, columns) in SAME.iter().filter(|(words, _)| said(words)) {
                let (shown, came) = (only(shown, columns), only(&came, columns));
                if shown != came {
                    faults.push(format!("the rows are {came:?}, and not {shown:?}"));
                }
            }
        }
        faults
    }
}

/// The cells of these columns, without their figures, and without rows of the processors' clock, which changes as it likes.
fn only(table: &Table, columns: &[&str]) -> Vec<Vec<String>> {
    let places: Vec<usize> = (0..table.columns.len())
        .filter(|at| columns.contains(&table.columns[*at].as_str()))
        .collect();
    assert_eq!(
        places.len(),
        columns.len(),
        "{columns:?} of {:?}",
        table.columns
    );
    let is_clock = |row: &&Vec<String>| row.iter().any(|cell| cell.starts_with("cpu_mhz"));
    let rows = table.rows.iter().filter(|row| !is_clock(row));
    rows.map(|row| places.iter().map(|at| masked(&row[*at])).collect())
        .collect()
}
