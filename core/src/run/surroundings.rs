//! Activity of the machine while a run was measured, and the part of it that was not the run's: from two readings, at the start
//! of the window and at its end. A value that is not known is None.

use crate::{
    finding::{MachineFacts, StorageFacts},
    proc::{CpuTimes, DirtyPages, Member, discarded_bytes, parse_diskstats},
    sys::{Layer, LayerKind, cgroup::Counters},
};

/// The kernel's own threads are children of this process.
const KTHREADD: (i32, &str) = (2, "kthreadd");
/// The helper, by its name as the kernel cuts it.
const HELPER: &str = "pgfsbench-helpe";
/// The kernel's thread that writes the tables of a new ext4.
const LAZY_INIT: &str = "ext4lazyinit";
/// On newer kernels that thread also reads bitmaps ahead after each mount (seen on Linux 6.18 for 4.5 s, whatever mkfs has
/// written); it has ended in this time.
const BITMAPS_NS: u64 = 10_000_000_000;

/// All processes at one moment, by pid.
pub type Processes = [(i32, Member)];

/// Time that the processors have spent since boot.
#[derive(Clone, Copy, Debug, Default)]
pub struct Processors {
    times: Option<CpuTimes>,
    /// Ticks in this server's processes and the kernel's threads. None where the latter are not seen: what they do for the run
    /// would belong to other programs.
    known: Option<u64>,
    /// Ticks in user mode of this server's processes and the helper's. None where the postmaster is not seen.
    own_user: Option<u64>,
}

/// Load over an interval: shares of all processors, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Ticks of all processors.
    pub all: u64,
    /// In programs.
    pub busy: f64,
    /// In programs that are none of this server; None where that cannot be told.
    pub others: Option<f64>,
    /// The least that programs of others used, by their time in user mode, where `others` is None. None where that cannot be told either.
    pub others_at_least: Option<f64>,
    /// Taken away by the host; None where the kernel does not count it.
    pub steal: Option<f64>,
}

impl Processors {
    /// By the kernel's times, and the ticks of the processes of a server with that postmaster.
    pub fn of(times: Option<CpuTimes>, processes: &Processes, postmaster: i32) -> Self {
        let postmasters = postmasters(processes, postmaster);
        Self {
            times,
            known: sees_kernel(processes).then(|| known_ticks(processes, &postmasters)),
            own_user: own_user(processes, &postmasters),
        }
    }

    /// The load since an earlier reading.
    pub fn since(&self, before: &Self) -> Option<Load> {
        let (times, times_before) = (self.times?, before.times?);
        let ((busy, all), (busy_before, all_before)) =
            (times.busy_and_all(), times_before.busy_and_all());
        let all = all.checked_sub(all_before).filter(|&all| all > 0)?;
        let busy = busy.saturating_sub(busy_before);
        let known = self.known.zip(before.known);
        let known = known.map(|(now, before)| now.saturating_sub(before));
        let share = |ticks: u64| ticks as f64 / all as f64;
        let others = known.map(|known| share(busy.saturating_sub(known)));
        let user = times.user().saturating_sub(times_before.user());
        let own_user = self.own_user.zip(before.own_user);
        let own_user = own_user.map(|(now, before)| now.saturating_sub(before));
        let least = own_user.map(|own| share(user.saturating_sub(own)).min(share(busy)));
        Some(Load {
            all,
            busy: share(busy),
            others,
            others_at_least: least.filter(|_| others.is_none()),
            steal: times.since(&times_before)?.steal.map(|p| p / 100.0),
        })
    }
}

/// Whether the kernel's threads are seen: not from within many containers.
fn sees_kernel(processes: &Processes) -> bool {
    processes
        .iter()
        .any(|(pid, member)| (*pid, member.name.as_str()) == KTHREADD)
}

/// The postmasters of the servers that are measured together: this one, and those that the same coordinator has started. A coordinator is a process
/// of a server itself; a program that is not may have started servers of others.
fn postmasters(processes: &Processes, postmaster: i32) -> Vec<i32> {
    let find = |wanted: i32| processes.iter().find(|(pid, _)| *pid == wanted);
    let coordinator = find(postmaster).and_then(|(_, own)| {
        let (pid, parent) = find(own.parent)?;
        (parent.name == own.name).then_some((*pid, &own.name))
    });
    let Some((coordinator, name)) = coordinator else {
        return vec![postmaster];
    };
    let of_it = processes
        .iter()
        .filter(|(_, member)| member.parent == coordinator && member.name == *name);
    of_it.map(|(pid, _)| *pid).collect()
}

/// Ticks of the servers' processes, those that have ended included, and of the kernel's threads.
fn known_ticks(processes: &Processes, postmasters: &[i32]) -> u64 {
    let ticks = processes.iter().map(|(pid, member)| match *pid {
        pid if postmasters.contains(&pid) => member.ticks + member.ticks_of_dead_children,
        _ if postmasters.contains(&member.parent) || member.parent == KTHREADD.0 => member.ticks,
        _ => 0,
    });
    ticks.sum()
}

/// Ticks in user mode of the servers' processes, those that have ended included, and of the helper's.
fn own_user(processes: &Processes, postmasters: &[i32]) -> Option<u64> {
    let sees_server = processes.iter().any(|(pid, _)| postmasters.contains(pid));
    let is_own = |(pid, member): &&(i32, Member)| {
        postmasters.contains(pid) || postmasters.contains(&member.parent) || member.name == HELPER
    };
    sees_server.then(|| {
        let own = processes.iter().filter(is_own);
        own.map(|(_, member)| member.user).sum()
    })
}

/// Whether the kernel writes tables of some ext4, or reads ahead of one that was mounted a few seconds ago.
pub fn has_lazy_init(processes: &Processes) -> Option<bool> {
    let is_it = |(_, member): &(i32, Member)| member.name == LAZY_INIT;
    sees_kernel(processes).then(|| processes.iter().any(is_it))
}

/// A disk of which the filesystem's device is a part, or holds its image: what both have done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedDisk {
    /// Bytes that the filesystem's device has read and written.
    own_bytes: u64,
    /// And those of the whole disk.
    all_bytes: u64,
    /// For how long that had something to do.
    busy_ms: u64,
}

impl SharedDisk {
    /// By the layers below the filesystem and a text of `/proc/diskstats`. None where the filesystem has the disk for itself, or several of them.
    pub fn of(layers: &[Layer], diskstats: &str) -> Option<Self> {
        let is_simple = |layer: &Layer| {
            matches!(
                layer.kind,
                LayerKind::Disk | LayerKind::Partition | LayerKind::Loop | LayerKind::Filesystem
            )
        };
        let mut disks = layers.iter().filter(|layer| layer.kind == LayerKind::Disk);
        let (own, disk) = (layers.first()?, disks.next()?);
        if own.device == disk.device || disks.next().is_some() || !layers.iter().all(is_simple) {
            return None;
        }
        let counters = |layer: &Layer| {
            let (major, minor) = layer.device.as_deref()?.split_once(':')?;
            parse_diskstats(diskstats, (major.parse().ok()?, minor.parse().ok()?))
        };
        let (own, disk) = (counters(own)?, counters(disk)?);
        Some(Self {
            own_bytes: own.bytes(),
            all_bytes: disk.bytes(),
            busy_ms: disk.busy_ms(),
        })
    }

    /// The share of some time in which others kept the disk busy: of its busy time as much as of its bytes.
    fn others_since(&self, before: &Self, ms: f64) -> Option<f64> {
        let all = self.all_bytes.checked_sub(before.all_bytes)? as f64;
        let own = self.own_bytes.checked_sub(before.own_bytes)? as f64;
        let busy = self.busy_ms.checked_sub(before.busy_ms)? as f64;
        if all == 0.0 || ms <= 0.0 {
            return Some(0.0);
        }
        Some((1.0 - own / all).max(0.0) * (busy / ms).min(1.0))
    }
}

/// The machine at one moment.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// Monotonic clock.
    pub at_ns: u64,
    /// Clock of the fastest processor.
    pub mhz: Option<f64>,
    /// How often processors were slowed down because of heat.
    pub throttled: Option<u64>,
    /// Time that the processors have spent.
    pub processors: Processors,
    /// Ticks of the sampler.
    pub sampler_ticks: Option<u64>,
    /// See [`has_lazy_init`].
    pub has_lazy_init: Option<bool>,
    /// The disk, where others may use it beside the filesystem.
    pub disk: Option<SharedDisk>,
    /// Room on the filesystem of the data.
    pub free_bytes: Option<u64>,
    /// Bytes that the filesystem's device has discarded so far.
    pub discarded_bytes: Option<u64>,
    /// Counters of the limits of the server's cgroups.
    pub limits: Counters,
}

/// Bytes that the uppermost device has discarded so far, by the layers below the filesystem and a text of `/proc/diskstats`.
pub fn discarded(layers: &[Layer], diskstats: &str) -> Option<u64> {
    let (major, minor) = layers.first()?.device.as_deref()?.split_once(':')?;
    discarded_bytes(diskstats, (major.parse().ok()?, minor.parse().ok()?))
}

/// Space in use on the filesystem of the data, and the lengths of the server's files there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Bytes in use by all.
    pub used: u64,
    /// Lengths of the files, added up.
    pub files: u64,
}

/// Facts of the machine that can mislead, from its two readings. `dirty` is the reading with the most dirty memory, `page` the bytes of a page.
pub fn machine_facts(
    start: &Machine,
    end: &Machine,
    dirty: Option<DirtyPages>,
    page: u64,
) -> MachineFacts {
    let load = end.processors.since(&start.processors);
    let since = |end: Option<u64>, start: Option<u64>| {
        end.zip(start).map(|(end, start)| end.saturating_sub(start))
    };
    let sampler = since(end.sampler_ticks, start.sampler_ticks);
    MachineFacts {
        mhz: start.mhz,
        mhz_at_end: end.mhz,
        throttled: since(end.throttled, start.throttled),
        cpu_others: load.and_then(|load| load.others),
        cpu_others_at_least: load.and_then(|load| load.others_at_least),
        device_others: end.disk.zip(start.disk).and_then(|(end_disk, start_disk)| {
            let ms = end.at_ns.saturating_sub(start.at_ns) as f64 / 1e6;
            end_disk.others_since(&start_disk, ms)
        }),
        cpu_sampler: sampler
            .zip(load)
            .map(|(sampler, load)| sampler as f64 / load.all as f64),
        dirty_peak_bytes: dirty.map(|dirty| dirty.pages * page),
        dirty_peak_limit_bytes: dirty.map(|dirty| dirty.limit * page),
        limits: {
            let ns = end.at_ns.saturating_sub(start.at_ns);
            end.limits.felt_since(&start.limits, ns)
        },
        ..MachineFacts::default()
    }
}

/// Facts of the storage that can mislead, from the two readings, and from before the clients and after them.
pub fn storage_facts(
    start: &Machine,
    end: Option<&Machine>,
    fill: [Option<Fill>; 2],
) -> StorageFacts {
    StorageFacts {
        lazy_init: end.and_then(|end| {
            let outlasts_reads = end.at_ns.saturating_sub(start.at_ns) >= BITMAPS_NS;
            Some(start.has_lazy_init? && end.has_lazy_init? && outlasts_reads)
        }),
        free_bytes_at_end: end.and_then(|end| end.free_bytes),
        used_bytes: fill[0].map(|fill| fill.used),
        used_bytes_at_end: fill[1].map(|fill| fill.used),
        files_bytes: fill[0].map(|fill| fill.files),
        files_bytes_at_end: fill[1].map(|fill| fill.files),
        device_discard_bytes: end
            .and_then(|end| end.discarded_bytes?.checked_sub(start.discarded_bytes?)),
        ..StorageFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proc::parse_cpu_times;
    use proptest::prelude::*;

    const POSTMASTER: i32 = 100;

    fn member(pid: i32, name: &str, parent: i32, ticks: u64) -> (i32, Member) {
        let member = Member {
            name: name.into(),
            parent,
            ticks,
            ticks_of_dead_children: 10,
            user: ticks / 2,
        };
        (pid, member)
    }

    /// Kernel thread, postmaster, one backend, and a program of another user.
    fn processes(kernel: u64, backend: u64, other: u64) -> Vec<(i32, Member)> {
        vec![
            member(2, "kthreadd", 0, 0),
            member(30, "kworker/0:1", 2, kernel),
            member(POSTMASTER, "postgres", 1, 5),
            member(101, "postgres", POSTMASTER, backend),
            member(900, "stress", 1, other),
        ]
    }

    fn times(user: u64, idle: u64, steal: u64) -> Option<CpuTimes> {
        parse_cpu_times(&format!("cpu  {user} 0 0 {idle} 0 0 0 {steal} 0 0\n"))
    }

    #[test]
    fn what_the_server_and_the_kernel_did_is_not_somebody_elses() {
        let before = Processors::of(times(0, 0, 0), &processes(0, 0, 0), POSTMASTER);
        let after = Processors::of(times(60, 30, 10), &processes(10, 20, 30), POSTMASTER);
        let load = after.since(&before).unwrap();
        assert_eq!(load.all, 100);
        assert_eq!(load.others, Some(0.3));
        assert!(load.steal.is_some_and(|steal| (steal - 0.1).abs() < 1e-9));
    }

    #[test]
    fn servers_that_are_measured_together_are_no_neighbours() {
        // A coordinator, which is a process of the asking server, has started two servers; a supervisor has started others.
        let seen = |starter: &str, ticks: u64| {
            vec![
                member(2, "kthreadd", 0, 0),
                member(50, starter, 1, 0),
                member(POSTMASTER, "postgres", 50, 0),
                member(101, "postgres", POSTMASTER, ticks),
                member(200, "postgres", 50, 0),
                member(201, "postgres", 200, ticks),
                member(300, "cp", 50, ticks),
            ]
        };
        let others = |starter: &str| {
            let before = Processors::of(times(0, 0, 0), &seen(starter, 0), POSTMASTER);
            let after = Processors::of(times(60, 40, 0), &seen(starter, 20), POSTMASTER);
            after.since(&before).unwrap().others
        };
        assert_eq!(others("postgres"), Some(0.2));
        assert_eq!(others("systemd"), Some(0.4));
    }

    #[test]
    fn where_the_kernel_is_not_seen_nobody_is_blamed() {
        let in_container = vec![member(POSTMASTER, "postgres", 1, 5)];
        let before = Processors::of(times(0, 0, 0), &in_container, POSTMASTER);
        let after = Processors::of(times(60, 40, 0), &in_container, POSTMASTER);
        let load = after.since(&before).unwrap();
        assert_eq!((load.others, load.others_at_least), (None, Some(0.6)));
        assert_eq!(has_lazy_init(&in_container), None);
        assert_eq!(before.since(&before), None, "no time has passed");
    }

    #[test]
    fn where_the_kernel_is_not_seen_user_time_is_the_least_that_others_took() {
        let seen = |ticks: u64, helper: u64| {
            vec![
                member(POSTMASTER, "postgres", 1, 0),
                member(101, "postgres", POSTMASTER, ticks),
                member(200, HELPER, 1, helper),
                member(900, "stress", 1, ticks),
            ]
        };
        let times = |user, nice, system, idle| {
            parse_cpu_times(&format!("cpu  {user} {nice} {system} {idle}\n"))
        };
        let before = Processors::of(times(0, 0, 0, 0), &seen(0, 0), POSTMASTER);
        let after = Processors::of(times(40, 20, 20, 20), &seen(20, 10), POSTMASTER);
        let load = after.since(&before).unwrap();
        // 60 in user mode, of which 10 in the server and 5 in the helper.
        assert_eq!((load.others, load.others_at_least), (None, Some(0.45)));
        let machine = |processors, at_ns| Machine {
            processors,
            at_ns,
            ..Machine::default()
        };
        let facts = machine_facts(&machine(before, 0), &machine(after, 1), None, 4096);
        assert_eq!(
            (facts.cpu_others, facts.cpu_others_at_least),
            (None, Some(0.45))
        );
        // Where the kernel is seen, the figure itself is there.
        let all = |ticks| {
            let mut all = seen(ticks, 0);
            all.push(member(2, "kthreadd", 0, 0));
            all
        };
        let before = Processors::of(times(0, 0, 0, 0), &all(0), POSTMASTER);
        let after = Processors::of(times(40, 20, 20, 20), &all(20), POSTMASTER);
        let load = after.since(&before).unwrap();
        assert_eq!((load.others, load.others_at_least), (Some(0.6), None));
        // Neither is known where the server's own processes are not seen.
        let of_others = [member(900, "stress", 1, 0)];
        let before = Processors::of(times(0, 0, 0, 0), &of_others, POSTMASTER);
        let after = Processors::of(times(40, 20, 20, 20), &of_others, POSTMASTER);
        assert_eq!(after.since(&before).unwrap().others_at_least, None);
    }

    #[test]
    fn a_thread_that_reads_ahead_after_a_mount_is_no_writer() {
        let mut all = processes(0, 0, 0);
        assert_eq!(has_lazy_init(&all), Some(false));
        all.push(member(31, LAZY_INIT, 2, 0));
        assert_eq!(has_lazy_init(&all), Some(true));
        let at = |at_ns| Machine {
            at_ns,
            has_lazy_init: Some(true),
            ..Machine::default()
        };
        let facts = |end_ns| storage_facts(&at(0), Some(&at(end_ns)), [None, None]).lazy_init;
        assert_eq!(
            (facts(BITMAPS_NS - 1), facts(BITMAPS_NS)),
            (Some(false), Some(true))
        );
        assert_eq!(storage_facts(&at(0), None, [None, None]).lazy_init, None);
    }

    #[test]
    fn what_others_do_to_the_disk_is_told_from_what_the_filesystem_does() {
        let layer = |kind: LayerKind, device: &str| -> Layer {
            let layer = serde_json::json!({"depth": 0, "kind": kind, "device": device});
            serde_json::from_value(layer).unwrap()
        };
        let layers = [
            layer(LayerKind::Partition, "8:1"),
            layer(LayerKind::Disk, "8:0"),
        ];
        // Sectors of the partition and of the disk, and how long that was busy.
        let text = |own: u64, all: u64, busy: u64| {
            format!(
                "8 0 sda 1 0 0 0 1 0 {all} 0 0 {busy} 0\n8 1 sda1 1 0 0 0 1 0 {own} 0 0 {busy} 0\n"
            )
        };
        let of = |layers: &[Layer], own, all, busy| SharedDisk::of(layers, &text(own, all, busy));
        let (start, end) = (of(&layers, 0, 0, 0), of(&layers, 100, 400, 800));
        assert_eq!(
            end.unwrap().others_since(&start.unwrap(), 1000.0),
            Some(0.75 * 0.8)
        );
        assert_eq!(
            start.unwrap().others_since(&start.unwrap(), 1000.0),
            Some(0.0)
        );
        // It is reset when the device is attached anew.
        assert_eq!(start.unwrap().others_since(&end.unwrap(), 1000.0), None);
        assert_eq!(of(&layers[1..], 0, 0, 0), None, "the disk is its own");
        let raid = [layer(LayerKind::Md, "9:0"), layer(LayerKind::Disk, "8:0")];
        assert_eq!(of(&raid, 0, 0, 0), None);
        let machine = |disk, at_ns| Machine {
            disk,
            at_ns,
            ..Machine::default()
        };
        let facts = machine_facts(&machine(start, 0), &machine(end, 2_000_000_000), None, 4096);
        assert_eq!(facts.device_others, Some(0.75 * 0.4));
    }

    #[test]
    fn moments_are_told_apart() {
        let machine = |throttled, sampler, times| Machine {
            mhz: Some(1000.0),
            throttled: Some(throttled),
            sampler_ticks: Some(sampler),
            processors: Processors::of(times, &processes(0, 0, 0), POSTMASTER),
            ..Machine::default()
        };
        let dirty = DirtyPages { pages: 3, limit: 4 };
        let (start, end) = (
            machine(2, 1, times(0, 0, 0)),
            machine(5, 3, times(50, 50, 0)),
        );
        let facts = machine_facts(&start, &end, Some(dirty), 4096);
        assert_eq!((facts.throttled, facts.cpu_sampler), (Some(3), Some(0.02)));
        assert_eq!(
            (facts.dirty_peak_bytes, facts.dirty_peak_limit_bytes),
            (Some(12_288), Some(16_384))
        );
    }

    proptest! {
        #[test]
        fn shares_are_shares(
            a in any::<[u16; 3]>(), b in any::<[u16; 3]>(), p in any::<[u16; 3]>(), q in any::<[u16; 3]>(),
        ) {
            let of = |t: [u16; 3], p: [u16; 3]| Processors::of(
                times(t[0].into(), t[1].into(), t[2].into()), &processes(p[0].into(), p[1].into(), p[2].into()), POSTMASTER,
            );
            if let Some(load) = of(b, q).since(&of(a, p)) {
                prop_assert!((0.0..=1.0).contains(&load.others.unwrap_or(0.0)) || load.busy > 1.0);
                prop_assert!(load.others.unwrap_or(0.0) <= load.busy);
                prop_assert!(load.others_at_least.unwrap_or(0.0) <= load.busy);
            }
        }
    }
}
