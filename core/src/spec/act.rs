//! The steps of a run, each with its name and the program that does it. A workload lists its steps; the plan of a run orders them.

use Act::{
    AskForMemory, AskForSettings, AskForStatements, AwaitStart, CheckServer, Checkpoint, Collect,
    Connect, CopyData, CrashServer, CreateExtension, CutPower, DropDatabase, DropFile, FillWal,
    ForgetAgain, ForgetData, Initdb, Job, Launch, Leave, Load, LoadOnce, Maintain, MakeDatabase,
    MakeDirectory, MakeFile, Measure, OpenDatabase, RemoveServer, Start, StartAgain, StartServer,
    StopServer, Store, Sync, TakeDatabase, Vacuum, Verify, VerifyAgain, WarmUp, WriteSettings,
};

/// Who does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// pgfsbench-helper, which is root.
    Helper,
    /// The coordinator, in the server that is asked for the run.
    Coordinator,
    /// The server that is measured.
    Server,
}

impl Actor {
    /// Name in `fsbench.plan()` and in `run_log.steps`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Helper => "helper",
            Self::Coordinator => "coordinator",
            Self::Server => "server",
        }
    }
}

/// Jobs of the helper. The helper itself reports the steps that a job takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelperTask {
    /// Removes what an earlier run could not.
    ReleaseEarlier,
    /// Makes and mounts the filesystem.
    Prepare,
    /// Empties the page cache.
    DropCaches,
    /// Unmounts the filesystem after a crash, and mounts it again.
    Remount,
    /// Unmounts the filesystem, and removes what was made.
    Release,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Some steps of the helper's.
    Job(HelperTask),
    /// Steps of the coordinator with an existing server.
    Connect,
    CheckServer,
    Start,
    /// Steps of the coordinator with a server that it sets up on the target.
    LoadOnce,
    MakeDirectory,
    Initdb,
    CopyData,
    Sync,
    ForgetData,
    AskForSettings,
    AskForStatements,
    WriteSettings,
    AskForMemory,
    StartServer,
    CreateExtension,
    CrashServer,
    ForgetAgain,
    StartAgain,
    VerifyAgain,
    CutPower,
    Collect,
    StopServer,
    RemoveServer,
    /// In the server that is measured.
    MakeDatabase,
    TakeDatabase,
    MakeFile,
    Load,
    Vacuum,
    FillWal,
    Checkpoint,
    Launch,
    AwaitStart,
    WarmUp,
    Measure,
    Verify,
    Maintain,
    Store,
    Leave,
    OpenDatabase,
    DropDatabase,
    DropFile,
}

impl Act {
    /// Who does it.
    pub fn actor(self) -> Actor {
        match self {
            Job(_) => Actor::Helper,
            Connect | CheckServer | Start | LoadOnce | MakeDirectory | Initdb | CopyData | Sync
            | ForgetData | AskForSettings | AskForStatements | WriteSettings | AskForMemory
            | StartServer | CrashServer | ForgetAgain | StartAgain | CutPower | Collect
            | StopServer | RemoveServer => Actor::Coordinator,
            CreateExtension | VerifyAgain | MakeDatabase | TakeDatabase | MakeFile | Load
            | Vacuum | FillWal | Checkpoint | Launch | AwaitStart | WarmUp | Measure | Verify
            | Maintain | Store | Leave | OpenDatabase | DropDatabase | DropFile => Actor::Server,
        }
    }

    /// Whether the server that is measured does it by itself, and so tells of it.
    pub fn is_told_by_server(self) -> bool {
        self.actor() == Actor::Server && !matches!(self, CreateExtension | VerifyAgain)
    }

    /// Whether a run with several servers on a target takes it once for each of them.
    pub fn is_of_each_server(self) -> bool {
        matches!(
            self,
            MakeDirectory
                | Initdb
                | CopyData
                | ForgetData
                | AskForSettings
                | AskForStatements
                | WriteSettings
                | AskForMemory
                | StartServer
                | CreateExtension
                | StopServer
                | RemoveServer
        )
    }

    /// Name in `fsbench.plan()` and in `run_log.steps`. The helper has names of its own for what it does for an errand.
    pub fn action(self) -> &'static str {
        match self {
            Job(HelperTask::ReleaseEarlier | HelperTask::Release) => "release",
            Job(HelperTask::Prepare) => "prepare",
            Job(HelperTask::DropCaches) => "drop caches",
            Job(HelperTask::Remount) => "remount",
            Connect => "connect",
            CheckServer => "look",
            Start => "start",
            LoadOnce => "load the data once",
            MakeDirectory => "make directory",
            Initdb => "initdb",
            CopyData => "copy the data",
            Sync => "sync",
            ForgetData | ForgetAgain => "forget the data",
            AskForSettings => "ask for known settings",
            AskForStatements => "ask for pg_stat_statements",
            WriteSettings => "write settings",
            AskForMemory => "ask for shared memory",
            StartServer | StartAgain => "start the server",
            CreateExtension => "create extension",
            CrashServer => "crash the server",
            CutPower => "cut the power",
            Collect => "collect",
            StopServer => "stop the server",
            RemoveServer => "remove the server",
            MakeDatabase => "make the work database",
            TakeDatabase => "take the work database",
            MakeFile => "make the file",
            Load => "load",
            Vacuum => "vacuum",
            FillWal => "fill the WAL",
            Checkpoint => "checkpoint",
            Launch => "launch",
            AwaitStart => "await the other instances",
            WarmUp => "warm up",
            Measure => "measure",
            Verify | VerifyAgain => "verify",
            Maintain => "maintain",
            Store => "store",
            Leave => "leave the data",
            OpenDatabase => "open the work database",
            DropDatabase => "drop the work database",
            DropFile => "remove the file",
        }
    }
}

/// A step as it is planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub act: Act,
    /// How: a statement, or words. Empty for steps outside of the server that is measured, whose paths and programs core does not know.
    pub how: &'static str,
}

impl Step {
    /// A step of the server that is measured.
    pub const fn new(act: Act, how: &'static str) -> Self {
        Self { act, how }
    }

    /// A server that has run for a while has segments of WAL that it uses again; a fresh one creates each.
    pub const FILL_WAL: Self = Self::new(
        FillWal,
        "write as many segments of WAL ahead as are not yet there",
    );

    /// Workloads of transactions.
    pub const LAUNCH: Self = Self::new(
        Launch,
        "launch the sampler and the clients, and look at the server and its neighbours",
    );

    /// Every run of every workload begins alike.
    pub const CHECKPOINT: Self = Self::new(
        Checkpoint,
        "CHECKPOINT, then sync the filesystems of data and WAL",
    );
}

impl From<Act> for Step {
    fn from(act: Act) -> Self {
        Self::new(act, "")
    }
}
