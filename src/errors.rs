//! Errors: SQLSTATE, message, DETAIL and HINT. The SQLSTATEs stand in the one table of [`sqlstate`]; which of them a kind of refusal has, beside the kinds.

use std::{
    io,
    path::Path,
    sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed},
};

pub use pgfsbench_core::sqlstate::{self, pack, unpack};
use pgfsbench_core::{
    board::{TextCell, truncate_for_json},
    error_texts::Texts,
    escape::blanked,
    refusal::Refusal,
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
    /// Whether PostgreSQL gave a CONTEXT, as far as this process looks for it: [`remember_reported`].
    #[serde(skip)]
    pub has_context: bool,
    /// Whether a statement has raised it, so that PostgreSQL or a function of a user has chosen the words.
    #[serde(skip)]
    pub is_raised: bool,
}

impl Fault {
    /// An error without DETAIL and HINT.
    pub fn new(sqlstate: &str, message: impl Into<String>) -> Self {
        Self {
            sqlstate: sqlstate.into(),
            message: message.into(),
            detail: None,
            hint: None,
            has_context: false,
            is_raised: false,
        }
    }

    /// Adds a DETAIL.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds a HINT.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Puts words before the message.
    pub fn context(mut self, before: &str) -> Self {
        self.message = format!("{before}: {}", self.message);
        self
    }

    /// The error with texts of pgfsbench, which are made of the present ones and the SQLSTATE.
    pub fn with_texts(self, make: impl FnOnce(Texts, &str) -> Texts) -> Self {
        let texts = Texts {
            message: self.message,
            detail: self.detail,
            hint: self.hint,
            has_context: self.has_context,
        };
        let texts = make(texts, &self.sqlstate);
        Self {
            sqlstate: self.sqlstate,
            message: texts.message,
            detail: texts.detail,
            hint: texts.hint,
            has_context: texts.has_context,
            is_raised: false,
        }
    }

    /// The error as a run on a user's own data may keep it: a statement that has failed may have put values of the data into the words.
    pub fn without_values(self) -> Self {
        match self.is_raised {
            true => self.with_texts(|texts, sqlstate| texts.without_values(sqlstate, false)),
            false => self,
        }
    }

    /// An error that another server has sent, which may have sent anything: fit to be stored, and shown on a terminal.
    pub fn made_harmless(self) -> Self {
        let in_short = |text: String, kept: &[char]| -> String {
            let short: String = text.chars().take(LONGEST_FOREIGN).collect();
            blanked(&short, kept)
        };
        let mut message = in_short(self.message, &[]);
        if message.trim().is_empty() {
            message = "the target server gives no reason".into();
        }
        Self {
            sqlstate: match sqlstate::is_of_an_error(&self.sqlstate) {
                true => self.sqlstate,
                false => sqlstate::SYSTEM.into(),
            },
            message,
            detail: self.detail.map(|text| in_short(text, &['\n'])),
            hint: self.hint.map(|text| in_short(text, &['\n'])),
            has_context: self.has_context,
            is_raised: self.is_raised,
        }
    }

    /// An error of another server, whose HINT would be shown as one of pgfsbench: it becomes a part of the DETAIL.
    pub fn told_by_another(mut self) -> Self {
        if let Some(hint) = self.hint.take() {
            let detail = self.detail.map_or_else(String::new, |detail| detail + " ");
            self.detail = Some(format!("{detail}The server of the target hints: {hint}"));
        }
        self
    }

    /// Whether the run counts as cancelled and not as failed.
    pub fn is_cancel(&self) -> bool {
        self.sqlstate == sqlstate::CANCELED || self.sqlstate == sqlstate::LEASE_OVER
    }

    /// Shortens the texts so that all of it fits into this many bytes of JSON. Texts of other programs and servers have no limit, and JSON that is
    /// cut off cannot be read.
    pub fn shortened(&self, bytes: usize) -> Self {
        let quarter = bytes.saturating_sub(FRAME) / 4;
        Self {
            sqlstate: unpack(pack(&self.sqlstate)),
            message: truncate_for_json(&self.message, quarter),
            detail: self
                .detail
                .as_deref()
                .map(|text| truncate_for_json(text, 2 * quarter)),
            hint: self
                .hint
                .as_deref()
                .map(|text| truncate_for_json(text, quarter)),
            has_context: self.has_context,
            is_raised: self.is_raised,
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

/// Reads JSON that was made of rows of our tables; an error says that a row is at fault and names `what` it holds.
pub fn read_stored<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|e| unreadable_row(what, e))
}

/// A row holds values that pgfsbench never writes.
pub fn unreadable_row(what: &str, error: serde_json::Error) -> Fault {
    contradicting_row(what, &error.to_string())
}

/// Rows hold what pgfsbench never writes together; `why` says what, without a period.
pub fn contradicting_row(what: &str, why: &str) -> Fault {
    let (first, rest) = why.split_at(why.chars().next().map_or(0, char::len_utf8));
    Fault::new(
        sqlstate::CORRUPTED,
        format!("the stored {what} cannot be read"),
    )
    .detail(format!("{}{rest}.", first.to_uppercase()))
    .hint("A row in schema fsbench was written by hand or restored from a changed dump. Correct it, or drop the run or experiment that it belongs to.")
}

/// Arguments of a function whose types fit and whose values do not: NULL in an array, an array of two dimensions.
pub fn wrong_arguments(what: &str, error: serde_json::Error) -> Fault {
    Fault::new(
        sqlstate::INVALID_PARAMETER,
        format!("{what} cannot be used"),
    )
    .detail(format!("{error}."))
    .hint("Arrays have one dimension and no NULL. \\df fsbench.* shows the arguments of each function.")
}

/// An internal error: only for bugs.
pub fn unreadable(what: &str, error: serde_json::Error) -> Fault {
    Fault::new(sqlstate::INTERNAL, format!("unreadable {what}: {error}"))
}

/// JSON text, for a statement or another process.
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

/// The system's error on a file or a directory; `what` could not be done with it.
pub fn of_file(what: &str, path: &Path, error: &io::Error) -> Fault {
    Fault::new(
        sqlstate_of(error),
        format!("could not {what} \"{}\": {error}", path.display()),
    )
}

/// The error of a process of a run that ends before its time.
pub fn process_terminated() -> Fault {
    Fault::new(sqlstate::TERMINATED, "the process was terminated")
        .detail("Somebody called pg_terminate_backend(), or dropped the work database of the run.")
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self {
            sqlstate: refusal.kind.sqlstate().into(),
            message: refusal.message,
            detail: refusal.detail,
            hint: refusal.hint,
            has_context: false,
            is_raised: false,
        }
    }
}

/// The SQLSTATE of the last report of this process, as PostgreSQL packs it; 0 where none was seen. Written by this process.
static LAST_REPORTED: AtomicI32 = AtomicI32::new(0);
/// Whether it had a CONTEXT. Written by this process.
static LAST_HAD_CONTEXT: AtomicBool = AtomicBool::new(false);

/// Forgets the report before a try: its SQLSTATE is none of an error in the try.
pub fn forget_reported() {
    LAST_REPORTED.store(0, Relaxed);
    LAST_HAD_CONTEXT.store(false, Relaxed);
}

/// Remembers the SQLSTATE of a report that this process makes, and whether it has a CONTEXT.
pub fn remember_reported(packed: i32, has_context: bool) {
    LAST_REPORTED.store(packed, Relaxed);
    LAST_HAD_CONTEXT.store(has_context, Relaxed);
}

/// The SQLSTATE of an error that PostgreSQL has raised. pgrx turns those that PostgreSQL itself does not raise, such as those of RAISE, into XX000.
fn raised_code(caught: i32) -> String {
    let reported = LAST_REPORTED.swap(0, Relaxed);
    let code = unpack(caught);
    match code.as_str() {
        sqlstate::INTERNAL if reported != 0 => unpack(reported),
        _ => code,
    }
}

impl From<CaughtError> for Fault {
    fn from(caught: CaughtError) -> Self {
        let has_context = LAST_HAD_CONTEXT.swap(false, Relaxed);
        let is_raised = matches!(caught, CaughtError::PostgresError(_));
        let code = match &caught {
            CaughtError::PostgresError(report) => raised_code(report.sql_error_code() as i32),
            CaughtError::ErrorReport(report)
            | CaughtError::RustPanic {
                ereport: report, ..
            } => unpack(report.sql_error_code() as i32),
        };
        match caught {
            CaughtError::PostgresError(report)
            | CaughtError::ErrorReport(report)
            | CaughtError::RustPanic {
                ereport: report, ..
            } => Self {
                sqlstate: code,
                message: report.message().to_owned(),
                detail: report.detail().map(str::to_owned),
                hint: report.hint().map(str::to_owned),
                has_context,
                is_raised,
            },
        }
    }
}
