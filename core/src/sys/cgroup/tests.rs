use super::*;
use crate::sys::Recorded;
use proptest::prelude::*;

/// A pod with cgroup v2 on a machine of 4 processors: its namespace ends at its own cgroup.
const POD: &str = "/proc/self/cgroup\t0::/\n\
    /proc/self/mountinfo\t1532 1531 0:27 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw,nsdelegate,memory_recursiveprot\n\
    /sys/fs/cgroup/memory.max\t2147483648\n\
    /sys/fs/cgroup/memory.high\tmax\n\
    /sys/fs/cgroup/memory.events\tlow 0\\nhigh 0\\nmax 700\\noom 2\\noom_kill 1\\noom_group_kill 0\n\
    /sys/fs/cgroup/memory.pressure\tsome avg10=0.00 avg60=0.00 avg300=0.00 total=1000\\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n\
    /sys/fs/cgroup/cpu.max\t150000 100000\n\
    /sys/fs/cgroup/cpu.stat\tusage_usec 900\\nuser_usec 500\\nsystem_usec 400\\nnr_periods 100\\nnr_throttled 10\\nthrottled_usec 250000\\nnr_bursts 0\\nburst_usec 0\n\
    /sys/fs/cgroup/io.max\t8:16 rbps=2097152 wbps=max riops=max wiops=120\n\
    /sys/fs/cgroup/io.stat\t8:16 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\\n254:0 rbytes=1 wbytes=1 rios=1 wios=1 dbytes=0 dios=0\n\
    /sys/dev/block/8:16/uevent\tMAJOR=8\\nMINOR=16\\nDEVNAME=sdb\\nDEVTYPE=disk\n\
    /proc/self/status\tName:\tcat\\nCpus_allowed:\tf\\nCpus_allowed_list:\t0-3\n\
    /proc/stat\tcpu  40 0 0 40\\ncpu0 10 0 0 10\\ncpu1 10 0 0 10\\ncpu2 10 0 0 10\\ncpu3 10 0 0 10\n";

/// A service of systemd with limits on several levels; the root has no limits.
const SERVICE: &str = "/proc/self/cgroup\t0::/system.slice/system-postgresql.slice/postgresql@15-main.service\n\
    /proc/self/mountinfo\t25 24 0:22 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n\
    /sys/fs/cgroup/cgroup.controllers\tcpuset cpu io memory pids\n\
    /sys/fs/cgroup/cpu.stat\tusage_usec 1\n\
    /sys/fs/cgroup/system.slice/memory.max\tmax\n\
    /sys/fs/cgroup/system.slice/memory.high\t8589934592\n\
    /sys/fs/cgroup/system.slice/memory.events.local\tlow 0\\nhigh 5\\nmax 0\\noom 0\\noom_kill 0\n\
    /sys/fs/cgroup/system.slice/memory.events\tlow 0\\nhigh 9\\nmax 4\\noom 0\\noom_kill 3\n\
    /sys/fs/cgroup/system.slice/cpu.max\tmax 100000\n\
    /sys/fs/cgroup/system.slice/system-postgresql.slice/memory.max\t4294967296\n\
    /sys/fs/cgroup/system.slice/system-postgresql.slice/memory.events.local\tlow 0\\nhigh 0\\nmax 3\\noom 0\\noom_kill 0\n\
    /sys/fs/cgroup/system.slice/system-postgresql.slice/cpu.max\t50000 100000\n\
    /sys/fs/cgroup/system.slice/system-postgresql.slice/postgresql@15-main.service/memory.max\t17179869184\n\
    /sys/fs/cgroup/system.slice/system-postgresql.slice/postgresql@15-main.service/cpu.max\t300000 100000\n";

/// Docker with cgroup v1, without a namespace of cgroups; recorded on Linux 4.19.
const DOCKER_ONE: &str = "/proc/self/cgroup\t12:memory:/docker/9f86d081\\n11:blkio:/docker/9f86d081\\n4:cpu,cpuacct:/docker/9f86d081\\n1:name=systemd:/docker/9f86d081\\n0::/system.slice/containerd.service\n\
    /proc/self/mountinfo\t721 720 0:29 /docker/9f86d081 /sys/fs/cgroup/systemd ro,nosuid - cgroup cgroup rw,xattr,name=systemd\\n\
722 720 0:32 /docker/9f86d081 /sys/fs/cgroup/cpu,cpuacct ro,nosuid - cgroup cgroup rw,cpu,cpuacct\\n\
723 720 0:33 /docker/9f86d081 /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory\\n\
724 720 0:34 /docker/9f86d081 /sys/fs/cgroup/blkio ro,nosuid - cgroup cgroup rw,blkio\n\
    /sys/fs/cgroup/memory/memory.limit_in_bytes\t9223372036854771712\n\
    /sys/fs/cgroup/memory/memory.stat\tcache 1\\nhierarchical_memory_limit 3221225472\\nhierarchical_memsw_limit 9223372036854771712\n\
    /sys/fs/cgroup/memory/memory.failcnt\t0\n\
    /sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us\t200000\n\
    /sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us\t100000\n\
    /sys/fs/cgroup/cpu,cpuacct/cpu.stat\tnr_periods 50\\nnr_throttled 4\\nthrottled_time 3000000\n\
    /sys/fs/cgroup/blkio/blkio.throttle.write_bps_device\t254:0 1048576\n\
    /sys/fs/cgroup/blkio/blkio.throttle.io_service_bytes\t254:0 Read 0\\n254:0 Write 4096\\n254:0 Sync 4096\\n254:0 Async 0\\n254:0 Total 4096\\nTotal 4096\n\
    /sys/fs/cgroup/blkio/blkio.throttle.io_serviced\t254:0 Read 0\\n254:0 Write 1\\nTotal 1\n";

/// Both versions at once, with nothing limited but in one hierarchy; recorded on Linux 6.18.
const HYBRID: &str = "/proc/self/cgroup\t9:name=systemd:/\\n4:memory:/process_api/b6853c1b\\n3:cpuset:/\\n2:cpuacct:/\\n1:cpu:/\\n0::/\n\
    /proc/self/mountinfo\t31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\\n\
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\\n\
33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct\\n\
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\\n\
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n\
    /sys/fs/cgroup/cpu/cpu.cfs_quota_us\t-1\n\
    /sys/fs/cgroup/cpu/cpu.cfs_period_us\t100000\n\
    /sys/fs/cgroup/memory/memory.limit_in_bytes\t9223372036854771712\n\
    /sys/fs/cgroup/memory/process_api/memory.limit_in_bytes\t6442450944\n\
    /sys/fs/cgroup/memory/process_api/memory.failcnt\t12\n\
    /sys/fs/cgroup/memory/process_api/memory.oom_control\toom_kill_disable 0\\nunder_oom 0\\noom_kill 1\n\
    /sys/fs/cgroup/memory/process_api/b6853c1b/memory.limit_in_bytes\t9223372036854771712\n\
    /sys/fs/cgroup/unified/cpu.stat\tusage_usec 0\n";

const GB: u64 = 1 << 30;

fn limits(tree: &Recorded) -> Option<Limits> {
    Cgroups::find(tree).limits(tree)
}

fn counters(tree: &Recorded) -> Counters {
    Cgroups::find(tree).counters(tree)
}

fn felt(before: &Recorded, now: &Recorded) -> Felt {
    counters(now).felt_since(&counters(before), 1_000_000_000)
}

#[test]
fn a_pod_sees_its_own_limits() {
    let pod = Recorded::of(POD);
    let found = limits(&pod).unwrap();
    assert_eq!(
        (found.memory_bytes, found.processors),
        (Some(2 * GB), Some(1.5))
    );
    assert_eq!(found.allowed_processors, None);
    let io = IoLimit {
        device: "8:16".into(),
        name: Some("sdb".into()),
        read_bytes: Some(2 << 20),
        writes: Some(120),
        ..IoLimit::default()
    };
    assert_eq!(found.io, [io]);
    let words = "2048 MB of memory, the time of 1.5 processors, I/O on sdb (reading 2048 kB/s, 120 writes/s)";
    assert_eq!(found.in_words().as_deref(), Some(words));
    assert_eq!(Limits::default().in_words(), None);
    assert_eq!(found.usable_memory(Some(24 * GB)), Some(2 * GB));
    assert_eq!(
        found.usable_memory(Some(GB)),
        Some(GB),
        "memory that is not there"
    );
    assert_eq!(found.usable_memory(None), Some(2 * GB));
    assert_eq!(found.usable_processors(Some(4)), Some(2));
    let nothing = Limits::default();
    assert_eq!(
        (nothing.usable_memory(None), nothing.usable_processors(None)),
        (None, None)
    );
    let little = Limits {
        processors: Some(0.2),
        ..nothing
    };
    assert_eq!(little.usable_processors(Some(4)), Some(1));
}

#[test]
fn the_smallest_limit_of_all_levels_counts() {
    let service = Recorded::of(SERVICE);
    let found = limits(&service).unwrap();
    assert_eq!(
        (found.memory_bytes, found.processors),
        (Some(4 * GB), Some(0.5))
    );
    // One that is only to be slowed down from there on is a limit, too.
    let path = "/sys/fs/cgroup/system.slice/memory.high";
    let high = Recorded::of(SERVICE).but(path, Some("1073741824\n"));
    assert_eq!(limits(&high).unwrap().memory_bytes, Some(GB));
}

#[test]
fn version_one_has_numbers_for_no_limit_and_counts_levels_that_are_not_seen() {
    let docker = Recorded::of(DOCKER_ONE);
    let found = limits(&docker).unwrap();
    assert_eq!(
        (found.memory_bytes, found.processors),
        (Some(3 * GB), Some(2.0))
    );
    assert_eq!(found.io[0].write_bytes, Some(1 << 20));
    assert_eq!(found.io[0].read_bytes, None);
    let stat = "/sys/fs/cgroup/memory/memory.stat";
    for none in [
        "9223372036854771712",
        "9223372036854710272",
        "18446744073709551615",
    ] {
        let text = format!("hierarchical_memory_limit {none}\n");
        let tree = Recorded::of(DOCKER_ONE)
            .but(stat, Some(&text))
            .but("/sys/fs/cgroup/memory/memory.limit_in_bytes", Some(none));
        assert_eq!(limits(&tree).unwrap().memory_bytes, None, "{none}");
    }
}

#[test]
fn both_versions_at_once() {
    let hybrid = Recorded::of(HYBRID);
    let found = limits(&hybrid).unwrap();
    assert_eq!((found.memory_bytes, found.processors), (Some(6 * GB), None));
    let later = "/sys/fs/cgroup/memory/process_api/memory.failcnt";
    let felt = felt(&hybrid, &Recorded::of(HYBRID).but(later, Some("15\n")))
        .memory
        .unwrap();
    assert_eq!(
        (felt.bytes, felt.reached, felt.killed),
        (6 * GB, Some(3), Some(0))
    );
    assert_eq!(felt.waiting, None, "version 1 does not tell of pressure");
}

#[test]
fn what_is_not_visible_is_not_known() {
    assert_eq!(limits(&Recorded::of("")), None);
    let groups = "/proc/self/cgroup";
    for path in ["0::/../other\n", "0::/gone\n", "0:\n", "\n"] {
        assert_eq!(
            limits(&Recorded::of(POD).but(groups, Some(path))),
            None,
            "{path}"
        );
    }
    // The cgroups of a host, seen from a container whose mount has its root elsewhere.
    let elsewhere = "9 8 0:27 /../.. /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
    let tree = Recorded::of(POD).but(MOUNTINFO, Some(elsewhere));
    assert_eq!(limits(&tree), None);
    // A name that begins with the same letters is not below.
    let similar = "9 8 0:27 /a /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
    let tree = Recorded::of(POD)
        .but(MOUNTINFO, Some(similar))
        .but(groups, Some("0::/ab\n"));
    assert_eq!(limits(&tree), None);
}

#[test]
fn limits_that_were_felt() {
    let before = Recorded::of(POD);
    let now = Recorded::of(POD)
        .but(
            "/sys/fs/cgroup/memory.events",
            Some("low 0\nhigh 3\nmax 900\noom 3\noom_kill 2\n"),
        )
        .but(
            "/sys/fs/cgroup/memory.pressure",
            Some("some avg10=0 avg60=0 avg300=0 total=101000\n"),
        )
        .but(
            "/sys/fs/cgroup/cpu.stat",
            Some("nr_periods 110\nnr_throttled 16\nthrottled_usec 750000\n"),
        );
    let felt = felt(&before, &now);
    assert_eq!(
        felt.memory,
        Some(MemoryFelt {
            bytes: 2 * GB,
            reached: Some(203),
            killed: Some(1),
            waiting: Some(0.1)
        })
    );
    assert_eq!(
        felt.quota,
        Some(QuotaFelt {
            processors: 1.5,
            periods: Some(10),
            stopped: Some(6),
            stopped_ms: Some(500.0)
        })
    );
    assert_eq!(felt.allowed, None);
}

#[test]
fn of_several_levels_the_one_that_was_felt() {
    let before = Recorded::of(SERVICE);
    let events = "/sys/fs/cgroup/system.slice/memory.events.local";
    let now = Recorded::of(SERVICE).but(events, Some("high 25\nmax 0\n"));
    assert_eq!(felt(&before, &now).memory.unwrap().bytes, 8 * GB);
    // Where none was, the smallest.
    assert_eq!(felt(&before, &before).memory.unwrap().bytes, 4 * GB);
    // Counters that the kernel does not keep are not zero.
    let quota = felt(&before, &now).quota.unwrap();
    assert_eq!((quota.processors, quota.stopped), (0.5, None));
}

#[test]
fn processors_that_may_be_used() {
    let stat = |ticks: [u32; 4]| {
        let each = ticks.iter().enumerate();
        let each = each.map(|(n, busy)| format!("cpu{n} {busy} 0 0 {}\n", 1000 - busy));
        format!("cpu  0 0 0 0\n{}", each.collect::<String>())
    };
    let tree = |list: &str, ticks| {
        let status = format!("Name:\tx\nCpus_allowed_list:\t{list}\n");
        Recorded::of(POD)
            .but("/proc/self/status", Some(&status))
            .but("/proc/stat", Some(&stat(ticks)))
    };
    let (before, now) = (tree("1,3-7", [0, 0, 0, 0]), tree("1,3-7", [0, 990, 0, 970]));
    assert_eq!(limits(&now).unwrap().allowed_processors, Some(2));
    // The ticks of all states stay the same, so that no time has passed.
    assert_eq!(felt(&before, &before).allowed, None);
    let later =
        "cpu  0 0 0 0\ncpu0 0 0 0 1100\ncpu1 95 0 0 1005\ncpu2 0 0 0 1100\ncpu3 85 0 0 1015\n";
    let later = tree("1,3-7", [0, 0, 0, 0]).but("/proc/stat", Some(later));
    let allowed = felt(&before, &later).allowed.unwrap();
    assert_eq!((allowed.processors, allowed.of), (2, 4));
    assert!((allowed.idle - 0.1).abs() < 1e-9, "{allowed:?}");
    for list in ["0-3", "8-9", "", "x", "4294967295", "0-4294967295"] {
        assert_eq!(
            limits(&tree(list, [0; 4])).unwrap().allowed_processors,
            None,
            "{list}"
        );
    }
}

#[test]
fn seconds_in_which_io_was_at_its_limit() {
    let at = |bytes: u64, writes: u64| {
        let stat = format!("8:16 rbytes={bytes} wbytes=0 rios=0 wios={writes}\n");
        let tree = Recorded::of(POD).but("/sys/fs/cgroup/io.stat", Some(&stat));
        Cgroups::find(&tree).io_counters(&tree)
    };
    let mut watch = IoWatch::default();
    assert_eq!(watch.felt(), None);
    let second = 1_000_000_000;
    watch.see(0, at(0, 0));
    assert_eq!(watch.felt(), None, "no second has passed");
    watch.see(second, at(2 << 20, 5));
    // Too short.
    watch.see(second + 1000, at(3 << 20, 5));
    watch.see(2 * second, at(3 << 20, 10));
    watch.see(4 * second, at((3 << 20) + (4 << 20), 10));
    let felt = watch.felt().unwrap();
    let expected = IoFelt {
        device: "8:16".into(),
        name: Some("sdb".into()),
        kind: IoKind::ReadBytes,
        limit: 2 << 20,
        seconds: 3,
        reached: 2,
    };
    assert_eq!(felt, [expected]);
    // The kernel does not tell.
    let tree = Recorded::of(POD).but("/sys/fs/cgroup/io.stat", None);
    let mut watch = IoWatch::default();
    for n in 0..3 {
        watch.see(n * second, Cgroups::find(&tree).io_counters(&tree));
    }
    assert_eq!(watch.felt(), None);
    // Nothing is limited.
    let tree = Recorded::of(HYBRID);
    let mut watch = IoWatch::default();
    watch.see(0, Cgroups::find(&tree).io_counters(&tree));
    assert_eq!(watch.felt(), Some(vec![]));
}

#[test]
fn io_of_version_one() {
    let files = |write: &str| {
        let tree = Recorded::of(DOCKER_ONE).but(
            "/sys/fs/cgroup/blkio/blkio.throttle.io_service_bytes_recursive",
            Some(write),
        );
        Cgroups::find(&tree).io_counters(&tree)
    };
    let mut watch = IoWatch::default();
    watch.see(0, files("254:0 Read 0\n254:0 Write 4096\nTotal 4096\n"));
    watch.see(
        1_000_000_000,
        files("odd\n254:0 Read\n254:0 Write 1052672\nTotal 1052672\n"),
    );
    let felt = watch.felt().unwrap();
    assert_eq!(
        (felt[0].kind, felt[0].reached, felt[0].seconds),
        (IoKind::WriteBytes, 1, 1)
    );
}

#[test]
fn a_line_that_cannot_be_read_costs_that_line() {
    let odd = "8:32 rbps=x wbps=7\nodd\n8:16 rbps=2097152 wbps=max other=1\n";
    let tree = Recorded::of(POD).but("/sys/fs/cgroup/io.max", Some(odd));
    let found = limits(&tree).unwrap().io;
    assert_eq!(
        (found[0].write_bytes, found[1].read_bytes),
        (Some(7), Some(2 << 20))
    );
    let mounts = "odd\n1532 1531 0:27 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
    let tree = Recorded::of(POD)
        .but(MOUNTINFO, Some(mounts))
        .but("/proc/self/cgroup", Some("odd\n::\n0::/\n"));
    assert_eq!(limits(&tree).unwrap().memory_bytes, Some(2 * GB));
    let events = Recorded::of(POD).but(
        "/sys/fs/cgroup/memory.events",
        Some("odd\nmax x\nhigh 4\noom_kill 1\n"),
    );
    assert_eq!(felt(&events, &events).memory.unwrap().reached, Some(0));
}

proptest! {
    #[test]
    fn never_panics(
        file in "/proc/self/(cgroup|mountinfo|status)|/proc/stat|/sys/fs/cgroup/(memory|cpu|io).(max|stat|events|pressure)",
        text in "[0-9:/ =a-z,.\n-]{0,60}",
    ) {
        let tree = Recorded::of(POD).but(&file, Some(&text));
        limits(&tree);
        felt(&tree, &tree);
        let mut watch = IoWatch::default();
        watch.see(0, Cgroups::find(&tree).io_counters(&tree));
        watch.see(u64::MAX, Cgroups::find(&tree).io_counters(&tree));
        watch.felt();
    }
}
