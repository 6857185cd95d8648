//! Statements of scripts, executed as the server does for a client of its protocol: each is a command of its own, with portals,
//! transaction blocks and inferred parameter types. Results go nowhere, but for one row that a script may ask for.

use std::ffi::{CStr, CString};

use pgrx::{PgList, pg_guard, pg_sys};

use crate::{
    clock,
    errors::{Fault, sqlstate},
    pg::{text, version, xact},
};

/// The session of a client.
pub struct ScriptSession {
    /// Memory of one statement; emptied before the next one.
    memory: pg_sys::MemoryContext,
    /// Whether StartTransactionCommand was called for the statement, or for the pipeline.
    is_started: bool,
    is_pipeline: bool,
    /// Time of all commits since it was taken.
    commit_ns: u64,
}

/// A prepared statement, which lives as long as the process.
pub struct Prepared {
    /// Null for a statement without text.
    source: *mut pg_sys::CachedPlanSource,
    /// Input functions of the parameters, and the type that each is given.
    inputs: Vec<(pg_sys::Oid, pg_sys::Oid)>,
    is_transaction: bool,
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
            commit_ns: 0,
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
                    is_transaction: false,
                });
            };
            refuse_copy(tree)?;
            let tag = pg_sys::CreateCommandTag((*tree).stmt);
            let source = pg_sys::CreateCachedPlan(tree, sql.as_ptr(), tag);
            let (mut types, mut count) = (std::ptr::null_mut(), 0);
            let queries = with_snapshot_for(tree, false, || {
                pg_sys::pg_analyze_and_rewrite_varparams(
                    tree,
                    sql.as_ptr(),
                    &mut types,
                    &mut count,
                    std::ptr::null_mut(),
                )
            });
            let inputs = inputs(types, count)?;
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
                is_transaction: is_transaction(tree),
            })
        }
    }

    /// Executes a prepared statement with so many parameters. `parameter` writes the text of one, and is false for NULL.
    pub fn execute(
        &mut self,
        prepared: &Prepared,
        given: usize,
        mut parameter: impl FnMut(usize, &mut String) -> bool,
        keep: Keep,
    ) -> Result<Rows, Fault> {
        self.start();
        let source = prepared.source;
        if source.is_null() {
            self.finish(false);
            return Ok(Rows::default());
        }
        if prepared.inputs.len() != given {
            return Err(wrong_count(prepared.inputs.len(), given));
        }
        // SAFETY: in a transaction; the source was saved; parameters and plan belong to the portal, which is dropped here or by the
        // abort of the transaction.
        let rows = unsafe {
            let portal = new_portal();
            let count = prepared.inputs.len();
            let mut parameters = std::ptr::null_mut();
            let plan = with_snapshot_for((*source).raw_parse_tree, count > 0, || {
                parameters = bind(source, &prepared.inputs, &mut parameter)?;
                let nobody = std::ptr::null_mut();
                Ok(pg_sys::GetCachedPlan(
                    source,
                    parameters,
                    nobody,
                    nobody.cast(),
                ))
            })
            .map_err(|fault: Fault| fault)?;
            pg_sys::PortalDefineQuery(
                portal,
                std::ptr::null(),
                (*source).query_string,
                (*source).commandTag,
                (*plan).stmt_list,
                plan,
            );
            self.run_portal(portal, parameters, keep)?
        };
        self.finish(prepared.is_transaction);
        Ok(rows)
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
            let is_transaction = unsafe {
                refuse_copy(tree)?;
                if count > 1 {
                    pg_sys::BeginImplicitTransactionBlock();
                }
                let rows = self.run_tree(tree, &sql, keep)?;
                each(rows)?;
                if is_last && count > 1 {
                    pg_sys::EndImplicitTransactionBlock();
                }
                is_transaction(tree)
            };
            match is_last || is_transaction {
                true => self.commit(),
                // SAFETY: in a transaction, between two statements.
                false => unsafe { pg_sys::CommandCounterIncrement() },
            }
        }
        if count == 0 {
            self.finish(false);
        }
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
        // SAFETY: the caller's duty; tree and plans live in this session's memory until the next statement.
        unsafe {
            let tag = pg_sys::CreateCommandTag((*tree).stmt);
            let nobody = std::ptr::null_mut();
            let plans = with_snapshot_for(tree, false, || {
                let queries = pg_sys::pg_analyze_and_rewrite_fixedparams(
                    tree,
                    sql.as_ptr(),
                    std::ptr::null(),
                    0,
                    nobody,
                );
                let options = pg_sys::CURSOR_OPT_PARALLEL_OK as i32;
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
            let destination = match keep {
                Keep::Nothing => pg_sys::None_Receiver,
                Keep::First | Keep::Last => (&raw mut receiver).cast(),
            };
            pg_sys::PortalStart(portal, parameters, 0, std::ptr::null_mut());
            pg_sys::MemoryContextSwitchTo(self.memory);
            version::portal_run(portal, destination);
            pg_sys::PortalDrop(portal, false);
        }
        match receiver.fault {
            Some(fault) => Err(fault),
            None => Ok(receiver.rows),
        }
    }

    /// Begins a pipeline: up to its end statements are one implicit transaction block.
    pub fn start_pipeline(&mut self) {
        self.is_pipeline = true;
    }

    /// Commits what a pipeline has done so far.
    pub fn sync(&mut self) {
        if self.is_started {
            self.commit();
        }
    }

    pub fn end_pipeline(&mut self) {
        self.is_pipeline = false;
        self.sync();
    }

    /// Whether a transaction block is open.
    pub fn is_in_block(&self) -> bool {
        // SAFETY: reads the state of this backend.
        unsafe { pg_sys::IsTransactionBlock() }
    }

    /// Rolls everything back that is open.
    pub fn roll_back(&mut self) {
        // SAFETY: allowed at any time outside of a critical section.
        unsafe {
            pg_sys::AbortOutOfAnyTransaction();
            pg_sys::MemoryContextSwitchTo(pg_sys::TopMemoryContext);
        }
        self.is_started = false;
        self.is_pipeline = false;
    }

    /// The time of commits since the last call.
    pub fn take_commit_ns(&mut self) -> u64 {
        std::mem::take(&mut self.commit_ns)
    }

    fn start(&mut self) {
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
        }
        // SAFETY: made by `new`.
        unsafe { pg_sys::MemoryContextSwitchTo(self.memory) };
    }

    fn finish(&mut self, is_transaction: bool) {
        if self.is_pipeline && !is_transaction {
            // SAFETY: in a transaction, between two statements.
            unsafe {
                pg_sys::CommandCounterIncrement();
                pg_sys::MyXactFlags |= pg_sys::XACT_FLAGS_PIPELINING as i32;
            }
            return;
        }
        self.commit();
    }

    fn commit(&mut self) {
        let began = clock::now_ns();
        xact::commit();
        self.is_started = false;
        if !self.is_in_block() {
            self.commit_ns += clock::now_ns() - began;
        }
    }
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

/// Calls `f` with a snapshot, if `always` or the analysis of the statement needs one.
///
/// # Safety
/// In a transaction, with a valid tree.
unsafe fn with_snapshot_for<R>(
    tree: *mut pg_sys::RawStmt,
    always: bool,
    f: impl FnOnce() -> R,
) -> R {
    // SAFETY: the caller's duty; on errors the snapshot is popped by the abort.
    let needs = always || unsafe { pg_sys::analyze_requires_snapshot(tree) };
    match needs {
        true => xact::with_snapshot(f),
        false => f(),
    }
}

/// The input functions of parameters; an error if a type could not be inferred.
///
/// # Safety
/// So many types.
unsafe fn inputs(
    types: *mut pg_sys::Oid,
    count: i32,
) -> Result<Vec<(pg_sys::Oid, pg_sys::Oid)>, Fault> {
    (0..count.max(0) as usize)
        .map(|index| {
            // SAFETY: the caller's duty; a type that the parser has found is in the catalog.
            unsafe {
                let type_ = *types.add(index);
                if type_ == pg_sys::InvalidOid || type_ == pg_sys::UNKNOWNOID {
                    return Err(Fault::new(
                        sqlstate::INDETERMINATE_TYPE,
                        format!("could not determine data type of parameter ${}", index + 1),
                    ));
                }
                let (mut function, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
                pg_sys::getTypeInputInfo(type_, &mut function, &mut parameter);
                Ok((function, parameter))
            }
        })
        .collect()
}

/// Values for the parameters, in the current memory.
///
/// # Safety
/// In a transaction with a snapshot; the functions are those of the source.
unsafe fn bind(
    source: *mut pg_sys::CachedPlanSource,
    inputs: &[(pg_sys::Oid, pg_sys::Oid)],
    parameter: &mut impl FnMut(usize, &mut String) -> bool,
) -> Result<pg_sys::ParamListInfo, Fault> {
    if inputs.is_empty() {
        return Ok(std::ptr::null_mut());
    }
    // SAFETY: the caller's duty; the list has a place for each of so many parameters.
    unsafe {
        let list = pg_sys::makeParamList(inputs.len() as i32);
        let places = (*list).params.as_mut_ptr();
        let mut value = String::new();
        for (index, (function, type_parameter)) in inputs.iter().enumerate() {
            let is_null = !parameter(index, &mut value);
            let text = match is_null {
                true => None,
                false => Some(c_string(&value)?),
            };
            let pointer = text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr());
            let datum =
                pg_sys::OidInputFunctionCall(*function, pointer.cast_mut(), *type_parameter, -1);
            places.add(index).write(pg_sys::ParamExternData {
                value: datum,
                isnull: is_null,
                pflags: pg_sys::PARAM_FLAG_CONST as u16,
                ptype: *(*source).param_types.add(index),
            });
        }
        Ok(list)
    }
}

/// # Safety
/// A valid tree.
unsafe fn is_transaction(tree: *mut pg_sys::RawStmt) -> bool {
    // SAFETY: the caller's duty.
    unsafe { (*(*tree).stmt).type_ == pg_sys::NodeTag::T_TransactionStmt }
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

/// Counts rows, and keeps one.
#[repr(C)]
struct Receiver {
    base: pg_sys::DestReceiver,
    keep: Keep,
    /// Output functions of the columns.
    outputs: Vec<pg_sys::Oid>,
    rows: Rows,
    fault: Option<Fault>,
}

impl Receiver {
    fn new(keep: Keep) -> Self {
        Self {
            base: pg_sys::DestReceiver {
                receiveSlot: Some(receive),
                rStartup: Some(start_up),
                rShutdown: Some(do_nothing),
                rDestroy: Some(do_nothing),
                mydest: pg_sys::CommandDest::DestNone,
            },
            keep,
            outputs: Vec::new(),
            rows: Rows::default(),
            fault: None,
        }
    }

    /// # Safety
    /// A slot with a row of the columns that `start_up` was given.
    unsafe fn take(&mut self, slot: *mut pg_sys::TupleTableSlot) -> Result<(), Fault> {
        self.rows.kept.clear();
        // SAFETY: the caller's duty; all attributes are there after the first call.
        unsafe {
            let count = self.outputs.len();
            if ((*slot).tts_nvalid as usize) < count {
                pg_sys::slot_getsomeattrs_int(slot, count as i32);
            }
            for (index, output) in self.outputs.iter().enumerate() {
                let value = match *(*slot).tts_isnull.add(index) {
                    true => None,
                    false => {
                        let datum = *(*slot).tts_values.add(index);
                        let text = pg_sys::OidOutputFunctionCall(*output, datum);
                        let shown = text::from_server(CStr::from_ptr(text).to_bytes())?;
                        pg_sys::pfree(text.cast());
                        Some(shown)
                    }
                };
                self.rows.kept.push(value);
            }
        }
        Ok(())
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn start_up(
    receiver: *mut pg_sys::DestReceiver,
    _operation: i32,
    columns: pg_sys::TupleDesc,
) {
    // SAFETY: called with the receiver that was given to the portal, and the description of its rows.
    unsafe {
        let receiver = &mut *receiver.cast::<Receiver>();
        receiver.outputs.clear();
        receiver.rows.columns.clear();
        for number in 1..=(*columns).natts {
            let name = pg_sys::SPI_fname(columns, number);
            let name = text::shown_from_server(CStr::from_ptr(name).to_bytes());
            receiver.rows.columns.push(name);
            let (mut output, mut varies) = (pg_sys::InvalidOid, false);
            let type_ = pg_sys::SPI_gettypeid(columns, number);
            pg_sys::getTypeOutputInfo(type_, &mut output, &mut varies);
            receiver.outputs.push(output);
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn receive(
    slot: *mut pg_sys::TupleTableSlot,
    receiver: *mut pg_sys::DestReceiver,
) -> bool {
    // SAFETY: called with the receiver that was given to the portal, after `start_up`.
    unsafe {
        let receiver = &mut *receiver.cast::<Receiver>();
        receiver.rows.count += 1;
        let is_wanted = receiver.keep == Keep::Last || receiver.rows.count == 1;
        if is_wanted && let Err(fault) = receiver.take(slot) {
            receiver.fault = Some(fault);
        }
    }
    true
}

#[pg_guard]
unsafe extern "C-unwind" fn do_nothing(_receiver: *mut pg_sys::DestReceiver) {}
