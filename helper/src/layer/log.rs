//! A log of xfs, journal of ext3 and ext4, or intent log of zfs that is not in the filesystem: on an image or a device of its own, or on several, each of
//! which holds all of it. For xfs and ext these are an array of md, and zfs makes a mirror itself.

use super::step::{LOG, LOG_SECTOR};
use super::{Facts, NewImage, Part, PlannedLeaf, Step, device, discard, image, zfs};
use crate::config::Config;
use crate::place::Place;
use pgfsbench_core::helper::options::mkfs_arguments;
use pgfsbench_core::helper::{Filesystem, Log, Prepare};
use pgfsbench_core::refusal::Refusal;

/// The plan of an external log.
pub struct PlannedLog {
    pub on: Vec<PlannedLeaf>,
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
    let (on, mut steps) = leaves(config, place, request, facts, (log, members))?;
    let (mkfs_options, uuid) = match request.filesystem {
        Filesystem::Zfs => (Vec::new(), facts.uuid.clone()),
        Filesystem::Xfs => {
            let size = match size_for_xfs(request, &on)? {
                Some(bytes) => format!(",size={bytes}"),
                None => String::new(),
            };
            (
                vec!["-l".into(), format!("logdev={LOG}{LOG_SECTOR}{size}")],
                facts.uuid.clone(),
            )
        }
        _ => {
            steps.push(Step::MakeJournal {
                program: facts.mkfs.clone()?,
                options: journal_options(request, facts)?,
            });
            (
                vec!["-J".into(), format!("device={LOG}")],
                facts.log_uuid.clone(),
            )
        }
    };
    Ok(Some(PlannedLog {
        on,
        steps,
        mkfs_options,
        uuid,
    }))
}

/// The leaves of the log, with the steps that lead there.
fn leaves(
    config: &Config,
    place: &Place,
    request: &Prepare,
    facts: &Facts,
    (log, members): (&Log, &[PlannedLeaf]),
) -> Result<(Vec<PlannedLeaf>, Vec<Step>), Refusal> {
    let is_zfs = request.filesystem == Filesystem::Zfs;
    let (mut leaves, mut steps) = (Vec::new(), Vec::new());
    let mut add = |part, (on, further): (PlannedLeaf, Vec<Step>)| {
        steps.extend(further);
        if is_zfs {
            steps.extend(zfs::partition(part, &on, facts)?);
        }
        leaves.push(on);
        Ok::<(), Refusal>(())
    };
    if let Log::Image { bytes } = log {
        let part = Part::Log(0);
        let new_image = NewImage {
            part,
            name: part.image_name(place),
            bytes: *bytes,
            partitions: is_zfs,
            sparse: !request.storage.is_allocated(),
        };
        add(part, image::image(config, &new_image, facts, members)?)?;
    }
    for (n, requested) in log.devices().iter().enumerate() {
        let part = Part::Log(n);
        add(part, device::device(config, requested, facts, part)?)?;
    }
    Ok((leaves, steps))
}

/// The largest log of xfs, in bytes. Without a size, mkfs.xfs takes the whole device, and then complains.
const LARGEST_OF_XFS: u64 = 2_136_997_888;

/// The bytes that an array of md may take of each device for itself, and more.
const TAKEN_BY_ARRAY: u64 = 256 << 20;

/// The size that mkfs.xfs has to be told for the log. None if it takes the right one by itself.
fn size_for_xfs(request: &Prepare, on: &[PlannedLeaf]) -> Result<Option<u64>, Refusal> {
    let bytes = on.iter().map(PlannedLeaf::bytes).min().unwrap_or(0);
    let largest = match on.len() {
        1 => LARGEST_OF_XFS,
        _ => LARGEST_OF_XFS - TAKEN_BY_ARRAY,
    };
    let given = mkfs_arguments(
        request.filesystem,
        request.mkfs_options.as_deref().unwrap_or(""),
    )?;
    let mut of_log = given.iter().skip_while(|o| *o != "-l").skip(1).take(1);
    let has_size = of_log.any(|value| value.split(',').any(|pair| pair.starts_with("size=")));
    Ok((bytes > LARGEST_OF_XFS && !has_size).then_some(largest))
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

/// Options that mount needs. Without them ext4 would look for the journal where it was when the filesystem was made. zfs finds its log by itself.
pub fn mount_options(filesystem: Filesystem, has_log: bool) -> Vec<String> {
    match (has_log, filesystem) {
        (false, _) | (true, Filesystem::Zfs) => Vec::new(),
        (true, Filesystem::Xfs) => vec![format!("logdev={LOG}")],
        (true, _) => vec![format!("journal_path={LOG}")],
    }
}
