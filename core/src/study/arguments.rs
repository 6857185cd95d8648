//! The arguments of `fsbench.study`, checked.

use serde::{Deserialize, Serialize};

use super::definition::Study;
use crate::{
    helper::layout::MOST_MEMBERS,
    refusal::{Refusal, quoted},
    verdict::looks::LOOKS,
};

/// A year, as long as the longest one.
const LONGEST_US: i64 = 366 * 86_400 * 1_000_000;

/// All parts.
pub(super) const ALL: &str = "all";

/// The arguments as they were given; None is NULL or not given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StudyArguments {
    pub study: Option<String>,
    pub image_size: Option<String>,
    pub device: Option<String>,
    /// Devices of the layouts; targets without a layout are on the first of them.
    pub devices: Option<Vec<String>>,
    /// Images of the layouts, each of `image_size`.
    pub image_count: Option<i32>,
    pub log_device: Option<String>,
    pub misaligned_device: Option<String>,
    pub part: Option<String>,
    pub quick: Option<bool>,
    pub period: Option<bool>,
    pub scale: Option<i32>,
    pub duration_us: Option<i64>,
    pub blocks: Option<i32>,
    pub bindir: Option<String>,
    pub power_loss_protected: Option<bool>,
    pub start: Option<bool>,
    /// Whether other programs are expected to use the machine, as of an experiment.
    pub neighbours: Option<String>,
    /// Name of a copy of a user's server, in which the runs make their tables.
    pub data: Option<String>,
    /// The database of the copy.
    pub database: Option<String>,
}

impl StudyArguments {
    /// Whether it is shrunk to an hour's worth in ten minutes.
    pub fn is_quick(&self) -> bool {
        self.quick.unwrap_or(false)
    }

    /// The device of a target without a layout.
    pub fn first_device(&self) -> Option<&String> {
        let first = self.devices.as_ref().and_then(|all| all.first());
        self.device.as_ref().or(first)
    }

    /// Devices or images that a layout may have.
    pub fn members(&self) -> usize {
        match (&self.devices, self.image_count) {
            (Some(devices), _) => devices.len(),
            (None, count) => usize::try_from(count.unwrap_or(1)).unwrap_or(0),
        }
    }

    /// The part that is asked for, or the parts, with commas between them.
    pub fn part<'a>(&'a self, study: &'a Study) -> &'a str {
        self.part.as_deref().unwrap_or(&study.part)
    }

    /// Whether a part of the study is asked for.
    pub fn has_part(&self, study: &Study, part: &str) -> bool {
        names(self.part(study)).any(|name| name == ALL || name == part)
    }
}

/// Refuses arguments that do not go together, or that the study has not.
pub fn check(arguments: &StudyArguments, study: &Study) -> Result<(), Refusal> {
    check_place(arguments, study)?;
    check_length(arguments)?;
    check_data(arguments)?;
    check_parts(arguments.part(study), study)
}

fn check_data(arguments: &StudyArguments) -> Result<(), Refusal> {
    let (missing, given) = match (&arguments.data, &arguments.database) {
        (Some(_), None) => ("database", "data"),
        (None, Some(_)) => ("data", "database"),
        _ => return Ok(()),
    };
    refused(
        format!("the argument \"{missing}\" is missing"),
        format!(
            "The argument \"{given}\" was given: its runs work in a database of a copied server."
        ),
        "Give the name of data that fsbench.prepare_data() has copied, and of a database in them.",
    )
}

fn check_parts(part: &str, study: &Study) -> Result<(), Refusal> {
    let parts = study.parts();
    let unknown = names(part).find(|name| *name != ALL && !parts.contains(name));
    match unknown {
        None => Ok(()),
        Some(name) => refused(
            format!(
                "study {} has no part {}",
                quoted(&study.study),
                quoted(name)
            ),
            format!("It has {}.", parts.join(", ")),
            "Give one of them, several with commas between them, or 'all'.",
        ),
    }
}

/// The names of a list with commas.
fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim)
}

fn refused(message: String, detail: String, hint: &str) -> Result<(), Refusal> {
    Err(Refusal::argument(message).detail(detail).hint(hint))
}

fn check_place(arguments: &StudyArguments, study: &Study) -> Result<(), Refusal> {
    let places = [
        arguments.device.is_some(),
        arguments.devices.is_some(),
        arguments.image_size.is_some(),
    ];
    match (
        study.has_its_targets(),
        places.iter().filter(|is| **is).count(),
    ) {
        (false, 0) => {
            return refused(
                "a study takes a device or an image_size".into(),
                "Nothing says where its filesystems are to be made.".into(),
                "Give the path of a block device, which each run erases, several of them in devices, or the size of an image, such as '4GB'.",
            );
        }
        (_, 2..) => {
            return refused(
                "a study takes a device or an image_size".into(),
                "Several of device, devices and image_size are given.".into(),
                "Give one of them.",
            );
        }
        (true, 1) => {
            return refused(
                format!("study {} makes no filesystems", quoted(&study.study)),
                "All of its variants are targets that are recorded already.".into(),
                "Leave device, devices and image_size out.",
            );
        }
        _ => {}
    }
    if arguments.image_count.is_some() && arguments.image_size.is_none() {
        return refused(
            "image_count means nothing without an image_size".into(),
            "It is the number of images of a layout.".into(),
            "Leave it out, or give image_size.",
        );
    }
    let members = arguments.members();
    let is_alone = arguments.devices.is_none() && arguments.image_count.is_none();
    if !is_alone && !(2..=MOST_MEMBERS).contains(&members) {
        return refused(
            format!("a study takes 2 to {MOST_MEMBERS} devices or images for its layouts"),
            format!("There are {members}."),
            "Give device or image_size alone for a study without layouts.",
        );
    }
    if arguments.misaligned_device.is_some() && arguments.device.is_none() {
        return refused(
            "misaligned_device means nothing without a device".into(),
            "It is compared with one that is aligned, on the same disk.".into(),
            "Leave it out, or give device.",
        );
    }
    if arguments.log_device.is_some() && arguments.first_device().is_none() {
        return refused(
            "log_device means nothing without a device".into(),
            "Beside an image the log is another image.".into(),
            "Leave it out, or give device.",
        );
    }
    Ok(())
}

fn check_length(arguments: &StudyArguments) -> Result<(), Refusal> {
    if arguments.is_quick() && arguments.duration_us.is_some() {
        return refused(
            "quick and duration exclude each other".into(),
            "A quick study has lengths of its own.".into(),
            "Leave one of them out.",
        );
    }
    if arguments.duration_us.is_some_and(|us| us < 1_000_000) {
        return refused(
            "duration is below a second".into(),
            "It is the length of the measured window of each run.".into(),
            "Give an interval such as '5 min', or leave it out for that of the study.",
        );
    }
    if arguments.duration_us.is_some_and(|us| us > LONGEST_US) {
        return refused(
            "duration is above a year".into(),
            "It is the length of the measured window of each run.".into(),
            "Give an interval such as '5 min', or leave it out for that of the study.",
        );
    }
    if arguments.scale.is_some_and(|scale| scale < 1) {
        return refused(
            "scale is below 1".into(),
            "It is pgbench's scale, or millions of rows of a scan.".into(),
            "Leave it out for that of the study.",
        );
    }
    if let Some(blocks) = arguments.blocks
        && !u32::try_from(blocks).is_ok_and(|n| LOOKS.contains(&n))
    {
        return refused(
            format!("after {blocks} blocks there is no look"),
            "A block has one run of each variant. The looks are after 3, 4, 6, 8, 12, 16 and 24 blocks.".into(),
            "Give one of these numbers, or leave it out for that of the study.",
        );
    }
    Ok(())
}

/// A study that there is not.
pub fn unknown(name: Option<&str>, known: &[String]) -> Refusal {
    let message = match name {
        None => "study must not be null".to_owned(),
        Some(name) => format!("study {} does not exist", quoted(name)),
    };
    Refusal::argument(message)
        .detail(format!("There are {}.", known.join(", ")))
        .hint("See fsbench.studies; your own are made by fsbench.define_study().")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{refusal::check, study::builtin};

    #[test]
    fn what_does_not_go_together_is_refused() {
        let study = builtin::find("heron-2010").unwrap().unwrap();
        let image = StudyArguments {
            image_size: Some("4GB".into()),
            ..StudyArguments::default()
        };
        assert_eq!(super::check(&image, &study), Ok(()));
        let ends = |wrong: StudyArguments| {
            let refusal = super::check(&wrong, &study).unwrap_err();
            check::style(&refusal);
            refusal.message
        };
        macro_rules! says {
            ($($field:ident: $value:expr),* => $message:expr) => {
                let wrong = StudyArguments { $($field: Some($value),)* ..image.clone() };
                assert_eq!(ends(wrong), $message);
            };
        }
        let place = "a study takes a device or an image_size";
        assert_eq!(ends(StudyArguments::default()), place);
        says!(device: "/dev/null".into() => place);
        says!(quick: true, duration_us: 5_000_000 => "quick and duration exclude each other");
        says!(duration_us: 5 => "duration is below a second");
        says!(duration_us: LONGEST_US + 1 => "duration is above a year");
        says!(blocks: 5 => "after 5 blocks there is no look");
        says!(scale: 0 => "scale is below 1");
        for (part, unknown) in [("nothing", "nothing"), ("options, nothing", "nothing"), ("options,", "")] {
            says!(part: part.into() => format!("study \"heron-2010\" has no part \"{unknown}\""));
        }
        says!(log_device: "/dev/null".into() => "log_device means nothing without a device");
        says!(misaligned_device: "/dev/null".into() => "misaligned_device means nothing without a device");
        for (data, database) in [(Some("shop"), None), (None, Some("orders"))] {
            ends(StudyArguments {
                data: data.map(Into::into),
                database: database.map(Into::into),
                ..image.clone()
            });
        }
        check::style(&unknown(None, &["a".into()]));
        check::style(&unknown(Some("b"), &["a".into()]));
    }

    #[test]
    fn several_parts_may_be_asked_for() {
        let study = builtin::find("heron-2010").unwrap().unwrap();
        let of = |part: Option<&str>| {
            let arguments = StudyArguments {
                image_size: Some("4GB".into()),
                part: part.map(str::to_owned),
                ..StudyArguments::default()
            };
            assert_eq!(super::check(&arguments, &study), Ok(()));
            let parts = study.parts().into_iter();
            parts
                .filter(|part| arguments.has_part(&study, part))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(None), ["filesystems"]);
        assert_eq!(of(Some("options")), ["options"]);
        assert_eq!(of(Some("scheduler,options")), ["options", "scheduler"]);
        assert_eq!(of(Some(" options , barriers ")), ["options", "barriers"]);
        assert_eq!(of(Some("options,all")), study.parts());
    }
}
