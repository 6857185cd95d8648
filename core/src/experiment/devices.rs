//! The devices that targets are on, as far as they are known before there is a run: those whose differences will be in the verdicts.

use crate::target::Row;

/// The storage of a target, as that of its runs will be told; None if it is not known. `row` is None for this server itself. `source` is what is mounted
/// where the directory of the target is, or the data of this server. Images are files of one place, whatever device they become.
pub fn of_target(row: Option<&Row>, source: Option<String>) -> Option<String> {
    let Some(row) = row else {
        return source;
    };
    match row.image_size_bytes {
        Some(_) => Some("image".into()),
        None => (row.device.clone())
            .or_else(|| row.connection.clone())
            .or(source),
    }
}

/// Whether two of these targets are on different devices.
pub fn are_different(places: &[Option<String>]) -> bool {
    let mut known = places.iter().flatten();
    let first = known.next();
    known.any(|place| Some(place) != first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_target_has_its_place() {
        let on = |source: &str| Some(source.to_owned());
        let directory = Row {
            directory: Some("/srv/fast".into()),
            ..Row::default()
        };
        let image = Row {
            image_size_bytes: Some(1 << 30),
            ..Row::default()
        };
        let device = Row {
            device: Some("/dev/sdb".into()),
            ..Row::default()
        };
        let places = [
            of_target(None, on("/dev/sda1")),
            of_target(Some(&directory), on("/dev/sda1")),
        ];
        assert!(!are_different(&places), "the same disk");
        for other in [
            of_target(Some(&directory), on("/dev/sdc1")),
            of_target(Some(&image), None),
            of_target(Some(&device), None),
        ] {
            assert!(
                are_different(&[places[0].clone(), other.clone()]),
                "{other:?}"
            );
            assert!(!are_different(&[other.clone(), other]));
        }
        // What is not known is not said to be another one.
        assert!(!are_different(&[places[0].clone(), None]));
        assert!(!are_different(&[]));
    }
}
