//! The log of the kernel's dm-log-writes (drivers/md/dm-log-writes.c), read into the entries of a record.
//!
//! The source is Documentation/admin-guide/device-mapper/log-writes.rst of Linux 6.1. The kernel logs a write only when it is durable. A flush logs the
//! writes that had completed before it. The flush's own entry follows. A write with FUA is logged when it completes, so the entries before it are
//! durable, too. A write that no flush follows is in the log only at its end.
//!
//! Marks go to the log at once. A commit that was acknowledged before the time of a mark has its flush before that mark: the time of an entry is that of
//! the last mark before it. Two writes of one block are in another order than on the device if the first was not flushed and the second has FUA.

use super::replay::Entry;
use pgfsbench_core::helper::record::Kind;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

const MAGIC: u64 = 0x6a_7366_7773_6872;
const VERSION: u64 = 1;
/// Bytes of the superblock that have a meaning, and of the head of an entry.
const SUPER_BYTES: usize = 28;
const HEAD_BYTES: usize = 32;
/// Sizes of the device's sectors, which are those of the log.
const SECTORS: Range<u64> = 512..65_537;

const FLUSH: u64 = 1;
const FUA: u64 = 2;
const DISCARD: u64 = 4;
const MARK: u64 = 8;
const METADATA: u64 = 16;
const KNOWN: u64 = FLUSH | FUA | DISCARD | MARK | METADATA;

/// The helper's marks. The kernel takes one word.
const TIME: &str = "pgfsbench-at-";
const END: &str = "pgfsbench-end-";

/// The text of a mark of this time. The end of a recording has a mark of its own.
pub fn mark(ns: u64, is_end: bool) -> String {
    format!("{}{ns}", if is_end { END } else { TIME })
}

/// The contents of a log.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Log {
    pub entries: Vec<Entry>,
    /// The end of the recording. None: the log lacks its end, as when its device is full.
    pub end_ns: Option<u64>,
}

/// Reads the log of a device of this size. `most` is the largest number of entries.
pub fn read(file: &File, device_bytes: u64, most: usize) -> Result<Log, String> {
    let end = file.metadata().map_err(|e| format!("{e}"))?.len();
    let mut head = [0; SUPER_BYTES];
    read_at(file, 0..end, 0, &mut head)?;
    if u64_at(&head, 0) != MAGIC {
        return Err("it does not begin as a log of dm-log-writes".into());
    }
    if u64_at(&head, 8) != VERSION {
        return Err(format!("its version is {}", u64_at(&head, 8)));
    }
    let sector = u64::from(u32_at(&head, 24));
    if !SECTORS.contains(&sector) || !sector.is_power_of_two() {
        return Err(format!("its sectors have {sector} bytes"));
    }
    let mut reader = Reader {
        file,
        end,
        device_bytes,
        sector,
        most,
        position: sector,
        ns: 0,
        log: Log::default(),
    };
    for number in 1..=u64_at(&head, 16) {
        reader
            .entry()
            .map_err(|why| format!("entry {number}: {why}"))?;
    }
    Ok(reader.log)
}

struct Reader<'a> {
    file: &'a File,
    /// Bytes of the file.
    end: u64,
    device_bytes: u64,
    sector: u64,
    most: usize,
    /// The place of the next entry.
    position: u64,
    /// The time of the last mark.
    ns: u64,
    log: Log,
}

impl Reader<'_> {
    fn entry(&mut self) -> Result<(), String> {
        let mut head = [0; HEAD_BYTES];
        read_at(self.file, 0..self.end, self.position, &mut head)?;
        let [first, sectors, flags, data_bytes] = [0, 8, 16, 24].map(|at| u64_at(&head, at));
        let data = self.position + self.sector;
        if flags & !KNOWN != 0 {
            return Err(format!("unknown flags {flags}"));
        }
        if flags & MARK != 0 {
            self.mark(data_bytes)?;
            self.position = data;
            return Ok(());
        }
        // Only a device of persistent memory has data within an entry.
        if data_bytes != 0 {
            return Err(format!("{data_bytes} bytes of data within it"));
        }
        let bytes_of = |sectors: u64| sectors.checked_mul(self.sector);
        let (Some(offset), Some(bytes)) = (bytes_of(first), bytes_of(sectors)) else {
            return Err(format!("{sectors} sectors from {first} on"));
        };
        let is_within = |end: Option<u64>, limit| end.is_some_and(|end| end <= limit);
        if bytes > 0 && !is_within(offset.checked_add(bytes), self.device_bytes) {
            return Err(format!("{bytes} bytes from {offset} on, behind the device"));
        }
        if flags & DISCARD != 0 {
            self.add(Kind::Discard, offset, bytes, 0)?;
            self.position = data;
            return Ok(());
        }
        let next = data.checked_add(bytes).filter(|next| *next <= self.end);
        let Some(next) = next else {
            return Err(format!("{bytes} bytes of data, behind the end of the log"));
        };
        if flags & FLUSH != 0 {
            self.add(Kind::Flush, 0, 0, 0)?;
        }
        if bytes > 0 {
            self.add(Kind::Write, offset, bytes, data)?;
        } else if flags & FLUSH == 0 {
            return Err("it is an entry without data and without a flush".into());
        }
        if flags & FUA != 0 {
            self.add(Kind::Flush, 0, 0, 0)?;
        }
        self.position = next;
        Ok(())
    }

    fn add(&mut self, kind: Kind, offset: u64, bytes: u64, position: u64) -> Result<(), String> {
        if self.log.entries.len() >= self.most {
            return Err(format!("more than {} entries", self.most));
        }
        self.log.entries.push(Entry {
            kind,
            disk: 0,
            offset,
            bytes,
            position,
            ns: self.ns,
        });
        Ok(())
    }

    /// Takes the time of a mark. The kernel's own mark has none.
    fn mark(&mut self, bytes: u64) -> Result<(), String> {
        if bytes > self.sector - HEAD_BYTES as u64 {
            return Err(format!("a mark of {bytes} bytes"));
        }
        let mut text = vec![0; bytes as usize];
        let at = self.position + HEAD_BYTES as u64;
        read_at(self.file, 0..self.end, at, &mut text)?;
        let text = String::from_utf8_lossy(&text);
        let time_behind = |word: &str| text.strip_prefix(word)?.parse::<u64>().ok();
        let end_ns = time_behind(END);
        let Some(ns) = end_ns.or(time_behind(TIME)) else {
            return Ok(());
        };
        // Two processes make marks. The earlier time promises less.
        self.ns = self.ns.max(ns);
        self.log.end_ns = end_ns.or(self.log.end_ns);
        Ok(())
    }
}

/// Reads bytes that lie within this range.
fn read_at(file: &File, within: Range<u64>, at: u64, buffer: &mut [u8]) -> Result<(), String> {
    match at.checked_add(buffer.len() as u64) {
        Some(end) if end <= within.end => {
            let read = file.read_exact_at(buffer, at);
            read.map_err(|e: io::Error| format!("{e}"))
        }
        _ => Err("the log ends before it".into()),
    }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECTOR: usize = 512;
    const DEVICE: u64 = 1 << 20;

    /// A log as the kernel writes it.
    struct Written {
        bytes: Vec<u8>,
        entries: u64,
    }

    impl Written {
        fn new() -> Self {
            let mut head = vec![0; SECTOR];
            head[..8].copy_from_slice(&[0x72, 0x68, 0x73, 0x77, 0x66, 0x73, 0x6a, 0]);
            head[8] = 1;
            head[24..28].copy_from_slice(&512_u32.to_le_bytes());
            Self {
                bytes: head,
                entries: 0,
            }
        }

        fn head(&mut self, numbers: [u64; 4]) -> usize {
            let at = self.bytes.len();
            for number in numbers {
                self.bytes.extend(number.to_le_bytes());
            }
            self.bytes.resize(at + SECTOR, 0);
            self.entries += 1;
            self.bytes[16..24].copy_from_slice(&self.entries.to_le_bytes());
            at
        }

        fn write(mut self, sector: u64, data: &[u8], flags: u64) -> Self {
            self.head([sector, (data.len() / SECTOR) as u64, flags, 0]);
            self.bytes.extend(data);
            self
        }

        fn entry(mut self, numbers: [u64; 4]) -> Self {
            self.head(numbers);
            self
        }

        fn mark(mut self, text: &str) -> Self {
            let at = self.head([0, 0, MARK, text.len() as u64]) + HEAD_BYTES;
            self.bytes[at..at + text.len()].copy_from_slice(text.as_bytes());
            self
        }

        fn read(&self) -> Result<Log, String> {
            read_bytes(&self.bytes)
        }
    }

    fn read_bytes(bytes: &[u8]) -> Result<Log, String> {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(bytes, 0).unwrap();
        read(&file, DEVICE, 100)
    }

    fn of(kind: Kind, offset: u64, bytes: u64, position: u64, ns: u64) -> Entry {
        Entry {
            kind,
            disk: 0,
            offset,
            bytes,
            position,
            ns,
        }
    }

    #[test]
    fn entries_have_the_time_of_the_mark_before_them_and_what_is_durable_has_a_flush() {
        let log = Written::new()
            .write(8, &[1; 1024], METADATA)
            .entry([0, 0, FLUSH, 0])
            .mark(&mark(70, false))
            .write(0, &[2; SECTOR], FUA)
            .entry([16, 4, DISCARD, 0])
            .mark("someone-else")
            .write(1, &[3; SECTOR], FLUSH | FUA)
            // The helper's own mark was on its way while the other process made one.
            .mark(&mark(90, false))
            .mark(&mark(80, true))
            .write(2, &[4; SECTOR], 0)
            .mark("dm-log-writes-end")
            .read()
            .unwrap();
        let expected = [
            of(Kind::Write, 4096, 1024, 1024, 0),
            of(Kind::Flush, 0, 0, 0, 0),
            of(Kind::Write, 0, 512, 3584, 70),
            of(Kind::Flush, 0, 0, 0, 70),
            of(Kind::Discard, 8192, 2048, 0, 70),
            of(Kind::Flush, 0, 0, 0, 70),
            of(Kind::Write, 512, 512, 5632, 70),
            of(Kind::Flush, 0, 0, 0, 70),
            of(Kind::Write, 1024, 512, 7680, 90),
        ];
        assert_eq!(log.entries, expected);
        assert_eq!(log.end_ns, Some(80));
    }

    /// A cut behind the group of a flush has all of it; within the group it may have any part.
    #[test]
    fn a_log_is_replayed_up_to_a_flush() {
        use super::super::replay::unflushed;
        let log = Written::new()
            .write(8, &[1; SECTOR], 0)
            .write(9, &[2; SECTOR], 0)
            .entry([0, 0, FLUSH, 0])
            .write(8, &[3; SECTOR], 0)
            .read()
            .unwrap();
        assert_eq!(unflushed(&log.entries[..2], 1), [0, 1]);
        assert!(unflushed(&log.entries[..3], 1).is_empty());
        assert_eq!(unflushed(&log.entries, 1), [3]);
        assert_eq!(log.end_ns, None, "it has no end");
    }

    #[test]
    fn a_forged_or_broken_log_is_refused() {
        let good = || Written::new().write(8, &[1; 1024], 0);
        assert!(good().read().is_ok());
        let changed = |at: usize, byte: u8| {
            let mut log = good();
            log.bytes[at] = byte;
            log
        };
        let huge = u64::MAX / 256;
        for (log, why) in [
            (changed(0, 1), "does not begin as a log"),
            (changed(8, 2), "version is 2"),
            (changed(24, 1), "sectors have 513 bytes"),
            (changed(25, 0), "sectors have 0 bytes"),
            (changed(27, 1), "sectors have 16777728 bytes"),
            // It counts more entries than it has, or more than a process can hold.
            (changed(16, 2), "entry 2: the log ends before it"),
            (changed(23, 255), "entry 2: the log ends before it"),
            (good().entry([0, 8, 0, 0]), "behind the end of the log"),
            (good().entry([0, huge, 0, 0]), "sectors from 0 on"),
            (good().entry([huge, 1, DISCARD, 0]), "sectors from"),
            (good().entry([2047, 2, DISCARD, 0]), "behind the device"),
            (good().entry([2048, 1, 0, 0]), "behind the device"),
            (
                good().entry([0, 0, 0, 0]),
                "it is an entry without data and without a flush",
            ),
            (good().entry([0, 0, 32, 0]), "unknown flags 32"),
            (good().entry([0, 1, 0, 512]), "512 bytes of data within it"),
            (good().entry([0, 0, MARK, 481]), "a mark of 481 bytes"),
            (good().entry([0, 0, MARK, huge]), "a mark of"),
        ] {
            let refused = log.read().unwrap_err();
            assert!(refused.contains(why), "no `{why}` in: {refused}");
        }
        let all = good().bytes;
        for length in [0, 27, SECTOR, SECTOR + 31, 2 * SECTOR, all.len() - 1] {
            assert!(read_bytes(&all[..length]).is_err(), "{length}");
        }
        let mut many = Written::new();
        for _ in 0..101 {
            many = many.entry([0, 0, FLUSH, 0]);
        }
        assert!(many.read().unwrap_err().contains("more than 100 entries"));
    }

    proptest! {
        #[test]
        fn never_panics(numbers in prop::collection::vec(any::<[u64; 4]>(), 0..8), at in 0usize..4096, byte in any::<u8>()) {
            let mut log = Written::new();
            for numbers in numbers {
                log = log.entry(numbers);
            }
            if let Some(changed) = log.bytes.get_mut(at) {
                *changed = byte;
            }
            let _ = log.read();
        }
    }
}
