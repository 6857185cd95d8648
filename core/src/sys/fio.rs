//! The place of the program fio.

use crate::refusal::{Kind, Refusal};

/// Places of fio where the setting `pgfsbench.fio` is empty.
const PLACES: [&str; 3] = ["/usr/bin/fio", "/usr/local/bin/fio", "/usr/sbin/fio"];

/// The path of fio: that of the setting, or else the first place where a file exists.
pub fn place(setting: Option<String>, exists: impl Fn(&str) -> bool) -> Result<String, Refusal> {
    let found = || PLACES.into_iter().find(|place| exists(place));
    setting
        .or_else(|| found().map(str::to_owned))
        .ok_or_else(|| {
            Refusal::new(Kind::NotInThisState, "fio is not installed")
                .detail(format!("It was sought in {}.", PLACES.join(", ")))
                .hint("Install it, as by apt-get install fio, or set pgfsbench.fio to its path.")
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;

    #[test]
    fn the_setting_is_before_the_usual_places_and_a_missing_fio_is_named() {
        let local = |path: &str| path == "/usr/local/bin/fio";
        let found = place(None, local).unwrap();
        assert_eq!(found, "/usr/local/bin/fio");
        let set = place(Some("/opt/fio".into()), local).unwrap();
        assert_eq!(set, "/opt/fio");
        let refusal = place(None, |_| false).unwrap_err();
        check::style(&refusal);
        assert_eq!(refusal.kind, Kind::NotInThisState);
        assert_eq!(refusal.message, "fio is not installed");
        assert!(refusal.hint.unwrap().contains("apt-get install fio"));
    }
}
