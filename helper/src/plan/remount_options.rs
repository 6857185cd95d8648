//! The options with which a target may be mounted again. An entry of the journal may have those that a request may have, with
//! nosuid and nodev, and no others: it is no way around the grammar of options.

use crate::config::Config;
use crate::layer;
use crate::place::Place;
use pgfsbench_core::helper::Filesystem;
use pgfsbench_core::helper::options::mount_options;
use pgfsbench_core::refusal::{Kind, Refusal};

/// The options, as the journal says that it was mounted.
pub fn mount_options_again(
    config: &Config,
    place: &Place,
    (filesystem, has_log, joined): (Filesystem, bool, usize),
    options: Option<&[String]>,
) -> Result<Vec<String>, Refusal> {
    let no = |kind: Kind, detail: &str| {
        let message = format!("target \"{}\" cannot be mounted again", place.target);
        Refusal::new(kind, message)
            .detail(detail)
            .hint("Release the target, and prepare it again.")
    };
    let Some(options) = options else {
        let detail = "The journal does not say how it was mounted: it was prepared by an earlier version of pgfsbench-helper.";
        return Err(no(Kind::NotInThisState, detail));
    };
    if !config.filesystems.contains(&filesystem) {
        let detail = "The helper's configuration does not allow its filesystem.";
        return Err(no(Kind::NotAllowed, detail));
    }
    let requested = options.strip_suffix(&layer::mount_options(filesystem, has_log, joined)[..]);
    let is_accepted = requested.is_some_and(|requested| {
        mount_options(filesystem, &requested.join(",")).is_ok_and(|accepted| accepted == requested)
    });
    match is_accepted {
        true => Ok(options.to_vec()),
        false => {
            let detail = "Its mount options in the journal are not such as are accepted.";
            Err(no(Kind::NotAllowed, detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "[[images]]\ndirectory = \"/srv/i\"\nmax_bytes = 1\n";
    const OF_LOG: [&str; 3] = ["nosuid", "nodev", "journal_path={log}"];

    fn again(config: &str, options: &[&str], has_log: bool) -> Result<Vec<String>, Refusal> {
        let config = Config::parse(&format!("{config}{CONFIG}")).unwrap();
        let place = Place::of_key("bench@t").unwrap();
        let options: Vec<String> = options.iter().map(|&o| o.to_owned()).collect();
        let made = (Filesystem::Ext4, has_log, 1);
        mount_options_again(&config, &place, made, Some(&options))
    }

    #[test]
    fn what_was_accepted_is_again() {
        for good in [
            &["nosuid", "nodev"][..],
            &["nosuid", "nodev", "noatime", "commit=30"],
        ] {
            assert_eq!(again("", good, false).unwrap(), good);
        }
        assert_eq!(again("", &OF_LOG, true).unwrap(), OF_LOG);
    }

    #[test]
    fn what_a_request_may_not_ask_for_an_entry_may_not_either() {
        for bad in [
            &[][..],
            &["suid", "dev"],
            &["nosuid"],
            &["nodev", "nosuid"],
            &["nosuid", "nodev", "suid"],
            &["nosuid", "nodev", "dev"],
            &["nosuid,suid", "nodev"],
            &["nosuid", "nodev", "noatime,suid"],
            &["nosuid", "nodev", "remount"],
            &["nosuid", "nodev", "X-mount.mkdir"],
            &["nosuid", "nodev", "errors=panic"],
            &["nosuid", "nodev", "journal_path=/dev/sda"],
            &OF_LOG,
        ] {
            let refusal = again("", bad, false).expect_err("it is refused");
            assert_eq!(refusal.kind, Kind::NotAllowed, "{bad:?}");
        }
        assert!(
            again("", &["nosuid", "nodev"], true).is_err(),
            "without its log"
        );
        let only_xfs = "filesystems = [\"xfs\"]\n";
        assert!(again(only_xfs, &["nosuid", "nodev"], false).is_err());
    }
}
