//! The workload `scan`.

use super::*;
use crate::proc::parse_mountinfo;
use crate::refusal::{Kind as Refused, Refusal, check};
use crate::spec::Cache;
use crate::workload::{
    options::options,
    scan::{Named, Payload, ScanOptions, check_cache},
};

fn arguments(options: serde_json::Value) -> RunArguments {
    RunArguments {
        workload: Some("scan".into()),
        options: Some(options),
        ..RunArguments::default()
    }
}

fn own(spec: &Spec) -> ScanOptions {
    spec.options.own()
}

fn refused(arguments: &RunArguments) -> Refusal {
    let refusal = resolve(arguments, &facts()).expect_err("it is refused");
    check::style(&refusal);
    refusal
}

#[test]
fn what_is_chosen() {
    let spec = resolved(arguments(json!({})));
    let own = own(&spec);
    assert_eq!(
        (spec.scale, own.degrees.as_slice(), own.repeats),
        (10, &[1, 2, 4][..], Some(5))
    );
    assert_eq!(
        (own.loaders, own.readers.clone(), spec.clients),
        (Some(2), Some(vec![1, 2, 4]), 4)
    );
    assert_eq!(
        (own.leader, own.payload, spec.options.cache),
        (Some(true), Some(Payload::Named(Named::Bit200)), Cache::Warm)
    );
    assert!(!spec.is_quick() && spec.has_tables() && !spec.workload.writes());
    assert_eq!(spec.data_bytes(), Payload::default().bytes(10));
    assert_eq!(
        spec.plan_text(),
        "scan, scale 10, 574 MB, degrees 1 2 4, 5 repeats, warm page cache, seed 42 \
         (chosen: scale, seed, degrees, repeats, loaders, readers)"
    );
}

#[test]
fn study_4_is_one_call() {
    let spec = resolve(
        &RunArguments {
            target: Some("nfs".into()),
            size: Some("50% ram".into()),
            ..arguments(json!({"degrees": [1, 2, 4, 8, 16, 17, 21, 32, 64], "cache": "warm"}))
        },
        &Facts {
            max_parallel_workers: 1024,
            free_worker_slots: 1_000_000,
            server_is_another: true,
            ..facts()
        },
    )
    .unwrap();
    assert_eq!(own(&spec).degrees, [1, 2, 4, 8, 16, 17, 21, 32, 64]);
    assert_eq!((spec.scale, spec.workers()), (36, 67));
    // The request is handed on unchanged.
    let there = spec
        .options
        .for_target_server(spec.workload)
        .to_argument(spec.workload);
    let options = options(Some(&there), spec.workload).unwrap();
    assert_eq!(options, spec.options);
}

#[test]
fn what_is_wrong_with_options() {
    for (options, detail) in [
        (json!({"degrees": [0]}), "It holds 0."),
        (json!({"degrees": [2, 2]}), "It holds 2 twice."),
        (json!({"degrees": [1.5]}), "It holds 1.5."),
        (json!({"degrees": [1025]}), "It holds 1025."),
        (json!({"degrees": [-1]}), "It holds -1."),
        (json!({"degrees": ["4"]}), "It holds a text."),
        (json!({"degrees": []}), "It is an empty array."),
        (json!({"degrees": 4}), "It is a number."),
        (json!({"readers": [3, 3]}), "It holds 3 twice."),
        (json!({"repeats": 0}), "It is 0."),
        (json!({"loaders": 0}), "It is 0."),
        (json!({"leader": "no"}), "It is a text."),
        (json!({"payload": "big"}), "It is \"big\"."),
        (json!({"payload": 8001}), "It is 8001."),
        (json!({"cache": "hot"}), "It is \"hot\"."),
    ] {
        let refusal = refused(&arguments(options.clone()));
        assert_eq!(
            (refusal.kind, refusal.detail.as_deref()),
            (Refused::InvalidArgument, Some(detail)),
            "{options}"
        );
    }
    let many: Vec<u32> = (1..=4).collect();
    let refusal = refused(&arguments(json!({"degrees": many, "repeats": 834})));
    assert_eq!(refusal.message, "too many scans: 4 degrees of 834");
    let refusal = refused(&arguments(json!({"fillfactor": 90})));
    assert_eq!(
        refusal.message,
        "workload \"scan\" has no option \"fillfactor\""
    );
    let tpcb = RunArguments {
        options: Some(json!({"degrees": [1]})),
        ..RunArguments::default()
    };
    assert_eq!(
        refused(&tpcb).message,
        "workload \"tpcb\" has no option \"degrees\""
    );
}

#[test]
fn parameters_of_other_workloads() {
    for (name, given) in [
        (
            "clients",
            RunArguments {
                clients: Some(4),
                ..arguments(json!({}))
            },
        ),
        (
            "duration",
            RunArguments {
                duration_us: Some(1_000_000),
                ..arguments(json!({}))
            },
        ),
        (
            "rate",
            RunArguments {
                rate: Some(1.0),
                ..arguments(json!({}))
            },
        ),
    ] {
        let message = format!("workload \"scan\" has no parameter \"{name}\"");
        assert_eq!(refused(&given).message, message);
    }
    // Readers may be none.
    let spec = resolved(arguments(json!({"readers": []})));
    assert_eq!(own(&spec).readers, Some(vec![]));
}

#[test]
fn servers_whose_parallel_workers_do_not_start() {
    let of = |server_version_num, by_connection| Facts {
        server_version_num,
        by_connection,
        ..facts()
    };
    let scan = arguments(json!({"degrees": [1]}));
    let refusal = resolve(&scan, &of(150_010, false)).unwrap_err();
    assert_eq!(
        (refusal.kind, refusal.message.as_str()),
        (
            Refused::NotInThisState,
            "PostgreSQL 15.10 cannot scan in parallel in the database of a run"
        )
    );
    assert_eq!(
        refusal.hint.as_deref(),
        Some("Install the latest release of PostgreSQL 15, and restart the server.")
    );
    resolve(&scan, &of(150_011, false)).unwrap();
    // The server that makes the scans looks at its own.
    resolve(&scan, &of(150_010, true)).unwrap();
    resolve(&RunArguments::default(), &of(150_010, false)).unwrap();
}

#[test]
fn degrees_that_the_server_does_not_allow() {
    let many = arguments(json!({"degrees": [1, 16]}));
    let refusal = refused(&many);
    assert_eq!(
        (refusal.kind, refusal.message.as_str()),
        (
            Refused::NoWorkerSlot,
            "degree 16 is above max_parallel_workers"
        )
    );
    assert!(refusal.hint.unwrap().contains("max_parallel_workers"));
    let raised = RunArguments {
        settings: Some(json!({"max_parallel_workers": 16})),
        ..many
    };
    assert_eq!(own(&resolved(raised.clone())).degrees, [1, 16]);
    let few = Facts {
        free_worker_slots: 10,
        max_worker_processes: 12,
        ..facts()
    };
    let refusal = resolve(&raised, &few).unwrap_err();
    check::style(&refusal);
    assert_eq!(refusal.kind, Refused::NoWorkerSlot);
    assert!(
        refusal
            .hint
            .unwrap()
            .contains("\"max_worker_processes\" to at least 21")
    );
    let refusal = refused(&arguments(json!({"loaders": 100})));
    assert_eq!(refusal.message, "number of loaders 100 is out of range");
}

#[test]
fn a_table_that_the_memory_cannot_hold() {
    let of = |size: &str, cache: &str| RunArguments {
        size: Some(size.into()),
        ..arguments(json!({"cache": cache}))
    };
    let refusal = refused(&of("2x ram", "warm"));
    assert_eq!(
        (refusal.kind, refusal.message.as_str()),
        (Refused::NotInThisState, "the table does not fit in RAM")
    );
    let refusal = refused(&of("1GB", "shared_buffers"));
    assert_eq!(refusal.message, "the table does not fit in shared_buffers");
    assert_eq!(resolved(of("2x ram", "cold")).options.cache, Cache::Cold);
    assert_eq!(resolved(of("100MB", "shared_buffers")).scale, 2);
    // A run that only loads needs no cache.
    let loads = RunArguments {
        stage: Stage::LoadOnly,
        ..of("1GB", "shared_buffers")
    };
    assert_eq!(resolved(loads).scale, 18);
}

#[test]
fn a_cold_table_on_an_image_that_is_cached_below_is_refused() {
    let refusal = check_cache(Cache::Cold, "ext4", true).unwrap_err();
    assert_eq!(
        refusal.message,
        "the cache of a table on an image without direct I/O cannot be emptied"
    );
    for cache in [Cache::Warm, Cache::SharedBuffers] {
        assert_eq!(check_cache(cache, "ext4", true), Ok(()));
    }
}

/// Mounts as kernels show them: Debian 12 with zfs-dkms 2.1, a container, and a disk.
const MOUNTS: &str = "\
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro
95 22 0:48 / /tank rw,noatime shared:52 - zfs tank rw,xattr,noacl
96 95 0:49 / /tank/pg rw,noatime shared:53 - zfs tank/pg rw,xattr,noacl
97 22 0:50 / /dev/shm rw,nosuid,nodev shared:54 - tmpfs tmpfs rw,inode64
98 22 254:16 / /mnt/xfs rw,noatime shared:55 - xfs /dev/vdb rw,attr2,inode64,logbufs=8,logbsize=32k,noquota
";

#[test]
fn caches_of_filesystems_that_cannot_be_emptied_or_seen_are_refused() {
    let mounts = parse_mountinfo(MOUNTS).mounts;
    let on = |place: &str, cache| {
        let mount = mounts.iter().find(|mount| mount.mount_point == place);
        check_cache(cache, &mount.unwrap().fs_type, false)
    };
    for (place, cache, message, instead) in [
        (
            "/tank/pg",
            Cache::Cold,
            "the cache of a table on zfs cannot be emptied",
            "shared_buffers",
        ),
        (
            "/tank/pg",
            Cache::Warm,
            "a table on zfs is not kept in the page cache",
            "shared_buffers",
        ),
        (
            "/dev/shm",
            Cache::Cold,
            "the cache of a table on tmpfs cannot be emptied",
            "warm",
        ),
    ] {
        let refusal = on(place, cache).expect_err(message);
        check::style(&refusal);
        assert_eq!(
            (refusal.kind, refusal.message.as_str()),
            (Refused::NotInThisState, message)
        );
        let hint = refusal.hint.unwrap();
        assert!(
            hint.contains(&format!("\"cache\": \"{instead}\"")),
            "{hint}"
        );
    }
    for (place, cache) in [
        ("/tank/pg", Cache::SharedBuffers),
        ("/dev/shm", Cache::Warm),
        ("/mnt/xfs", Cache::Cold),
        ("/", Cache::Warm),
    ] {
        assert_eq!(on(place, cache), Ok(()), "{place}");
    }
}

#[test]
fn scales_out_of_range() {
    for scale in [0, -1, i32::MAX] {
        let refusal = refused(&RunArguments {
            scale: Some(scale),
            ..arguments(json!({}))
        });
        assert_eq!(refusal.message, format!("scale {scale} is out of range"));
    }
    let refusal = refused(&RunArguments {
        size: Some("1000TB".into()),
        ..arguments(json!({}))
    });
    assert!(refusal.message.ends_with("is too large"), "{refusal}");
}

#[test]
fn another_machine_chooses_for_itself() {
    let remote = Facts {
        by_connection: true,
        ..facts()
    };
    let spec = resolve(&arguments(json!({"repeats": 2})), &remote).unwrap();
    assert_eq!(
        spec.chosen_there,
        ["scale", "degrees", "loaders", "readers"]
    );
}
