//! A log of xfs, or journal of ext3 and ext4, that is not in the filesystem: an image or a device of its own.

use super::step::{LOG, LOG_SECTOR};
use super::{Facts, NewImage, Part, PlannedLeaf, Step, device, discard, image};
use crate::config::Config;
use crate::place::Place;
use pgfsbench_core::helper::options::mkfs_arguments;
use pgfsbench_core::helper::{Filesystem, Log, Prepare};
use pgfsbench_core::refusal::Refusal;

/// The plan of an external log.
pub struct PlannedLog {
    pub on: PlannedLeaf,
    pub steps: Vec<Step>,
    /// Options that mkfs of the filesystem needs for it.
    pub mkfs_options: Vec<String>,
    /// The UUID by which it is known.
    pub uuid: String,
}

pub fn log(
    config: &Config,
    place: &Place,
    request: &Prepare,
    facts: &Facts,
    members: &[PlannedLeaf],
) -> Result<Option<PlannedLog>, Refusal> {
    let Some(log) = &request.log else {
        return Ok(None);
    };
    let (on, mut steps) = match log {
        Log::Image { bytes } => {
            let new_image = NewImage {
                part: Part::Log,
                name: Part::Log.image_name(place),
                bytes: *bytes,
                partitions: false,
                sparse: !request.storage.is_allocated(),
            };
            image::image(config, &new_image, facts, members)?
        }
        Log::Device(requested) => device::device(config, requested, facts, Part::Log)?,
    };
    let (mkfs_options, uuid) = match request.filesystem {
        Filesystem::Xfs => {
            let size = match is_too_large_for_xfs(request, &on)? {
                true => format!(",size={LARGEST_OF_XFS}"),
                false => String::new(),
            };
            (
                ["-l".into(), format!("logdev={LOG}{LOG_SECTOR}{size}")],
                facts.uuid.clone(),
            )
        }
        _ => {
            steps.push(Step::MakeJournal {
                program: facts.mkfs.clone()?,
                options: journal_options(request, facts)?,
            });
            (
                ["-J".into(), format!("device={LOG}")],
                facts.log_uuid.clone(),
            )
        }
    };
    Ok(Some(PlannedLog {
        on,
        steps,
        mkfs_options: mkfs_options.to_vec(),
        uuid,
    }))
}

/// The largest log of xfs, in bytes. Without a size, mkfs.xfs takes the whole device, and then complains.
const LARGEST_OF_XFS: u64 = 2_136_997_888;

fn is_too_large_for_xfs(request: &Prepare, on: &PlannedLeaf) -> Result<bool, Refusal> {
    let bytes = on.bytes();
    let given = mkfs_arguments(
        request.filesystem,
        request.mkfs_options.as_deref().unwrap_or(""),
    )?;
    let mut of_log = given.iter().skip_while(|o| *o != "-l").skip(1).take(1);
    let has_size = of_log.any(|value| value.split(',').any(|pair| pair.starts_with("size=")));
    Ok(bytes > LARGEST_OF_XFS && !has_size)
}

/// Options of the journal's mkfs. Its blocks have to be as large as those of the filesystem, whose mkfs takes the size from it.
fn journal_options(request: &Prepare, facts: &Facts) -> Result<Vec<String>, Refusal> {
    let text = request.mkfs_options.as_deref().unwrap_or("");
    let given = mkfs_arguments(request.filesystem, text)?;
    let block = given
        .iter()
        .position(|o| o == "-b")
        .and_then(|at| given.get(at + 1));
    let block = block.map_or("4096", String::as_str);
    let mut options: Vec<String> = [
        "-q",
        "-F",
        "-O",
        "journal_dev",
        "-b",
        block,
        "-U",
        &facts.log_uuid,
    ]
    .map(String::from)
    .to_vec();
    discard::spare(request, &mut options)?;
    Ok(options)
}

/// Options that mount needs. Without them ext4 would look for the journal where it was when the filesystem was made.
pub fn mount_options(filesystem: Filesystem, has_log: bool) -> Vec<String> {
    match (has_log, filesystem) {
        (false, _) => Vec::new(),
        (true, Filesystem::Xfs) => vec![format!("logdev={LOG}")],
        (true, _) => vec![format!("journal_path={LOG}")],
    }
}
