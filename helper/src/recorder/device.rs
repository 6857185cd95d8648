//! The device: images that are never written, each of which is a disk, and a record of what was written instead. While it records, it has its current
//! contents; after `stop`, those that the last power cut has left. A log of dm-log-writes is a record that has ended.

use super::extents::{Extents, Source};
use super::log_writes::Log;
use super::replay::{self, Entry, NOWHERE};
use pgfsbench_core::helper::record::{
    Cut, CutMade, CutStop, Fault, FaultOn, Kind, Moment, Recorded, choose,
};
use rustix::io::Errno;
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::Duration;

/// Bytes of memory that an entry takes, at most: they count as bytes of the record.
const BYTES_OF_ENTRY: u64 = 256;
/// Bytes a second that are recorded when an eighth of the record is full. A filesystem that writes much at each commit would fill all of it within a window.
const BYTES_PER_SECOND_LATER: u64 = 16 << 20;
/// Entries of a record at most: they are in memory.
pub const MOST_ENTRIES: usize = 4_000_000;

/// Disks of a record at most.
const MOST_DISKS: usize = 1 << u8::BITS;

/// An image that serves as a disk.
struct Disk {
    image: File,
    /// Bytes of this disk when all disks are joined end to end.
    range: Range<u64>,
}

pub struct Device {
    disks: Vec<Disk>,
    record: File,
    /// The largest size of the record.
    limit: u64,
    /// The end of the record's data.
    end: u64,
    entries: Vec<Entry>,
    /// Writes and discards since the last cut: each may take a range of memory.
    later: u64,
    /// The contents that readers see.
    now: Extents,
    /// The contents after so many entries, each of them flushed: cuts in rising order go on from here.
    flushed: (usize, Extents),
    stopped: Option<Stopped>,
    fault: Option<Fault>,
    /// Operations that it has failed: while it recorded, and since the last cut.
    faults: u64,
    is_full: bool,
    /// Operations that this process, and not the filesystem, has failed since the last cut.
    failures: Cell<u64>,
}

/// The end of the recording.
#[derive(Clone, Copy)]
struct Stopped {
    ns: u64,
    /// The end of the data of its entries. Later data are thrown away with each cut.
    end: u64,
    /// Operations that were failed before.
    faults: u64,
}

impl Device {
    /// The disks of these images.
    pub fn new(images: Vec<File>, record: File, limit: u64) -> io::Result<Self> {
        let mut sized = Vec::new();
        for image in images {
            let bytes = image.metadata()?.len();
            sized.push((image, bytes));
        }
        Ok(Self::of(sized, record, limit))
    }

    fn of(images: Vec<(File, u64)>, record: File, limit: u64) -> Self {
        let mut end = 0;
        let disk = |(image, bytes)| {
            let start = end;
            end += bytes;
            let range = start..end;
            Disk { image, range }
        };
        let disks: Vec<Disk> = images.into_iter().map(disk).collect();
        assert!(disks.len() <= MOST_DISKS, "{} disks", disks.len());
        Self {
            disks,
            record,
            limit,
            end: 0,
            entries: Vec::new(),
            later: 0,
            now: Extents::default(),
            flushed: (0, Extents::default()),
            stopped: None,
            fault: None,
            faults: 0,
            is_full: false,
            failures: Cell::new(0),
        }
    }

    /// The device of a log, whose recording has ended. Where nothing was recorded it has zeros, which `zeros` gives.
    pub fn of_log(zeros: File, bytes: u64, record: File, limit: u64, log: Log) -> Self {
        let end_ns = log.end_ns.unwrap_or(u64::MAX);
        let mut device = Self {
            entries: log.entries,
            is_full: log.end_ns.is_none(),
            ..Self::of(vec![(zeros, bytes)], record, limit)
        };
        device.stop(&CutStop::default(), end_ns);
        device
    }

    /// Size of a disk. Disks are counted from 0; a number that no disk has is a fault of the caller.
    pub fn bytes(&self, disk: usize) -> u64 {
        let range = &self.disks[disk].range;
        range.end - range.start
    }

    /// Reads from this offset on, up to the end of the disk. Returns the number of bytes.
    pub fn read(&self, disk: usize, offset: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        let range = self.within(disk, offset, buffer.len() as u64);
        let Disk { image, range: all } = &self.disks[disk];
        for (piece, source) in self.now.pieces(range.clone()) {
            let at = (piece.start - range.start) as usize..(piece.end - range.start) as usize;
            let buffer = &mut buffer[at];
            let read = match source {
                None => image.read_exact_at(buffer, piece.start - all.start),
                Some(Source::Record(position)) => self.record.read_exact_at(buffer, position),
                Some(Source::Zeros) => {
                    buffer.fill(0);
                    Ok(())
                }
            };
            read.map_err(|e| {
                self.note_failure();
                Errno::from_io_error(&e).unwrap_or(Errno::IO)
            })?;
        }
        Ok((range.end - range.start) as usize)
    }

    /// The part of this range that the disk has, with all disks joined end to end.
    fn within(&self, disk: usize, offset: u64, bytes: u64) -> Range<u64> {
        let Range { start, end } = self.disks[disk].range;
        let first = start.saturating_add(offset).min(end);
        first..first.saturating_add(bytes).min(end)
    }

    pub fn write(&mut self, disk: usize, offset: u64, data: &[u8], ns: u64) -> Result<(), Errno> {
        let bytes = data.len() as u64;
        let range = self.within(disk, offset, bytes);
        if range.end - range.start < bytes {
            return Err(Errno::INVAL);
        }
        self.fail(FaultOn::Write)?;
        // A new array writes zeros to all its disks.
        let has_zeros = data.iter().all(|byte| *byte == 0);
        let kept = if has_zeros { 0 } else { bytes };
        self.check_room(kept)?;
        if !has_zeros && let Err(e) = self.record.write_all_at(data, self.end) {
            let error = Errno::from_io_error(&e).unwrap_or(Errno::IO);
            self.note_failure();
            self.is_full |= error == Errno::NOSPC && self.stopped.is_none();
            return Err(error);
        }
        self.add(Entry {
            kind: Kind::Write,
            disk: disk as u8,
            offset: range.start,
            bytes,
            position: if has_zeros { NOWHERE } else { self.end },
            ns,
        });
        self.end += kept;
        if self.stopped.is_none() && self.used() > self.limit / 8 {
            let seconds = kept as f64 / BYTES_PER_SECOND_LATER as f64;
            thread::sleep(Duration::from_secs_f64(seconds));
        }
        Ok(())
    }

    /// From now on this range reads as zeros.
    pub fn discard(&mut self, disk: usize, offset: u64, bytes: u64, ns: u64) -> Result<(), Errno> {
        self.check_room(0)?;
        let range = self.within(disk, offset, bytes);
        self.add(Entry {
            kind: Kind::Discard,
            disk: disk as u8,
            offset: range.start,
            bytes: range.end - range.start,
            position: 0,
            ns,
        });
        Ok(())
    }

    pub fn flush(&mut self, disk: usize, ns: u64) -> Result<(), Errno> {
        self.fail(FaultOn::Flush)?;
        self.check_room(0)?;
        self.add(Entry {
            kind: Kind::Flush,
            disk: disk as u8,
            offset: 0,
            bytes: 0,
            position: 0,
            ns,
        });
        Ok(())
    }

    fn add(&mut self, entry: Entry) {
        entry.put_all(&mut self.now);
        match self.stopped {
            None => self.entries.push(entry),
            Some(_) => self.later += 1,
        }
    }

    fn note_failure(&self) {
        self.failures.set(self.failures.get() + 1);
    }

    fn used(&self) -> u64 {
        self.end + BYTES_OF_ENTRY * (self.entries.len() as u64 + self.later)
    }

    /// A quarter of the record is for what is written on cuts.
    fn check_room(&mut self, bytes: u64) -> Result<(), Errno> {
        let limit = match self.stopped {
            None => self.limit - self.limit / 4,
            Some(_) => self.limit,
        };
        let has_place = self.stopped.is_some() || self.entries.len() < MOST_ENTRIES;
        if has_place && self.used() + bytes + BYTES_OF_ENTRY <= limit {
            return Ok(());
        }
        self.note_failure();
        self.is_full |= self.stopped.is_none();
        Err(Errno::NOSPC)
    }

    /// From now on the next operation of this kind, or each of them, fails.
    pub fn set_fault(&mut self, fault: Fault) {
        self.fault = Some(fault);
    }

    fn fail(&mut self, on: FaultOn) -> Result<(), Errno> {
        let Some(fault) = self.fault.take_if(|fault| fault.on == on) else {
            return Ok(());
        };
        self.faults += 1;
        if fault.lasting {
            self.fault = Some(fault);
        }
        Err(Errno::IO)
    }

    /// Ends the recording as it was at this time, and chooses moments for cuts. When it has been ended before, moments are chosen once more.
    pub fn stop(&mut self, requested: &CutStop, ns: u64) -> Recorded {
        let stopped = *self.stopped.get_or_insert_with(|| {
            let kept = self.entries.partition_point(|entry| entry.ns < ns);
            self.entries.truncate(kept);
            let ends = self.entries.iter().rev().map(Entry::end_of_data);
            Stopped {
                ns,
                end: ends.into_iter().find(|end| *end > 0).unwrap_or(0),
                faults: self.faults,
            }
        });
        self.fault = None;
        let of_kind = |kind| self.entries.iter().filter(move |entry| entry.kind == kind);
        let moment = |entry: &Entry| Moment {
            kind: entry.kind,
            disk: entry.disk,
            ns: entry.ns,
        };
        let moments: Vec<Moment> = self.entries.iter().map(moment).collect();
        Recorded {
            entries: self.entries.len() as u64,
            writes: of_kind(Kind::Write).count() as u64,
            flushes: of_kind(Kind::Flush).count() as u64,
            discards: of_kind(Kind::Discard).count() as u64,
            bytes: of_kind(Kind::Write).map(|entry| entry.bytes).sum(),
            first_ns: self.entries.first().map_or(0, |entry| entry.ns),
            end_ns: stopped.ns,
            is_full: self.is_full,
            faults: stopped.faults,
            points: choose(&moments, stopped.ns, requested),
        }
    }

    /// Becomes what a power cut has left. Nothing may be open on it. None before the recording has ended, or for a cut behind its end.
    pub fn cut(&mut self, cut: &Cut) -> Option<CutMade> {
        let stopped = self.stopped?;
        let at = usize::try_from(cut.entry).ok()?;
        let arrived = self.entries.get(..at)?;
        let unflushed = replay::unflushed(arrived, self.disks.len());
        let flushed = unflushed.first().copied().unwrap_or(at);
        if flushed < self.flushed.0 {
            self.flushed = (0, Extents::default());
        }
        for entry in &arrived[self.flushed.0..flushed] {
            entry.put_all(&mut self.flushed.1);
        }
        self.flushed.0 = flushed;
        self.now = self.flushed.1.clone();
        // A flush of one disk leaves writes to the others unflushed. Disks do not overlap, so all that was flushed can come first.
        let is_flushed = |position: &usize| unflushed.binary_search(position).is_err();
        for position in (flushed..at).filter(is_flushed) {
            arrived[position].put_all(&mut self.now);
        }
        let open = unflushed.iter().map(|position| &arrived[*position]);
        let fates = replay::survive(open, cut, &mut self.now);
        (self.end, self.later) = (stopped.end, 0);
        self.failures.set(0);
        (self.fault, self.faults) = (None, 0);
        Some(CutMade {
            ns: self.entries.get(at).map_or(stopped.ns, |entry| entry.ns),
            flushed: flushed as u64,
            kept: fates.kept,
            dropped: fates.dropped,
            torn: fates.torn,
        })
    }

    /// Gives back the room of what was written on a cut. Nothing may be open on it. Returns how many operations have failed since the cut, and how
    /// many of others a fault has failed.
    pub fn end_cut(&mut self) -> io::Result<(u64, u64)> {
        let counts = (self.failures.take(), self.faults);
        self.fault = None;
        if let Some(stopped) = self.stopped {
            self.now = Extents::default();
            (self.end, self.later) = (stopped.end, 0);
            self.record.set_len(stopped.end)?;
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgfsbench_core::helper::record::Tear;
    use std::time::Instant;

    const PAGE: usize = 4096;

    /// A device of 16 pages, whose image has the number of each page in its bytes.
    fn device(limit: u64) -> Device {
        let image = tempfile::tempfile().unwrap();
        for page in 0..16 {
            let data = [page as u8; PAGE];
            image.write_all_at(&data, (page * PAGE) as u64).unwrap();
        }
        Device::new(vec![image], tempfile::tempfile().unwrap(), limit).unwrap()
    }

    fn write(device: &mut Device, page: u64, byte: u8, ns: u64) {
        let offset = page * PAGE as u64;
        device.write(0, offset, &[byte; PAGE], ns).unwrap();
    }

    /// The first byte of each page; a page has one byte only.
    fn pages(device: &Device) -> Vec<u8> {
        let mut all = vec![0; 16 * PAGE];
        assert_eq!(device.read(0, 0, &mut all), Ok(16 * PAGE));
        let page = |page: &[u8]| {
            assert!(page.iter().all(|byte| *byte == page[0]));
            page[0]
        };
        all.chunks(PAGE).map(page).collect()
    }

    fn cut(number: u32, entry: u64) -> Cut {
        Cut {
            number,
            seed: 1,
            entry,
            tear: Tear::None,
        }
    }

    #[test]
    fn what_was_flushed_is_there_and_what_was_not_may_be_lost() {
        let mut device = device(1 << 20);
        write(&mut device, 1, 101, 10);
        write(&mut device, 2, 102, 20);
        device.flush(0, 30).unwrap();
        write(&mut device, 2, 202, 40);
        device.discard(0, 3 * PAGE as u64, PAGE as u64, 50).unwrap();
        device.flush(0, 60).unwrap();
        write(&mut device, 4, 104, 70);
        assert_eq!(pages(&device)[..5], [0, 101, 202, 0, 104]);
        assert_eq!(device.cut(&cut(1, 3)), None, "it records");
        // Unmounting writes once more.
        write(&mut device, 5, 105, 80);
        let recorded = device.stop(&CutStop::default(), 75);
        let expected = Recorded {
            entries: 7,
            writes: 4,
            flushes: 2,
            discards: 1,
            bytes: 4 * PAGE as u64,
            first_ns: 10,
            end_ns: 75,
            ..Recorded::default()
        };
        assert_eq!(recorded, expected);
        assert_eq!(device.stop(&CutStop::default(), 90), expected);
        assert_eq!(device.cut(&cut(1, 8)), None, "there are 7 entries");

        // After a cut what is written counts until the next one.
        let made = device.cut(&cut(1, 3)).unwrap();
        assert_eq!(
            (made.ns, made.flushed, made.kept + made.dropped),
            (40, 3, 0)
        );
        write(&mut device, 1, 7, 99);
        device.flush(0, 99).unwrap();
        assert_eq!(pages(&device)[..6], [0, 7, 102, 3, 4, 5]);
        device.end_cut().unwrap();
        assert_eq!(device.record.metadata().unwrap().len(), 4 * PAGE as u64);
        let made = device.cut(&cut(2, 6)).unwrap();
        assert_eq!((made.ns, made.flushed), (70, 6));
        assert_eq!(pages(&device)[..6], [0, 101, 202, 0, 4, 5]);
        // The unflushed write is there after some cuts, and not after others. The last cut is at the end of the recording.
        let mut found = Vec::new();
        for number in 0..40 {
            let made = device.cut(&cut(number, 7)).unwrap();
            assert_eq!((made.ns, made.kept + made.dropped), (75, 1));
            let page = pages(&device)[4];
            assert_eq!(page, if made.kept == 1 { 104 } else { 4 });
            found.push(page);
        }
        assert!(found.contains(&4) && found.contains(&104));
        // Backwards: from the image on.
        device.cut(&cut(3, 1)).unwrap();
        device.cut(&cut(3, 0)).unwrap();
        assert_eq!(pages(&device)[..6], [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_log_is_a_record_that_has_ended() {
        let record = tempfile::tempfile().unwrap();
        record.write_all_at(&[7; 4 * PAGE], 0).unwrap();
        let entry = |kind, page: u64, ns| Entry {
            kind,
            disk: 0,
            offset: page * PAGE as u64,
            bytes: if kind == Kind::Write { PAGE as u64 } else { 0 },
            position: page * PAGE as u64,
            ns,
        };
        let entries = vec![
            entry(Kind::Write, 1, 0),
            entry(Kind::Flush, 0, 0),
            entry(Kind::Write, 2, 10),
            // The unmount.
            entry(Kind::Write, 3, 20),
            entry(Kind::Flush, 0, 20),
        ];
        let end_ns = Some(20);
        let log = Log { entries, end_ns };
        let zeros = File::open("/dev/zero").unwrap();
        let mut device = Device::of_log(zeros, 16 * PAGE as u64, record, 1 << 20, log);
        let recorded = device.stop(&CutStop::default(), 99);
        assert_eq!((recorded.entries, recorded.end_ns), (3, 20));
        assert!(!recorded.is_full);
        device.cut(&cut(1, 2)).unwrap();
        assert_eq!(pages(&device)[..4], [0, 7, 0, 0]);
        // The writes of a server on a cut do not reach the record.
        write(&mut device, 3, 9, 99);
        assert_eq!(pages(&device)[..4], [0, 7, 0, 9]);
        device.end_cut().unwrap();
        device.cut(&cut(1, 2)).unwrap();
        assert_eq!(pages(&device)[..4], [0, 7, 0, 0]);
        let (zeros, record) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let mut device = Device::of_log(zeros, 0, record, 1 << 20, Log::default());
        assert!(device.stop(&CutStop::default(), 1).is_full, "it has no end");
    }

    #[test]
    fn faults_fail_one_operation_or_all_and_are_counted() {
        let mut device = device(1 << 20);
        device.set_fault(Fault {
            on: FaultOn::Flush,
            lasting: false,
        });
        write(&mut device, 1, 101, 10);
        assert_eq!(device.flush(0, 20), Err(Errno::IO));
        assert_eq!(device.flush(0, 30), Ok(()));
        device.set_fault(Fault {
            on: FaultOn::Write,
            lasting: true,
        });
        for ns in [40, 50] {
            assert_eq!(device.write(0, 0, &[1; PAGE], ns), Err(Errno::IO));
        }
        assert_eq!(device.flush(0, 60), Ok(()));
        let recorded = device.stop(&CutStop::default(), 70);
        // A failed write is not on the device, and a failed flush has flushed nothing.
        assert_eq!((recorded.writes, recorded.flushes), (1, 2));
        assert_eq!(recorded.faults, 3);
        device.cut(&cut(1, 3)).unwrap();
        assert_eq!(pages(&device)[..2], [0, 101]);
        assert_eq!(
            device.write(0, 0, &[1; PAGE], 80),
            Ok(()),
            "no fault is left"
        );
        // On a cut, too; the next one begins without.
        let fault = Fault {
            on: FaultOn::Write,
            lasting: false,
        };
        device.set_fault(fault.clone());
        assert_eq!(device.write(0, 0, &[2; PAGE], 90), Err(Errno::IO));
        assert_eq!(device.write(0, 0, &[3; PAGE], 90), Ok(()));
        assert_eq!(pages(&device)[0], 3);
        device.set_fault(fault.clone());
        assert_eq!(device.end_cut().unwrap(), (0, 1));
        device.set_fault(fault);
        device.cut(&cut(2, 3)).unwrap();
        assert_eq!(device.write(0, 0, &[4; PAGE], 95), Ok(()));
        assert_eq!(device.end_cut().unwrap(), (0, 0));
        assert_eq!(device.stop(&CutStop::default(), 99).faults, 3);
    }

    #[test]
    fn a_full_record_takes_no_more_and_what_it_has_is_of_use() {
        let mut device = device(8 * PAGE as u64);
        let mut written = 0;
        while device.write(0, 0, &[9; PAGE], written).is_ok() {
            written += 1;
        }
        assert_eq!(written, 5);
        assert_eq!(device.write(0, 0, &[9; PAGE], 50), Err(Errno::NOSPC));
        let recorded = device.stop(&CutStop::default(), 60);
        assert!(recorded.is_full);
        assert_eq!(recorded.entries, 5);
        // Servers that are started on cuts have the last quarter, each time.
        for number in 0..3 {
            device.cut(&cut(number, 5)).unwrap();
            assert_eq!(device.write(0, 0, &[8; PAGE], 70), Ok(()));
            assert_eq!(device.write(0, 0, &[8; 2 * PAGE], 70), Err(Errno::NOSPC));
            assert_eq!(device.end_cut().unwrap(), (1, 0));
        }
        device.cut(&cut(4, 5)).unwrap();
        assert_eq!(device.end_cut().unwrap(), (0, 0));
    }

    #[test]
    fn a_record_is_filled_slowly_from_an_eighth_on() {
        let mut device = device(8 << 20);
        let all = [1; 16 * PAGE];
        let writes = (4 << 20) / all.len() as u64;
        let began = Instant::now();
        for number in 0..writes {
            device.write(0, 0, &all, number).unwrap();
        }
        let later = Duration::from_secs_f64(3.0 / 16.0);
        assert!(began.elapsed() >= later, "{:?}", began.elapsed());
    }

    #[test]
    fn a_discard_takes_no_room() {
        let mut device = device(8 * PAGE as u64);
        device.discard(0, 0, 16 * PAGE as u64, 10).unwrap();
        write(&mut device, 0, 7, 20);
        device.discard(0, 0, 16 * PAGE as u64, 30).unwrap();
        device.stop(&CutStop::default(), 40);
        device.cut(&cut(1, 2)).unwrap();
        write(&mut device, 1, 8, 50);
        device.end_cut().unwrap();
        assert_eq!(device.record.metadata().unwrap().len(), PAGE as u64);
    }

    #[test]
    fn disks_have_one_order_and_flushes_of_their_own() {
        let image = |byte: u8| {
            let image = tempfile::tempfile().unwrap();
            image.write_all_at(&[byte; 2 * PAGE], 0).unwrap();
            image
        };
        let images = vec![image(1), image(2)];
        let mut device = Device::new(images, tempfile::tempfile().unwrap(), 1 << 20).unwrap();
        assert_eq!((device.bytes(0), device.bytes(1)), (8192, 8192));
        let at = PAGE as u64;
        device.write(1, at, &[12; PAGE], 10).unwrap();
        device.write(0, at, &[11; PAGE], 20).unwrap();
        device.flush(0, 30).unwrap();
        assert_eq!(device.write(0, at, &[9; PAGE + 1], 40), Err(Errno::INVAL));
        device.discard(0, 2 * at, u64::MAX, 40).unwrap();
        device.stop(&CutStop::default(), 50);
        let mut found = Vec::new();
        for number in 0..40 {
            let made = device.cut(&cut(number, 3)).unwrap();
            assert_eq!((made.flushed, made.kept + made.dropped), (0, 1));
            let first_bytes = [(0, 0), (0, at), (1, 0), (1, at)].map(|(disk, offset)| {
                let mut byte = [0];
                assert_eq!(device.read(disk, offset, &mut byte), Ok(1));
                byte[0]
            });
            let other = if made.kept == 1 { 12 } else { 2 };
            assert_eq!(first_bytes, [1, 11, 2, other]);
            found.push(other);
        }
        assert!(found.contains(&2) && found.contains(&12));
        assert_eq!(device.read(0, at, &mut [0; 2 * PAGE]), Ok(PAGE), "its end");
    }

    #[test]
    fn zeros_take_no_room() {
        let mut device = device(8 * PAGE as u64);
        for ns in 0..20 {
            write(&mut device, 3, 0, ns);
        }
        write(&mut device, 4, 104, 30);
        write(&mut device, 5, 0, 40);
        assert_eq!(pages(&device)[3..7], [0, 104, 0, 6]);
        device.flush(0, 50).unwrap();
        let recorded = device.stop(&CutStop::default(), 60);
        assert_eq!((recorded.writes, recorded.is_full), (22, false));
        device.cut(&cut(1, 23)).unwrap();
        write(&mut device, 6, 106, 70);
        assert_eq!(pages(&device)[3..7], [0, 104, 0, 106]);
        device.end_cut().unwrap();
        assert_eq!(device.record.metadata().unwrap().len(), PAGE as u64);
        device.cut(&cut(2, 23)).unwrap();
        assert_eq!(pages(&device)[3..7], [0, 104, 0, 6]);
    }

    #[test]
    fn the_device_has_an_end() {
        let mut device = device(1 << 20);
        let end = 16 * PAGE as u64;
        assert_eq!(device.write(0, end, &[1], 1), Err(Errno::INVAL));
        assert_eq!(device.write(0, u64::MAX, &[1], 1), Err(Errno::INVAL));
        assert_eq!(device.read(0, end - 1, &mut [0; 8]), Ok(1));
        assert_eq!(device.read(0, u64::MAX, &mut [0; 8]), Ok(0));
        device.discard(0, end - 4096, u64::MAX, 1).unwrap();
        assert_eq!(pages(&device)[14..], [14, 0]);
    }
}
