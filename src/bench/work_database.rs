//! The work database of a run: made, or taken over from a run that has loaded it.

use std::sync::atomic::Ordering::Release;

use pgfsbench_core::{quoting, spec::Stage, work_database};

use super::Run;
use crate::{
    board::{
        Phase,
        outcome::{Outcome, Row},
    },
    errors::{Fault, sqlstate},
    pg::{catalog, session, sql, utility, xact},
    random,
    run::journal::{self, Entry},
    store,
};

impl Run {
    pub(super) fn provision(&mut self) -> Result<(), Fault> {
        self.enter(Phase::Provision, 0);
        self.observed.before_provision()?;
        let oid = catalog::new_oid();
        let mark = random::mark();
        let (name, extension_database) =
            xact::transaction(|| Ok((self.free_name()?, database_name()?)))?;
        xact::transaction(|| store::set_work_database(self.run_id, &name, oid, &mark))?;
        // In ASCII: databases of other encodings share the catalog that it stands in.
        let extension_database = match extension_database.is_ascii() {
            true => extension_database,
            false => extension_database.escape_default().to_string(),
        };
        let comment = work_database::comment(self.run_id, &extension_database, &mark);
        let entry = Entry {
            work_database: name.clone(),
            work_database_oid: oid,
            comment: comment.clone(),
            directory_existed: session::data_directory()
                .join("base")
                .join(oid.to_string())
                .exists(),
            ..Entry::on_target(session::database(), self.run_id)
        };
        journal::write(&entry)?;
        self.entry = Some(entry);
        // In one transaction, so that there is never a work database without its comment.
        let (name, comment) = (
            quoting::sql_identifier(&name),
            quoting::sql_literal(&comment),
        );
        utility::run(&[
            // template0 may have been moved to another tablespace.
            &format!(
                "CREATE DATABASE {name} TEMPLATE template0 TABLESPACE pg_default ALLOW_CONNECTIONS false OID {oid}"
            ),
            &format!("COMMENT ON DATABASE {name} IS {comment}"),
        ])?;
        self.board.run.work_database.store(oid, Release);
        Ok(())
    }

    /// Takes a work database over that an earlier run has left, loaded.
    pub(super) fn adopt(&mut self) -> Result<(), Fault> {
        self.enter(Phase::Provision, 0);
        self.observed.before_provision()?;
        let stage = self.spec.stage.clone();
        let (database, (oid, comment)) = match &stage {
            Stage::OnLoaded { database, .. } => {
                let left = xact::transaction(|| store::left_database(database))?;
                (database, left.ok_or_else(|| no_data_in(database))?)
            }
            Stage::OnOwn { database, .. } => {
                let oid = xact::transaction(|| store::own_database(database))?;
                let oid = oid.ok_or_else(|| no_own_database(database))?;
                (database, (oid, String::new()))
            }
            _ => return Err(Fault::new(sqlstate::INTERNAL, "there are no loaded data")),
        };
        let database = &database[..];
        let (run_id, extension_database) = (self.run_id, session::database());
        let mark = work_database::mark_in(&comment).unwrap_or_default();
        xact::transaction(|| store::set_work_database(run_id, database, oid, mark))?;
        let entry = Entry {
            work_database: database.to_owned(),
            work_database_oid: oid,
            comment,
            ..Entry::on_target(extension_database, run_id)
        };
        journal::write(&entry)?;
        self.entry = Some(entry);
        let name = quoting::sql_identifier(database);
        utility::run(&[&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false")])?;
        self.board.run.work_database.store(oid, Release);
        Ok(())
    }

    /// The end of a run that only loads: the work database stays.
    pub fn leave_loaded(&mut self) -> Result<Outcome, Fault> {
        self.end_phase();
        let (load_ms, phases, steps) = (self.load_ms(), self.phase_times(), self.steps_begun());
        xact::transaction(|| store::set_loaded(self.run_id, load_ms, &phases, &steps))?;
        Ok(Outcome::Done(Row {
            run_id: self.run_id,
            target: self.spec.target.clone(),
            workload: self.spec.workload.as_str().into(),
            ..Row::default()
        }))
    }

    /// Loading, vacuuming and keys; None when the data were loaded before.
    pub fn load_ms(&self) -> Option<f64> {
        let loads = self.phases.iter().any(|p| p.phase == Phase::Load);
        loads.then(|| self.ms_of(Phase::Load) + self.ms_of(Phase::Vacuum))
    }

    /// `fsbench_work_<run id>`, or with a number behind it when another database of the server has kept that name.
    fn free_name(&self) -> Result<String, Fault> {
        let name = work_database::name(self.run_id);
        let free = sql::read(
            "SELECT $1 || coalesce(n, '') FROM (SELECT NULL UNION ALL SELECT '_' || g FROM generate_series(2, 10000) g) AS t(n) \
             WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = $1 || coalesce(n, '')) LIMIT 1",
            &[Some(&name)],
        )?;
        Ok(free.unwrap_or(name))
    }
}

fn no_data_in(database: &str) -> Fault {
    Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        format!("there are no loaded data in database \"{database}\""),
    )
}

fn no_own_database(database: &str) -> Fault {
    Fault::new(
        sqlstate::NO_SUCH_DATABASE,
        format!("database \"{database}\" does not exist in the copied server"),
    )
    .detail("The copy has the databases that the server had when it was copied. Templates, and databases without connections, cannot be used.")
    .hint("Give the name of another database, or copy the server again.")
}

fn database_name() -> Result<String, Fault> {
    Ok(sql::read("SELECT current_database()", &[])?.unwrap_or_default())
}
