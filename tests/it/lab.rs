//! Filesystems and disks that this machine's kernel may lack: helper and target server in a User-Mode Linux guest, which
//! tools/lab.d/boot boots. What happens in it is in tests/lab/*.sql.

mod boot;
mod made_by_helper;
mod power_cut;
mod recorded;

use boot::{
    Guest, MISSING, WITH_QEMU, all, boot, boot_alone, boot_command, guest_of, last_lines, missing,
    no_uml, place, processes, root, uml_boots,
};

use crate::helper::lab::write_program;
use crate::helper::terminal::OnTerminal;
use pgfsbench_tests::{server_owner, skip};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

/// A guest's disk: one, or an md RAID, or a logical volume.
#[derive(Clone, Copy)]
enum Disk {
    Plain,
    Raid(&'static str),
    /// It lacks one of its disks.
    Degraded(&'static str),
    Lvm,
}

impl Disk {
    fn raid(self) -> Option<&'static str> {
        match self {
            Disk::Raid(level) | Disk::Degraded(level) => Some(level),
            Disk::Plain | Disk::Lvm => None,
        }
    }

    /// The beginning of its device's name, if a plain disk's begins so.
    fn device(self, plain: &str) -> &str {
        match self {
            Disk::Plain => plain,
            Disk::Raid(_) | Disk::Degraded(_) => "/dev/md",
            Disk::Lvm => "/dev/mapper/lab-data",
        }
    }
}

/// A filesystem on a disk, as `boot` reads it.
fn word(filesystem: &str, disk: Disk) -> String {
    match disk {
        Disk::Plain => filesystem.to_owned(),
        Disk::Raid(level) => format!("{filesystem}+raid{level}"),
        Disk::Degraded(level) => format!("{filesystem}+raid{level}+degraded"),
        Disk::Lvm => format!("{filesystem}+lvm"),
    }
}

/// Guests of User-Mode Linux that several tests share: each takes as long to boot, and to load what the first run measures, as
/// the runs of all others, and has 15 disks at most. The second one has what `make soak` alone looks at.
const SHARED: [&[&str]; 2] = [
    &["reiserfs", "f2fs+lvm", "ext4+raid6+degraded"],
    &[
        "xfs+raid0",
        "ext4+raid1",
        "xfs+raid5",
        "xfs+raid10",
        "nilfs2",
    ],
];

/// Output and exit code of the guest of a case, or the reason why there is none. It boots for the test that asks first.
fn shared(word: &str) -> Result<&'static (String, Option<i32>), &'static str> {
    type Told = Result<(String, Option<i32>), String>;
    static TOLD: [OnceLock<Told>; SHARED.len()] = [const { OnceLock::new() }; SHARED.len()];
    let index = SHARED.iter().position(|words| words.contains(&word));
    let index = index.expect("it is in a guest");
    let told = TOLD[index].get_or_init(|| {
        let can = |word: &&&str| missing(word).is_none();
        let words: Vec<&str> = SHARED[index].iter().filter(can).copied().collect();
        let script = root().join("tests/lab/smoke.sql");
        let output = boot(Guest::Uml, &words.join(" "), 1800, &script)?;
        Ok((all(&output), output.status.code()))
    });
    told.as_ref().map_err(String::as_str)
}

/// Output of a guest for a case; None, and the test is skipped, if there is no such guest.
fn told(test: &str, word: &str) -> Option<String> {
    if guest_of(test)? == Guest::Qemu {
        // Guests of QEMU are slow: each has one case.
        let script = root().join("tests/lab/smoke.sql");
        let output = boot_alone(test, word, 900, &script)?;
        assert_eq!(output.status.code(), Some(0), "{}", all(&output));
        return Some(all(&output));
    }
    if let Some(why) = missing(word) {
        skip(test, &why);
        return None;
    }
    match shared(word) {
        Ok((said, code)) => {
            let mut parts = said.split("==> case: ");
            let ours = parts.find(|part| part.starts_with(&format!("{word}\n")));
            Some(
                ours.unwrap_or_else(|| panic!("exit code {code:?}: {said}"))
                    .to_owned(),
            )
        }
        Err(why) => {
            skip(test, why);
            None
        }
    }
}

/// The first disk of a case, and what it is on, as the guest names them: which they are depends on the cases before it.
fn disks(said: &str, disk: Disk, plain: &str) -> (String, String) {
    let recorded = said.split(" on device \"").nth(1);
    let device = recorded.and_then(|rest| rest.split('"').next());
    let device = device.unwrap_or_else(|| panic!("no device in {said}"));
    let member = said.split("fact: device ").nth(1).unwrap_or(device);
    let member = member.split(' ').next().unwrap_or_default();
    for (path, is_a) in [(member, plain), (device, disk.device(plain))] {
        assert!(path.starts_with(is_a), "{path} is no {is_a} in {said}");
    }
    (member.to_owned(), device.to_owned())
}

fn smoke(test: &str, filesystem: &str, disk: Disk) {
    let Some(said) = told(test, &word(filesystem, disk)) else {
        return;
    };
    let facts: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("fact: "))
        .collect();
    let (plain, machine) = match guest_of(test) {
        Some(Guest::Qemu) => ("/dev/vd", "qemu"),
        _ => ("/dev/ubd", "uml"),
    };
    let said = said.replace("in a guest: kvm", "in a guest: qemu");
    let (member, device) = disks(&said, disk, plain);
    let array = disk.raid().map(|level| {
        let disks = match level {
            "0" | "1" => 2,
            "5" => 3,
            _ => 4,
        };
        format!("raid{level} of {disks} disks")
    });
    let expected = [
        // SYS_ADMIN, SYS_PTRACE, SETUID, SETGID, KILL, DAC_READ_SEARCH, CHOWN, MKNOD: those of its systemd unit.
        "the helper's rights 00000000082800e5".to_owned(),
        format!("run on {filesystem}"),
        "done, 100 transactions".to_owned(),
        format!("{filesystem} on {device}, data and WAL, in a guest: {machine}"),
        "prepare done for the run, release done for the run".to_owned(),
        format!("again {filesystem}"),
        format!("mounted {filesystem}"),
        "released true".to_owned(),
    ];
    let mut expected: Vec<String> = array.iter().cloned().chain(expected).collect();
    // No run may erase a disk that is a part of something.
    let holder = match disk {
        Disk::Plain => None,
        Disk::Raid(_) | Disk::Degraded(_) => Some(device.trim_start_matches("/dev/")),
        Disk::Lvm => Some("dm-0"),
    };
    if let Some(holder) = holder {
        let at = usize::from(array.is_some());
        expected.insert(at, format!("device {member} is in use: {holder} holds it."));
    }
    // Stripe of the queue and of the filesystem: 512 kB on each disk that holds data. A mirror has none.
    let stripes = disk.raid().filter(|level| *level != "1");
    if stripes.is_some() {
        for _ in 0..2 {
            expected.insert(6, "stripes of 524288 and 1048576".to_owned());
        }
    }
    // Findings about an array, and about a filesystem that does not flush.
    if matches!(disk, Disk::Degraded(_)) {
        expected.insert(6, "found raid_degraded".to_owned());
    }
    let mut facts = facts;
    if disk.raid() == Some("1") {
        facts.retain(|fact| !fact.starts_with("stripes of "));
    }
    assert_eq!(facts, expected, "{said}");
}

macro_rules! smoke_tests {
    ($($name:ident: $filesystem:literal, $disk:expr;)*) => {
        $(#[test]
        fn $name() {
            smoke(stringify!($name), $filesystem, $disk);
        })*
    };
}

smoke_tests! {
    a_run_on_reiserfs_in_a_guest: "reiserfs", Disk::Plain;
    a_run_on_ext4_in_a_guest_of_qemu: "ext4", Disk::Plain;
}

#[test]
fn runs_on_a_logical_volume_and_on_raid_6_that_lacks_a_disk_in_a_guest() {
    let test = "runs_on_a_logical_volume_and_on_raid_6_that_lacks_a_disk_in_a_guest";
    smoke(test, "f2fs", Disk::Lvm);
    smoke(test, "ext4", Disk::Degraded("6"));
}

/// RAIDs that lack no disk.
const RAIDS: [(&str, &str); 4] = [("xfs", "0"), ("ext4", "1"), ("xfs", "5"), ("xfs", "10")];

#[test]
// The one that lacks a disk shows the same, but for level and stripes.
#[ignore = "`make soak` has it"]
fn a_run_on_raid_in_a_guest() {
    for (filesystem, level) in &RAIDS {
        smoke("a_run_on_raid_in_a_guest", filesystem, Disk::Raid(level));
    }
}

#[test]
#[ignore = "`make soak` has it"]
fn a_run_on_nilfs2_in_a_guest() {
    smoke("a_run_on_nilfs2_in_a_guest", "nilfs2", Disk::Plain);
}

#[test]
fn make_lab_benchmarks_jfs_in_a_guest() {
    let test = "make_lab_benchmarks_jfs_in_a_guest";
    if let Err(console) = uml_boots() {
        return skip(test, &no_uml(console));
    }
    let place = place();
    let mut command = Command::new(root().join("tools/lab"));
    command.env("FS", "jfs").env("DISKS", place.path());
    for name in ["RAID", "DEGRADED", "LVM", "PSQL", "SIZE"] {
        command.env_remove(name);
    }
    let output = command.stdin(Stdio::null()).output().expect("tools/lab");
    let said = all(&output);
    if said.contains(&format!("exit code {MISSING}")) {
        return skip(test, "there is no User-Mode Linux, or no mkfs.jfs");
    }
    assert_eq!(output.status.code(), Some(0), "{said}");
    for words in [
        "create_target('lab', filesystem => 'jfs'",
        "mkfs.jfs",
        "jfs does not flush the device's write cache",
        "the guest has ended, and its disks are removed",
    ] {
        assert!(said.contains(words), "no `{words}` in {said}");
    }
    // Each column of a row has a line: filesystem, device, and the machine that it was.
    for (column, value) in [("filesystem", "jfs"), ("virtualization", "uml")] {
        let is_there = said.lines().any(|line| {
            let mut parts = line.split('|').map(str::trim);
            parts.next() == Some(column) && parts.next() == Some(value)
        });
        assert!(is_there, "no {column} {value} in {said}");
    }
    assert_eq!(fs::read_dir(place.path()).expect("it").count(), 0);
    assert_eq!(processes(place.path()), [""; 0]);
}

#[test]
fn what_fails_in_a_guest_fails_outside() {
    let test = "what_fails_in_a_guest_fails_outside";
    let place = place();
    let script = place.path().join("script.sql");
    fs::write(&script, "SELECT 1 / 0;\n\\echo fact: went on\n").expect("a script");
    let Some(output) = boot_alone(test, "jfs", 900, &script) else {
        return;
    };
    let said = all(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("ERROR:  division by zero"), "{said}");
    assert!(!said.contains("went on"), "{said}");
}

#[test]
#[ignore = "`make soak` has it"]
fn a_guest_that_takes_too_long_is_ended() {
    let test = "a_guest_that_takes_too_long_is_ended";
    let script = root().join("tests/lab/smoke.sql");
    let Some(output) = boot_alone(test, "jfs", 1, &script) else {
        return;
    };
    assert_eq!(output.status.code(), Some(124), "{}", all(&output));
}

#[test]
fn what_a_guest_with_zfs_lacks_is_said_with_the_packages_that_have_it() {
    let mut command = boot_command();
    let output = command.arg("-n").env("FS", "zfs").output().expect("boot");
    let said = all(&output);
    match output.status.code() {
        // All of it is here.
        Some(0) => assert_eq!(said, ""),
        Some(MISSING) => {
            let lacking = said.strip_prefix("missing for zfs in a guest: ");
            let lacking = lacking.unwrap_or_else(|| panic!("{said}")).trim();
            for item in lacking.split("; ") {
                assert!(item.contains("(Debian package"), "{said}");
            }
        }
        code => panic!("{code:?}: {said}"),
    }
}

/// A library of a file in C, to be preloaded into linux.uml.
fn library(place: &Path, source: &str) -> String {
    let source = root().join(source);
    let library = place.join(source.with_extension("so").file_name().expect("a name"));
    let mut cc = Command::new("gcc");
    cc.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library);
    assert!(cc.arg(source).status().expect("gcc").success());
    library.display().to_string()
}

/// A program in place of linux.uml that runs it with these libraries preloaded. `$LD_PRELOAD` stands for those that it is given.
fn with_libraries(place: &Path, libraries: &str) -> PathBuf {
    let program = place.join("linux.uml");
    let script = format!("#!/bin/sh\nLD_PRELOAD={libraries} exec linux.uml \"$@\"\n");
    write_program(&program, &script);
    program
}

/// Libraries that feign a processor with more registers than there is room for (AMX). `preload` is loaded before.
fn with_wide_registers(place: &Path, preload: &str) -> PathBuf {
    let wide = library(place, "tests/lab/amx.c");
    with_libraries(place, &format!("{preload}{wide}"))
}

/// Whether this machine has a guest at all; the test is skipped otherwise.
fn has_uml(test: &str) -> bool {
    let output = boot_command().args(["-n"]).env("FS", "ext4").output();
    let output = output.expect("boot");
    match uml_boots() {
        Err(console) => skip(test, &no_uml(console)),
        Ok(()) if !output.status.success() => skip(test, &last_lines(&output.stderr)),
        Ok(()) => return true,
    }
    false
}

#[test]
#[ignore = "`make soak` has it"]
fn a_guest_boots_on_a_processor_with_more_registers_than_it_knows() {
    let test = "a_guest_boots_on_a_processor_with_more_registers_than_it_knows";
    if !has_uml(test) {
        return;
    }
    let place = place();
    let boots = |preload: &str| {
        let program = with_wide_registers(place.path(), preload);
        let mut command = boot_command();
        let output = command.arg("-u").env("PGFSBENCH_UML", program).output();
        output.expect("boot")
    };
    // As it is, and without our library.
    let output = boots("$LD_PRELOAD:");
    assert_eq!(output.status.code(), Some(0), "{}", all(&output));
    let output = boots("");
    assert_eq!(output.status.code(), Some(1), "{}", all(&output));
    assert!(
        all(&output).contains("Kernel panic - not syncing"),
        "{}",
        all(&output)
    );
}

#[test]
#[ignore = "`make soak` has it"]
fn a_guest_goes_on_whose_alarms_are_lost() {
    let test = "a_guest_goes_on_whose_alarms_are_lost";
    if !has_uml(test) {
        return;
    }
    let place = place();
    let lossy = library(place.path(), "tests/lab/lost-alarms.c");
    let boots = |before: &str, limit: u64| {
        let program = with_libraries(place.path(), &format!("{before}:{lossy}"));
        let mut command = boot_command();
        command.args(["-u", "-t", &limit.to_string()]);
        command.env("PGFSBENCH_UML", program);
        let began = Instant::now();
        (command.output().expect("boot"), began.elapsed().as_secs())
    };
    let (output, seconds) = boots("$LD_PRELOAD", 180);
    assert_eq!(output.status.code(), Some(0), "{}", all(&output));
    // Without our library of alarms it stands still.
    let registers = library(place.path(), "tools/lab.d/uml-xstate.c");
    let (output, _) = boots(&registers, (3 * seconds).max(10));
    assert_eq!(output.status.code(), Some(124), "{}", all(&output));
}

#[test]
#[ignore = "`make soak` has it"]
fn where_user_mode_linux_does_not_boot_its_tests_are_skipped_with_the_end_of_its_console() {
    let test =
        "where_user_mode_linux_does_not_boot_its_tests_are_skipped_with_the_end_of_its_console";
    if !has_uml(test) {
        return;
    }
    let place = place();
    let program = with_wide_registers(place.path(), "");
    let own = std::env::current_exe().expect("a program");
    let names = [
        "what_fails_in_a_guest_fails_outside",
        "make_lab_benchmarks_jfs_in_a_guest",
    ];
    let mut again = Command::new(&own);
    again.arg("--exact");
    again.args(names.map(|name| format!("lab::{name}")));
    let output = again.env("PGFSBENCH_UML", &program).output().expect("it");
    let said = all(&output);
    assert!(output.status.success(), "{said}");
    for name in names {
        let line = format!("skipped: {name}: User-Mode Linux does not boot here");
        let line = said.lines().find(|said| said.starts_with(&line));
        let line = line.unwrap_or_else(|| panic!("no {name} in {said}"));
        assert!(line.contains("Kernel panic - not syncing"), "{line}");
    }
    // Where QEMU is missing as well.
    let mut again = Command::new(&own);
    again.args(["--exact", &format!("lab::{WITH_QEMU}")]);
    again.env("PGFSBENCH_UML", &program);
    let output = again.env("PGFSBENCH_QEMU", "/nowhere/qemu").output();
    let said = all(&output.expect("it"));
    let line = format!("skipped: {WITH_QEMU}: User-Mode Linux does not boot here: ");
    assert!(said.contains(&line), "{said}");
    assert!(said.contains("/nowhere/qemu (Debian package"), "{said}");
    // Where it is there, and does not boot.
    let mut again = Command::new(&own);
    again.args(["--exact", &format!("lab::{WITH_QEMU}")]);
    again.env("PGFSBENCH_UML", &program);
    let output = again.env("PGFSBENCH_QEMU", "false").output();
    let said = all(&output.expect("it"));
    assert!(said.contains(&line), "{said}");
    assert!(said.contains("1 passed; 0 failed"), "{said}");
}

/// Says what a process of another user can reach of root's: a terminal, a descriptor of one, and what a terminal would obey.
const REACHES: &str = "(echo forged > /dev/tty) 2> /dev/null && echo open: terminal\n\
    for fd in /proc/self/fd/*; do case $(readlink $fd) in /dev/pts/* | /dev/tty*) echo open: $fd ;; esac; done\n\
    printf 'escape: \\033[2J\\n'\n";

fn assert_apart(said: &str) {
    assert!(said.contains("escape: ^[[2J"), "{said}");
    assert!(
        !said.contains("open: ") && !said.contains("forged"),
        "{said}"
    );
}

#[test]
fn a_guest_has_a_user_id_of_its_own_and_nothing_of_roots() {
    let test = "a_guest_has_a_user_id_of_its_own_and_nothing_of_roots";
    if server_owner().is_none() {
        return skip(test, "needs root");
    }
    let place = place();
    let program = place.path().join("linux.uml");
    let script = format!(
        "#!/bin/sh\n\
         for word; do case $word in init=*) share=$(dirname \"${{word#init=}}\") ;; esac; done\n\
         lab=$(dirname \"$share\")\n\
         echo \"user: $(id -u) $(id -G) $(stat -c %u \"$lab\") $(stat -c %u \"$share\")\"\n\
         for file in $lab/new $share/new $share/init; do (: >> $file) 2> /dev/null && echo \"open: $file\"; done\n\
         mv $share/status $share/other 2> /dev/null && echo \"open: $share\"\n\
         {REACHES}echo 7 > $share/status\n"
    );
    write_program(&program, &script);
    let disks = place.path().join("disks");
    fs::create_dir(&disks).expect("a directory");
    let mut boot = Command::new("env");
    boot.args(["-u", "QEMU", "CASES=ext4"]);
    boot.arg(format!("PGFSBENCH_UML={}", program.display()));
    boot.arg(root().join("tools/lab.d/boot"));
    boot.arg("-d").arg(&disks);
    boot.arg(root().join("tests/lab/smoke.sql"));
    let (code, said) = OnTerminal::start(&boot).ends();
    if code == Some(MISSING) {
        return skip(test, &last_lines(said.as_bytes()));
    }
    assert_eq!(code, Some(7), "{said}");
    let user = said.lines().find_map(|line| line.strip_prefix("user: "));
    let user: Vec<u32> = user
        .expect("it ran")
        .split_whitespace()
        .map(|id| id.parse().expect("a number"))
        .collect();
    // The groups, and the owners of both directories.
    assert_eq!(user[1..], [user[0], 0, 0], "{said}");
    assert!((60_578..=61_183).contains(&user[0]), "{said}");
    assert_apart(&said);
    assert_eq!(fs::read_dir(&disks).expect("it").count(), 0);
}

#[test]
fn scripts_give_the_servers_owner_nothing_of_roots_terminal() {
    let test = "scripts_give_the_servers_owner_nothing_of_roots_terminal";
    if server_owner().is_none() {
        return skip(test, "needs root");
    }
    let script = format!(
        ". {}; as_server sh -c \"$1\"; as_server sh -c \"$1\" >&2; echo piped | as_server cat; \
         as_server sh -c 'sleep 600 & echo left: $!'",
        root().join("tools/lib.sh").display()
    );
    let mut bash = Command::new("bash");
    bash.args(["-c", &script, "bash", REACHES]);
    let (code, said) = OnTerminal::start(&bash).ends();
    assert_eq!(code, Some(0), "{said}");
    assert_apart(&said);
    assert_eq!(said.matches("escape: ").count(), 2, "{said}");
    assert!(said.contains("piped"), "{said}");
    // The script has ended, though a process that was left keeps the pipe open.
    let left = said.lines().find_map(|line| line.strip_prefix("left: "));
    let left: i32 = left.expect("it was told").trim().parse().expect("a number");
    let ended = Command::new("kill").arg(left.to_string()).status();
    assert!(ended.expect("kill").success(), "{said}");
}
