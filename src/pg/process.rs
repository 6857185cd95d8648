//! Background workers: registering, launching, connecting, ending.

use std::{
    ffi::{CStr, c_char},
    num::NonZeroU32,
    os::unix::process::CommandExt,
    process::{Child, Command},
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
    time::Duration,
};

use pgfsbench_core::session_settings::{OF_WORKERS, READING_AND_PRINTING};
use pgrx::{check_for_interrupts, pg_guard, pg_sys};
use rustix::process::Signal;

use crate::{
    errors::Fault,
    pg::{guc, version, xact},
};

/// The role of a background worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Starts queued runs and clears up; one in the server, as long as it lives.
    Janitor,
    /// Owns a run.
    Coordinator,
    /// Makes a record each second.
    Sampler,
    /// Runs transactions.
    Client,
    /// Loads, vacuums, verifies.
    Worker,
    /// Asks the helper for something outside of a run.
    HelperWorker,
    /// Takes the next step of an experiment.
    Conductor,
}

impl Role {
    /// Name in pg_stat_activity.
    pub fn name(self) -> &'static str {
        match self {
            Self::Janitor => "fsbench janitor",
            Self::Coordinator => "fsbench coordinator",
            Self::Sampler => "fsbench sampler",
            Self::Client => "fsbench client",
            Self::Worker => "fsbench worker",
            Self::HelperWorker => "fsbench helper worker",
            Self::Conductor => "fsbench conductor",
        }
    }

    fn function(self) -> &'static CStr {
        match self {
            Self::Janitor => c"fsbench_janitor_main",
            Self::Coordinator => c"fsbench_coordinator_main",
            Self::Sampler => c"fsbench_sampler_main",
            Self::Client => c"fsbench_client_main",
            Self::Worker => c"fsbench_worker_main",
            Self::HelperWorker => c"fsbench_helper_worker_main",
            Self::Conductor => c"fsbench_conductor_main",
        }
    }
}

fn copy_text(field: &mut [c_char], text: &[u8]) {
    for (to, from) in field.iter_mut().zip(text.iter().take(95)) {
        *to = *from as c_char;
    }
}

/// The argument of a worker and the serial number of what it belongs to, in one Datum.
fn join_argument(value: i32, serial: u32) -> pg_sys::Datum {
    pg_sys::Datum::from((u64::from(serial) << 32 | u64::from(value as u32)) as usize)
}

/// Splits what `join_argument` has joined.
pub fn split_argument(argument: pg_sys::Datum) -> (i32, u32) {
    let bits = argument.value() as u64;
    (bits as i32, (bits >> 32) as u32)
}

fn describe(role: Role, name: &str, argument: i32, serial: u32) -> pg_sys::BackgroundWorker {
    let mut worker = pg_sys::BackgroundWorker::default();
    copy_text(&mut worker.bgw_name, name.as_bytes());
    copy_text(&mut worker.bgw_type, role.name().as_bytes());
    copy_text(&mut worker.bgw_library_name, b"pgfsbench");
    copy_text(&mut worker.bgw_function_name, role.function().to_bytes());
    worker.bgw_flags =
        (pg_sys::BGWORKER_SHMEM_ACCESS | pg_sys::BGWORKER_BACKEND_DATABASE_CONNECTION) as i32;
    worker.bgw_start_time = pg_sys::BgWorkerStartTime::BgWorkerStart_RecoveryFinished;
    worker.bgw_restart_time = pg_sys::BGW_NEVER_RESTART;
    worker.bgw_main_arg = join_argument(argument, serial);
    worker
}

/// Registers the janitor. From `_PG_init`, while shared libraries are preloaded.
pub fn register_janitor() {
    // SAFETY: set at server start.
    if unsafe { pg_sys::IsBinaryUpgrade } {
        // pg_upgrade wants to be alone in the server.
        return;
    }
    let mut worker = describe(Role::Janitor, Role::Janitor.name(), 0, 0);
    worker.bgw_restart_time = 1;
    // SAFETY: the description is complete, and copied by the call.
    unsafe { pg_sys::RegisterBackgroundWorker(&mut worker) };
}

/// A worker that this process has launched.
pub struct Handle(*mut pg_sys::BackgroundWorkerHandle);

/// How a launched worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The postmaster has not started it yet.
    Waiting,
    /// It runs.
    Running,
    /// It has ended, or could not be started.
    Stopped,
}

/// Launches a worker, whose start and end wake this process. None when max_worker_processes are in use. The worker gets the
/// argument, and the serial number by which it sees whether it comes too late.
pub fn launch(role: Role, label: &str, argument: i32, serial: u32) -> Option<Handle> {
    let name = format!("{}{label}", role.name());
    register(describe(role, &name, argument, serial))
}

/// Launches a worker that gets a text, of at most 127 bytes.
pub fn launch_with(role: Role, message: &str) -> Option<Handle> {
    let mut worker = describe(role, role.name(), 0, 0);
    let last = worker.bgw_extra.len() - 1;
    for (to, from) in worker.bgw_extra[..last].iter_mut().zip(message.bytes()) {
        *to = from as c_char;
    }
    register(worker)
}

/// The text that this worker was launched with.
pub fn message() -> String {
    // SAFETY: set before the main of a background worker is called, and zeroed behind the text.
    unsafe { CStr::from_ptr((*pg_sys::MyBgworkerEntry).bgw_extra.as_ptr()) }
        .to_string_lossy()
        .into_owned()
}

/// The process that has launched this worker.
pub fn launched_by() -> i32 {
    // SAFETY: set before the main of a background worker is called.
    unsafe { (*pg_sys::MyBgworkerEntry).bgw_notify_pid }
}

fn register(mut worker: pg_sys::BackgroundWorker) -> Option<Handle> {
    // SAFETY: the description is complete and copied by the call; the handle is made in a memory context that lives as
    // long as this process.
    unsafe {
        worker.bgw_notify_pid = pg_sys::MyProcPid;
        let before = pg_sys::MemoryContextSwitchTo(pg_sys::TopMemoryContext);
        let mut handle = std::ptr::null_mut();
        let launched = pg_sys::RegisterDynamicBackgroundWorker(&mut worker, &mut handle);
        pg_sys::MemoryContextSwitchTo(before);
        // Not then_some: the handle of a worker that was not launched is null, and must not be dropped.
        launched.then(|| Handle(handle))
    }
}

impl Handle {
    /// How the worker is.
    pub fn status(&self) -> Status {
        let mut pid = 0;
        // SAFETY: the handle came from RegisterDynamicBackgroundWorker and is freed in drop only.
        match unsafe { pg_sys::GetBackgroundWorkerPid(self.0, &mut pid) } {
            pg_sys::BgwHandleStatus::BGWH_NOT_YET_STARTED => Status::Waiting,
            pg_sys::BgwHandleStatus::BGWH_STARTED => Status::Running,
            _ => Status::Stopped,
        }
    }

    /// Asks the worker to end, or takes it back when it has not been started.
    pub fn terminate(&self) {
        // SAFETY: as above.
        unsafe { pg_sys::TerminateBackgroundWorker(self.0) }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: allocated by RegisterDynamicBackgroundWorker, and not used after this.
        unsafe { pg_sys::pfree(self.0.cast()) }
    }
}

/// The database to which a worker connects.
#[derive(Clone, Copy)]
pub enum Database {
    /// No database: shared catalogs only.
    None,
    /// This database.
    Oid(u32),
    /// This database, even if it allows no connections.
    Work(u32),
    /// The work database, in a session of that role: with its rights and its settings.
    WorkAs(u32, NonZeroU32),
}

/// Makes a new background worker listen to signals, and connects it.
pub fn connect(database: Database) {
    let (oid, role, flags) = match database {
        Database::None => (0, 0, 0),
        Database::Oid(oid) => (oid, 0, 0),
        Database::Work(oid) => (oid, 0, pg_sys::BGWORKER_BYPASS_ALLOWCONN),
        Database::WorkAs(oid, role) => (oid, role.get(), pg_sys::BGWORKER_BYPASS_ALLOWCONN),
    };
    // SAFETY: once, at the start of a background worker; the handlers are the server's own. `die` can break a lock wait,
    // which a handler that only sets a flag cannot.
    unsafe {
        version::pqsignal(pg_sys::SIGTERM, die);
        version::pqsignal(pg_sys::SIGHUP, SignalHandlerForConfigReload);
        pg_sys::BackgroundWorkerUnblockSignals();
        pg_sys::BackgroundWorkerInitializeConnectionByOid(
            pg_sys::Oid::from(oid),
            pg_sys::Oid::from(role),
            flags,
        );
    }
}

/// Settings that decide where tables, indexes and temporary files of a run are: the work database's own tablespace, which is
/// `pg_default`, and heap tables, whose pages loaders write.
const PLACES: [(&str, &str); 3] = [
    ("default_tablespace", ""),
    ("temp_tablespaces", ""),
    ("default_table_access_method", "heap"),
];

/// Continues with the rights of `owner`, a safe search_path, the settings with which our SQL is written, and the places of tables, as every worker
/// that touches tables does.
pub fn become_owner(owner: u32) -> Result<(), Fault> {
    // SAFETY: outside of a transaction, so that it stays in force over the transactions to come.
    unsafe { pg_sys::SetUserIdAndSecContext(pg_sys::Oid::from(owner), 0) };
    guc::apply("search_path", "pg_catalog, pg_temp")?;
    for (name, value) in READING_AND_PRINTING.iter().chain(&PLACES) {
        guc::apply(name, value)?;
    }
    guc::apply("default_transaction_read_only", "off")
}

/// Keeps the tables that a script makes in the work database's own tablespace. The session keeps its role and its other settings.
pub fn keep_places() -> Result<(), Fault> {
    for (name, value) in &PLACES {
        guc::apply(name, value)?;
    }
    guc::apply("default_transaction_read_only", "off")
}

/// Becomes the owner in a worker whose transactions are not measured. Settings that the server or the database has for sessions of people must not
/// end it. Autovacuum does likewise.
pub fn become_undisturbed_owner(owner: u32) -> Result<(), Fault> {
    become_owner(owner)?;
    guc::apply("default_transaction_isolation", "read committed")?;
    for (name, value) in OF_WORKERS {
        if guc::is_known(name)? {
            guc::apply(name, value)?;
        }
    }
    for timeout in version::TIMEOUTS {
        guc::apply(timeout, "0")?;
    }
    Ok(())
}

/// Says what this process does, for pg_stat_activity.
pub fn report_activity(text: &str) {
    let Ok(text) = std::ffi::CString::new(text) else {
        return;
    };
    // SAFETY: copies the text into this backend's entry.
    unsafe {
        pg_sys::pgstat_report_activity(pg_sys::BackendState::STATE_RUNNING, text.as_ptr());
    }
}

/// The function given to [`on_exit`]. Written once by this process.
static ON_EXIT: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Has `f` called when this process ends, also by a FATAL error, while shared memory is still there. Once a process. `f` must
/// not raise errors.
pub fn on_exit(f: fn()) {
    ON_EXIT.store(f as *mut (), Relaxed);
    // SAFETY: the function stays valid as long as the process.
    unsafe { pg_sys::before_shmem_exit(Some(call_on_exit), pg_sys::Datum::null()) }
}

#[pg_guard]
unsafe extern "C-unwind" fn call_on_exit(_code: i32, _argument: pg_sys::Datum) {
    let f = ON_EXIT.load(Relaxed);
    if !f.is_null() {
        // SAFETY: only `on_exit` stores there, and what it stores is such a function.
        let f: fn() = unsafe { std::mem::transmute(f) };
        f();
    }
}

unsafe extern "C" {
    /// Set by the kernel's signal when the postmaster dies (pmsignal.h; Linux and FreeBSD).
    static postmaster_possibly_dead: i32;
}
unsafe extern "C-unwind" {
    /// tcopprot.h; not pgrx's wrapper, which is no signal handler
    fn die(signal: i32, #[cfg(since = "19")] sender: *const pg_sys::pg_signal_info);
    /// interrupt.h; likewise
    fn SignalHandlerForConfigReload(
        signal: i32,
        #[cfg(since = "19")] sender: *const pg_sys::pg_signal_info,
    );
    /// pmsignal.h; raises nothing
    fn PostmasterIsAliveInternal() -> bool;
}

/// For loops that never wait: handles pending interrupts, and leaves when the postmaster is dead.
#[inline]
pub fn check_interrupts() {
    check_for_interrupts!();
    // SAFETY: an int that a signal handler sets, and a function without arguments that only asks the kernel; leaving at
    // once is what the server's own processes do then.
    unsafe {
        if std::ptr::read_volatile(&raw const postmaster_possibly_dead) != 0
            && !PostmasterIsAliveInternal()
        {
            std::process::exit(1);
        }
    }
}

/// Waits until another process wakes this one or the time is over; handles interrupts and a changed configuration.
pub fn wait(timeout: Duration) {
    // SAFETY: this process's own latch; it leaves by itself when the postmaster dies.
    unsafe {
        pg_sys::WaitLatch(
            pg_sys::MyLatch,
            (pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH) as i32,
            timeout.as_millis().max(1) as std::ffi::c_long,
            pg_sys::PG_WAIT_EXTENSION,
        );
        pg_sys::ResetLatch(pg_sys::MyLatch);
        check_for_interrupts!();
        if pg_sys::ConfigReloadPending != 0 {
            pg_sys::ConfigReloadPending = 0;
            // A wrong value is logged and not raised; but whatever an extension's hook may raise is no reason to end.
            let _ = xact::catch(|| pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP));
        }
    }
}

/// Wakes the process of that pid from [`wait`].
pub fn wake(pid: i32) {
    if pid <= 0 {
        return;
    }
    // SAFETY: the entry lies in shared memory that stays; should the process have just ended, the latch belongs to no
    // process, or to one that will look once for nothing.
    unsafe {
        let proc = pg_sys::BackendPidGetProc(pid);
        if !proc.is_null() {
            pg_sys::SetLatch(&raw mut (*proc).procLatch);
        }
    }
}

/// Whether a backend or worker with that pid exists in this server.
pub fn is_alive(pid: i32) -> bool {
    // SAFETY: looks the pid up under the server's own lock.
    pid > 0 && unsafe { !pg_sys::BackendPidGetProc(pid).is_null() }
}

/// Asks a process of this server to end, as pg_terminate_backend does.
pub fn terminate(pid: i32) {
    if is_alive(pid)
        && let Some(pid) = rustix::process::Pid::from_raw(pid)
    {
        // It may have ended just now, which is what is wanted.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
}

/// Cancels the statement of a process of this server, as pg_cancel_backend does.
pub fn cancel_statement(pid: i32) {
    if is_alive(pid)
        && let Some(pid) = rustix::process::Pid::from_raw(pid)
    {
        // It may have ended just now, which is what is wanted.
        let _ = rustix::process::kill_process(pid, Signal::INT);
    }
}

/// Waits until the server knows this background worker by its pid. The postmaster writes the pid down after the fork, and may be late with it: until
/// then `pg_stat_activity` does not say what this process is, and `fsbench._check_new_run()` would take the row of its run for a copy.
pub fn wait_until_known() {
    // SAFETY: looks the pid up under the server's own lock.
    while unsafe { pg_sys::GetBackgroundWorkerTypeByPid(my_pid()) }.is_null() {
        wait(Duration::from_millis(1));
    }
}

/// This process's pid.
pub fn my_pid() -> i32 {
    // SAFETY: set at process start.
    unsafe { pg_sys::MyProcPid }
}

/// Starts a program in a session of its own that ends with this process, however that ends: the kernel sends it `on_death`
/// then. Signals for this process's group do not reach it.
pub fn spawn_bound(command: &mut Command, on_death: Signal) -> std::io::Result<Child> {
    close_files_on_exec();
    let parent = rustix::process::getpid();
    // SAFETY: between fork and exec; only system calls, no allocation and no lock.
    unsafe {
        command.pre_exec(move || {
            rustix::process::setsid()?;
            rustix::process::set_parent_process_death_signal(Some(on_death))?;
            // It may have ended before the call.
            if rustix::process::getppid() != Some(parent) {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            Ok(())
        });
    }
    command.spawn()
}

/// Keeps programs that this process starts from inheriting its open files: a server that outlives this one would hold
/// them open.
fn close_files_on_exec() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else {
        return;
    };
    for entry in entries.flatten() {
        let number = entry.file_name().to_string_lossy().parse::<i32>();
        if let Ok(number) = number
            && number > 2
        {
            // SAFETY: borrowed for one call that only sets a flag; a file that is closed by now gives an error.
            let file = unsafe { std::os::fd::BorrowedFd::borrow_raw(number) };
            let _ = rustix::io::fcntl_setfd(file, rustix::io::FdFlags::CLOEXEC);
        }
    }
}
