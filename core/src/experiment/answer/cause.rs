//! Why a row has no verdict: a code with its values. Decisions read these; the words are made from them last.

use super::{TOO_SHORT_REASON, why_ended};
use crate::{units::format_count, verdict::Reason, wording};

/// Why a row has no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The arithmetic leaves it open.
    Arithmetic(Reason),
    /// Runs of the target failed, and it was set aside.
    SetAside,
    /// The windows have fewer checkpoint cycles than a verdict takes.
    TooShort,
    /// A latency without a rate.
    ClosedLoop,
    /// Another metric was declared.
    NotDeclared,
    /// Another metric was declared, and this one has no ratio.
    CanBeZero,
    /// The experiment has ended before its first look.
    TooFewBlocks {
        /// Why it has ended.
        ended_by: Option<Reason>,
        blocks: u32,
    },
    /// Undeclared differences.
    Differs(String),
    /// The targets are on different devices.
    AnotherDevice,
}

impl Cause {
    /// The code alone.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Arithmetic(reason) => reason.as_str(),
            Self::SetAside => "set_aside",
            Self::TooShort => TOO_SHORT_REASON,
            Self::ClosedLoop => "closed_loop",
            Self::NotDeclared | Self::CanBeZero => "not declared",
            Self::TooFewBlocks { ended_by, .. } => why_ended(*ended_by),
            Self::Differs(_) => "differs",
            Self::AnotherDevice => "device confounded",
        }
    }

    /// The code with its values, in words.
    pub fn says(&self) -> String {
        wording::say(self.code(), || match self {
            Self::CanBeZero => format!("{}, can be zero", self.code()),
            Self::TooFewBlocks { blocks, .. } => {
                format!(
                    "{}, {}",
                    self.code(),
                    format_count((*blocks).into(), "block")
                )
            }
            Self::Differs(names) => format!("{}: {names}", self.code()),
            _ => self.code().to_owned(),
        })
    }

    /// Whether the metric is only looked at.
    pub fn is_not_declared(&self) -> bool {
        matches!(self, Self::NotDeclared | Self::CanBeZero)
    }

    /// Whether what was measured stands: only the decision is open.
    pub fn figures_stand(&self) -> bool {
        use Reason::{Cancelled, MaxBlocks, MaxDuration, TooNoisy};
        matches!(
            self,
            Self::Arithmetic(TooNoisy | MaxBlocks | MaxDuration | Cancelled)
        )
    }

    /// Whether it is in doubt what was measured, so that intervals are nothing to go by.
    pub fn is_doubt(&self) -> bool {
        matches!(
            self,
            Self::SetAside
                | Self::TooShort
                | Self::Differs(_)
                | Self::AnotherDevice
                | Self::Arithmetic(Reason::NoiseFloor)
        )
    }
}

#[cfg(test)]
impl From<&str> for Cause {
    /// The cause of a text of [`Cause::says`], for tables of tests.
    fn from(text: &str) -> Self {
        use Reason::{
            Cancelled, MaxBlocks, MaxDuration, NoReference, NoiseFloor, Running, TooNoisy,
        };
        let reasons = [
            Running,
            TooNoisy,
            MaxBlocks,
            NoiseFloor,
            NoReference,
            MaxDuration,
            Cancelled,
        ];
        let arithmetic = reasons.into_iter().map(Cause::Arithmetic);
        let others = [
            Self::SetAside,
            Self::TooShort,
            Self::ClosedLoop,
            Self::NotDeclared,
            Self::CanBeZero,
            Self::AnotherDevice,
        ];
        let early = reasons.into_iter().map(|reason| Self::TooFewBlocks {
            ended_by: Some(reason),
            blocks: 2,
        });
        let names = text.strip_prefix("differs: ");
        let differs = names.map(|names| Self::Differs(names.into()));
        let mut all = arithmetic.chain(others).chain(early).chain(differs);
        let found = all.find(|cause| cause.says() == text);
        found.unwrap_or_else(|| panic!("no cause: {text}"))
    }
}
