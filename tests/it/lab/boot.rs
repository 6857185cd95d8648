//! Boots guests for tests, by tools/lab.d/boot: of User-Mode Linux, or of QEMU.

use pgfsbench_tests::skip;
use std::fmt::Debug;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The thing that this machine lacks for a case.
pub fn missing(word: &str) -> Option<String> {
    let output = boot_command().arg("-n").env("CASES", word).output();
    let output = output.expect("boot");
    (!output.status.success()).then(|| last_lines(&output.stderr))
}

/// Exit code of `boot` where something is missing.
pub const MISSING: i32 = 77;

/// Directory of the guest's files while it lives.
pub fn place() -> TempDir {
    let place = TempDir::with_prefix_in("pgfsbench-test.", pgfsbench_tests::scratch())
        .expect("a directory");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("chmod");
    place
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The test that has a guest of QEMU where User-Mode Linux does not boot. It is slow: one boot and one run.
pub const WITH_QEMU: &str = "a_run_on_reiserfs_in_a_guest";
/// The tests whose guests are QEMU's wherever QEMU and a kernel for it are: ext4, so that such a guest is known to work before it is needed; and zfs,
/// which User-Mode Linux lacks.
pub const ALWAYS_QEMU: [&str; 3] = [
    "a_run_on_ext4_in_a_guest_of_qemu",
    "pools_by_the_helper_in_a_guest",
    "killed_at_any_step_no_pool_is_left_in_a_guest",
];

pub fn boot_command() -> Command {
    Command::new(root().join("tools/lab.d/boot"))
}

/// Whether User-Mode Linux boots here, once for all tests; the end of its console if it does not. Where it is missing, each
/// guest says so itself.
pub fn uml_boots() -> Result<(), &'static str> {
    static ANSWER: OnceLock<Option<String>> = OnceLock::new();
    let answer = ANSWER.get_or_init(|| {
        let output = boot_command().arg("-u").output().expect("boot runs");
        (output.status.code() == Some(1)).then(|| last_lines(&output.stderr))
    });
    answer.as_deref().map_or(Ok(()), Err)
}

/// On one line, as a reason is told.
pub fn last_lines(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let lines = lines[lines.len().saturating_sub(4)..].join(" / ");
    lines.replace(|c: char| c.is_control(), "?")
}

/// The guest of a test.
#[derive(Clone, Copy, PartialEq)]
pub enum Guest {
    Uml,
    Qemu,
}

/// The guest of a test: QEMU's where it asks for that, or where User-Mode Linux does not boot and it is the test that has one all the
/// same. The others are skipped there.
pub fn guest_of(test: &str) -> Option<Guest> {
    if ALWAYS_QEMU.contains(&test) {
        return Some(Guest::Qemu);
    }
    match uml_boots() {
        Ok(()) => Some(Guest::Uml),
        Err(_) if test == WITH_QEMU => Some(Guest::Qemu),
        Err(console) => {
            skip(test, &no_uml(console));
            None
        }
    }
}

/// Boots a guest, has it do the script for each of these cases, and asserts that nothing of it is left; or why this machine has no guest.
pub fn boot(guest: Guest, cases: &str, limit: u32, script: &Path) -> Result<Output, String> {
    let place = place();
    let mut command = boot_command();
    let mut limit = limit;
    if guest == Guest::Qemu {
        command.env("QEMU", "1");
        limit *= 4;
    }
    command
        .arg("-d")
        .arg(place.path())
        .args(["-t", &limit.to_string()])
        .arg(script)
        .env("CASES", cases)
        .stdin(Stdio::null());
    let output = command.output().expect("boot runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(MISSING) {
        let missing = errors.lines().last().unwrap_or("something is missing");
        return Err(match uml_boots() {
            Ok(()) => missing.to_owned(),
            Err(console) => no_guest(console, missing),
        });
    }
    assert_eq!(fs::read_dir(place.path()).expect("it").count(), 0);
    assert_eq!(processes(place.path()), [""; 0]);
    if guest == Guest::Qemu
        && let Err(console) = uml_boots()
        && !all(&output).contains("==> guest: ")
    {
        let both = [&output.stdout[..], &output.stderr[..]].concat();
        return Err(no_guest(console, &last_lines(&both)));
    }
    Ok(output)
}

/// A guest of one test's own. None, and the test is skipped, where something is missing, or no guest boots.
pub fn boot_alone(test: &str, case: &str, limit: u32, script: &Path) -> Option<Output> {
    let booted = boot(guest_of(test)?, case, limit, script);
    booted.map_err(|why| skip(test, &why)).ok()
}

pub fn no_uml(console: &str) -> String {
    format!("User-Mode Linux does not boot here, and a guest of QEMU's is slow: {console}")
}

fn no_guest(uml: &str, qemu: &str) -> String {
    format!("User-Mode Linux does not boot here: {uml}; and no guest of QEMU's: {qemu}")
}

/// Command lines that name this directory.
pub fn processes(directory: &Path) -> Vec<String> {
    let name = directory.to_str().expect("UTF-8");
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(name))
        .collect()
}

/// Both outputs, for a test that fails.
pub fn all(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// A script of a guest of its own: the case, the seconds that it may take, and the path. It tells facts, in lines that begin with "fact: ".
pub struct GuestScript(pub &'static str, pub u32, pub &'static str);

impl GuestScript {
    /// The facts; None where the test is skipped.
    pub fn facts(&self, test: &str) -> Option<Vec<String>> {
        let Self(case, limit, script) = self;
        let output = boot_alone(test, case, *limit, &root().join(script))?;
        let said = all(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        println!("{said}");
        let facts = said.lines().filter_map(|line| line.strip_prefix("fact: "));
        Some(facts.map(str::to_owned).collect())
    }

    /// Asserts that these are the facts, unless the test is skipped.
    pub fn tells<T: Debug>(&self, test: &str, expected: &[T])
    where
        String: PartialEq<T>,
    {
        if let Some(facts) = self.facts(test) {
            assert_eq!(facts, expected);
        }
    }
}
