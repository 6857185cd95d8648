//! Arrays.

use super::*;

/// A run on RAID 5 with a bitmap and PPL at rest, on a filesystem that knows its stripes.
fn on_raid() -> RunFacts {
    let mut layers = recorded("trees/lvm_on_raid.txt", "253:1");
    let md = &mut layers[2];
    md.sync_action = Some("idle".into());
    md.array.consistency_policy = Some("ppl".into());
    md.array.bitmap = Some("none".into());
    md.array.safe_mode_delay_ms = Some(201);
    RunFacts {
        storage: StorageFacts {
            layers: Some(layers),
            stripe_unit_bytes: Some(512 << 10),
            ..super::storage()
        },
        ..clean()
    }
}

/// The messages of a run with this change, each with its severity.
fn found(change: impl FnOnce(&mut StorageFacts, usize)) -> Vec<(String, Severity, String)> {
    let mut facts = on_raid();
    change(&mut facts.storage, 2);
    told(&facts)
}

fn told(facts: &RunFacts) -> Vec<(String, Severity, String)> {
    let all = judge(facts).into_iter();
    all.map(|f| (f.code, f.severity, f.message)).collect()
}

fn one(code: &str, severity: Severity, message: &str) -> Vec<(String, Severity, String)> {
    vec![(code.to_owned(), severity, message.to_owned())]
}

fn layer(storage: &mut StorageFacts, place: usize) -> &mut Layer {
    &mut storage.layers.as_mut().unwrap()[place]
}

#[test]
fn the_array_of_an_external_log_is_judged_too() {
    let mut facts = on_raid();
    let mut log = facts.storage.layers.clone().unwrap();
    log[2].degraded = Some(1);
    facts.storage.log_layers = Some(log);
    assert_eq!(
        told(&facts),
        one(
            "raid_degraded",
            Severity::Warning,
            "md0 lacks 1 of its disks"
        )
    );
}

#[test]
fn work_in_the_window_makes_the_run_invalid() {
    assert_eq!(told(&on_raid()), []);
    let works = || {
        Some(vec![
            "check of md0".to_owned(),
            "balance of btrfs".to_owned(),
        ])
    };
    let message = "RAID is busy in the background: check of md0, balance of btrfs";
    assert_eq!(
        found(|storage, _| storage.array_work = works()),
        one("raid_resync", Severity::Invalid, message)
    );
    // A resync that had ended before the window.
    let busy = |storage: &mut StorageFacts, md| {
        layer(storage, md).sync_action = Some("resync".into());
    };
    assert_eq!(found(busy), []);
    let unwatched = |storage: &mut StorageFacts, md| {
        busy(storage, md);
        storage.array_work = None;
    };
    let message = "RAID is busy in the background: resync of md0";
    assert_eq!(
        found(unwatched),
        one("raid_resync", Severity::Warning, message)
    );
    // Runs of older versions have this fact.
    let at_end = |storage: &mut StorageFacts, _| {
        storage.array_work = None;
        storage.resync_at_end = Some(true);
    };
    let message = "RAID is busy in the background: resync of an array";
    assert_eq!(
        found(at_end),
        one("raid_resync", Severity::Warning, message)
    );
}

#[test]
fn what_an_array_lacks() {
    use Severity::{Info, Warning};
    let degraded = |storage: &mut StorageFacts, md| layer(storage, md).degraded = Some(1);
    assert_eq!(
        found(degraded),
        one("raid_degraded", Warning, "md0 lacks 1 of its disks")
    );
    let hole = |storage: &mut StorageFacts, md| {
        let array = &mut layer(storage, md).array;
        array.consistency_policy = Some("bitmap".into());
        array.bitmap = Some("+8".into());
    };
    let message = "md0 (raid5) has a write hole: a power cut and then a lost disk lose data that were not being written";
    assert_eq!(found(hole), one("raid_write_hole", Warning, message));
    let volume = |storage: &mut StorageFacts, _| {
        storage.layout = Some("lvm-raid5".into());
        storage.stripe_unit_bytes = Some(64 << 10);
    };
    let message = "lvm-raid5 has a write hole: a power cut and then a lost disk lose data that were not being written";
    assert_eq!(found(volume), one("raid_write_hole", Warning, message));
    let mirror = |bitmap: &'static str, policy: &'static str| {
        found(move |storage, md| {
            let layer = layer(storage, md);
            layer.level = Some("raid10".into());
            layer.array.consistency_policy = Some(policy.into());
            layer.array.bitmap = Some(bitmap.into());
        })
    };
    let message = "md0 (raid10) has no bitmap: writes cost less, and a crash is followed by a resync of the whole array";
    assert_eq!(
        mirror("none", "resync"),
        one("raid_without_bitmap", Info, message)
    );
    assert_eq!(mirror("+8", "bitmap"), []);
    // WAL on another filesystem: an array below it counts, too.
    let mut facts = clean();
    facts.wal_storage = Some(on_raid().storage);
    layer(facts.wal_storage.as_mut().unwrap(), 2).degraded = Some(2);
    assert_eq!(
        told(&facts),
        one("raid_degraded", Warning, "md0 lacks 2 of its disks")
    );
}

#[test]
fn a_low_rate_lets_an_array_rest() {
    let paced = |rate, delay: Option<u64>, level: &str| {
        let mut facts = on_raid();
        facts.rate = Some(rate);
        let md = layer(&mut facts.storage, 2);
        md.array.safe_mode_delay_ms = delay;
        md.level = Some(level.into());
        judge(&facts).into_iter().find(|f| f.code == "raid_at_rest")
    };
    let found = paced(30.0, Some(201), "raid1").unwrap();
    assert_eq!(found.severity, Severity::Warning);
    assert_eq!(
        found.message,
        "at 30 transactions per second, md0 (raid1) rests between writes (safe_mode_delay 201 ms), and the next write costs further flushes"
    );
    for (rate, delay, level) in [
        (40.0, Some(201), "raid1"),
        (30.0, Some(0), "raid1"),
        (30.0, None, "raid1"),
        (30.0, Some(201), "raid0"),
    ] {
        assert_eq!(paced(rate, delay, level), None, "{rate} {delay:?} {level}");
    }
}

#[test]
fn stripes_and_begins_that_do_not_fit() {
    use Severity::Warning;
    let unit = |bytes| found(move |storage, _| storage.stripe_unit_bytes = Some(bytes));
    assert_eq!(
        unit(0),
        one(
            "stripe_unknown",
            Warning,
            "the filesystem does not know the stripes of md0 (raid5)"
        )
    );
    let message = "the filesystem has a stripe unit of 64 kB, and md0 (raid5) chunks of 512 kB";
    assert_eq!(unit(64 << 10), one("stripe_mismatch", Warning, message));
    let start = |sector: u64| {
        found(move |storage, md| layer(storage, md + 1).start_bytes = Some(sector * 512))
    };
    assert_eq!(start(2048), []);
    let message = "sda1 begins 3584 bytes after the begin of a block or chunk of 4096 bytes";
    assert_eq!(start(63), one("misaligned", Warning, message));
    // A partition of the array: its chunk counts.
    let mut facts = on_raid();
    let layers = facts.storage.layers.as_mut().unwrap();
    layers[1].start_bytes = Some(4096);
    let message = "crypt begins 4096 bytes after the begin of a block or chunk of 512 kB";
    assert_eq!(told(&facts), one("misaligned", Warning, message));
    let offset =
        |bytes| found(move |storage, md| layer(storage, md).alignment_offset = Some(bytes));
    assert_eq!(offset(0), []);
    let message = "md0 does not begin at a physical block (alignment_offset -1)";
    assert_eq!(offset(-1), one("misaligned", Warning, message));
}

#[test]
fn stripes_of_a_volume_are_those_of_its_layout() {
    let on = |layout: &'static str, chunk: Option<&'static str>, unit| {
        found(move |storage, _| {
            storage.layers = Some(recorded("trees/loop_on_nvme.txt", "259:2"));
            storage.layout = Some(layout.into());
            storage.layout_chunk = chunk.map(str::to_owned);
            storage.stripe_unit_bytes = Some(unit);
        })
    };
    assert_eq!(
        on("lvm-stripe", Some("128k"), 64 << 10),
        one(
            "stripe_mismatch",
            Severity::Warning,
            "the filesystem has a stripe unit of 64 kB, and lvm-stripe chunks of 128 kB"
        )
    );
    for (layout, unit) in [
        ("lvm-stripe", 64 << 10),
        ("lvm-stripe", 0),
        ("lvm-raid1", 4096),
        ("raid5", 4096),
    ] {
        assert_eq!(on(layout, None, unit), [], "{layout} {unit}");
    }
    let found = on("lvm-raid6", None, 0).into_iter();
    let mut messages: Vec<String> = found.map(|(_, _, message)| message).collect();
    messages.sort();
    assert_eq!(messages.len(), 2);
    assert_eq!(
        messages[1],
        "the filesystem does not know the stripes of lvm-raid6"
    );
}
