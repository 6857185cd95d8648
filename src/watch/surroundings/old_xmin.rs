//! Holders of an old xmin, which keep vacuum from removing rows while a run is on.

use pgfsbench_core::finding::{OLD_XMIN_AGE, XminHolder};

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

    /// Looks for holders that keep dead rows of the work database from being pruned: a transaction id in any database, a slot, a
    /// prepared transaction, a standby. A snapshot without a transaction id in another database does not.
    pub fn poll(&mut self, work_database: u32) -> Result<(), Fault> {
        let holders = xact::transaction(|| Self::now(work_database))?;
        for holder in holders {
            let known = self
                .0
                .iter_mut()
                .find(|known| known.kind == holder.kind && known.name == holder.name);
            match known {
                Some(known) => known.age = known.age.max(holder.age),
                None => self.0.push(holder),
            }
        }
        Ok(())
    }

    /// The holders of an xmin that is old enough for a finding on this work database; 0: on any that a run would get. In a transaction.
    pub fn now(work_database: u32) -> Result<Vec<XminHolder>, Fault> {
        let text = sql::read(
            &format!(
                "SELECT jsonb_agg(h ORDER BY age DESC, name) FROM ({HOLDERS}) h WHERE age >= $2::bigint"
            ),
            &[
                Some(&work_database.to_string()),
                Some(&OLD_XMIN_AGE.to_string()),
            ],
        )?;
        text.map_or(Ok(Vec::new()), |text| read_json("answer", &text))
    }
}
