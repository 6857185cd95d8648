use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;

fn value(file: &str, value: &str) -> Value {
    Value {
        file: file.into(),
        value: value.into(),
    }
}

fn queue() -> SettingOwner {
    SettingOwner::Queue(Queue {
        major: 8,
        minor: 16,
        sequence: Some("5".into()),
    })
}

fn changed(of: SettingOwner, before: Value, after: Option<Value>) -> Changed {
    Changed { of, before, after }
}

#[test]
fn of_a_pair_the_one_in_force_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let put = |file: &str, text: &str| fs::write(directory.path().join(file), text).unwrap();
    put("dirty_bytes", "0\n");
    put("dirty_ratio", "20\n");
    put("scheduler", "none [kyber]\n");
    let read = |file: &str| read(directory.path(), file);
    assert_eq!(read("dirty_bytes"), Some(value("dirty_ratio", "20")));
    assert_eq!(read("dirty_ratio"), Some(value("dirty_ratio", "20")));
    put("dirty_bytes", "4096\n");
    assert_eq!(read("dirty_ratio"), Some(value("dirty_bytes", "4096")));
    assert_eq!(read("scheduler"), Some(value("scheduler", "kyber")));
    assert_eq!(read("nr_requests"), None);
}

#[test]
fn an_entry_of_the_journal_names_no_other_file() {
    for (of, file, text) in [
        (SettingOwner::Kernel, "overcommit_memory", "1"),
        (SettingOwner::Kernel, "../kernel/core_pattern", "x"),
        (SettingOwner::Kernel, "scheduler", "none"),
        (SettingOwner::Kernel, "dirty_bytes", "1\n2"),
        (queue(), "write_cache", "x"),
        (queue(), "iosched/../../x", "1"),
        (queue(), "iosched/", "1"),
        (queue(), "dirty_bytes", "1"),
    ] {
        let bad = changed(of.clone(), value(file, text), None);
        assert!(bad.check().is_err(), "{bad:?}");
    }
    let good = changed(
        SettingOwner::Kernel,
        value("dirty_ratio", "20"),
        Some(value("dirty_bytes", "9000")),
    );
    assert_eq!(good.check(), Ok(()));
    let good = changed(queue(), value("iosched/read_expire", "500"), None);
    assert_eq!(good.check(), Ok(()));
}

#[test]
fn what_somebody_else_has_changed_is_left_to_him() {
    let all = [
        changed(
            queue(),
            value("scheduler", "kyber"),
            Some(value("scheduler", "none")),
        ),
        changed(queue(), value("iosched/read_lat_nsec", "7"), None),
        changed(
            queue(),
            value("read_ahead_kb", "128"),
            Some(value("read_ahead_kb", "4096")),
        ),
        changed(
            SettingOwner::Kernel,
            value("dirty_ratio", "20"),
            Some(value("dirty_bytes", "9000")),
        ),
    ];
    let due = |scheduler: &'static str, kernel: Value| -> Vec<String> {
        let now = move |c: &Changed| match c.before.file.as_str() {
            "scheduler" => Some(value("scheduler", scheduler)),
            "dirty_ratio" => Some(kernel.clone()),
            "read_ahead_kb" => Some(value("read_ahead_kb", "4096")),
            _ => None,
        };
        to_put_back(&all, now)
            .into_iter()
            .map(|c| c.before.file)
            .collect()
    };
    assert_eq!(
        due("none", value("dirty_bytes", "9000")),
        [
            "scheduler",
            "iosched/read_lat_nsec",
            "read_ahead_kb",
            "dirty_ratio"
        ]
    );
    assert_eq!(
        due("bfq", value("dirty_ratio", "30")),
        ["read_ahead_kb"],
        "another scheduler has other settings"
    );
}

/// Imitates what the kernel does when this is written.
fn kernel_writes(machine: &mut BTreeMap<&'static str, String>, v: &Value) {
    let file = KERNEL.iter().find(|f| **f == v.file).unwrap();
    machine.insert(file, v.value.clone());
    for [bytes, ratio] in PAIRS {
        if *file == bytes {
            machine.insert(ratio, "0".into());
        } else if *file == ratio {
            machine.insert(bytes, "0".into());
        }
    }
}

fn in_force(machine: &BTreeMap<&'static str, String>, file: &str) -> Value {
    let pair = PAIRS.iter().find(|pair| pair.contains(&file));
    let file = match pair {
        Some([bytes, ratio]) => match machine[bytes].as_str() {
            "0" => ratio,
            _ => bytes,
        },
        None => file,
    };
    value(file, &machine[file])
}

proptest! {
    /// Any settings, interrupted anywhere, twice: everything is put back.
    #[test]
    fn killed_anywhere_everything_is_put_back(
        start in prop::collection::vec((0..6usize, 1..90u64), 6),
        requested in prop::collection::vec((0..6usize, 1..90u64), 0..6),
        set in 0..8usize, first in 0..8usize, is_done in any::<bool>(),
    ) {
        let mut machine: BTreeMap<&'static str, String> = KERNEL.iter().map(|f| (*f, "0".to_owned())).collect();
        for [_, ratio] in PAIRS {
            machine.insert(ratio, "15".into());
        }
        let of = |(file, n): &(usize, u64)| value(KERNEL[*file], &n.to_string());
        for pick in &start {
            kernel_writes(&mut machine, &of(pick));
        }
        let before = machine.clone();
        // At most one of each pair is asked for.
        let mut values: Vec<Value> = Vec::new();
        for v in requested.iter().map(of) {
            if !values.iter().any(|w| in_force(&machine, &w.file).file == in_force(&machine, &v.file).file) {
                values.push(v);
            }
        }
        let mut journal: Vec<Changed> = values.iter().map(|v| changed(SettingOwner::Kernel, in_force(&machine, &v.file), None)).collect();
        for v in values.iter().take(if is_done { usize::MAX } else { set }) {
            kernel_writes(&mut machine, v);
        }
        if is_done {
            for c in &mut journal {
                c.after = Some(in_force(&machine, &c.before.file));
            }
        }
        // Killed while it puts back, after the journal has the list; then once more.
        for count in [first, usize::MAX] {
            let due = to_put_back(&journal, |c| Some(in_force(&machine, &c.before.file)));
            journal = due.into_iter().map(|c| Changed { after: None, ..c }).collect();
            for c in journal.iter().take(count) {
                kernel_writes(&mut machine, &c.before);
            }
        }
        prop_assert_eq!(machine, before);
    }
}
