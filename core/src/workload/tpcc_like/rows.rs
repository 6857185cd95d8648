//! Rows of the loaded tables (clause 4.3.3.1). Each is a function of its key alone: however many processes load, and whatever the seed of the
//! run, the tables are equal.

use std::ops::{Range, RangeInclusive};

use super::{
    CUSTOMERS, DISTRICTS, ITEMS, NEW_ORDERS, ORDERS,
    random::{loaded_last_name, push_data, push_digits, push_last_name, push_letters, push_state},
};
use crate::{
    btree::{self, Column},
    loading::{Cell, Row},
    random::{Purpose, Stream},
};

/// Seed of all rows.
const SEED: u64 = 0x7470_6363;
/// The first order that is not delivered.
const FIRST_OPEN: i64 = ORDERS - NEW_ORDERS + 1;

impl Row {
    fn clear(&mut self) {
        self.cells.clear();
        self.text.clear();
    }

    fn ints<const N: usize>(&mut self, values: [i64; N]) {
        self.cells.extend(values.map(Cell::Int));
    }

    fn money(&mut self, hundredths: i64) {
        self.cells.push(Cell::Decimal(hundredths, 2));
    }

    fn ratio(&mut self, ten_thousandths: i64) {
        self.cells.push(Cell::Decimal(ten_thousandths, 4));
    }

    /// A text that `push` appends.
    fn text(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        let start = self.text.len();
        push(&mut self.text);
        self.cells.push(Cell::Text(start..self.text.len()));
    }

    fn letters(&mut self, random: &mut Stream, low: i64, high: i64) {
        self.text(|text| push_letters(text, random, low, high));
    }

    fn constant(&mut self, value: &str) {
        self.text(|text| text.extend_from_slice(value.as_bytes()));
    }

    /// Two streets, a city, a state and a zip code.
    fn address(&mut self, random: &mut Stream) {
        for _ in 0..3 {
            self.letters(random, 10, 20);
        }
        self.text(|text| push_state(text, random));
        self.text(|text| {
            push_digits(text, random, 4);
            text.extend_from_slice(b"11111");
        });
    }
}

/// The warehouses that one of several loaders fills: as many as each other one, or one more. There are no more loaders than warehouses.
pub fn warehouses_of_loader(loader: u32, loaders: u32, warehouses: u32) -> RangeInclusive<i64> {
    let end = |loader: u32| i64::from(warehouses) * i64::from(loader) / i64::from(loaders);
    end(loader) + 1..=end(loader + 1)
}

/// The part of a primary key that one loader writes: that of the rows it loads.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyPart {
    pub warehouses: RangeInclusive<i64>,
    /// Blocks of its leaves.
    pub leaves: Range<u32>,
    /// First key of the next part; None behind the last one.
    pub next: Option<Vec<i64>>,
}

/// A table of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    Item = 0,
    Warehouse = 1,
    District = 2,
    Customer = 3,
    History = 4,
    Orders = 5,
    NewOrder = 6,
    OrderLine = 7,
    Stock = 8,
}

impl Table {
    /// All of them. Each stands behind those that it refers to, but for stock, to which lines refer.
    pub const ALL: [Self; 9] = [
        Self::Item,
        Self::Warehouse,
        Self::District,
        Self::Customer,
        Self::History,
        Self::Orders,
        Self::NewOrder,
        Self::OrderLine,
        Self::Stock,
    ];

    /// The name in schema public.
    pub fn name(self) -> &'static str {
        [
            "item",
            "warehouse",
            "district",
            "customer",
            "history",
            "orders",
            "new_order",
            "order_line",
            "stock",
        ][self as usize]
    }

    /// Columns of the primary key, each with its place in a row. History has none.
    pub fn key(self) -> Option<&'static [(usize, Column)]> {
        const NUMBER: (usize, Column) = (0, Column::Integer);
        const DISTRICT: (usize, Column) = (1, Column::SmallInt);
        const WAREHOUSE: (usize, Column) = (2, Column::Integer);
        match self {
            Self::Item | Self::Warehouse => Some(&[NUMBER]),
            Self::District => Some(&[(1, Column::Integer), (0, Column::SmallInt)]),
            Self::Customer | Self::Orders | Self::NewOrder => Some(&[WAREHOUSE, DISTRICT, NUMBER]),
            Self::OrderLine => Some(&[WAREHOUSE, DISTRICT, NUMBER, (3, Column::SmallInt)]),
            Self::Stock => Some(&[(1, Column::Integer), NUMBER]),
            Self::History => None,
        }
    }

    /// Rows at this scale.
    pub fn rows(self, warehouses: u64) -> u64 {
        self.rows_of(1..=warehouses as i64)
    }

    /// Rows of these warehouses.
    fn rows_of(self, warehouses: RangeInclusive<i64>) -> u64 {
        let count = warehouses.clone().count() as u64;
        let of_district = |rows: i64| count * (DISTRICTS * rows) as u64;
        match self {
            Self::Item => ITEMS as u64 * u64::from(warehouses.contains(&1)),
            Self::Warehouse => count,
            Self::District => of_district(1),
            Self::Customer | Self::History => of_district(CUSTOMERS),
            Self::Orders => of_district(ORDERS),
            Self::NewOrder => of_district(NEW_ORDERS),
            Self::OrderLine => warehouses.map(lines_of_warehouse).sum(),
            Self::Stock => count * ITEMS as u64,
        }
    }

    /// The parts of the primary key, one for each loader that has rows of the table. History has none. `check` is called before the lines of each warehouse
    /// are counted, which takes a while.
    pub fn key_parts<E>(
        self,
        warehouses: u32,
        loaders: u32,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Vec<KeyPart>, E> {
        let Some(columns) = self.column_types() else {
            return Ok(Vec::new());
        };
        let mut parts: Vec<KeyPart> = Vec::new();
        let mut first = 1;
        for loader in 0..loaders {
            let warehouses = warehouses_of_loader(loader, loaders, warehouses);
            let mut rows = 0;
            for warehouse in warehouses.clone() {
                check()?;
                rows += self.rows_of(warehouse..=warehouse);
            }
            if rows == 0 {
                continue;
            }
            if let Some(before) = parts.last_mut() {
                before.next = self.first_key(*warehouses.start());
            }
            let end = first + btree::leaves(&columns, rows);
            parts.push(KeyPart {
                warehouses,
                leaves: first..end,
                next: None,
            });
            first = end;
        }
        Ok(parts)
    }

    /// Types of the columns of the primary key.
    pub fn column_types(self) -> Option<Vec<Column>> {
        let columns = self.key()?.iter();
        Some(columns.map(|(_, column)| *column).collect())
    }

    fn first_key(self, warehouse: i64) -> Option<Vec<i64>> {
        let stop = |key: &[i64]| Err(key.to_vec());
        self.each_key(warehouse, stop).err()
    }

    /// Calls `each` with the primary key of every row of a warehouse, in their order.
    pub fn each_key<E>(
        self,
        warehouse: i64,
        mut each: impl FnMut(&[i64]) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Item if warehouse == 1 => return (1..=ITEMS).try_for_each(|item| each(&[item])),
            Self::Warehouse => return each(&[warehouse]),
            Self::Stock => return (1..=ITEMS).try_for_each(|item| each(&[warehouse, item])),
            _ => {}
        }
        for district in 1..=DISTRICTS {
            let mut of_numbers = |numbers: RangeInclusive<i64>| {
                let mut numbers = numbers;
                numbers.try_for_each(|number| each(&[warehouse, district, number]))
            };
            match self {
                Self::District => each(&[warehouse, district])?,
                Self::Customer => of_numbers(1..=CUSTOMERS)?,
                Self::Orders => of_numbers(1..=ORDERS)?,
                Self::NewOrder => of_numbers(FIRST_OPEN..=ORDERS)?,
                Self::OrderLine => {
                    for order in orders(warehouse, district) {
                        for line in 1..=order.lines {
                            each(&[warehouse, district, order.number, line])?;
                        }
                    }
                }
                Self::Item | Self::Warehouse | Self::Stock | Self::History => {}
            }
        }
        Ok(())
    }

    /// Calls `each` with every row of a warehouse, in the order of their keys. Items have no warehouse; they come with the first one.
    pub fn each_row<E>(
        self,
        warehouse: i64,
        mut each: impl FnMut(&Row) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut row = Row::default();
        if self == Self::Warehouse || self == Self::Stock || self == Self::Item {
            if self == Self::Item && warehouse > 1 {
                return Ok(());
            }
            let mut random = self.stream(warehouse, 0);
            let last = if self == Self::Warehouse { 1 } else { ITEMS };
            for number in 1..=last {
                row.clear();
                match self {
                    Self::Item => item(&mut row, number, &mut random),
                    Self::Stock => stock(&mut row, warehouse, number, &mut random),
                    _ => of_warehouse(&mut row, warehouse, &mut random),
                }
                each(&row)?;
            }
            return Ok(());
        }
        for district in 1..=DISTRICTS {
            self.each_row_of_district(warehouse, district, &mut row, &mut each)?;
        }
        Ok(())
    }

    fn each_row_of_district<E>(
        self,
        warehouse: i64,
        district: i64,
        row: &mut Row,
        each: &mut impl FnMut(&Row) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut random = self.stream(warehouse, district);
        let at = [district, warehouse];
        let mut emit = |row: &mut Row| {
            let emitted = each(row);
            row.clear();
            emitted
        };
        row.clear();
        match self {
            Self::District => {
                of_district(row, at, &mut random);
                emit(row)?;
            }
            Self::Customer => {
                for number in 1..=CUSTOMERS {
                    customer(row, at, number, &mut random);
                    emit(row)?;
                }
            }
            Self::History => {
                for number in 1..=CUSTOMERS {
                    history(row, at, number, &mut random);
                    emit(row)?;
                }
            }
            Self::Orders => {
                for order in orders(warehouse, district) {
                    order.fill(row, at);
                    emit(row)?;
                }
            }
            Self::NewOrder => {
                for number in FIRST_OPEN..=ORDERS {
                    row.ints([number, district, warehouse]);
                    emit(row)?;
                }
            }
            Self::OrderLine => {
                for order in orders(warehouse, district) {
                    for number in 1..=order.lines {
                        line(row, at, &order, number, &mut random);
                        emit(row)?;
                    }
                }
            }
            Self::Item | Self::Warehouse | Self::Stock => {}
        }
        Ok(())
    }

    fn stream(self, warehouse: i64, district: i64) -> Stream {
        let place = (warehouse * (DISTRICTS + 1) + district) as u32;
        Stream::new(SEED + self as u64, place, Purpose::Payload)
    }
}

fn item(row: &mut Row, number: i64, random: &mut Stream) {
    row.ints([number, random.range(1, 10_000)]);
    row.letters(random, 14, 24);
    row.money(random.range(100, 10_000));
    row.text(|text| push_data(text, random));
}

fn of_warehouse(row: &mut Row, number: i64, random: &mut Stream) {
    row.ints([number]);
    row.letters(random, 6, 10);
    row.address(random);
    row.ratio(random.range(0, 2000));
    row.money(30_000_000);
}

fn of_district(row: &mut Row, at: [i64; 2], random: &mut Stream) {
    row.ints(at);
    row.letters(random, 6, 10);
    row.address(random);
    row.ratio(random.range(0, 2000));
    row.money(3_000_000);
    row.ints([ORDERS + 1]);
}

fn stock(row: &mut Row, warehouse: i64, number: i64, random: &mut Stream) {
    row.ints([number, warehouse, random.range(10, 100)]);
    for _ in 0..DISTRICTS {
        row.letters(random, 24, 24);
    }
    row.ints([0, 0, 0]);
    row.text(|text| push_data(text, random));
}

fn customer(row: &mut Row, [district, warehouse]: [i64; 2], number: i64, random: &mut Stream) {
    row.ints([number, district, warehouse]);
    row.letters(random, 8, 16);
    row.constant("OE");
    let name = match number {
        ..=1000 => number - 1,
        _ => loaded_last_name(random),
    };
    row.text(|text| push_last_name(text, name));
    row.address(random);
    row.text(|text| push_digits(text, random, 16));
    row.cells.push(Cell::Loaded);
    let has_bad_credit = random.range(1, 10) == 1;
    row.constant(if has_bad_credit { "BC" } else { "GC" });
    row.money(5_000_000);
    row.ratio(random.range(0, 5000));
    row.money(-1000);
    row.money(1000);
    row.ints([1, 0]);
    row.letters(random, 300, 500);
}

fn history(row: &mut Row, [district, warehouse]: [i64; 2], number: i64, random: &mut Stream) {
    row.ints([number, district, warehouse, district, warehouse]);
    row.cells.push(Cell::Loaded);
    row.money(1000);
    row.letters(random, 12, 24);
}

/// An order as it is loaded.
struct Order {
    number: i64,
    customer: i64,
    /// None while it is not delivered.
    carrier: Option<i64>,
    lines: i64,
}

/// Lines of all loaded orders of a warehouse: each order has a random number of them.
fn lines_of_warehouse(warehouse: i64) -> u64 {
    let districts = 1..=DISTRICTS;
    let orders = districts.flat_map(|district| orders(warehouse, district));
    orders.map(|order| order.lines as u64).sum()
}

/// The orders of a district. Its customers have one each, in a random order.
fn orders(warehouse: i64, district: i64) -> impl Iterator<Item = Order> {
    let mut random = Table::Orders.stream(warehouse, district);
    let mut customers: Vec<i64> = (1..=CUSTOMERS).collect();
    random.shuffle(&mut customers);
    (1..).zip(customers).map(move |(number, customer)| {
        let (carrier, lines) = (random.range(1, 10), random.range(5, 15));
        Order {
            number,
            customer,
            carrier: (number < FIRST_OPEN).then_some(carrier),
            lines,
        }
    })
}

impl Order {
    fn fill(&self, row: &mut Row, [district, warehouse]: [i64; 2]) {
        row.ints([self.number, district, warehouse, self.customer]);
        row.cells.push(Cell::Loaded);
        row.cells.push(self.carrier.map_or(Cell::Null, Cell::Int));
        row.ints([self.lines, 1]);
        // The client of the order: none.
        row.cells.push(Cell::Null);
    }
}

fn line(
    row: &mut Row,
    [district, warehouse]: [i64; 2],
    order: &Order,
    number: i64,
    random: &mut Stream,
) {
    row.ints([order.number, district, warehouse, number]);
    row.ints([random.range(1, ITEMS), warehouse]);
    let is_delivered = order.carrier.is_some();
    row.cells.push(match is_delivered {
        true => Cell::Loaded,
        false => Cell::Null,
    });
    row.ints([5]);
    let amount = random.range(1, 999_999);
    row.money(if is_delivered { 0 } else { amount });
    row.letters(random, 24, 24);
}

#[cfg(test)]
mod tests;
