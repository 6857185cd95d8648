//! Arrays below the data or WAL: missing members, work of their own, and facts that make them unlike other arrays.

use super::super::{Finding, RunFacts, Severity, StorageFacts};
use crate::{
    sys::{Layer, LayerKind, has_parity, is_redundant},
    texts::finding::array as text,
};

/// Among random starts, fewer than one pause in a thousand is longer than this number of mean pauses.
const RARE: f64 = 7.0;

/// The layers below the data, those below an external log, then those below WAL on another filesystem.
fn layers(facts: &RunFacts) -> impl Iterator<Item = &Layer> {
    let of_wal = facts.wal_storage.iter().flat_map(|wal| &wal.layers);
    let of_data = facts.storage.layers.iter();
    let of_data = of_data.chain(&facts.storage.log_layers);
    of_data.chain(of_wal).flatten()
}

fn arrays(facts: &RunFacts) -> impl Iterator<Item = &Layer> {
    layers(facts).filter(|layer| [LayerKind::Md, LayerKind::Btrfs].contains(&layer.kind))
}

/// The array reads and writes for itself. In the measured window this makes the figures those of another device.
pub fn raid_resync(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    if let Some(works) = &storage.array_work {
        return (!works.is_empty())
            .then(|| Finding::new(Severity::Invalid, text::raid_resync(&works.join(", "))));
    }
    let busy = arrays(facts).find_map(|layer| Some((layer, layer.busy_with()?)));
    let work = match (busy, storage.resync_at_end) {
        (Some((layer, action)), _) => text::work(action, Some(layer)),
        (None, Some(true)) => text::work("resync", None),
        _ => return None,
    };
    Some(Finding::new(Severity::Warning, text::raid_resync(&work)))
}

/// An array that lacks disks computes their contents.
pub fn raid_degraded(facts: &RunFacts) -> Option<Finding> {
    let layer = arrays(facts).find(|layer| layer.is_degraded())?;
    let text = text::raid_degraded(layer, layer.degraded?);
    Some(Finding::new(Severity::Warning, text))
}

/// A power cut in the midst of a write leaves parity that does not fit the data.
pub fn raid_write_hole(facts: &RunFacts) -> Option<Finding> {
    let array = arrays(facts).find(|layer| layer.has_write_hole());
    let volume = || Some(facts.storage.parity_of_lvm()?.to_owned());
    let name = array.map(text::with_level).or_else(volume)?;
    Some(Finding::new(
        Severity::Warning,
        text::raid_write_hole(&name),
    ))
}

/// Without a bitmap a write costs less, and the whole array is read and written after a crash.
pub fn raid_without_bitmap(facts: &RunFacts) -> Option<Finding> {
    let lacks = |layer: &&Layer| {
        let array = &layer.array;
        // A journal and a partial parity log do the work of a bitmap.
        layer.level.as_deref().is_some_and(is_redundant)
            && array.bitmap.as_deref() == Some("none")
            && array.consistency_policy.as_deref() == Some("resync")
    };
    let layer = arrays(facts).find(lacks)?;
    Some(Finding::new(
        Severity::Info,
        text::raid_without_bitmap(layer),
    ))
}

/// An array below the data, and what is known of its stripes.
struct Striped {
    name: String,
    has_parity: bool,
    chunk_bytes: Option<u64>,
}

/// A volume that the helper has made lies on the arrays of md.
fn striped(storage: &StorageFacts) -> impl Iterator<Item = Striped> {
    let volume = storage.stripes_of_lvm().map(|(layout, chunk)| Striped {
        name: layout.name().to_owned(),
        has_parity: storage.parity_of_lvm().is_some(),
        chunk_bytes: Some(chunk),
    });
    let of_md = storage.layers_of(LayerKind::Md).map(|layer| Striped {
        name: text::with_level(layer),
        has_parity: layer.level.as_deref().is_some_and(has_parity),
        chunk_bytes: layer.chunk_bytes,
    });
    volume.into_iter().chain(of_md)
}

/// Writes of less than a stripe have the array read first.
pub fn stripe_unknown(facts: &RunFacts) -> Option<Finding> {
    let unit = facts.storage.stripe_unit_bytes?;
    let array = striped(&facts.storage).find(|array| array.has_parity)?;
    (unit == 0).then(|| Finding::new(Severity::Warning, text::stripe_unknown(&array.name)))
}

/// The filesystem places its files by stripes that the array does not have.
pub fn stripe_mismatch(facts: &RunFacts) -> Option<Finding> {
    let unit = facts.storage.stripe_unit_bytes.filter(|unit| *unit > 0)?;
    let mut arrays = striped(&facts.storage);
    let (name, chunk) = arrays.find_map(|array| Some((array.name, array.chunk_bytes?)))?;
    (unit != chunk).then(|| {
        let text = text::stripe_mismatch(&name, unit, chunk);
        Finding::new(Severity::Warning, text)
    })
}

/// A physical block or a chunk lies across two blocks of the partition, and each write of one becomes a write of two.
pub fn misaligned(facts: &RunFacts) -> Option<Finding> {
    let all: Vec<&Layer> = layers(facts).collect();
    let text = all.iter().enumerate().find_map(|(place, layer)| {
        if let Some(offset) = layer.alignment_offset.filter(|offset| *offset != 0) {
            return Some(text::misaligned_device(layer, offset));
        }
        // The next layer is the device that the partition is on.
        let (start, device) = (layer.start_bytes?, all.get(place + 1)?);
        let physical = device.queue.as_ref().and_then(|q| q.physical_block_size);
        let unit = device.chunk_bytes.or(physical).filter(|unit| *unit > 0)?;
        (start % unit != 0).then(|| text::misaligned_partition(layer, start, unit))
    })?;
    Some(Finding::new(Severity::Warning, text))
}

/// After a pause, md marks its members as clean, and the next write marks them as active first.
pub fn raid_at_rest(facts: &RunFacts) -> Option<Finding> {
    let rate = facts.rate?;
    let rests = |layer: &&Layer| {
        let delay = layer.array.safe_mode_delay_ms.unwrap_or(0) as f64 / 1000.0;
        layer.level.as_deref().is_some_and(is_redundant) && delay > 0.0 && rate * delay < RARE
    };
    let layer = arrays(facts).find(rests)?;
    let text = text::raid_at_rest(layer, layer.array.safe_mode_delay_ms?, rate);
    Some(Finding::new(Severity::Warning, text))
}
