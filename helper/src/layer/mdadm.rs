//! The command lines of mdadm that make an array.

use pgfsbench_core::helper::{Layout, LayoutOptions};
use std::path::{Path, PathBuf};

/// The name by which mdadm makes it, below /dev.
pub fn node_of_array(uuid: &str) -> PathBuf {
    let short: String = uuid.chars().take(8).collect();
    format!("/dev/md/pgfsbench-{short}").into()
}

/// The command that makes the array.
pub fn create(
    program: &Path,
    uuid: &str,
    (layout, options, skips_sync): (Layout, &LayoutOptions, bool),
    members: &[PathBuf],
) -> Vec<String> {
    let mut argv = vec![
        program.display().to_string(),
        "--create".into(),
        node_of_array(uuid).display().to_string(),
        // mdadm asks nothing.
        "--run".into(),
        "--metadata=1.2".into(),
        format!("--uuid={uuid}"),
        "--homehost=any".into(),
        "--name=pgfsbench".into(),
    ];
    argv.extend(options.mdadm_options(layout, members.len()));
    if skips_sync {
        argv.push("--assume-clean".into());
    }
    let members = members.iter();
    argv.extend(members.map(|member| member.display().to_string()));
    argv
}

/// The command that makes the array again from what its members hold. It starts no array that lacks a member, unless that member was already missing.
pub fn assemble(program: &Path, uuid: &str, members: &[PathBuf]) -> Vec<String> {
    let mut argv = vec![
        program.display().to_string(),
        "--assemble".into(),
        node_of_array(uuid).display().to_string(),
        // No other format: data of a member may look like one.
        "--metadata=1.2".into(),
        format!("--uuid={uuid}"),
        "--config=none".into(),
    ];
    argv.extend(members.iter().map(|member| member.display().to_string()));
    argv
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "12345678-0000-4000-8000-000000000000";

    #[test]
    fn an_array_is_assembled_from_its_own_members() {
        let members = ["/dev/loop1", "/dev/loop2"].map(PathBuf::from);
        assert_eq!(
            assemble(Path::new("/sbin/mdadm"), UUID, &members).join(" "),
            "/sbin/mdadm --assemble /dev/md/pgfsbench-12345678 --metadata=1.2 --uuid=12345678-0000-4000-8000-000000000000 --config=none /dev/loop1 /dev/loop2"
        );
    }

    #[test]
    fn mdadm_is_told_all_that_it_would_ask_or_choose() {
        let members = ["/dev/loop1", "/dev/loop2"].map(PathBuf::from).to_vec();
        let line = |layout, options: &str, skips| {
            let options: LayoutOptions = serde_json::from_str(options).unwrap();
            let argv = create(
                Path::new("/sbin/mdadm"),
                UUID,
                (layout, &options, skips),
                &members,
            );
            argv.join(" ").split_off("/sbin/mdadm --create ".len())
        };
        const BEGIN: &str = "/dev/md/pgfsbench-12345678 --run --metadata=1.2 --uuid=12345678-0000-4000-8000-000000000000 --homehost=any --name=pgfsbench";
        for (layout, options, skips, end) in [
            (
                Layout::Raid0,
                "{}",
                false,
                "--level=raid0 --raid-devices=2 --chunk=512K",
            ),
            (
                Layout::Linear,
                "{}",
                false,
                "--level=linear --raid-devices=2",
            ),
            (
                Layout::Raid1,
                "{}",
                false,
                "--level=raid1 --raid-devices=2 --bitmap=none",
            ),
            (
                Layout::Raid10,
                r#"{"chunk": "64k", "bitmap": "internal", "copies": "f2"}"#,
                true,
                "--level=raid10 --raid-devices=2 --chunk=64K --layout=f2 --bitmap=internal --assume-clean",
            ),
            (
                Layout::Raid5,
                r#"{"consistency_policy": "ppl"}"#,
                false,
                "--level=raid5 --raid-devices=2 --chunk=512K --consistency-policy=ppl",
            ),
        ] {
            let wanted = format!("{BEGIN} {end} /dev/loop1 /dev/loop2");
            assert_eq!(line(layout, options, skips), wanted);
        }
    }
}
