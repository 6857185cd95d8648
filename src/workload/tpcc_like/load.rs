//! The tables, their rows and their keys.

use pgfsbench_core::{
    spec::Spec,
    workload::tpcc_like::{KeyPart, Table, TpccLikeOptions, warehouses_of_loader},
};

use crate::{
    errors::Fault,
    pg::{
        index_pages::{self, Index},
        load::{self, Key, Part},
        process, sql,
    },
    workload::Progress,
};

const TABLES: &str = include_str!("queries/tables.sql");

/// Rows between two reports of progress.
const REPORT: u64 = 1000;

/// The foreign keys of the specification. They are made while the tables are empty, so that the server finds at once that they hold. The rows that are loaded
/// then are not checked: rows follow from their keys, and a test of core reads that each one refers to a row that is loaded.
const FOREIGN_KEYS: [&str; 10] = [
    "ALTER TABLE public.district ADD FOREIGN KEY (d_w_id) REFERENCES public.warehouse",
    "ALTER TABLE public.customer ADD FOREIGN KEY (c_w_id, c_d_id) REFERENCES public.district",
    "ALTER TABLE public.history ADD FOREIGN KEY (h_c_w_id, h_c_d_id, h_c_id) REFERENCES public.customer",
    "ALTER TABLE public.history ADD FOREIGN KEY (h_w_id, h_d_id) REFERENCES public.district",
    "ALTER TABLE public.orders ADD FOREIGN KEY (o_w_id, o_d_id, o_c_id) REFERENCES public.customer",
    "ALTER TABLE public.new_order ADD FOREIGN KEY (no_w_id, no_d_id, no_o_id) REFERENCES public.orders",
    "ALTER TABLE public.order_line ADD FOREIGN KEY (ol_w_id, ol_d_id, ol_o_id) REFERENCES public.orders",
    "ALTER TABLE public.order_line ADD FOREIGN KEY (ol_supply_w_id, ol_i_id) REFERENCES public.stock",
    "ALTER TABLE public.stock ADD FOREIGN KEY (s_w_id) REFERENCES public.warehouse",
    "ALTER TABLE public.stock ADD FOREIGN KEY (s_i_id) REFERENCES public.item",
];

/// Names of the indexes that are not in the order of the rows.
pub const INDEXES: [&str; 2] = ["customer_name", "orders_customer"];

/// Statements after loading: these indexes, and statistics. The longest first: loaders take one each.
pub const AFTER_LOAD: [&str; 11] = [
    "CREATE INDEX customer_name ON public.customer (c_w_id, c_d_id, c_last, c_first)",
    "VACUUM (ANALYZE) public.order_line",
    "VACUUM (ANALYZE) public.stock",
    "CREATE INDEX orders_customer ON public.orders (o_w_id, o_d_id, o_c_id, o_id)",
    "VACUUM (ANALYZE) public.history",
    "VACUUM (ANALYZE) public.new_order",
    "VACUUM (ANALYZE) public.item",
    "VACUUM (ANALYZE) public.warehouse",
    "VACUUM (ANALYZE) public.district",
    "VACUUM (ANALYZE) public.customer",
    "VACUUM (ANALYZE) public.orders",
];

/// Creates the tables with their keys in the current transaction; fills them, too, if one process loads. `progress` gets the rows so far.
pub fn load(spec: &Spec, progress: Progress) -> Result<(), Fault> {
    let create = match spec.options.unlogged {
        true => "CREATE UNLOGGED TABLE",
        false => "CREATE TABLE",
    };
    for statement in TABLES.split_inclusive(';') {
        if statement.contains("TABLE public.") {
            sql::write(&statement.replace("CREATE TABLE", create), &[])?;
        }
    }
    let own: TpccLikeOptions = spec.options.own();
    if own.foreign_keys {
        for statement in FOREIGN_KEYS {
            sql::write(statement, &[])?;
        }
    }
    match own.loaders {
        1 => fill(spec, 0, 1, &[], progress),
        _ => Ok(()),
    }
}

/// Makes the files of the keys as long as several loaders fill them.
pub fn reserve(spec: &Spec, progress: Progress) -> Result<(), Fault> {
    for (table, parts) in all_key_parts(spec, progress)? {
        if let Some(last) = parts.last() {
            index_pages::reserve(&key_of(table), last.leaves.end - 1)?;
        }
    }
    Ok(())
}

/// The parts of all keys, which several loaders write.
fn all_key_parts(spec: &Spec, progress: Progress) -> Result<Vec<(Table, Vec<KeyPart>)>, Fault> {
    let loaders = spec.options.own::<TpccLikeOptions>().loaders;
    let of_table = |table: Table| {
        let check = || {
            process::check_interrupts();
            progress(0)
        };
        Ok((table, table.key_parts(spec.scale, loaders, check)?))
    };
    Table::ALL.into_iter().map(of_table).collect()
}

fn key_of(table: Table) -> String {
    format!("{}_pkey", table.name())
}

/// Fills the warehouses of one of several loaders in tables that were created. Each loader also writes the pages above the leaves of some keys.
pub fn load_share(spec: &Spec, loader: u32, progress: Progress) -> Result<(), Fault> {
    let loaders = spec.options.own::<TpccLikeOptions>().loaders;
    let key_parts = all_key_parts(spec, progress)?;
    fill(spec, loader, loaders, &key_parts, progress)?;
    let of_loader = (0..loaders).cycle().zip(&key_parts);
    for (_, (table, parts)) in of_loader.filter(|(number, _)| *number == loader) {
        write_above(*table, parts)?;
    }
    Ok(())
}

/// Writes the pages above the leaves of a table's primary key.
fn write_above(table: Table, parts: &[KeyPart]) -> Result<(), Fault> {
    let (Some(types), Some(last)) = (table.column_types(), parts.last()) else {
        return Ok(());
    };
    let mut index = Index::open_above(&key_of(table), &types, last.leaves.end - 1)?;
    for part in parts {
        for warehouse in part.warehouses.clone() {
            process::check_interrupts();
            table.each_key(warehouse, |key| index.push_key(key))?;
        }
        if part.next.is_some() {
            index.finish_part(part.next.as_deref())?;
        }
    }
    index.finish()
}

/// Fills the warehouses of one of this many loaders, which write these parts of keys. One loader has created the tables in the current transaction, and
/// writes all keys.
fn fill(
    spec: &Spec,
    loader: u32,
    loaders: u32,
    key_parts: &[(Table, Vec<KeyPart>)],
    progress: Progress,
) -> Result<(), Fault> {
    let mut done = 0;
    let warehouses = warehouses_of_loader(loader, loaders, spec.scale);
    // Loaders begin with different tables, so that few write to one table at a time.
    let first = Table::ALL.len() * loader as usize / loaders as usize;
    let (later, sooner) = Table::ALL.split_at(first);
    for &table in sooner.iter().chain(later) {
        let index = key_of(table);
        let of_table = key_parts.iter().find(|(of, _)| *of == table);
        let parts = of_table.map_or(&[][..], |(_, parts)| parts);
        let part = parts.iter().find(|part| part.warehouses == warehouses);
        // Items come with the first warehouse.
        if !parts.is_empty() && part.is_none() {
            continue;
        }
        let key = table.key().map(|columns| Key {
            index: &index,
            columns,
            part: part.map(|part| Part {
                leaves: part.leaves.clone(),
                next: part.next.as_deref(),
            }),
        });
        load::rows(table.name(), key, |add| {
            for warehouse in warehouses.clone() {
                let mut made = 0;
                table.each_row(warehouse, |row| {
                    made += 1;
                    if made % REPORT == 0 {
                        progress(done + made)?;
                    }
                    add(row)
                })?;
                done += made;
            }
            Ok(())
        })?;
        progress(done)?;
    }
    Ok(())
}
