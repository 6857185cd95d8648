//! Connections to other servers, by libpq in its asynchronous form: a process that waits stays interruptible.
//!
//! libpq takes whatever comes, and keeps much of it: rows, notifications, parameters that the server reports, messages of any
//! length. What has arrived cannot be counted from outside, so that what is watched is the memory that it takes here.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    time::Duration,
};

use pgfsbench_core::units::format_bytes;
use pgrx::{check_for_interrupts, pg_sys};

use crate::{
    errors::{Fault, sqlstate},
    pg::own_memory,
};

#[link(name = "pq")]
unsafe extern "C" {
    fn PQconnectStartParams(
        keywords: *const *const c_char,
        values: *const *const c_char,
        expand: c_int,
    ) -> *mut c_void;
    fn PQconnectPoll(conn: *mut c_void) -> c_int;
    fn PQstatus(conn: *const c_void) -> c_int;
    fn PQsocket(conn: *const c_void) -> c_int;
    fn PQerrorMessage(conn: *const c_void) -> *const c_char;
    fn PQsendQuery(conn: *mut c_void, sql: *const c_char) -> c_int;
    fn PQsendQueryParams(
        conn: *mut c_void,
        sql: *const c_char,
        count: c_int,
        types: *const u32,
        values: *const *const c_char,
        lengths: *const c_int,
        formats: *const c_int,
        result_format: c_int,
    ) -> c_int;
    fn PQconsumeInput(conn: *mut c_void) -> c_int;
    fn PQisBusy(conn: *mut c_void) -> c_int;
    fn PQgetResult(conn: *mut c_void) -> *mut c_void;
    fn PQresultStatus(result: *const c_void) -> c_int;
    fn PQresultErrorField(result: *const c_void, field: c_int) -> *const c_char;
    fn PQntuples(result: *const c_void) -> c_int;
    fn PQnfields(result: *const c_void) -> c_int;
    fn PQgetisnull(result: *const c_void, row: c_int, column: c_int) -> c_int;
    fn PQgetvalue(result: *const c_void, row: c_int, column: c_int) -> *const c_char;
    fn PQnotifies(conn: *mut c_void) -> *mut c_void;
    fn PQfreemem(memory: *mut c_void);
    fn PQclear(result: *mut c_void);
    fn PQfinish(conn: *mut c_void);
    fn PQsetNoticeProcessor(
        conn: *mut c_void,
        processor: unsafe extern "C" fn(*mut c_void, *const c_char),
        argument: *mut c_void,
    ) -> *const c_void;
}

/// Ignores notices of the other server. Without this, libpq writes them to standard error, which
/// is this server's log.
unsafe extern "C" fn ignore_notice(_argument: *mut c_void, _message: *const c_char) {}

/// CONNECTION_OK and CONNECTION_BAD of libpq-fe.h.
const CONNECTION_OK: c_int = 0;
const CONNECTION_BAD: c_int = 1;
/// PGRES_POLLING_*.
const POLLING_FAILED: c_int = 0;
const POLLING_WRITING: c_int = 2;
const POLLING_OK: c_int = 3;
/// PGRES_EMPTY_QUERY, PGRES_COMMAND_OK and PGRES_TUPLES_OK.
const EMPTY: c_int = 0;
const COMMAND_OK: c_int = 1;
const TUPLES_OK: c_int = 2;
/// PGRES_COPY_OUT, PGRES_COPY_IN and PGRES_COPY_BOTH.
const COPIES: [c_int; 3] = [3, 4, 8];

/// Bytes of memory that a connection may take without the kept answers: several times the longest answer, which is in the buffer and in the result.
const MOST_MEMORY: u64 = 256 << 20;

/// How often a wait looks around.
const LOOK: Duration = Duration::from_millis(250);

/// The hint on answers that no server of ours gives.
pub const IS_IT_PGFSBENCH: &str =
    "See whether the connection leads to a server with pgfsbench of the same version.";

/// A check that is made while waiting; an error ends the wait.
pub type CheckInterrupts<'a> = &'a mut dyn FnMut() -> Result<(), Fault>;

pub struct Connection {
    conn: *mut c_void,
    /// Bytes that this process may have, from before it was opened.
    most_memory: u64,
    /// Whether it leads to a server that is not ours.
    is_of_another: bool,
    /// Whether it leads to a database of a user's own, so that words of the server may have values.
    hides_values: bool,
}

impl Connection {
    /// Connects; `parameters` are libpq's keywords and values. How long it may take is for `check_interrupts` to say: libpq minds its
    /// connect_timeout only in its blocking calls. The one thing that `check_interrupts` cannot interrupt is a name that is looked up,
    /// since libpq calls getaddrinfo: that ends by the resolver's own timeouts (resolv.conf), or an address is given.
    pub fn open(
        parameters: &[(&str, &str)],
        check_interrupts: CheckInterrupts,
    ) -> Result<Self, Fault> {
        let text = |text: &str| {
            CString::new(text).map_err(|_| {
                Fault::new(
                    sqlstate::INVALID_PARAMETER,
                    "a connection parameter contains a null byte",
                )
            })
        };
        let mut keywords = Vec::new();
        let mut values = Vec::new();
        for (keyword, value) in parameters {
            keywords.push(text(keyword)?);
            values.push(text(value)?);
        }
        let pointers = |texts: &[CString]| {
            texts
                .iter()
                .map(|text| text.as_ptr())
                .chain([std::ptr::null()])
                .collect::<Vec<_>>()
        };
        let most_memory = own_memory::bytes()? + MOST_MEMORY;
        // SAFETY: both arrays end with a null pointer, and the texts live until the call returns; libpq copies them.
        let conn = unsafe {
            PQconnectStartParams(pointers(&keywords).as_ptr(), pointers(&values).as_ptr(), 0)
        };
        if conn.is_null() {
            return Err(Fault::new(sqlstate::NO_RESOURCES, "out of memory"));
        }
        let connection = Self {
            conn,
            most_memory,
            is_of_another: false,
            hides_values: false,
        };
        // SAFETY: a connection, and a function that does nothing.
        unsafe { PQsetNoticeProcessor(conn, ignore_notice, std::ptr::null_mut()) };
        let mut wanted = POLLING_WRITING;
        loop {
            // SAFETY: the connection is there until it is dropped.
            match unsafe { PQstatus(conn) } {
                CONNECTION_OK => return Ok(connection),
                // There may not even be a socket to wait for.
                CONNECTION_BAD => return Err(connection.lost()),
                _ if wanted == POLLING_FAILED => return Err(connection.lost()),
                _ => {}
            }
            if wanted != POLLING_OK {
                connection.wait(wanted == POLLING_WRITING, check_interrupts)?;
            }
            // SAFETY: as above.
            wanted = unsafe { PQconnectPoll(conn) };
            connection.check_memory()?;
        }
    }

    /// Runs a statement, and gives the first column of its first row.
    pub fn query(
        &mut self,
        sql: &str,
        arguments: &[Option<&str>],
        check_interrupts: CheckInterrupts,
    ) -> Result<Option<String>, Fault> {
        let internal = |_| Fault::new(sqlstate::INTERNAL, "SQL text contains a null byte");
        let sql = CString::new(sql).map_err(internal)?;
        let arguments = arguments
            .iter()
            .map(|argument| argument.map(CString::new).transpose().map_err(internal))
            .collect::<Result<Vec<_>, _>>()?;
        let values: Vec<*const c_char> = arguments
            .iter()
            .map(|a| a.as_ref().map_or(std::ptr::null(), |a| a.as_ptr()))
            .collect();
        // SAFETY: texts and array live until the call returns; libpq copies them.
        let sent = unsafe {
            PQsendQueryParams(
                self.conn,
                sql.as_ptr(),
                values.len() as c_int,
                std::ptr::null(),
                values.as_ptr(),
                std::ptr::null(),
                std::ptr::null(),
                0,
            )
        };
        if sent == 0 {
            return Err(self.lost());
        }
        let answer = self.answer(check_interrupts)?;
        Ok(answer.and_then(|answer| answer.first()))
    }

    /// Runs the statements of a text; gives the value of the first row of the last one, and how many rows that one has.
    pub fn rows(
        &mut self,
        sql: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<(Option<String>, u64), Fault> {
        let internal = |_| Fault::new(sqlstate::INTERNAL, "SQL text contains a null byte");
        let sql = CString::new(sql).map_err(internal)?;
        // SAFETY: the text lives until the call returns; libpq copies it.
        if unsafe { PQsendQuery(self.conn, sql.as_ptr()) } == 0 {
            return Err(self.lost());
        }
        let answer = self.answer(check_interrupts)?;
        Ok(answer.map_or((None, 0), |answer| (answer.first(), answer.rows())))
    }

    /// Waits for the answer of the last statement, if it gives rows.
    fn answer(&mut self, check_interrupts: CheckInterrupts) -> Result<Option<Answer>, Fault> {
        let mut answer = Ok(None);
        loop {
            // SAFETY: the connection is open.
            while unsafe { PQisBusy(self.conn) } != 0 {
                self.wait(false, check_interrupts)?;
                // SAFETY: the connection is open.
                if unsafe { PQconsumeInput(self.conn) } == 0 {
                    return Err(self.lost());
                }
                self.drop_notifications();
                self.check_memory()?;
            }
            // SAFETY: the connection is open and not busy, so that this does not block.
            let result = unsafe { PQgetResult(self.conn) };
            if result.is_null() {
                return answer;
            }
            let result = Answer(result);
            answer = match result.status() {
                // libpq would give the same again for ever.
                status if COPIES.contains(&status) => return Err(copies()),
                EMPTY | COMMAND_OK => Ok(None),
                TUPLES_OK => Ok(Some(result)),
                _ => Err(self.of_server(result.fault())),
            };
        }
    }

    /// Marks a connection to a server that is not ours: its hints are not ours either.
    pub fn leads_to_another(mut self) -> Self {
        self.is_of_another = true;
        self
    }

    /// Whether it leads to a server that is not ours.
    pub fn is_of_another(&self) -> bool {
        self.is_of_another
    }

    /// Has errors of statements lose words that may have values of the data.
    pub fn hiding_values(mut self) -> Self {
        self.hides_values = true;
        self
    }

    /// The error of a statement, or of the connection where the server gives none.
    fn of_server(&self, fault: Option<Fault>) -> Fault {
        match fault {
            Some(fault) if self.is_of_another => fault.told_by_another(),
            Some(fault) if self.hides_values => fault.without_values(),
            Some(fault) => fault,
            None => self.lost(),
        }
    }

    /// Waits until the socket is ready, this process is woken, or it is time to look around.
    fn wait(&self, to_write: bool, check_interrupts: CheckInterrupts) -> Result<(), Fault> {
        check_interrupts()?;
        let direction = if to_write {
            pg_sys::WL_SOCKET_WRITEABLE
        } else {
            pg_sys::WL_SOCKET_READABLE
        };
        // SAFETY: this process's own latch, and the socket of an open connection.
        unsafe {
            pg_sys::WaitLatchOrSocket(
                pg_sys::MyLatch,
                (pg_sys::WL_LATCH_SET
                    | pg_sys::WL_TIMEOUT
                    | pg_sys::WL_EXIT_ON_PM_DEATH
                    | direction) as c_int,
                PQsocket(self.conn),
                LOOK.as_millis() as std::ffi::c_long,
                pg_sys::PG_WAIT_EXTENSION,
            );
            pg_sys::ResetLatch(pg_sys::MyLatch);
            check_for_interrupts!();
        }
        Ok(())
    }

    /// Drops unwanted notifications: libpq keeps each until it is read.
    fn drop_notifications(&self) {
        loop {
            // SAFETY: the connection is open; what it gives is ours to be freed, and freed once.
            unsafe {
                let notification = PQnotifies(self.conn);
                if notification.is_null() {
                    return;
                }
                PQfreemem(notification);
            }
        }
    }

    /// Lets the caller keep an answer of this many bytes.
    pub fn keep(&mut self, bytes: usize) {
        self.most_memory = self.most_memory.saturating_add(bytes as u64);
    }

    /// After an error the rest is not read, so that the connection is of no more use.
    fn check_memory(&self) -> Result<(), Fault> {
        if own_memory::bytes()? <= self.most_memory {
            return Ok(());
        }
        Err(
            Fault::new(sqlstate::TOO_MUCH, "the target server has sent too much")
                .detail(format!(
                    "It takes more than {} of memory, which is more than anything of a run does.",
                    format_bytes(MOST_MEMORY)
                ))
                .hint(IS_IT_PGFSBENCH),
        )
    }

    /// The connection's own error.
    fn lost(&self) -> Fault {
        // SAFETY: libpq gives a text for every connection, also without an error.
        let message = unsafe { CStr::from_ptr(PQerrorMessage(self.conn)) };
        let fault = Fault::new(
            sqlstate::CONNECTION_LOST,
            "could not talk to the target server",
        );
        match one_line(&message.to_string_lossy()) {
            said if said.is_empty() => fault,
            said => fault.detail(said).made_harmless(),
        }
    }
}

fn copies() -> Fault {
    Fault::new(sqlstate::SYSTEM, "unexpected answer of the target server")
        .detail("It wants to copy data.")
        .hint(IS_IT_PGFSBENCH)
}

/// libpq's texts have several lines.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: made by PQconnectStartParams and not used after this.
        unsafe { PQfinish(self.conn) }
    }
}

struct Answer(*mut c_void);

impl Answer {
    fn status(&self) -> c_int {
        // SAFETY: a result that is freed in drop only.
        unsafe { PQresultStatus(self.0) }
    }

    fn rows(&self) -> u64 {
        // SAFETY: as above.
        unsafe { PQntuples(self.0) as u64 }
    }

    fn first(&self) -> Option<String> {
        // SAFETY: as above; row and column exist, and the value ends with a null byte.
        unsafe {
            if PQntuples(self.0) < 1 || PQnfields(self.0) < 1 || PQgetisnull(self.0, 0, 0) != 0 {
                return None;
            }
            let value = CStr::from_ptr(PQgetvalue(self.0, 0, 0));
            Some(value.to_string_lossy().into_owned())
        }
    }

    /// The error as the other server raised it; None when it is one of the connection.
    fn fault(&self) -> Option<Fault> {
        let field = |code: u8| {
            // SAFETY: as above; a field that is not there is a null pointer.
            unsafe {
                let text = PQresultErrorField(self.0, c_int::from(code));
                (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
            }
        };
        let fault = Fault {
            sqlstate: field(b'C')?,
            message: field(b'M')?,
            detail: field(b'D'),
            hint: field(b'H'),
            has_context: field(b'W').is_some(),
            is_raised: true,
        };
        Some(fault.made_harmless())
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // SAFETY: from PQgetResult, and not used after this.
        unsafe { PQclear(self.0) }
    }
}
