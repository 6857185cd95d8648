//! The process that speaks with a database, taken over by an attacker: whatever it says or does not say, root does only what the
//! configuration allows, keeps nothing unknown to the journal, and ends.

use super::lab::Lab;
use pgfsbench_tests::{LONG, Signal, program, server_owner, wait_until};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A script in its place. Its standard input is the socket, in both directions.
struct Intruder {
    lab: Lab,
    place: TempDir,
}

const PREPARE: &str = r#"{"order":{"job":1,"request":{"prepare":{"target":"t","prepare":{"storage":{"image":{"bytes":33554432}},"filesystem":"ext4"}}}}}"#;
const TOLD: &str = r#"{"told":{"job":1,"recorded":true}}"#;

impl Intruder {
    fn new(test: &str) -> Option<Self> {
        let lab = Lab::new(test)?;
        let place = TempDir::with_prefix_in("pgfsbench-intruder.", pgfsbench_tests::scratch())
            .expect("a directory");
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("chmod");
        chown(place.path(), server_owner(), None).expect("chown");
        Some(Self { lab, place })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// It hears whom to serve first; `say` and `hear` are its side of the conversation.
    fn script(&self, text: &str) -> String {
        let path = self.path("script");
        let script = format!(
            "#!/bin/sh\ncd {}\nsay() {{ printf '%s\\n' \"$1\" >&0; }}\n\
             hear() {{ while read -r answer; do case $answer in *'\"step\"'*) ;; *) return;; esac; done; }}\n\
             read -r hello\n{text}\n",
            self.place.path().display()
        );
        super::lab::write_program(&path, &script);
        path.display().to_string()
    }

    fn runs(&self, text: &str) -> Output {
        let script = self.script(text);
        self.lab.run(&["run-once", "--database-program", &script])
    }

    /// How many processes work in its directory.
    fn processes(&self) -> usize {
        let processes = fs::read_dir("/proc").expect("/proc").flatten();
        processes
            .filter(|p| {
                fs::read_link(p.path().join("cwd")).is_ok_and(|cwd| cwd == self.place.path())
            })
            .count()
    }

    fn gains_nothing(&self, text: &str) {
        let output = self.runs(text);
        assert_eq!(output.status.code(), Some(1), "{text}: {output:?}");
        self.lab.nothing_is_left_at_once();
    }
}

#[test]
fn orders_of_an_intruder_gain_nothing() {
    let Some(intruder) = Intruder::new("orders_of_an_intruder_gain_nothing") else {
        return;
    };
    what_is_no_order_ends_the_conversation(&intruder);
    orders_that_the_configuration_does_not_allow_are_refused(&intruder);
    what_it_has_not_told_anybody_of_is_released(&intruder);
}

fn what_is_no_order_ends_the_conversation(intruder: &Intruder) {
    let order =
        |request: &str| format!(r#"say '{{"order":{{"job":1,"request":{request}}}}}'; hear"#);
    for text in [
        "say x",
        "say '{}'",
        "say '[]'",
        "head -c 300000 /dev/zero >&0",
        "printf '%s' '{\"order\":' >&0",
        &format!("say '{TOLD}'"),
        &order(r#"{"release":{"target":"../../etc"}}"#),
        &order(r#"{"release":{"target":"t","force":true}}"#),
        &order(r#"{"execute":{"argv":["/bin/sh"]}}"#),
        &order(
            r#"{"prepare":{"target":"t","prepare":{"storage":{"image":{"bytes":33554432,"directory":"/etc"}},"filesystem":"ext4"}}}"#,
        ),
    ] {
        intruder.gains_nothing(text);
    }
}

fn orders_that_the_configuration_does_not_allow_are_refused(intruder: &Intruder) {
    let device = PREPARE.replace(
        r#"{"image":{"bytes":33554432}}"#,
        r#"{"device":{"path":"/dev/loop0"}}"#,
    );
    let large = PREPARE.replace("33554432", "1099511627776");
    let suid = PREPARE.replace(r#""ext4""#, r#""ext4","mount_options":"suid,dev""#);
    let run = PREPARE.replace(r#""ext4""#, r#""ext4","mkfs_options":"-d /etc""#);
    for order in [&device, &large, &suid, &run] {
        let output = intruder.runs(&format!(
            "say '{order}'; hear; echo \"$answer\" > heard; say '{TOLD}'"
        ));
        assert!(output.status.success(), "{output:?}");
        let heard = fs::read_to_string(intruder.path("heard")).expect("an answer");
        assert!(heard.contains(r#""refused""#), "{heard}");
        intruder.lab.nothing_is_left_at_once();
    }
}

fn what_it_has_not_told_anybody_of_is_released(intruder: &Intruder) {
    // As long as it behaves, the target stays.
    let output = intruder.runs(&format!("say '{PREPARE}'; hear; say '{TOLD}'"));
    assert!(output.status.success(), "{output:?}");
    assert_eq!(intruder.lab.mounts().len(), 1);
    intruder.lab.ok(&["release", "--target", "t"]);
    for text in [
        // It goes, or goes without having heard; says that nobody knows, speaks of another job, or orders the next.
        format!("say '{PREPARE}'; hear"),
        format!("say '{PREPARE}'"),
        format!(
            "say '{PREPARE}'; hear; say '{}'",
            TOLD.replace("true", "false")
        ),
        format!("say '{PREPARE}'; hear; say '{}'", TOLD.replace('1', "2")),
        format!("say '{PREPARE}'; hear; say '{PREPARE}'; hear"),
        format!("say '{PREPARE}'; say '{PREPARE}'; hear; say '{TOLD}'"),
        format!("say '{PREPARE}'; hear; printf '%s' '{TOLD}' >&0"),
    ] {
        intruder.runs(&text);
        intruder.lab.nothing_is_left_at_once();
    }
}

#[test]
fn an_intruder_has_no_rights_and_holds_nobody_up() {
    let Some(intruder) = Intruder::new("an_intruder_has_no_rights_and_holds_nobody_up") else {
        return;
    };
    it_has_no_rights_and_reaches_nothing_of_roots(&intruder);
    intruder.lab.configure(&intruder.lab.usual());
    one_that_does_not_read_or_end_keeps_no_other_waiting(&intruder);
    intruder.lab.configure(&intruder.lab.usual());
    a_helper_whose_work_cannot_be_ended_ends_itself(&intruder);
}

fn it_has_no_rights_and_reaches_nothing_of_roots(intruder: &Intruder) {
    let config = intruder.lab.path("helper.toml");
    let text = format!(
        "id -u > id; id -G > groups; cat {} > config 2>&1; ls /proc/self/fd > fds; env > env; \
         ls {} > state 2>&1; kill -9 $PPID 2> kill; true",
        config.display(),
        intruder.lab.path("state").display()
    );
    let output = intruder.runs(&text);
    assert!(output.status.success(), "{output:?}");
    let found = |name: &str| fs::read_to_string(intruder.path(name)).expect("it was written");
    assert_eq!(
        found("id").trim(),
        server_owner().expect("root").to_string()
    );
    assert_eq!(found("groups").split_whitespace().count(), 1);
    for name in ["config", "state"] {
        assert!(found(name).contains("Permission denied"), "{}", found(name));
    }
    assert!(found("kill").contains("not permitted"), "{}", found("kill"));
    // Standard input, output and error, and what ls itself and the shell have opened.
    let fds: Vec<u32> = found("fds")
        .lines()
        .filter_map(|fd| fd.parse().ok())
        .collect();
    // And files that the tests' user has left open for all.
    let inherited = |fd: u32| {
        let told = fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).unwrap_or_default();
        let flags = told.lines().find_map(|line| line.strip_prefix("flags:"));
        flags.is_some_and(|flags| {
            let flags = u32::from_str_radix(flags.trim(), 8).expect("octal");
            flags & rustix::fs::OFlags::CLOEXEC.bits() == 0
        })
    };
    let few = |fd: u32| fd <= 3 || fd == 10 || inherited(fd);
    assert!(fds.iter().all(|&fd| few(fd)), "{fds:?}");
    let environment = found("env");
    let mut names: Vec<&str> = environment
        .lines()
        .filter_map(|l| Some(l.split_once('=')?.0))
        .collect();
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_", "PATH"].contains(name));
    assert_eq!(names, ["LC_ALL"]);
}

fn one_that_does_not_read_or_end_keeps_no_other_waiting(intruder: &Intruder) {
    let lab = &intruder.lab;
    let other = "[[database]]\nname = \"other\"\nconnection = \"host=/nowhere user=postgres\"\n";
    lab.configure(&format!("{}{other}", lab.usual()));
    // The first orders without end and reads nothing; the second is served meanwhile. Neither ends by itself.
    let script = intruder.script(&format!(
        "if mkdir first 2>/dev/null; then\n\
           while :; do say '{}' || exec sleep 600; done\n\
         fi\n\
         say '{PREPARE}'; hear; say '{TOLD}'; touch served; exec sleep 600",
        r#"{"order":{"job":0,"request":"describe"}}"#
    ));
    let mut helper = lab
        .command(&["serve", "--patience", "1", "--database-program", &script])
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the helper runs");
    wait_until("the other is served", LONG, || {
        intruder.path("served").exists().then_some(())
    });
    wait_until("its target is kept", LONG, || {
        let kept = ["bench", "other"].map(|database| lab.begun_in(database, "t"));
        let is_kept = |b: &Option<String>| b.as_ref().is_some_and(|b| b.contains("ready"));
        kept.iter().any(is_kept).then_some(())
    });
    let pid = rustix::process::Pid::from_raw(helper.id() as i32).expect("a pid");
    rustix::process::kill_process(pid, Signal::TERM).expect("kill");
    assert_eq!(helper.wait().expect("it ends").code(), Some(0));
    // Nor do they stay when it has gone.
    wait_until("they have gone", LONG, || {
        (intruder.processes() == 0).then_some(())
    });
    lab.ok(&["cleanup"]);
    lab.nothing_is_left_at_once();
}

/// A filesystem that stops writing, until this is dropped, also when the test fails: whoever opens a loop device on it would wait for ever,
/// and mkfs.btrfs and losetup open all there are.
struct Frozen(String);

impl Frozen {
    fn new(place: &str) -> Self {
        super::lab::system("fsfreeze", &["-f", place]);
        Self(place.to_owned())
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        let thaw =
            program("fsfreeze").map(|path| Command::new(path).args(["-u", &self.0]).status());
        if !matches!(thaw, Some(Ok(status)) if status.success()) {
            eprintln!("{} is still frozen: {thaw:?}", self.0);
        }
    }
}

fn a_helper_whose_work_cannot_be_ended_ends_itself(intruder: &Intruder) {
    let lab = &intruder.lab;
    // Images on a filesystem that stops writing: mkfs then waits in the kernel, where no signal reaches it.
    let (disk, images) = (lab.path("below"), lab.path("images").display().to_string());
    fs::File::create(&disk)
        .and_then(|f| f.set_len(256 << 20))
        .expect("a file");
    let disk = disk.display().to_string();
    super::lab::system("mkfs.ext4", &["-q", "-F", &disk]);
    super::lab::system("mount", &["-o", "loop", &disk, &images]);
    fs::set_permissions(&images, fs::Permissions::from_mode(0o700)).expect("chmod");
    let script = intruder.script(&format!("say '{PREPARE}'; hear; exec sleep 600"));
    let options = [
        "--patience",
        "1",
        "--pause-before",
        "mkfs",
        "--database-program",
        &script,
    ];
    let mut helper = lab
        .command(&[&["serve"], &options[..]].concat())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the helper runs");
    super::lab::wait_until_held(&helper);
    let frozen = Frozen::new(&images);
    super::lab::go_on(&helper);
    let pid = rustix::process::Pid::from_raw(helper.id() as i32).expect("a pid");
    rustix::process::kill_process(pid, Signal::TERM).expect("kill");
    let mut status = None;
    let is_over = || {
        status = helper.try_wait().expect("it can be waited for");
        status.map(|_| ())
    };
    wait_until("the helper ends", LONG, is_over);
    drop(frozen);
    assert_eq!(status.and_then(|s| s.code()), Some(0));
    lab.ok(&["cleanup"]);
    super::lab::system("umount", &[&images]);
    lab.nothing_is_left_at_once();
}
