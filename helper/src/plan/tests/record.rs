//! Plans with a recorder.

use super::*;
use pgfsbench_core::helper::record::Record;
use pgfsbench_core::helper::{Layout, Log, Storage};

fn recorded(log_bytes: u64) -> Prepare {
    recorded_on(image_of(1), log_bytes)
}

fn recorded_on(storage: Prepare, log_bytes: u64) -> Prepare {
    Prepare {
        record: Some(Record { log_bytes }),
        ..storage
    }
}

/// The plan where power cuts are allowed.
fn planned(request: &Prepare, facts: &Facts) -> Result<Plan, Refusal> {
    let config = Config::parse(&format!("power_cuts = true\n{CONFIG}")).unwrap();
    prepare(&config, &place(), request, facts)
}

#[test]
fn power_cuts_have_to_be_allowed() {
    let refusal = super::planned(&recorded(1 << 30), &facts()).unwrap_err();
    assert_eq!(refusal.kind, Kind::NotAllowed);
    assert!(refusal.hint.unwrap().contains("power_cuts = true"));
}

#[test]
fn the_disk_of_the_recorder_is_attached_in_place_of_the_image() {
    let plan = planned(&recorded(1 << 30), &facts()).unwrap();
    let script = script(&plan, "/dev/loop3");
    let disk = "/var/lib/pgfsbench/recorder/bench@t/bench@t.img";
    assert_eq!(
        script[..4],
        [
            "create file /srv/small/bench@t.img of 1073741824 bytes, sparse, mode 0600".to_owned(),
            // The first directory has no room for it.
            "create file /srv/big/bench@t@record.img of 0 bytes, sparse, mode 0600".into(),
            format!(
                "serve /srv/small/bench@t.img as {disk}, and record in /srv/big/bench@t@record.img what is written"
            ),
            format!("/usr/sbin/losetup --find --show --direct-io=on {disk}"),
        ]
    );
    assert_eq!(plan.recorder.unwrap().bytes, 1 << 30);
    let plan = planned(&image_of(1), &facts()).unwrap();
    assert_eq!(plan.recorder, None);
}

#[test]
fn all_images_of_a_target_are_recorded_together() {
    let request = Prepare {
        layout: Some(Layout::Raid1),
        log: Some(Log::Image { bytes: 1 << 30 }),
        storage: Storage::Images {
            count: 2,
            bytes: 1 << 30,
            sparse: true,
        },
        ..recorded(1 << 30)
    };
    let mut facts = facts();
    facts.images = vec![Ok(images(0, 0, 100)), Ok(images(0, 0, 100))];
    let plan = planned(&request, &facts).unwrap();
    let steps: Vec<&str> = plan.steps.iter().map(Step::name).collect();
    let (before, after) = steps.split_at(8);
    assert_eq!(
        before[..5],
        [
            "create_image",
            "create_image",
            "create_image",
            "create_image",
            "record"
        ]
    );
    assert_eq!(before[5..], ["attach"; 3]);
    assert!(
        after.contains(&"create_array") && !after.contains(&"attach"),
        "{after:?}"
    );
    let attached = plan.steps.iter().filter_map(|step| match step {
        Step::Attach { image, .. } => image
            .strip_prefix("/var/lib/pgfsbench/recorder/bench@t")
            .ok(),
        _ => None,
    });
    let attached: Vec<&str> = attached.filter_map(Path::to_str).collect();
    assert_eq!(
        attached,
        ["bench@t.img", "bench@t@2.img", "bench@t@log.img"]
    );
}

#[test]
fn a_record_takes_room_and_a_machine_that_can() {
    let full = Facts {
        images: vec![Ok(images(0, 0, 100)), Ok(images(8, 0, 100))],
        ..facts()
    };
    let refusal = planned(&recorded(4 << 30), &full).unwrap_err();
    assert_eq!(refusal.kind, Kind::NotAllowed);
    let facts = Facts {
        no_recorder: Some("there is no door"),
        ..facts()
    };
    let refusal = planned(&recorded(1 << 30), &facts).unwrap_err();
    assert_eq!(refusal.detail.unwrap(), "On this machine there is no door.");
    assert!(planned(&image_of(1), &facts).is_ok());
}

#[test]
fn the_filesystem_of_a_device_is_made_on_dm_log_writes() {
    let mut facts = Facts {
        devices: vec![found(a_device(Contents::Empty), false)],
        ..facts()
    };
    facts.array.driver = Support::Module;
    let request = recorded_on(on_device("/dev/disk/by-id/a"), 1 << 30);
    let plan = planned(&request, &facts).unwrap();
    let script = script(&plan, "/dev/sdb");
    assert_eq!(
        script[1..5],
        [
            "create file /srv/small/bench@t@record.img of 805306368 bytes, sparse, mode 0600",
            // Before the first byte is gone.
            "/usr/sbin/modprobe dm-mod",
            "/usr/sbin/wipefs --all /dev/sdb",
            "attach /srv/small/bench@t@record.img, have /usr/sbin/dmsetup log there what is written to the device, and mark the time in it",
        ]
    );
    let name = "/dev/mapper/pgfsbench_00000000-0000-4000-8000-000000000000-record";
    assert!(script[5].contains("nodiscard") && script[5].ends_with(name));
    let mount = script.iter().find(|line| line.contains("mount -i"));
    assert!(mount.unwrap().contains(&format!(" {name} ")), "{mount:?}");

    facts.array.level = Support::Missing;
    let refusal = planned(&request, &facts).unwrap_err();
    assert_eq!(refusal.message, "this kernel has no dm-log-writes");
    assert!(planned(&recorded(1 << 30), &facts).is_ok());
}
