//! Whether a directory can be trusted: only root and the server's operating system user may exchange its files.

/// The owner, the group and the mode of a directory, and the users who come with the group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// User id of the owner.
    pub owner: u32,
    /// The bits of st_mode.
    pub mode: u32,
    /// The group, where it may write.
    pub group: Option<Group>,
}

/// A group that may write to a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Name of the group, else the number.
    pub name: String,
    /// Whether the server's process is in it.
    pub is_own: bool,
    /// Members of the group other than root and the server's user.
    pub others: Vec<String>,
    /// Whether these are known to be all: the group is the server's user's own, or the system lists every user and group.
    pub has_no_more: bool,
    /// Whether an access control list gives others the rights of the group.
    pub has_list: bool,
}

const OTHERS: u32 = 0o002;
const GROUP: u32 = 0o020;
const STICKY: u32 = 0o1000;

/// Whether the group may write to a directory, and exchange files of others there.
pub fn group_writes(mode: u32) -> bool {
    mode & GROUP != 0 && mode & STICKY == 0
}

/// Refuses a directory in which others than root and the user `own` can exchange files, with the reason as a DETAIL.
pub fn check(path: &str, directory: &Directory, own: u32) -> Result<(), String> {
    let mode = directory.mode;
    if (directory.owner != 0 && directory.owner != own)
        || (mode & OTHERS != 0 && mode & STICKY == 0)
    {
        return Err(format!(
            "Others than root and the server's operating system user can exchange what is in \"{path}\"."
        ));
    }
    if !group_writes(mode) {
        return Ok(());
    }
    let group = directory.group.clone().unwrap_or_default();
    let reason = match () {
        () if group.has_list => "An access control list gives others the right to".to_owned(),
        () if !group.is_own => format!("Group \"{}\", which is not the server's, can", group.name),
        () if !group.others.is_empty() => format!(
            "Other members of group \"{}\" ({}) can",
            group.name,
            shown(&group.others)
        ),
        () if !group.has_no_more => format!(
            "The system cannot list all members of group \"{}\" (nsswitch.conf names more than files), and members can",
            group.name
        ),
        () => return Ok(()),
    };
    Err(format!("{reason} exchange what is in \"{path}\"."))
}

/// Whether all users and groups can be listed, by nsswitch.conf: only files have them. Directory services list none, or a part.
pub fn lists_all(nsswitch: &str) -> bool {
    let services = |database: &str| {
        let lines = nsswitch
            .lines()
            .filter_map(|line| line.split('#').next()?.trim().split_once(':'));
        let of = lines.filter(|(name, _)| name.trim() == database);
        let services: Vec<String> = of.map(|(_, services)| without_actions(services)).collect();
        services.join(" ")
    };
    let is_files = |database: &str| services(database).split_whitespace().eq(["files"]);
    let initgroups = services("initgroups");
    let other_way = !initgroups.trim().is_empty() && !is_files("initgroups");
    is_files("passwd") && is_files("group") && !other_way
}

/// Services without what is done after each, which stands in brackets.
fn without_actions(services: &str) -> String {
    let mut depth = 0_u32;
    let is_outside = |c: &char| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    services.chars().filter(is_outside).collect()
}

/// A few of them.
fn shown(names: &[String]) -> String {
    const MOST: usize = 3;
    let mut text = names[..names.len().min(MOST)].join(", ");
    if names.len() > MOST {
        text += ", ...";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u32 = 999;

    fn checked(owner: u32, mode: u32, group: Option<Group>) -> Result<(), String> {
        check("/data", &Directory { owner, mode, group }, OWN)
    }

    fn group(is_own: bool, others: &[&str]) -> Option<Group> {
        Some(Group {
            name: "postgres".into(),
            is_own,
            others: others.iter().map(|&name| name.into()).collect(),
            has_no_more: true,
            has_list: false,
        })
    }

    #[test]
    fn a_volume_of_kubernetes() {
        assert_eq!(checked(0, 0o42775, group(true, &[])), Ok(()));
        assert_eq!(
            checked(0, 0o42775, group(true, &["a", "b", "c", "d"])),
            Err("Other members of group \"postgres\" (a, b, c, ...) can exchange what is in \"/data\".".into())
        );
        assert_eq!(
            checked(0, 0o42775, group(false, &[])),
            Err(
                "Group \"postgres\", which is not the server's, can exchange what is in \"/data\"."
                    .into()
            )
        );
        let listed = group(true, &[]).map(|group| Group {
            has_list: true,
            ..group
        });
        assert_eq!(
            checked(0, 0o42775, listed),
            Err(
                "An access control list gives others the right to exchange what is in \"/data\"."
                    .into()
            )
        );
        let unlisted = group(true, &[]).map(|group| Group {
            has_no_more: false,
            ..group
        });
        assert_eq!(
            checked(0, 0o42775, unlisted),
            Err(
                "The system cannot list all members of group \"postgres\" (nsswitch.conf names more than files), and members can exchange what is in \"/data\"."
                    .into()
            )
        );
        // A group with unknown members is not trusted.
        assert!(checked(0, 0o42775, None).is_err());
    }

    #[test]
    fn only_files_list_all_users_and_groups() {
        for text in [
            "passwd: files\ngroup: files\n",
            "# passwd: sss\npasswd:\t files  # more\ngroup:files [!SUCCESS=return]\ninitgroups: files\nhosts: dns\n",
        ] {
            assert!(lists_all(text), "{text}");
        }
        for text in [
            "",
            "passwd: files\n",
            "group: files\n",
            "passwd: files systemd\ngroup: files systemd\n",
            "passwd: files\ngroup: files [SUCCESS=merge] systemd\n",
            "passwd: files sss\ngroup: files\n",
            "passwd: compat\ngroup: compat\n",
            "passwd: files\npasswd: ldap\ngroup: files\n",
            "passwd: files\ngroup: files\ninitgroups: files sss\n",
            "passwd: files\ngroup: [files\n",
        ] {
            assert!(!lists_all(text), "{text}");
        }
    }

    #[test]
    fn owners_and_others() {
        let others = "Others than root and the server's operating system user can exchange what is in \"/data\".";
        for (owner, mode, is_trusted) in [
            (0, 0o40755, true),
            (OWN, 0o40700, true),
            (1000, 0o40700, false),
            (0, 0o40757, false),
            (0, 0o41777, true),
            (1000, 0o41777, false),
        ] {
            let expected = match is_trusted {
                true => Ok(()),
                false => Err(others.to_owned()),
            };
            assert_eq!(
                checked(owner, mode, group(true, &[])),
                expected,
                "{owner} {mode:o}"
            );
        }
        // The own group does not help where all users may write.
        assert_eq!(checked(0, 0o42777, group(true, &[])), Err(others.into()));
        assert!(!group_writes(0o41775) && !group_writes(0o755) && group_writes(0o775));
    }
}
