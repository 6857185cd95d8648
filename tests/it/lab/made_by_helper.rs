//! Arrays, mirrored logs and pools that the helper makes in a guest of several disks.

use super::boot::GuestScript;

/// Arrays that the helper makes of two to five disks: each is in sync before the run, and nothing of it is left.
#[test]
#[ignore = "`make soak` has it"]
fn arrays_by_the_helper_in_a_guest() {
    let expected = [
        "a sync under way is seen: true",
        "raid0 done, raid0 of 4 disks, chunk 524288, bitmap none, degraded -, stripes 524288 and 2097152",
        "linear done, linear of 4 disks, chunk 0, bitmap none, degraded -, stripes 0 and 0",
        "raid1 done, raid1 of 4 disks, chunk 0, bitmap +8, degraded 0, stripes 0 and 0",
        "raid5 done, raid5 of 4 disks, chunk 65536, bitmap none, degraded 0, stripes 65536 and 196608",
        "raid10 done, raid10 of 4 disks, chunk 262144, bitmap none, degraded 0, stripes 262144 and 524288",
        "raid6 done, raid6 of 4 disks, chunk 524288, bitmap none, degraded 0, stripes 524288 and 1048576",
        "lvm-linear done, linear 4, stripes 0 and 0, durable by settings (not tried)",
        "lvm-stripe done, striped 4, stripes 65536 and 262144, durable by settings (not tried)",
        "lvm-raid1 done, raid raid1, stripes 0 and 0, durable by settings (not tried)",
        "lvm-raid5 done, raid raid5_ls, stripes 65536 and 196608, durable by settings (not tried); lvm-raid5 has a write hole",
        "lvm-raid6 done, raid raid6_zr, stripes 65536 and 196608, durable by settings (not tried); lvm-raid6 has a write hole",
        "lvm-raid10 done, raid raid10, stripes 131072 and 262144, durable by settings (not tried)",
        "finding raid_without_bitmap of raid5, raid10, raid6",
        "finding raid_write_hole of lvm-raid5, lvm-raid6, raid5, raid6",
        "6 windows without work of arrays, 6 of volumes",
        "8 waits for a sync",
        "checked: lvm-raid1, raid5",
        "24 members of arrays and 23 of volumes emptied",
        "36 volumes removed",
        "5 of 5 disks are usable again",
        "0 arrays are left",
        "0 volumes are left",
    ];
    let guest = GuestScript("ext4+disks5", 1800, "tests/lab/arrays.sql");
    guest.tells("arrays_by_the_helper_in_a_guest", &expected);
}

/// Filesystems on a disk and on a volume, with a log on an array of two disks: it is in sync before the run, is found again when the filesystem is
/// mounted again, and nothing of it is left.
#[test]
fn mirrored_logs_by_the_helper_in_a_guest() {
    let run = |target: &str| {
        format!("{target}, log on raid1 of 2 disks, degraded 0, external true, durable")
    };
    let expected = [
        run("alone done on ext4"),
        run("striped done on xfs"),
        "below the log of alone: md uml uml".into(),
        "below the log of striped: md uml uml".into(),
        "below alone: uml md uml uml".into(),
        "below striped: lvm uml uml md uml uml".into(),
        "finding raid_without_bitmap of alone, striped".into(),
        "remount 2 times".into(),
        "2 waits for a sync".into(),
        "6 members emptied".into(),
        "known devices of logs: 2".into(),
        "4 of 4 disks are usable again".into(),
        "0 arrays are left".into(),
        "0 volumes are left".into(),
    ];
    let guest = GuestScript("xfs+disks4", 900, "tests/lab/mirrored_log.sql");
    guest.tells("mirrored_logs_by_the_helper_in_a_guest", &expected);
}

/// The helper is killed while it makes and removes a target whose filesystem and log are arrays.
#[test]
#[ignore = "`make soak` has it"]
fn killed_at_any_step_no_array_of_a_log_is_left_in_a_guest() {
    let expected = [
        "killed while it prepared: 18 times",
        "killed while it released: 6 times",
        "killed while it prepared a volume: 12 times",
        "killed while it released a volume: 6 times",
        "killed while an array syncs",
        "a foreign signature that comes on a member stays",
        "a foreign signature on a device of the log is refused, and stays",
    ];
    let guest = GuestScript("ext4+disks4", 1800, "tests/lab/killed.sh");
    guest.tells(
        "killed_at_any_step_no_array_of_a_log_is_left_in_a_guest",
        &expected,
    );
}

/// The helper is killed while it makes and removes a pool with a mirrored log.
#[test]
#[ignore = "`make soak` has it"]
fn killed_at_any_step_no_pool_is_left_in_a_guest() {
    let expected = [
        "killed while it prepared: 12 times",
        "killed while it released: 4 times",
    ];
    let guest = GuestScript("zfs+disks4", 1800, "tests/lab/killed.sh");
    guest.tells("killed_at_any_step_no_pool_is_left_in_a_guest", &expected);
}

/// Pools that the helper makes of one disk, of two or three, and of one with a mirrored log.
#[test]
fn pools_by_the_helper_in_a_guest() {
    let run = |target: &str| {
        format!("{target} done on zfs, recordsize 8192, durable by settings (not tried)")
    };
    let expected = [
        run("plain").replace("8192", "131072"),
        run("zfs-stripe"),
        run("zfs-mirror"),
        run("zfs-raidz"),
        run("logged").replace("8192", "131072"),
        "below plain: partition disk".into(),
        "below zfs-stripe: partition disk partition disk".into(),
        "below zfs-mirror: partition disk partition disk".into(),
        "below zfs-raidz: partition disk partition disk partition disk".into(),
        "below logged: partition disk".into(),
        "pool of /dev/vdb1".into(),
        "pool of /dev/vdb1 /dev/vdc1".into(),
        "pool of mirror /dev/vdb1 /dev/vdc1".into(),
        "pool of raidz /dev/vdb1 /dev/vdc1 /dev/vdd1".into(),
        "pool of /dev/vdb1 log mirror /dev/vdc1 /dev/vdd1".into(),
        "5 pools destroyed".into(),
        "3 of 3 disks are usable again".into(),
        "0 pools are left".into(),
    ];
    let guest = GuestScript("zfs+disks3", 1800, "tests/lab/zfs.sql");
    guest.tells("pools_by_the_helper_in_a_guest", &expected);
}
