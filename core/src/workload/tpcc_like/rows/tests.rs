use std::collections::HashSet;

use super::*;

#[test]
fn loaders_share_the_warehouses_evenly() {
    for (loaders, warehouses) in [(1, 1), (1, 10), (3, 10), (10, 10), (7, 2000)] {
        let all = |loader| warehouses_of_loader(loader, loaders, warehouses);
        let shares: Vec<usize> = (0..loaders).map(|loader| all(loader).count()).collect();
        let least = warehouses as usize / loaders as usize;
        assert!(
            shares
                .iter()
                .all(|share| (least..=least + 1).contains(share))
        );
        let joined: Vec<i64> = (0..loaders).flat_map(all).collect();
        assert_eq!(joined, (1..=i64::from(warehouses)).collect::<Vec<_>>());
    }
}

#[test]
fn parts_of_a_key_follow_each_other() {
    for table in Table::ALL {
        let mut checks = 0;
        let check = || -> Result<(), ()> {
            checks += 1;
            Ok(())
        };
        let parts = table.key_parts(3, 2, check).unwrap();
        assert_eq!(checks, if table.key().is_some() { 3 } else { 0 });
        let stopped = table.key_parts(3, 2, || Err("stop"));
        assert_eq!(stopped.is_err(), table.key().is_some());
        let Some(columns) = table.column_types() else {
            assert_eq!(parts, []);
            continue;
        };
        let all = |part: &KeyPart| {
            let mut keys = Vec::new();
            for warehouse in part.warehouses.clone() {
                let collect = |key: &[i64]| -> Result<(), ()> {
                    keys.push(key.to_vec());
                    Ok(())
                };
                table.each_key(warehouse, collect).unwrap();
            }
            keys
        };
        assert_eq!(parts.len(), if table == Table::Item { 1 } else { 2 });
        assert_eq!(parts[0].leaves.start, 1);
        for (number, part) in parts.iter().enumerate() {
            let keys = all(part);
            assert_eq!(
                part.leaves.len(),
                btree::leaves(&columns, keys.len() as u64) as usize
            );
            let next = parts.get(number + 1);
            assert_eq!(part.next, next.map(|next| all(next)[0].clone()));
            assert!(next.is_none_or(|next| next.leaves.start == part.leaves.end));
        }
    }
}

#[test]
fn keys_are_those_of_the_rows() {
    for table in Table::ALL {
        let Some(columns) = table.key() else { continue };
        let mut rows = all(table, 2).into_iter();
        let compare = |key: &[i64]| -> Result<(), ()> {
            let row = rows.next().expect("a row");
            let of_row: Vec<i64> = columns.iter().map(|(place, _)| int(&row, *place)).collect();
            assert_eq!(key, of_row, "{}", table.name());
            Ok(())
        };
        table.each_key(2, compare).unwrap();
        assert!(rows.next().is_none(), "{}", table.name());
    }
}

fn all(table: Table, warehouse: i64) -> Vec<Row> {
    let mut rows = Vec::new();
    let made: Result<(), ()> = table.each_row(warehouse, |row| {
        rows.push(row.clone());
        Ok(())
    });
    made.unwrap();
    rows
}

fn int(row: &Row, column: usize) -> i64 {
    match row.cells[column] {
        Cell::Int(value) => value,
        ref other => panic!("{other:?}"),
    }
}

/// The whole numbers with which the rows of two warehouses begin.
fn numbers(table: Table) -> Vec<Vec<i64>> {
    let mut rows = Vec::new();
    for warehouse in 1..=2 {
        let made: Result<(), ()> = table.each_row(warehouse, |row| {
            let numbers = row.cells.iter().map_while(|cell| match cell {
                Cell::Int(value) => Some(*value),
                _ => None,
            });
            rows.push(numbers.collect());
            Ok(())
        });
        made.unwrap();
    }
    rows
}

fn key(table: Table, row: &[i64]) -> Vec<i64> {
    let columns = table.key().expect("a key");
    columns.iter().map(|(place, _)| row[*place]).collect()
}

fn text(row: &Row, column: usize) -> &[u8] {
    match &row.cells[column] {
        Cell::Text(place) => &row.text[place.clone()],
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_table_has_its_rows() {
    for table in Table::ALL {
        let rows = all(table, 1).len() as u64;
        if table == Table::OrderLine {
            assert!((295_000..305_000).contains(&rows), "{rows}");
        }
        // The progress of a load ends with this number.
        assert_eq!(rows, table.rows(1), "{}", table.name());
    }
    let second = all(Table::OrderLine, 2).len() as u64;
    assert_eq!(Table::OrderLine.rows(2), Table::OrderLine.rows(1) + second);
    assert_eq!(all(Table::Item, 2), []);
}

#[test]
fn rows_do_not_depend_on_what_was_made_before() {
    let second = all(Table::District, 2);
    assert_eq!(all(Table::District, 2), second);
    assert_ne!(all(Table::District, 1)[0].text, second[0].text);
}

/// The key is written from them as they come.
#[test]
fn rows_come_in_the_order_of_their_keys() {
    for table in Table::ALL {
        if table.key().is_none() {
            continue;
        }
        let mut before = Vec::new();
        for row in numbers(table) {
            let key = key(table, &row);
            assert!(key > before, "{}: {key:?}", table.name());
            before = key;
        }
    }
}

/// Foreign keys are made before the rows are loaded, so that the server does not look: this does.
#[test]
fn each_row_refers_to_rows_that_are_loaded() {
    let mut keys = std::collections::HashMap::new();
    let mut rows = std::collections::HashMap::new();
    for table in Table::ALL {
        let of_table = numbers(table);
        if table.key().is_some() {
            let all = of_table.iter().map(|row| key(table, row));
            keys.insert(table.name(), all.collect::<HashSet<_>>());
        }
        rows.insert(table.name(), of_table);
    }
    // The places of the columns, in the order of the key that they refer to.
    let references: [(Table, &[usize], Table); 10] = [
        (Table::District, &[1], Table::Warehouse),
        (Table::Customer, &[2, 1], Table::District),
        (Table::History, &[2, 1, 0], Table::Customer),
        (Table::History, &[4, 3], Table::District),
        (Table::Orders, &[2, 1, 3], Table::Customer),
        (Table::NewOrder, &[2, 1, 0], Table::Orders),
        (Table::OrderLine, &[2, 1, 0], Table::Orders),
        (Table::OrderLine, &[5, 4], Table::Stock),
        (Table::Stock, &[1], Table::Warehouse),
        (Table::Stock, &[0], Table::Item),
    ];
    for (table, columns, to) in references {
        for row in &rows[table.name()] {
            let reference: Vec<i64> = columns.iter().map(|place| row[*place]).collect();
            assert!(
                keys[to.name()].contains(&reference),
                "{} to {}: {reference:?}",
                table.name(),
                to.name()
            );
        }
    }
}

#[test]
fn orders_and_lines_agree() {
    let mut lines = std::collections::BTreeMap::new();
    for row in all(Table::OrderLine, 1) {
        *lines.entry((int(&row, 1), int(&row, 0))).or_insert(0) += 1;
        let is_open = int(&row, 0) >= 2101;
        assert_eq!(row.cells[6] == Cell::Null, is_open);
        assert_eq!(row.cells[8] == Cell::Decimal(0, 2), !is_open);
    }
    let mut customers = std::collections::BTreeSet::new();
    for row in all(Table::Orders, 1) {
        let key = (int(&row, 1), int(&row, 0));
        assert_eq!(lines.remove(&key), Some(int(&row, 6)));
        assert_eq!(row.cells[5] == Cell::Null, key.1 >= 2101);
        assert!(customers.insert((key.0, int(&row, 3))));
    }
    assert!(lines.is_empty());
}

#[test]
fn customers_have_every_last_name_and_one_in_ten_bad_credit() {
    let customers = all(Table::Customer, 1);
    let names: std::collections::BTreeSet<&[u8]> =
        customers[..1000].iter().map(|row| text(row, 5)).collect();
    assert_eq!(names.len(), 1000);
    let bad = customers.iter().filter(|row| text(row, 13) == b"BC");
    let bad = bad.count();
    assert!((2_800..3_200).contains(&bad), "{bad}");
    assert!(customers.iter().all(|row| row.cells.len() == 21));
}
