//! The parts of a batch of power cuts. Each part has a time in the record, in which its commits were acknowledged.

use crate::helper::record::Tear;

/// Rows of the part that writes pages: each row fills a page of 8 kB.
pub const PAGES: u64 = 512;
/// Commits of the control without fsync.
pub const CONTROL_COMMITS: u64 = 500;
/// Cuts of a control, and of the test of pages, at most.
const MOST_OF_OTHERS: u32 = 20;
/// After each cut of this many, amcheck and pg_checksums read everything.
const SAMPLE: u32 = 10;

/// A part of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Clients commit; the server has its own settings.
    Commits,
    /// A checkpoint writes pages; the server has its own settings.
    Pages,
    /// Control: a client commits with fsync off.
    FsyncOff,
    /// Control: a checkpoint writes pages with full_page_writes off.
    FullPageWritesOff,
    /// Control: a client commits on a filesystem that is mounted without barriers, where it has such an option.
    BarriersOff,
}

/// The filesystem whose power is cut.
#[derive(Clone, Debug, Default)]
pub struct Filesystem {
    pub name: String,
    /// Mount options that were asked for.
    pub mount_options: String,
    /// Whether dm-log-writes records it: its log has a write only when a flush has followed.
    pub is_logged: bool,
}

impl Filesystem {
    /// Whether a page of 8 kB can be torn. Filesystems that write each block to a new place, or to a journal first, need tear none.
    fn overwrites_in_place(&self) -> bool {
        let journals_data = self
            .mount_options
            .split(',')
            .any(|option| option == "data=journal");
        ["ext2", "ext3", "ext4", "xfs"].contains(&self.name.as_str()) && !journals_data
    }
}

/// Filesystems that send no flush when they are mounted with nobarrier. xfs has no such option since Linux 4.19.
const WITHOUT_BARRIERS: [&str; 5] = ["ext3", "ext4", "btrfs", "f2fs", "nilfs2"];

impl Part {
    /// All of them, in the order of the record.
    pub const ALL: [Self; 5] = [
        Self::Commits,
        Self::Pages,
        Self::FsyncOff,
        Self::FullPageWritesOff,
        Self::BarriersOff,
    ];

    /// Name in the tables of results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Commits => "commits",
            Self::Pages => "pages",
            Self::FsyncOff => "fsync_off",
            Self::FullPageWritesOff => "full_page_writes_off",
            Self::BarriersOff => "barriers_off",
        }
    }

    /// The setting of the server that the part switches off.
    pub fn switches_off(self) -> Option<&'static str> {
        match self {
            Self::Commits | Self::Pages | Self::BarriersOff => None,
            Self::FsyncOff => Some("fsync"),
            Self::FullPageWritesOff => Some("full_page_writes"),
        }
    }

    /// Whether the part is a control, which has to fail.
    pub fn is_control(self) -> bool {
        !matches!(self, Self::Commits | Self::Pages)
    }

    /// Whether the part can be made on this filesystem.
    pub fn is_made_on(self, filesystem: &Filesystem) -> bool {
        let has_option = WITHOUT_BARRIERS.contains(&filesystem.name.as_str());
        self != Self::BarriersOff || has_option && !filesystem.is_logged
    }

    /// The table of the part, in schema public.
    pub fn table(self) -> &'static str {
        match self {
            Self::Commits => "fsbench_commit",
            Self::Pages | Self::FullPageWritesOff => "fsbench_pages",
            Self::FsyncOff => "fsbench_control",
            Self::BarriersOff => "fsbench_barriers",
        }
    }

    /// Whether the part writes pages at checkpoints.
    pub fn writes_pages(self) -> bool {
        matches!(self, Self::Pages | Self::FullPageWritesOff)
    }

    /// Whether a batch on this filesystem is void when this part does not fail.
    pub fn must_fail(self, filesystem: &Filesystem) -> bool {
        match self {
            Self::Commits | Self::Pages => false,
            Self::FsyncOff => true,
            Self::FullPageWritesOff => filesystem.overwrites_in_place(),
            Self::BarriersOff => self.is_made_on(filesystem),
        }
    }

    /// Cuts of this part, by those that the caller asks for.
    pub fn cuts(self, requested: u32) -> u32 {
        match self {
            Self::Commits => requested,
            _ => requested.min(MOST_OF_OTHERS),
        }
    }

    /// The parts in which a write that was not flushed may survive, by the number of the cut, from 1. The control writes half a page.
    pub fn tear(self, number: u32) -> Tear {
        match self {
            Self::FullPageWritesOff => Tear::Page,
            _ => [Tear::None, Tear::Sector, Tear::Page][number as usize % 3],
        }
    }

    /// Whether amcheck and pg_checksums read everything after a cut that a test has survived.
    pub fn is_sampled(self, number: u32) -> bool {
        !self.is_control() && number % SAMPLE == 1
    }
}
