//! The one table from what can go wrong to SQLSTATE, message, DETAIL and HINT.

use std::{io, path::Path};

use pgfsbench_core::{
    board::{TextCell, cut_for_json},
    refusal::{Kind, Refusal},
};
use pgrx::pg_sys::panic::CaughtError;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Bytes of a report in JSON beside its texts: names of members, SQLSTATE, and what it stands in.
const FRAME: usize = 100;

/// Characters of a message, DETAIL or HINT that are taken from another server.
const LONGEST_FOREIGN: usize = 2000;

/// An error as it is stored with a run, passed between processes, and raised in the caller's session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// Five characters.
    pub sqlstate: String,
    /// Lower case, one line, no period.
    pub message: String,
    /// Full sentences.
    pub detail: Option<String>,
    /// Full sentences that say what to do.
    pub hint: Option<String>,
}

/// SQLSTATEs that pgfsbench raises.
pub mod sqlstate {
    /// invalid_parameter_value
    pub const INVALID_PARAMETER: &str = "22023";
    /// object_not_in_prerequisite_state
    pub const NOT_IN_THIS_STATE: &str = "55000";
    /// character_not_in_repertoire
    pub const NOT_IN_REPERTOIRE: &str = "22021";
    /// object_in_use
    pub const IN_USE: &str = "55006";
    /// active_sql_transaction
    pub const IN_TRANSACTION: &str = "25001";
    /// insufficient_resources
    pub const NO_RESOURCES: &str = "53000";
    /// disk_full
    pub const DISK_FULL: &str = "53100";
    /// configuration_limit_exceeded
    pub const LIMIT_REACHED: &str = "53400";
    /// program_limit_exceeded
    pub const TOO_MUCH: &str = "54000";
    /// insufficient_privilege
    pub const NOT_ALLOWED: &str = "42501";
    /// query_canceled
    pub const CANCELED: &str = "57014";
    /// idle_session_timeout
    pub const LEASE_OVER: &str = "57P05";
    /// sqlclient_unable_to_establish_sqlconnection
    pub const CANNOT_CONNECT: &str = "08001";
    /// connection_failure
    pub const CONNECTION_LOST: &str = "08006";
    /// crash_shutdown
    pub const CRASHED: &str = "57P02";
    /// admin_shutdown
    pub const TERMINATED: &str = "57P01";
    /// system_error
    pub const SYSTEM: &str = "58000";
    /// io_error
    pub const IO: &str = "58030";
    /// internal_error; only for bugs
    pub const INTERNAL: &str = "XX000";
    /// data_corrupted
    pub const CORRUPTED: &str = "XX001";
}

impl Fault {
    /// An error without DETAIL and HINT.
    pub fn new(sqlstate: &str, message: impl Into<String>) -> Self {
        Self {
            sqlstate: sqlstate.into(),
            message: message.into(),
            detail: None,
            hint: None,
        }
    }

    /// The same with a DETAIL.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The same with a HINT.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with words before its message.
    pub fn context(mut self, before: &str) -> Self {
        self.message = format!("{before}: {}", self.message);
        self
    }

    /// An error that another server has sent, which may have sent anything: fit to be stored, and shown on a terminal.
    pub fn made_harmless(self) -> Self {
        let in_short = |text: String, kept: &[char]| -> String {
            let shown = |c: char| {
                if c.is_control() && !kept.contains(&c) {
                    ' '
                } else {
                    c
                }
            };
            text.chars().take(LONGEST_FOREIGN).map(shown).collect()
        };
        let is_sqlstate = self.sqlstate.len() == 5
            && (self.sqlstate.bytes()).all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
            // These are of no errors.
            && !["00", "01", "02"].contains(&&self.sqlstate[..2]);
        let mut message = in_short(self.message, &[]);
        if message.trim().is_empty() {
            message = "the target server gives no reason".into();
        }
        Self {
            sqlstate: match is_sqlstate {
                true => self.sqlstate,
                false => sqlstate::SYSTEM.into(),
            },
            message,
            detail: self.detail.map(|text| in_short(text, &['\n'])),
            hint: self.hint.map(|text| in_short(text, &['\n'])),
        }
    }

    /// Whether the run counts as cancelled and not as failed.
    pub fn is_cancel(&self) -> bool {
        self.sqlstate == sqlstate::CANCELED || self.sqlstate == sqlstate::LEASE_OVER
    }

    /// The same with texts so short that all of it fits into so many bytes of JSON. What the texts of other programs and
    /// servers say has no limit, and what is cut in the middle of JSON cannot be read any more.
    pub fn shortened(&self, bytes: usize) -> Self {
        let quarter = bytes.saturating_sub(FRAME) / 4;
        Self {
            sqlstate: unpack(pack(&self.sqlstate)),
            message: cut_for_json(&self.message, quarter),
            detail: self
                .detail
                .as_deref()
                .map(|text| cut_for_json(text, 2 * quarter)),
            hint: self.hint.as_deref().map(|text| cut_for_json(text, quarter)),
        }
    }

    /// Writes it to shared memory, as JSON; long texts are cut.
    pub fn store<const N: usize>(&self, cell: &TextCell<N>) {
        let short = self.shortened(cell.capacity());
        cell.set(&serde_json::to_string(&short).unwrap_or_default());
    }

    /// From JSON; a text that is none becomes the message of an internal error.
    pub fn from_json(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|_| {
            Self::new(
                sqlstate::INTERNAL,
                format!("unreadable error report \"{text}\""),
            )
        })
    }
}

/// Reads what a statement or another process has given, JSON; an error names `what` it is.
pub fn read_json<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|e| unreadable(what, e))
}

/// The error of what is not as it is to be; only for bugs.
pub fn unreadable(what: &str, error: serde_json::Error) -> Fault {
    Fault::new(sqlstate::INTERNAL, format!("unreadable {what}: {error}"))
}

/// As JSON, for a statement or another process.
pub fn to_json_text(value: &impl Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|e| Fault::new(sqlstate::INTERNAL, e.to_string()))
}

/// SQLSTATE of what the system says of a file.
pub fn sqlstate_of(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => sqlstate::DISK_FULL,
        _ => sqlstate::SYSTEM,
    }
}

/// What the system says of a file, or a directory; `what` could not be done with it.
pub fn of_file(what: &str, path: &Path, error: &io::Error) -> Fault {
    Fault::new(
        sqlstate_of(error),
        format!("could not {what} \"{}\": {error}", path.display()),
    )
}

/// What a process of a run reports that ends before its time.
pub fn process_terminated() -> Fault {
    Fault::new(sqlstate::TERMINATED, "the process was terminated")
        .detail("Somebody called pg_terminate_backend(), or dropped the work database of the run.")
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        let sqlstate = match refusal.kind {
            Kind::InvalidArgument => sqlstate::INVALID_PARAMETER,
            Kind::NotInThisState => sqlstate::NOT_IN_THIS_STATE,
            Kind::NoWorkerSlot => sqlstate::NO_RESOURCES,
            Kind::DiskFull => sqlstate::DISK_FULL,
            Kind::NotAllowed => sqlstate::NOT_ALLOWED,
            Kind::Cancelled => sqlstate::CANCELED,
            Kind::WrongData => sqlstate::CORRUPTED,
            Kind::System => sqlstate::SYSTEM,
            Kind::Internal => sqlstate::INTERNAL,
        };
        Self {
            sqlstate: sqlstate.into(),
            message: refusal.message,
            detail: refusal.detail,
            hint: refusal.hint,
        }
    }
}

impl From<CaughtError> for Fault {
    fn from(caught: CaughtError) -> Self {
        match caught {
            CaughtError::PostgresError(report)
            | CaughtError::ErrorReport(report)
            | CaughtError::RustPanic {
                ereport: report, ..
            } => Self {
                sqlstate: unpack(report.sql_error_code() as i32),
                message: report.message().to_owned(),
                detail: report.detail().map(str::to_owned),
                hint: report.hint().map(str::to_owned),
            },
        }
    }
}

/// PostgreSQL's packed form of a SQLSTATE: six bits a character (MAKE_SQLSTATE in elog.h).
pub fn pack(sqlstate: &str) -> i32 {
    sqlstate
        .bytes()
        .take(5)
        .enumerate()
        .fold(0, |code, (i, byte)| {
            code | (i32::from(byte.wrapping_sub(b'0')) & 0x3f) << (6 * i)
        })
}

/// The five characters of a packed SQLSTATE.
pub fn unpack(code: i32) -> String {
    (0..5)
        .map(|i| char::from(((code >> (6 * i)) & 0x3f) as u8 + b'0'))
        .collect()
}
