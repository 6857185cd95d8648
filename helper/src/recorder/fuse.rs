//! The kernel's messages about a filesystem of a few files in one directory, as linux/fuse.h has them: a file for commands, and the disks. Messages
//! about anything else are answered by ENOSYS.

use rustix::io::Errno;

/// The largest read or write of the kernel. It splits larger ones.
pub const LARGEST: usize = 1 << 20;

/// Room for the largest message: a write, with its headers.
pub const LONGEST_MESSAGE: usize = LARGEST + 4096;

const ROOT: u64 = 1;
/// The file for commands, and its name.
pub const COMMANDS: u64 = 2;
pub const NAME_OF_COMMANDS: &str = "commands";
/// The first disk. The others follow.
pub const DISK: u64 = 3;

/// The version of the protocol that is spoken: the kernel has it since Linux 5.0.
const VERSION: (u32, u32) = (7, 28);

/// The kernel may send several reads at once, several writes of one file at once, and messages as large as [`LARGEST`].
const FLAGS: u32 = FUSE_ASYNC_READ | FUSE_BIG_WRITES | FUSE_ASYNC_DIO | FUSE_MAX_PAGES;
const FUSE_ASYNC_READ: u32 = 1 << 0;
const FUSE_BIG_WRITES: u32 = 1 << 5;
const FUSE_ASYNC_DIO: u32 = 1 << 15;
const FUSE_MAX_PAGES: u32 = 1 << 22;

/// The kernel caches nothing of the file.
const FOPEN_DIRECT_IO: u32 = 1;

/// Names and attributes never change: seconds for which the kernel may keep them.
const FOR_EVER: u64 = 1 << 30;

/// A message that needs an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    Init {
        minor: u32,
        readahead: u32,
        flags: u32,
    },
    Lookup(&'a [u8]),
    Attributes,
    Statistics,
    Open,
    Read {
        offset: u64,
        bytes: usize,
    },
    Write {
        offset: u64,
        data: &'a [u8],
    },
    Flush,
    /// The range is to read as zeros.
    Discard {
        offset: u64,
        bytes: u64,
    },
    Close,
    Unknown,
}

/// A message of the kernel.
#[derive(Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// The number that its answer has to carry.
    pub unique: u64,
    pub node: u64,
    pub operation: Operation<'a>,
}

const HEADER: usize = 40;
const HEADER_OF_WRITE: usize = 40;

const FALLOC_FL_PUNCH_HOLE: u32 = 2;
const FALLOC_FL_ZERO_RANGE: u32 = 0x10;

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// The message in these bytes; None for one that needs no answer, and for one that is not understood.
pub fn message(bytes: &[u8]) -> Option<Message<'_>> {
    let (opcode, unique, node) = (u32_at(bytes, 4)?, u64_at(bytes, 8)?, u64_at(bytes, 16)?);
    let body = bytes.get(HEADER..)?;
    let operation = match opcode {
        1 => Operation::Lookup(body.strip_suffix(&[0])?),
        // FORGET, INTERRUPT and BATCH_FORGET.
        2 | 36 | 42 => return None,
        3 => Operation::Attributes,
        14 => Operation::Open,
        15 => Operation::Read {
            offset: u64_at(body, 8)?,
            bytes: u32_at(body, 16)? as usize,
        },
        16 => Operation::Write {
            offset: u64_at(body, 8)?,
            data: body
                .get(HEADER_OF_WRITE..)?
                .get(..u32_at(body, 16)? as usize)?,
        },
        17 => Operation::Statistics,
        18 => Operation::Close,
        20 => Operation::Flush,
        26 => Operation::Init {
            minor: u32_at(body, 4)?,
            readahead: u32_at(body, 8)?,
            flags: u32_at(body, 12)?,
        },
        43 if u32_at(body, 24)? & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE) != 0 => {
            Operation::Discard {
                offset: u64_at(body, 8)?,
                bytes: u64_at(body, 16)?,
            }
        }
        _ => Operation::Unknown,
    };
    Some(Message {
        unique,
        node,
        operation,
    })
}

/// An answer: the header, then numbers and bytes.
pub struct Answer(Vec<u8>);

impl Answer {
    pub fn new() -> Self {
        Self(vec![0; 16])
    }

    fn u16(mut self, number: u16) -> Self {
        self.0.extend(number.to_ne_bytes());
        self
    }

    fn u32(mut self, numbers: &[u32]) -> Self {
        numbers
            .iter()
            .for_each(|number| self.0.extend(number.to_ne_bytes()));
        self
    }

    fn u64(mut self, numbers: &[u64]) -> Self {
        numbers
            .iter()
            .for_each(|number| self.0.extend(number.to_ne_bytes()));
        self
    }

    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// With this number of bytes, which `read` fills; it returns the number that there are.
    pub fn read(
        mut self,
        bytes: usize,
        read: impl FnOnce(&mut [u8]) -> Result<usize, Errno>,
    ) -> Result<Self, Errno> {
        let start = self.0.len();
        self.0.resize(start + bytes.min(LARGEST), 0);
        let there = read(&mut self.0[start..])?;
        self.0.truncate(start + there);
        Ok(self)
    }

    /// The answer to this message.
    pub fn to(self, unique: u64) -> Vec<u8> {
        self.finished(unique, 0)
    }

    /// The answer that it has failed.
    pub fn failed(unique: u64, error: Errno) -> Vec<u8> {
        Self::new().finished(unique, -error.raw_os_error())
    }

    fn finished(mut self, unique: u64, error: i32) -> Vec<u8> {
        let length = self.0.len() as u32;
        self.0[..4].copy_from_slice(&length.to_ne_bytes());
        self.0[4..8].copy_from_slice(&error.to_ne_bytes());
        self.0[8..16].copy_from_slice(&unique.to_ne_bytes());
        self.0
    }

    pub fn init(minor: u32, readahead: u32, flags: u32) -> Self {
        let (major, own_minor) = VERSION;
        let pages = (LARGEST / 4096) as u16;
        Self::new()
            .u32(&[major, own_minor.min(minor), readahead, flags & FLAGS])
            .u16(64)
            .u16(48)
            .u32(&[LARGEST as u32, 1])
            .u16(pages)
            .u16(0)
            .u32(&[0; 8])
    }

    pub fn entry(node: u64, bytes: u64) -> Self {
        Self::new()
            .u64(&[node, 0, FOR_EVER, FOR_EVER])
            .u32(&[0, 0])
            .attributes_of(node, bytes)
    }

    pub fn attributes(node: u64, bytes: u64) -> Self {
        Self::new()
            .u64(&[FOR_EVER])
            .u32(&[0, 0])
            .attributes_of(node, bytes)
    }

    fn attributes_of(self, node: u64, bytes: u64) -> Self {
        let mode = match node {
            ROOT => 0o40_700,
            _ => 0o100_600,
        };
        self.u64(&[node, bytes, bytes.div_ceil(512), 0, 0, 0])
            .u32(&[0, 0, 0, mode, 1, 0, 0, 0, 4096, 0])
    }

    /// Blocks of 4096 bytes, none of them free.
    pub fn statistics(bytes: u64) -> Self {
        Self::new()
            .u64(&[bytes / 4096, 0, 0, 2, 0])
            .u32(&[4096, 255, 4096, 0])
            .u32(&[0; 6])
    }

    pub fn open() -> Self {
        Self::new().u64(&[0]).u32(&[FOPEN_DIRECT_IO, 0])
    }

    pub fn written(bytes: usize) -> Self {
        Self::new().u32(&[bytes as u32, 0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(opcode: u32, node: u64, body: &[u8]) -> Vec<u8> {
        let mut all = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
        all.extend(opcode.to_ne_bytes());
        all.extend(9u64.to_ne_bytes());
        all.extend(node.to_ne_bytes());
        all.extend([0; 16]);
        all.extend(body);
        all
    }

    fn body(numbers: &[u64]) -> Vec<u8> {
        numbers.iter().flat_map(|n| n.to_ne_bytes()).collect()
    }

    #[test]
    fn messages_of_the_kernel() {
        let write = [body(&[0, 4096, 3, 0, 0]), b"abc".to_vec()].concat();
        let punch = body(&[0, 512, 1024, 3]);
        let zero = body(&[0, 512, 1024, 0x11]);
        let allocate = body(&[0, 512, 1024, 0]);
        for (opcode, body, expected) in [
            (1, b"disk\0".to_vec(), Operation::Lookup(b"disk")),
            (
                15,
                body(&[0, 8192, 4096, 0, 0]),
                Operation::Read {
                    offset: 8192,
                    bytes: 4096,
                },
            ),
            (
                16,
                write,
                Operation::Write {
                    offset: 4096,
                    data: b"abc",
                },
            ),
            (20, body(&[0, 1]), Operation::Flush),
            (
                43,
                punch,
                Operation::Discard {
                    offset: 512,
                    bytes: 1024,
                },
            ),
            (
                43,
                zero,
                Operation::Discard {
                    offset: 512,
                    bytes: 1024,
                },
            ),
            (43, allocate, Operation::Unknown),
            (25, body(&[0; 3]), Operation::Unknown),
        ] {
            let all = bytes(opcode, DISK, &body);
            let message = message(&all).unwrap();
            assert_eq!((message.unique, message.node), (9, DISK));
            assert_eq!(message.operation, expected, "{opcode}");
        }
        for opcode in [2, 36, 42] {
            assert_eq!(message(&bytes(opcode, DISK, &[0; 8])), None);
        }
    }

    /// The sizes of the structures in linux/fuse.h, each behind a header of 16 bytes.
    #[test]
    fn answers_have_the_sizes_that_the_kernel_checks() {
        for (answer, size) in [
            (Answer::init(31, 0, u32::MAX), 64),
            (Answer::entry(DISK, 1), 128),
            (Answer::attributes(ROOT, 0), 104),
            (Answer::statistics(1 << 20), 80),
            (Answer::open(), 16),
            (Answer::written(1), 8),
        ] {
            let bytes = answer.to(9);
            assert_eq!(bytes.len(), 16 + size);
            assert_eq!(u32_at(&bytes, 0), Some(16 + size as u32));
            assert_eq!((u32_at(&bytes, 4), u64_at(&bytes, 8)), (Some(0), Some(9)));
        }
        let failed = Answer::failed(9, Errno::IO);
        assert_eq!(u32_at(&failed, 4), Some((-5i32).cast_unsigned()));
        // Nothing is agreed on that the kernel has not offered.
        let init = Answer::init(31, 0, FUSE_MAX_PAGES).to(1);
        assert_eq!(u32_at(&init, 16 + 12), Some(FUSE_MAX_PAGES));
    }

    proptest! {
        #[test]
        fn never_panics(opcode in 0u32..60, body in prop::collection::vec(any::<u8>(), 0..80), cut in 0usize..120) {
            let all = bytes(opcode, 1, &body);
            let _ = message(&all[..cut.min(all.len())]);
        }
    }
}
