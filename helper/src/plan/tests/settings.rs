//! Plans that change settings.

use super::*;
use crate::probe::queue::Limits;
use pgfsbench_core::helper::{BlockSettings, KernelSettings};

pub fn limits() -> Limits {
    Limits {
        schedulers: vec!["none".into(), "bfq".into()],
        logical_block_size: Some(512),
        physical_block_size: Some(4096),
        minimum_io_size: Some(4096),
        optimal_io_size: Some(0),
        discard_max_bytes: Some(1 << 30),
        rotational: Some(false),
    }
}

fn requested() -> Prepare {
    Prepare {
        block_settings: Some(BlockSettings {
            scheduler: Some("bfq".into()),
            nr_requests: Some(64),
            ..Default::default()
        }),
        kernel_settings: Some(KernelSettings {
            dirty_bytes: Some(1 << 28),
            ..Default::default()
        }),
        ..image_of(1)
    }
}

fn planned_where(
    kernel_settings: bool,
    change: impl FnOnce(&mut Facts),
) -> Result<Vec<String>, Refusal> {
    let config = format!("kernel_settings = {kernel_settings}\n{CONFIG}");
    let mut facts = Facts {
        limits: vec![Some(limits())],
        ..facts()
    };
    change(&mut facts);
    let plan = prepare(
        &Config::parse(&config).unwrap(),
        &place(),
        &requested(),
        &facts,
    )?;
    Ok(script(&plan, "/dev/loop3"))
}

#[test]
fn settings_are_set_before_the_filesystem_is_made() {
    let script = planned_where(true, |_| {}).unwrap();
    assert!(script[2].starts_with("write bfq to scheduler, 64 to nr_requests of the queue"));
    assert!(script[3].starts_with("write 268435456 to dirty_bytes of /proc/sys/vm"));
    assert!(script[4].starts_with("/usr/sbin/mkfs.x"));
}

#[test]
fn settings_that_are_refused() {
    let refusal = planned_where(false, |_| {}).unwrap_err();
    assert!(refusal.hint.unwrap().contains("kernel_settings = true"));
    let refusal = planned_where(true, |f| f.queue_user = Place::of_key("b@other")).unwrap_err();
    assert_eq!(
        refusal.message,
        "target \"other\" has changed settings of the same disk's queue"
    );
    let refusal = planned_where(true, |f| f.kernel_user = Place::of_key("b@other")).unwrap_err();
    assert_eq!(
        refusal.message,
        "target \"other\" has changed kernel settings"
    );
    let refusal = planned_where(true, |f| {
        // Each device is checked, not the first alone.
        f.limits.push(Some(Limits {
            schedulers: vec!["none".into(), "kyber".into()],
            ..limits()
        }));
    })
    .unwrap_err();
    assert_eq!(
        refusal.detail.unwrap(),
        "The kernel offers none, kyber for it."
    );
}
