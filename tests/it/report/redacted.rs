//! Published pages: no part names users or machines.

use super::{NAME, OTHERS};
use crate::common::{execute, row};
use pgfsbench_core::finding;
use postgres::Client;

/// Differences and common values of three targets.
const SECRETS: &str = r#"
    UPDATE fsbench.environment SET hostname = 'db', host_fingerprint = 'fp-' || run_id, kernel_command_line = 'root=LABEL=payroll-' || run_id,
        device = '/dev/disk/by-id/ata-MAKER_SECRET-part' || run_id, mount_options = 'rw,noatime,logbufs=8,addr=10.9.8.' || run_id % 3 || ',username=bob,domain=ACME,unc=//fs1/share',
        layers = '[{"kind": "lvm", "name": "vg_acme-lv_payroll"}, {"kind": "partition", "name": "nvme0n1p2"}, {"kind": "disk", "name": "nvme0n1", "serial": "S-123456", "wwn": "eui.0025"}]',
        limits = '{"processors": 2.5, "io": [{"device": "8:7007", "name": "md_payroll", "write_bytes": 12345678}]}',
        storage = '{"result": {"partition_uuid": "8f14e45f-ceea-467a-9575-0123456789ab", "mount_point": "/srv/my disk"}}',
        settings = (SELECT jsonb_object_agg(name, jsonb_build_object('setting', CASE WHEN right(value, 1) = '_' THEN value || run_id % 3 ELSE value END))
            FROM (VALUES ('shared_buffers', '4GB'), ('fsync', 'on'), ('synchronous_standby_names', 'standby_bob_'), ('primary_slot_name', 'slot_bob_'), ('bonjour_name', 'bonjour_bob_'),
                  ('log_filename', 'log_bob_'), ('archive_command', 'copy_bob_'), ('restore_command', 'fetch_bob_'), ('cluster_name', 'cluster_bob_'), ('temp_tablespaces', 'space_bob_'),
                  ('port', '6543'), ('acme.shards', '7'), ('of_another_version', 'word_bob_'), ('of_version_99', '17 MB')) v (name, value))
    WHERE run_id BETWEEN 200 AND 299;
    UPDATE fsbench.run_log SET target_definition = jsonb_build_object('kind', 'connection', 'connection', 'host=db2 user=bob', 'directory', '/srv/my disk',
        'mount_options', 'rw,username=bob', 'mkfs_options', '-L payroll -m uuid=' || run_id, 'settings', '{"cluster_name": "cluster_bob", "work_mem": "8MB"}'::jsonb) WHERE run_id BETWEEN 200 AND 299;
    UPDATE fsbench.run_log SET used = used || jsonb_build_object('own_database', jsonb_build_object('data', 'copy_of_shop_' || run_id, 'database', 'shop', 'bytes', 1))
    WHERE run_id BETWEEN 200 AND 299;
    INSERT INTO fsbench.finding (run_id, code, severity, message, hint, weight)
    SELECT run_id, code, 'warning', message, NULL, 0 FROM fsbench.run_log, (VALUES ('old_xmin', 'vacuum is held back by slot slot_bob, session process 7 in database payroll'),
        ('raid_degraded', 'md/acme lacks 1 of its disks'), ('recovery_failed', 'recovery failed after the crash, and what was committed could not be compared: payroll'),
        ('of_another_version', 'payroll')) v (code, message)
    WHERE run_id BETWEEN 200 AND 299"#;
const WORDS: [&str; 17] = [
    "copy_of_shop",
    "8:7007",
    "bob",
    "payroll",
    "acme",
    "ACME",
    "fs1",
    "10.9.8.",
    "SECRET",
    "S-123456",
    "eui.0025",
    "8f14e45f",
    "my disk",
    "db2",
    "fp-2",
    "setting port",
    "/srv/",
];

/// A page, and with an argument more that redacts it; without the program that draws their charts.
pub(super) fn both(client: &mut Client, arguments: &str) -> [String; 2] {
    ["", ", redact => true"].map(|more| {
        let page = row(client, &format!("SELECT fsbench.report({arguments}{more})"));
        let ours = page.split("</script><script>").next();
        ours.unwrap_or_default().to_owned()
    })
}

pub(super) fn tell_neither_who_nor_where(client: &mut Client) {
    every_finding_is_known();
    execute(client, "BEGIN");
    execute(client, SECRETS);
    let calls = [
        format!("'{NAME}'"),
        "run_ids => '{200,201,202}'".to_owned(),
        "history => 'nightly'".to_owned(),
        format!("'{NAME}', format => 'text'"),
        "history => 'nightly', format => 'markdown'".to_owned(),
    ];
    let mut all = String::new();
    for arguments in &calls {
        let [whole, redacted] = both(client, arguments);
        all += &whole;
        for word in WORDS {
            assert!(!redacted.contains(word), "{arguments}: {word}\n{redacted}");
        }
        assert!(!redacted.contains("nightly"), "{arguments}");
        if arguments.contains("format") {
            continue;
        }
        for word in ["payroll", "fs1", "standby_bob_1", "ata-MAKER_SECRET"] {
            assert!(whole.contains(word), "{arguments}: {word}");
        }
        for word in [
            "Maker Disk 9",
            "12345678",
            "rw,noatime,logbufs=8,addr=[removed],username=[removed],",
            "setting shared_buffers",
            "setting of_version_99",
            "old_xmin",
            "vacuum is held back by others",
            "RAID lacks disks",
            "what was seen is left out",
            "data of 160 MB fits in RAM",
        ] {
            assert!(redacted.contains(word), "{arguments}: {word}\n{redacted}");
        }
    }
    let untold: Vec<_> = WORDS.iter().filter(|word| !all.contains(**word)).collect();
    assert_eq!(untold, [&""; 0], "these are on no page anyway");
    let [_, redacted] = both(client, &calls[1]);
    let call = "fsbench.create_target(&#x27;ext4&#x27;, settings =&gt; &#x27;{&quot;work_mem&quot;: &quot;8MB&quot;, &quot;cluster_name&quot;: &quot;[removed]&quot;}&#x27;, \
                directory =&gt; &#x27;[removed]&#x27;, connection =&gt; &#x27;[removed]&#x27;, mkfs_options =&gt; &#x27;-L [removed] -m uuid=[removed]&#x27;, \
                mount_options =&gt; &#x27;rw,username=[removed]&#x27;);";
    assert!(redacted.contains(call), "{redacted}");
    execute(client, "ROLLBACK");

    labels_are_not_words(client);
    nights_and_what_differs_there(client);
}

/// A developer has to decide whether the message of a finding may be published.
fn every_finding_is_known() {
    let lists = include_str!("../../../report/python/3_redact.py");
    let known: Vec<&str> = lists.split([' ', '\'', '\n']).collect();
    for code in finding::GROUPS.iter().flat_map(|group| group.codes) {
        assert!(known.contains(code), "{code}");
    }
}

/// A target that is called like a label keeps its name, and a label that is a word of the page's own empties no part of it.
fn labels_are_not_words(client: &mut Client) {
    execute(
        client,
        "BEGIN; UPDATE fsbench.run_log SET label = CASE run_id WHEN 200 THEN 'ext4' ELSE 'why' END, asked = '{\"label\": \"ext4\"}' WHERE run_id IN (200, 201)",
    );
    let [whole, redacted] = both(client, "run_ids => '{200,201}'");
    assert!(redacted.contains("run 200 (ext4)"));
    assert_eq!(
        whole.matches("<li>").count(),
        redacted.matches("<li>").count()
    );
    assert!(whole.contains("label =&gt; &#x27;ext4&#x27;"));
    assert!(redacted.contains("label =&gt; &#x27;[removed]&#x27;"));
    execute(client, "ROLLBACK");
}

/// The answer is made of what differs where the level changes, in runs that are nowhere else on the page.
fn nights_and_what_differs_there(client: &mut Client) {
    execute(client, "BEGIN");
    execute(client, OTHERS);
    execute(
        client,
        "UPDATE fsbench.environment SET kernel_command_line = 'root=LABEL=payroll-' || run_id / 415, host_fingerprint = 'fp-' || run_id / 415, device_model = 'Maker Disk ' || 8 + run_id / 415, \
             settings = jsonb_build_object('synchronous_standby_names', jsonb_build_object('setting', 'standby_bob_' || run_id / 415), 'work_mem', jsonb_build_object('setting', run_id / 415 || 'MB')) \
         WHERE run_id > 400",
    );
    let [whole, redacted] = both(client, "history => 'weekly'");
    let what = "kernel: Linux 6.2.0, before Linux 6.1.0";
    for word in ["payroll-1", "fp-1", "standby_bob_1"] {
        assert!(whole.contains(word) && !redacted.contains(word), "{word}");
    }
    for page in [&whole, &redacted] {
        assert!(page.contains(what) && page.contains("What changed on the machine"));
        // In the answer, in the table of changes, and in that of the nights.
        assert!(page.contains("what differs there: "), "{page}");
        assert!(page.contains("server_version: PostgreSQL 15.21, before PostgreSQL 15.20"));
        assert!(page.contains("device_model: Maker Disk 9, before Maker Disk 8"));
    }
    assert!(whole.contains("History weekly") && redacted.contains("History (label left out)"));
    execute(client, "ROLLBACK");
}
