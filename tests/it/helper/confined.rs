//! The helper runs here with no more rights than its systemd unit gives it: its capabilities, no_new_privs, and, where systemd's
//! own program can say which those are, its system calls.

use super::bench::Bench;
use super::lab;
use pgfsbench_tests::{program, skip};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn unit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../helper/pgfsbench-helper.service")
}

/// The value of a setting of the unit.
fn setting(name: &str) -> String {
    let unit = fs::read_to_string(unit()).expect("the unit");
    let mut lines = unit.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    value.unwrap_or_else(|| panic!("no {name}")).to_owned()
}

/// The helper, confined unless an administrator runs this by hand.
pub fn helper(arguments: &[&str]) -> Command {
    if arguments.first() == Some(&"setup") {
        return Command::new(lab::helper());
    }
    static CONFINED: OnceLock<Vec<String>> = OnceLock::new();
    let words = CONFINED.get_or_init(|| {
        let mut words = of_capabilities();
        words.extend(of_system_calls().ok().into_iter().flatten());
        words
    });
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).arg(lab::helper());
    command
}

fn of_capabilities() -> Vec<String> {
    let names = setting("CapabilityBoundingSet").to_lowercase();
    let allowed = names
        .split_whitespace()
        .map(|name| name.replace("cap_", ",+"));
    let set = allowed.fold("--bounding-set=-all".to_owned(), |set, name| set + &name);
    vec!["setpriv".into(), set, "--no-new-privs".into()]
}

/// Installs a filter of system calls, which are the second argument, by prctl, which is the first, and becomes the third.
const FILTER: &str = r#"
my ($prctl, $numbers) = (shift, shift);
my $allow = pack("SCCL", 0x06, 0, 0, 0x7fff0000);
my $filter = pack("SCCL", 0x20, 0, 0, 0);
$filter .= pack("SCCL", 0x15, 0, 1, $_) . $allow for split /,/, $numbers;
$filter .= pack("SCCL", 0x06, 0, 0, 0x00050001);
my $program = pack("S x6 P", length($filter) / 8, $filter);
syscall($prctl, 22, 2, $program) == 0 or die "no filter: $!";
exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!";
"#;

/// System calls under the unit's filter; or why they cannot be told here.
fn of_system_calls() -> Result<Vec<String>, String> {
    let groups = groups()?;
    let numbers = numbers()?;
    let mut names = Vec::new();
    for group in setting("SystemCallFilter").split_whitespace() {
        add(&groups, group, &mut names);
    }
    let allowed: Vec<String> = names
        .iter()
        .filter_map(|name| numbers.get(name).cloned())
        .collect();
    assert!(allowed.len() > 100, "{allowed:?}");
    let prctl = numbers.get("prctl").ok_or("there is no number of prctl")?;
    let words = ["perl", "-e", FILTER, prctl, &allowed.join(",")];
    Ok(words.map(str::to_owned).to_vec())
}

/// The groups of system calls that systemd knows.
fn groups() -> Result<BTreeMap<String, Vec<String>>, String> {
    let mut analyze =
        Command::new(program("systemd-analyze").ok_or("there is no systemd-analyze")?);
    let output = analyze.args(["--no-pager", "syscall-filter"]).output();
    let text = output.map_err(|e| e.to_string())?.stdout;
    let text = String::from_utf8(text).map_err(|e| e.to_string())?;
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut group = String::new();
    for line in text.lines() {
        match line.strip_prefix("    ") {
            Some(name) if !name.starts_with('#') => {
                groups
                    .entry(group.clone())
                    .or_default()
                    .push(name.to_owned());
            }
            Some(_) => {}
            None => group = line.to_owned(),
        }
    }
    Ok(groups)
}

fn add(groups: &BTreeMap<String, Vec<String>>, name: &str, names: &mut Vec<String>) {
    if !name.starts_with('@') {
        names.push(name.to_owned());
        return;
    }
    let group = groups
        .get(name)
        .unwrap_or_else(|| panic!("no group {name}"));
    group.iter().for_each(|name| add(groups, name, names));
}

/// The numbers that this kind of processor gives to system calls.
fn numbers() -> Result<BTreeMap<String, String>, String> {
    let header = "printf '#include <sys/syscall.h>' | gcc -E -dM -";
    let output = Command::new("sh").args(["-c", header]).output();
    let text = output.map_err(|e| e.to_string())?.stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    let defined = text.lines().filter_map(|line| {
        let (name, number) = line.strip_prefix("#define __NR_")?.split_once(' ')?;
        Some((name.to_owned(), number.to_owned()))
    });
    Ok(defined.collect())
}

#[test]
fn the_helper_has_the_rights_of_its_unit_and_no_others() {
    let test = "the_helper_has_the_rights_of_its_unit_and_no_others";
    let Some(bench) = Bench::new(test) else {
        return;
    };
    let serving = bench.serve_now();
    let status = |pid: i32| fs::read_to_string(format!("/proc/{pid}/status")).expect("status");
    let status = status(serving.root_process().as_raw_nonzero().get());
    let is = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map(|value| value.trim_start_matches(':').trim().to_owned())
    };
    // CHOWN, DAC_READ_SEARCH, KILL, SETGID, SETUID, SYS_PTRACE, SYS_ADMIN, MKNOD.
    let mask = [0, 2, 5, 6, 7, 19, 21, 27]
        .iter()
        .fold(0u64, |mask, bit| mask | 1 << bit);
    for set in ["CapBnd", "CapPrm", "CapEff"] {
        assert_eq!(is(set), Some(format!("{mask:016x}")), "{set}");
    }
    assert_eq!(is("NoNewPrivs").as_deref(), Some("1"));
    match of_system_calls() {
        Ok(_) => assert_eq!(is("Seccomp").as_deref(), Some("2")),
        Err(why) => skip(test, &format!("its system calls: {why}")),
    }
}

/// Servers see what the helper mounts.
#[test]
fn the_unit_is_strict_and_has_no_view_of_filesystems_of_its_own() {
    let test = "the_unit_is_strict_and_has_no_view_of_filesystems_of_its_own";
    let text = fs::read_to_string(unit()).expect("the unit");
    let names: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| Some(line.split_once('=')?.0))
        .collect();
    // Each of them makes a mount namespace, or lets no device be opened.
    let forbidden = |name: &&&str| {
        let beginnings = [
            "Private",
            "Protect",
            "ReadOnly",
            "ReadWrite",
            "Inaccessible",
            "Bind",
            "Mount",
            "Root",
            "Temporary",
        ];
        beginnings.iter().any(|b| name.starts_with(b))
            || [
                "DynamicUser",
                "DevicePolicy",
                "DeviceAllow",
                "ExecPaths",
                "NoExecPaths",
                "ProcSubset",
                "LogNamespace",
            ]
            .contains(name)
    };
    assert_eq!(names.iter().find(forbidden), None);
    let Some(analyze) = program("systemd-analyze") else {
        return skip(test, "there is no systemd-analyze");
    };
    let verdict = Command::new(analyze)
        .args(["security", "--offline=true", "--no-pager", "--threshold=55"])
        .arg(unit())
        .output()
        .expect("systemd-analyze");
    let said = String::from_utf8_lossy(&verdict.stdout);
    assert!(verdict.status.success(), "{said}");
    for promised in [
        "NoNewPrivileges=",
        "CapabilityBoundingSet=~CAP_SYS_MODULE",
        "SystemCallFilter=~@module",
        "SystemCallFilter=~@raw-io",
    ] {
        let line = said.lines().find(|line| line.contains(promised));
        assert!(
            line.is_some_and(|line| line.contains('✓')),
            "{promised}: {said}"
        );
    }
}
