//! Statements of scripts, executed as the server does for a client of its protocol: each is a command of its own, with portals,
//! transaction blocks and inferred parameter types. Results go nowhere, but for one row that a script may ask for.

mod parameters;
mod receiver;

use std::ffi::{CStr, CString};

use pgrx::{PgList, pg_sys};

use crate::{
    clock,
    errors::{Fault, sqlstate},
    pg::{text, version, xact},
};
use parameters::{Input, inputs};
use receiver::Receiver;

pub use parameters::Parameter;

/// The session of a client.
pub struct ScriptSession {
    /// Memory of one statement; emptied before the next one.
    memory: pg_sys::MemoryContext,
    /// Whether StartTransactionCommand was called for the statement, or for the pipeline.
    is_started: bool,
    is_pipeline: bool,
    /// Whether a statement is planned, executed or committed, or has failed in that.
    is_executing: bool,
    /// Durations of commits in nanoseconds, since they were forgotten.
    commits: Vec<u64>,
}

/// A prepared statement, which lives as long as the process.
pub struct Prepared {
    /// Null for a statement without text.
    source: *mut pg_sys::CachedPlanSource,
    inputs: Vec<Input>,
    control: Control,
    /// Whether the executor can run it: it is no utility statement.
    is_plannable: bool,
}

/// Effect of a statement on the transaction block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    /// No transaction statement.
    None,
    Commit,
    /// BEGIN, ROLLBACK, SAVEPOINT, and others.
    Other,
}

/// Which rows are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Nothing,
    First,
    Last,
}

/// The rows of a statement.
#[derive(Default)]
pub struct Rows {
    pub count: u64,
    pub columns: Vec<String>,
    /// The row that is kept; empty if there is none.
    pub kept: Vec<Option<String>>,
}

impl ScriptSession {
    pub fn new() -> Self {
        // SAFETY: a child of TopMemoryContext lives until it is deleted.
        let memory = unsafe {
            pg_sys::AllocSetContextCreateInternal(
                pg_sys::TopMemoryContext,
                c"pgfsbench statement of a script".as_ptr(),
                pg_sys::ALLOCSET_DEFAULT_MINSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
            )
        };
        Self {
            memory,
            is_started: false,
            is_pipeline: false,
            is_executing: false,
            commits: Vec::new(),
        }
    }

    /// Prepares a statement. It belongs to the command that executes it.
    pub fn prepare(&mut self, sql: &str) -> Result<Prepared, Fault> {
        self.start();
        let sql = c_string(sql)?;
        // SAFETY: in a transaction; the text lives until the call returns, and the plan source copies what it keeps.
        unsafe {
            let trees = PgList::<pg_sys::RawStmt>::from_pg(pg_sys::pg_parse_query(sql.as_ptr()));
            if trees.len() > 1 {
                return Err(Fault::new(
                    sqlstate::SYNTAX_ERROR,
                    "cannot insert multiple commands into a prepared statement",
                ));
            }
            let Some(tree) = trees.get_ptr(0) else {
                return Ok(Prepared {
                    source: std::ptr::null_mut(),
                    inputs: Vec::new(),
                    control: Control::None,
                    is_plannable: false,
                });
            };
            refuse_copy(tree)?;
            let tag = pg_sys::CreateCommandTag((*tree).stmt);
            let source = pg_sys::CreateCachedPlan(tree, sql.as_ptr(), tag);
            let (mut types, mut count) = (std::ptr::null_mut(), 0);
            let queries = with_snapshot_for(tree, || {
                pg_sys::pg_analyze_and_rewrite_varparams(
                    tree,
                    sql.as_ptr(),
                    &mut types,
                    &mut count,
                    std::ptr::null_mut(),
                )
            });
            let inputs = inputs(types, count)?;
            let is_plannable = is_plannable(queries);
            pg_sys::CompleteCachedPlan(
                source,
                queries,
                std::ptr::null_mut(),
                types,
                count,
                None,
                std::ptr::null_mut(),
                pg_sys::CURSOR_OPT_PARALLEL_OK as i32,
                true,
            );
            pg_sys::SaveCachedPlan(source);
            Ok(Prepared {
                source,
                inputs,
                control: control(tree),
                is_plannable,
            })
        }
    }

    /// Executes a prepared statement with so many parameters. `parameter` gives the value of one, and writes its text.
    pub fn execute(
        &mut self,
        prepared: &Prepared,
        given: usize,
        mut parameter: impl FnMut(usize, &mut String) -> Parameter,
        keep: Keep,
    ) -> Result<Rows, Fault> {
        self.start();
        if prepared.source.is_null() {
            self.finish(Control::None);
            return Ok(Rows::default());
        }
        if prepared.inputs.len() != given {
            return Err(wrong_count(prepared.inputs.len(), given));
        }
        self.is_executing = true;
        // SAFETY: in a transaction; the source was saved; parameters live in this session's memory until the next statement.
        let rows = unsafe {
            match prepared.is_plannable {
                true => self.execute_directly(prepared, &mut parameter, keep)?,
                false => self.execute_in_portal(prepared, &mut parameter, keep)?,
            }
        };
        self.finish(prepared.control);
        self.is_executing = false;
        Ok(rows)
    }

    /// Without a portal, as SPI does: a portal costs as much as a small statement.
    ///
    /// # Safety
    /// In a transaction; the source is saved.
    unsafe fn execute_directly(
        &mut self,
        prepared: &Prepared,
        parameter: &mut impl FnMut(usize, &mut String) -> Parameter,
        keep: Keep,
    ) -> Result<Rows, Fault> {
        let source = prepared.source;
        // SAFETY: the caller's duty; the resource owner releases the plan if there is an error.
        unsafe {
            let parameters = parameters::bind(&prepared.inputs, parameter)?;
            let owner = pg_sys::CurrentResourceOwner;
            let plan = pg_sys::GetCachedPlan(source, parameters, owner, std::ptr::null_mut());
            let statements = PgList::<pg_sys::PlannedStmt>::from_pg((*plan).stmt_list);
            let statement = statements.get_ptr(0);
            // A rule that was made meanwhile may have made several of it, or a utility statement.
            let is_direct = |statement: &*mut pg_sys::PlannedStmt| {
                statements.len() == 1 && (**statement).commandType != pg_sys::CmdType::CMD_UTILITY
            };
            let Some(statement) = statement.filter(is_direct) else {
                pg_sys::ReleaseCachedPlan(plan, owner);
                return self.execute_in_portal(prepared, parameter, keep);
            };
            let mut receiver = Receiver::new(keep);
            xact::with_snapshot(|| {
                let text = (*source).query_string;
                version::execute(statement, text, receiver.destination(), parameters);
            });
            pg_sys::ReleaseCachedPlan(plan, owner);
            receiver.into_rows()
        }
    }

    /// # Safety
    /// In a transaction; the source is saved.
    unsafe fn execute_in_portal(
        &mut self,
        prepared: &Prepared,
        parameter: &mut impl FnMut(usize, &mut String) -> Parameter,
        keep: Keep,
    ) -> Result<Rows, Fault> {
        let source = prepared.source;
        // SAFETY: the caller's duty; parameters and plan belong to the portal, which is dropped here or by the abort of the transaction.
        unsafe {
            let portal = new_portal();
            let parameters = parameters::bind(&prepared.inputs, parameter)?;
            let nobody = std::ptr::null_mut();
            let plan = with_snapshot_for((*source).raw_parse_tree, || {
                pg_sys::GetCachedPlan(source, parameters, nobody, nobody.cast())
            });
            pg_sys::PortalDefineQuery(
                portal,
                std::ptr::null(),
                (*source).query_string,
                (*source).commandTag,
                (*plan).stmt_list,
                plan,
            );
            self.run_portal(portal, parameters, keep)
        }
    }

    /// Executes a text, of one statement or several, as the simple protocol does. Calls `each` with the rows of each.
    pub fn execute_text(
        &mut self,
        sql: &str,
        keep: Keep,
        mut each: impl FnMut(Rows) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.start();
        let sql = c_string(sql)?;
        // SAFETY: in a transaction; the text lives until the call returns.
        let trees =
            unsafe { PgList::<pg_sys::RawStmt>::from_pg(pg_sys::pg_parse_query(sql.as_ptr())) };
        let count = trees.len();
        for (index, tree) in trees.iter_ptr().enumerate() {
            let is_last = index + 1 == count;
            self.start_again();
            // SAFETY: as above; a tree of that text.
            let control = unsafe {
                refuse_copy(tree)?;
                if count > 1 {
                    pg_sys::BeginImplicitTransactionBlock();
                }
                let rows = self.run_tree(tree, &sql, keep)?;
                each(rows)?;
                if is_last && count > 1 {
                    pg_sys::EndImplicitTransactionBlock();
                }
                control(tree)
            };
            match is_last || control != Control::None {
                true => self.commit(control),
                // SAFETY: in a transaction, between two statements.
                false => unsafe { pg_sys::CommandCounterIncrement() },
            }
        }
        if count == 0 {
            self.finish(Control::None);
        }
        self.is_executing = false;
        Ok(())
    }

    /// # Safety
    /// In a transaction, with a tree of that text.
    unsafe fn run_tree(
        &mut self,
        tree: *mut pg_sys::RawStmt,
        sql: &CStr,
        keep: Keep,
    ) -> Result<Rows, Fault> {
        self.is_executing = false;
        // SAFETY: the caller's duty; tree and plans live in this session's memory until the next statement.
        unsafe {
            let tag = pg_sys::CreateCommandTag((*tree).stmt);
            let nobody = std::ptr::null_mut();
            let plans = with_snapshot_for(tree, || {
                let queries = pg_sys::pg_analyze_and_rewrite_fixedparams(
                    tree,
                    sql.as_ptr(),
                    std::ptr::null(),
                    0,
                    nobody,
                );
                let options = pg_sys::CURSOR_OPT_PARALLEL_OK as i32;
                // The planner calls functions.
                self.is_executing = true;
                pg_sys::pg_plan_queries(queries, sql.as_ptr(), options, std::ptr::null_mut())
            });
            let portal = pg_sys::CreatePortal(c"".as_ptr(), true, true);
            pg_sys::PortalDefineQuery(
                portal,
                std::ptr::null(),
                sql.as_ptr(),
                tag,
                plans,
                std::ptr::null_mut(),
            );
            self.run_portal(portal, std::ptr::null_mut(), keep)
        }
    }

    /// # Safety
    /// The portal is defined, and is not used after this.
    unsafe fn run_portal(
        &mut self,
        portal: pg_sys::Portal,
        parameters: pg_sys::ParamListInfo,
        keep: Keep,
    ) -> Result<Rows, Fault> {
        let mut receiver = Receiver::new(keep);
        // SAFETY: the caller's duty; the receiver lives until the portal is dropped.
        unsafe {
            let destination = receiver.destination();
            pg_sys::PortalStart(portal, parameters, 0, std::ptr::null_mut());
            pg_sys::MemoryContextSwitchTo(self.memory);
            version::portal_run(portal, destination);
            pg_sys::PortalDrop(portal, false);
        }
        receiver.into_rows()
    }

    /// Begins a pipeline: up to its end statements are one implicit transaction block.
    pub fn start_pipeline(&mut self) {
        self.is_pipeline = true;
    }

    /// Commits what a pipeline has done so far.
    pub fn sync(&mut self) {
        if self.is_started {
            self.is_executing = true;
            // SAFETY: in a transaction; without an implicit block it does nothing.
            unsafe { pg_sys::EndImplicitTransactionBlock() };
            self.commit(Control::None);
            self.is_executing = false;
        }
    }

    pub fn end_pipeline(&mut self) {
        self.is_pipeline = false;
        self.sync();
    }

    /// Whether a transaction block is open.
    pub fn is_in_transaction_block(&self) -> bool {
        // SAFETY: reads the state of this backend.
        unsafe { pg_sys::IsTransactionBlock() }
    }

    /// Whether the latest error arose when a statement was planned, executed or committed, and not before.
    pub fn is_executing(&self) -> bool {
        self.is_executing
    }

    /// Rolls everything back that is open.
    pub fn roll_back(&mut self) {
        // SAFETY: allowed at any time outside of a critical section.
        unsafe {
            pg_sys::AbortOutOfAnyTransaction();
            // The abort leaves portals of procedures that commit within a loop.
            pg_sys::PortalErrorCleanup();
            pg_sys::MemoryContextSwitchTo(pg_sys::TopMemoryContext);
        }
        self.is_started = false;
        self.is_pipeline = false;
    }

    /// Durations in nanoseconds of each COMMIT, and of each statement that committed by itself.
    pub fn commits(&self) -> &[u64] {
        &self.commits
    }

    /// Begins a new list of commits.
    pub fn forget_commits(&mut self) {
        self.commits.clear();
    }

    fn start(&mut self) {
        self.is_executing = false;
        if !self.is_started {
            // SAFETY: nothing of the statement before is used any more.
            unsafe { pg_sys::MemoryContextReset(self.memory) };
        }
        self.start_again();
    }

    fn start_again(&mut self) {
        if !self.is_started {
            xact::begin();
            self.is_started = true;
        } else if version::PIPELINE_IS_BLOCK && has_flag(pg_sys::XACT_FLAGS_PIPELINING) {
            // SAFETY: in a transaction; within a block it does nothing.
            unsafe { pg_sys::BeginImplicitTransactionBlock() };
        }
        // SAFETY: made by `new`.
        unsafe { pg_sys::MemoryContextSwitchTo(self.memory) };
    }

    fn finish(&mut self, control: Control) {
        let needs_commit = has_flag(pg_sys::XACT_FLAGS_NEEDIMMEDIATECOMMIT);
        if self.is_pipeline && control == Control::None && !needs_commit {
            // SAFETY: in a transaction, between two statements.
            unsafe {
                pg_sys::CommandCounterIncrement();
                pg_sys::MyXactFlags |= pg_sys::XACT_FLAGS_PIPELINING as i32;
            }
            return;
        }
        match control != Control::None || !self.is_in_transaction_block() {
            true => self.commit(control),
            // Within a block this ends the command only.
            false => {
                xact::commit();
                self.is_started = false;
            }
        }
    }

    /// Ends a command. The time counts where it was a COMMIT, or where the statement committed by itself.
    fn commit(&mut self, control: Control) {
        let began_ns = clock::now_ns();
        xact::commit();
        self.is_started = false;
        let is_commit = match control {
            Control::None => !self.is_in_transaction_block(),
            Control::Commit => true,
            Control::Other => false,
        };
        if is_commit {
            self.commits.push(clock::now_ns() - began_ns);
        }
    }
}

/// Whether the transaction has this flag.
fn has_flag(flag: u32) -> bool {
    // SAFETY: reads a variable of this backend.
    unsafe { pg_sys::MyXactFlags & flag as i32 != 0 }
}

/// An unnamed portal, into whose memory is switched.
///
/// # Safety
/// In a transaction.
unsafe fn new_portal() -> pg_sys::Portal {
    // SAFETY: the caller's duty; an older portal without a name is dropped silently.
    unsafe {
        let portal = pg_sys::CreatePortal(c"".as_ptr(), true, true);
        pg_sys::MemoryContextSwitchTo((*portal).portalContext);
        portal
    }
}

/// Calls `f` with a snapshot, if the analysis of the statement needs one.
///
/// # Safety
/// In a transaction, with a valid tree.
unsafe fn with_snapshot_for<R>(tree: *mut pg_sys::RawStmt, f: impl FnOnce() -> R) -> R {
    // SAFETY: the caller's duty; on errors the snapshot is popped by the abort.
    match unsafe { pg_sys::analyze_requires_snapshot(tree) } {
        true => xact::with_snapshot(f),
        false => f(),
    }
}

/// # Safety
/// A list of queries that a statement was rewritten to.
unsafe fn is_plannable(queries: *mut pg_sys::List) -> bool {
    // SAFETY: the caller's duty.
    let queries = unsafe { PgList::<pg_sys::Query>::from_pg(queries) };
    // SAFETY: as above.
    let is_planned =
        |query: *mut pg_sys::Query| unsafe { (*query).commandType != pg_sys::CmdType::CMD_UTILITY };
    queries.len() == 1 && queries.iter_ptr().all(is_planned)
}

/// # Safety
/// A valid tree.
unsafe fn control(tree: *mut pg_sys::RawStmt) -> Control {
    use pg_sys::TransactionStmtKind::TRANS_STMT_COMMIT;
    // SAFETY: the caller's duty; the tag says what the node is.
    unsafe {
        let statement = (*tree).stmt;
        if (*statement).type_ != pg_sys::NodeTag::T_TransactionStmt {
            return Control::None;
        }
        match (*statement.cast::<pg_sys::TransactionStmt>()).kind {
            TRANS_STMT_COMMIT => Control::Commit,
            _ => Control::Other,
        }
    }
}

/// Refuses a COPY from or to the client, since there is none.
///
/// # Safety
/// A valid tree.
unsafe fn refuse_copy(tree: *mut pg_sys::RawStmt) -> Result<(), Fault> {
    // SAFETY: the caller's duty; the tag says what the node is.
    unsafe {
        let statement = (*tree).stmt;
        if (*statement).type_ != pg_sys::NodeTag::T_CopyStmt
            || !(*statement.cast::<pg_sys::CopyStmt>()).filename.is_null()
        {
            return Ok(());
        }
    }
    Err(Fault::new(
        sqlstate::NOT_SUPPORTED,
        "COPY from stdin and to stdout is not supported in scripts",
    )
    .detail("A script is run inside the server, where no client reads or sends rows.")
    .hint("Use INSERT, or COPY with a file of the server."))
}

fn wrong_count(wanted: usize, given: usize) -> Fault {
    Fault::new(
        sqlstate::PROTOCOL_VIOLATION,
        format!("the statement has {wanted} parameters, and {given} variables stand in it"),
    )
    .detail("Parameters of a script are written as variables, such as :name.")
    .hint("Write :name in place of $1.")
}

fn c_string(text: &str) -> Result<CString, Fault> {
    CString::new(text::to_server(text)).map_err(|_| {
        Fault::new(
            sqlstate::INVALID_PARAMETER,
            "a statement or a value contains a null byte",
        )
    })
}
