//! Plans with a recorder.

use super::*;
use pgfsbench_core::helper::record::Record;

fn recorded(log_bytes: u64) -> Prepare {
    Prepare {
        record: Some(Record { log_bytes }),
        ..image_of(1)
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
    let disk = "/var/lib/pgfsbench/recorder/bench@t/disk";
    assert_eq!(
        script[..4],
        [
            "create file /srv/small/bench@t.img of 1073741824 bytes, sparse, mode 0600".to_owned(),
            // The first directory has no room for it.
            "create file /srv/big/bench@t@record.img of 0 bytes, sparse, mode 0600".into(),
            format!(
                "serve /srv/small/bench@t.img as {disk}, and record what is written to it in /srv/big/bench@t@record.img"
            ),
            format!("/usr/sbin/losetup --find --show --direct-io=on {disk}"),
        ]
    );
    assert_eq!(plan.recorder.unwrap().bytes, 1 << 30);
    let plan = planned(&image_of(1), &facts()).unwrap();
    assert_eq!(plan.recorder, None);
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
