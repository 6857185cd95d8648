//! The extended options of mke2fs, which believes only the last -E.

use pgfsbench_core::helper::Filesystem;

/// Work that ext3 and ext4 would do in the background after the mount, while they are measured, unless mkfs does it.
const AT_ONCE: [&str; 2] = ["lazy_itable_init", "lazy_journal_init"];

fn last(options: &mut [String]) -> Option<&mut String> {
    let at = options.iter().rposition(|o| o == "-E")?;
    options.get_mut(at + 1)
}

/// True if there is an option of this name, with a value or without.
pub fn has(options: &mut [String], name: &str) -> bool {
    last(options).is_some_and(|value| {
        let mut names = value.split(',').map(|o| o.split('=').next());
        names.any(|given| given == Some(name))
    })
}

pub fn add(options: &mut Vec<String>, option: &str) {
    match last(options) {
        Some(value) => {
            value.push(',');
            value.push_str(option);
        }
        None => options.extend(["-E".to_owned(), option.to_owned()]),
    }
}

/// Has mkfs write all tables itself, where nothing else was asked for.
pub fn write_at_once(filesystem: Filesystem, options: &mut Vec<String>) {
    if !matches!(filesystem, Filesystem::Ext3 | Filesystem::Ext4) {
        return;
    }
    for name in AT_ONCE {
        if !has(options, name) {
            add(options, &format!("{name}=0"));
        }
    }
}
