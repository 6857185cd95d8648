//! Holders of an old xmin, which keep vacuum from removing rows while a run is on.

use pgfsbench_core::finding::{OLD_XMIN_AGE, XminHolder, XminHolderKind};
use serde::Deserialize;

use crate::{
    errors::{Fault, read_json},
    pg::{sql, xact},
};

/// Holders that keep dead rows of a work database, `$1`, from being pruned, without the work in it.
const HOLDERS: &str = include_str!("queries/xmin_holders.sql");

/// All that were seen, each as old as it became.
#[derive(Default)]
pub struct OldXmin(Vec<XminHolder>);

impl OldXmin {
    /// All that were seen.
    pub fn holders(&self) -> &[XminHolder] {
        &self.0
    }

    /// How many ids the oldest of them holds back, whatever database a run would get. In a transaction.
    pub fn oldest() -> Result<Option<i64>, Fault> {
        let query = format!("SELECT max(age) FROM ({HOLDERS}) h");
        let age = sql::read(&query, &[Some("0")])?;
        Ok(age.and_then(|age| age.parse().ok()))
    }

    /// Looks for holders that keep dead rows of the work database from being pruned: a transaction id in any database, a slot, a
    /// prepared transaction, a standby. A snapshot without a transaction id in another database does not.
    pub fn look(&mut self, work_database: u32) -> Result<(), Fault> {
        #[derive(Deserialize)]
        struct Holder {
            kind: XminHolderKind,
            name: String,
            age: u64,
        }
        let text = xact::transaction(|| {
            sql::read(
                &format!("SELECT jsonb_agg(h) FROM ({HOLDERS}) h WHERE age >= $2::bigint"),
                &[
                    Some(&work_database.to_string()),
                    Some(&OLD_XMIN_AGE.to_string()),
                ],
            )
        })?;
        let Some(text) = text else { return Ok(()) };
        let holders: Vec<Holder> = read_json("answer", &text)?;
        for holder in holders {
            let known = self
                .0
                .iter_mut()
                .find(|known| known.kind == holder.kind && known.name == holder.name);
            match known {
                Some(known) => known.age = known.age.max(Some(holder.age)),
                None => self.0.push(XminHolder {
                    kind: holder.kind,
                    name: holder.name,
                    age: Some(holder.age),
                }),
            }
        }
        Ok(())
    }
}
