//! Inputs of the transactions (clauses 2.4.1, 2.5.1.2 and 2.6.1.2 for the first three), and counts of what was drawn.

use super::{
    DISTRICTS, ITEMS,
    mix::Kind,
    random::{Constants, push_last_name},
};
use crate::{random::Stream, workload::mix::Outcome};

/// The warehouses of a run, and how inputs are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Inputs {
    pub warehouses: i64,
    pub constants: Constants,
    /// Whether lines and payments may be of another warehouse.
    pub remote: bool,
}

/// A terminal: its warehouse, and the district of its Stock-Level transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    pub warehouse: i64,
    pub district: i64,
}

impl Terminal {
    /// The terminal of this number, from 0: ten for each warehouse.
    pub fn of_number(number: i64) -> Self {
        Self {
            warehouse: number / DISTRICTS + 1,
            district: number % DISTRICTS + 1,
        }
    }

    /// A terminal of a client, each equally likely: terminals are dealt to the clients one after the other.
    pub fn draw(random: &mut Stream, client: u32, clients: u32, warehouses: i64) -> Self {
        let (client, clients) = (i64::from(client), i64::from(clients.max(1)));
        let terminals = warehouses * DISTRICTS;
        if clients >= terminals {
            return Self::of_number(client % terminals);
        }
        let own = (terminals - client + clients - 1) / clients;
        Self::of_number(client + clients * random.range(0, own - 1))
    }
}

/// How a customer is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Customer {
    Number(i64),
    LastName(String),
}

impl Customer {
    /// The place, from 0, of the customer that is taken of so many with one last name, by their first names: the one in the middle, rounded up.
    pub fn middle(count: usize) -> usize {
        count.div_ceil(2).saturating_sub(1)
    }
}

/// A line of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    pub number: i32,
    pub item: i32,
    pub supplier: i32,
    pub quantity: i32,
}

/// Input of a New-Order transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOrder {
    pub warehouse: i64,
    pub district: i64,
    pub customer: i64,
    /// Lines, in the order in which all clients change stock.
    pub lines: Vec<Line>,
    /// Whether its last line names an item that does not exist, so that it rolls back.
    pub is_wrong: bool,
}

impl NewOrder {
    /// The outcome of an order whose transaction found item and stock of that many lines. None: the tables hold other items or stock than were loaded.
    pub fn outcome(&self, found: usize) -> Option<Outcome> {
        match (self.is_wrong, found < self.lines.len()) {
            (false, false) => Some(Outcome::Committed),
            (true, true) => Some(Outcome::RolledBack),
            _ => None,
        }
    }
}

/// Number of an item that does not exist.
pub const NO_ITEM: i32 = ITEMS as i32 + 1;

/// Input of a Payment transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    pub warehouse: i64,
    pub district: i64,
    pub customer_warehouse: i64,
    pub customer_district: i64,
    pub customer: Customer,
    /// Hundredths.
    pub amount: i64,
}

/// Input of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus {
        warehouse: i64,
        district: i64,
        customer: Customer,
    },
    Delivery {
        warehouse: i64,
        carrier: i64,
    },
    StockLevel {
        warehouse: i64,
        district: i64,
        threshold: i64,
    },
}

impl Input {
    /// The transaction type.
    pub fn kind(&self) -> Kind {
        match self {
            Self::NewOrder(_) => Kind::NewOrder,
            Self::Payment(_) => Kind::Payment,
            Self::OrderStatus { .. } => Kind::OrderStatus,
            Self::Delivery { .. } => Kind::Delivery,
            Self::StockLevel { .. } => Kind::StockLevel,
        }
    }
}

impl Inputs {
    /// Draws the input of a transaction of this type.
    pub fn draw(&self, kind: Kind, terminal: Terminal, random: &mut Stream) -> Input {
        let Terminal {
            warehouse,
            district,
        } = terminal;
        match kind {
            Kind::NewOrder => Input::NewOrder(self.new_order(warehouse, random)),
            Kind::Payment => Input::Payment(self.payment(warehouse, random)),
            Kind::OrderStatus => Input::OrderStatus {
                warehouse,
                district: random.range(1, DISTRICTS),
                customer: self.customer(random),
            },
            Kind::Delivery => Input::Delivery {
                warehouse,
                carrier: random.range(1, 10),
            },
            Kind::StockLevel => Input::StockLevel {
                warehouse,
                district,
                threshold: random.range(10, 20),
            },
        }
    }

    fn new_order(&self, warehouse: i64, random: &mut Stream) -> NewOrder {
        let district = random.range(1, DISTRICTS);
        let customer = self.constants.customer(random);
        let count = random.range(5, 15);
        let is_wrong = random.range(1, 100) == 1;
        let mut lines: Vec<Line> = (1..=count)
            .map(|number| {
                let item = self.constants.item(random);
                let is_remote = random.range(1, 100) == 1;
                let supplier = match self.remote && is_remote {
                    true => self.other_warehouse(warehouse, random),
                    false => warehouse,
                };
                Line {
                    number: number as i32,
                    item: item as i32,
                    supplier: supplier as i32,
                    quantity: random.range(1, 10) as i32,
                }
            })
            .collect();
        if is_wrong && let Some(last) = lines.last_mut() {
            last.item = NO_ITEM;
        }
        // Two orders with the same items cannot wait for each other in a circle.
        lines.sort_by_key(|line| (line.supplier, line.item, line.number));
        NewOrder {
            warehouse,
            district,
            customer,
            lines,
            is_wrong,
        }
    }

    fn payment(&self, warehouse: i64, random: &mut Stream) -> Payment {
        let district = random.range(1, DISTRICTS);
        let is_remote = random.range(1, 100) > 85;
        let (customer_warehouse, customer_district) =
            match self.remote && is_remote && self.warehouses > 1 {
                true => (
                    self.other_warehouse(warehouse, random),
                    random.range(1, DISTRICTS),
                ),
                false => (warehouse, district),
            };
        Payment {
            warehouse,
            district,
            customer_warehouse,
            customer_district,
            customer: self.customer(random),
            amount: random.range(100, 500_000),
        }
    }

    /// By last name in 60 % of all cases.
    fn customer(&self, random: &mut Stream) -> Customer {
        if random.range(1, 100) > 60 {
            return Customer::Number(self.constants.customer(random));
        }
        let mut name = Vec::with_capacity(16);
        push_last_name(&mut name, self.constants.last_name(random));
        Customer::LastName(name.into_iter().map(char::from).collect())
    }

    /// Another warehouse, each equally likely; the only one where there is one.
    fn other_warehouse(&self, warehouse: i64, random: &mut Stream) -> i64 {
        if self.warehouses < 2 {
            return warehouse;
        }
        let drawn = random.range(1, self.warehouses - 1);
        if drawn >= warehouse { drawn + 1 } else { drawn }
    }
}

/// Counts of inputs, as far as the specification has limits for them (clause 9.2.2.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    pub orders: u64,
    pub wrong_orders: u64,
    pub lines: u64,
    pub remote_lines: u64,
    pub payments: u64,
    pub remote_payments: u64,
    pub payments_by_name: u64,
}

impl Drawn {
    /// The counts, in the order in which clients add to them.
    pub const COUNTS: usize = 7;

    /// Counts of one input.
    pub fn of(input: &Input) -> Self {
        match input {
            Input::NewOrder(order) => Self {
                orders: 1,
                wrong_orders: order.is_wrong.into(),
                lines: order.lines.len() as u64,
                remote_lines: (order.lines.iter())
                    .filter(|line| i64::from(line.supplier) != order.warehouse)
                    .count() as u64,
                ..Self::default()
            },
            Input::Payment(payment) => Self {
                payments: 1,
                remote_payments: (payment.warehouse != payment.customer_warehouse).into(),
                payments_by_name: matches!(payment.customer, Customer::LastName(_)).into(),
                ..Self::default()
            },
            _ => Self::default(),
        }
    }

    /// The counts as an array.
    pub fn counts(&self) -> [u64; Self::COUNTS] {
        [
            self.orders,
            self.wrong_orders,
            self.lines,
            self.remote_lines,
            self.payments,
            self.remote_payments,
            self.payments_by_name,
        ]
    }

    /// Counts from such an array.
    pub fn of_counts(counts: [u64; Self::COUNTS]) -> Self {
        let [
            orders,
            wrong_orders,
            lines,
            remote_lines,
            payments,
            remote_payments,
            payments_by_name,
        ] = counts;
        Self {
            orders,
            wrong_orders,
            lines,
            remote_lines,
            payments,
            remote_payments,
            payments_by_name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    fn inputs(warehouses: i64) -> Inputs {
        Inputs {
            warehouses,
            constants: Constants::of_seed(1),
            remote: true,
        }
    }

    fn draw_all(inputs: Inputs, kind: Kind, count: usize) -> Vec<Input> {
        let mut random = Stream::new(9, 0, Purpose::Measure);
        let terminal = Terminal::of_number(13);
        (0..count)
            .map(|_| inputs.draw(kind, terminal, &mut random))
            .collect()
    }

    fn drawn(all: &[Input]) -> Drawn {
        let mut sum = [0; Drawn::COUNTS];
        for input in all {
            for (sum, count) in sum.iter_mut().zip(Drawn::of(input).counts()) {
                *sum += count;
            }
        }
        Drawn::of_counts(sum)
    }

    #[test]
    fn orders_are_within_the_ranges_of_the_specification() {
        let all = draw_all(inputs(4), Kind::NewOrder, 200_000);
        let drawn = drawn(&all);
        let percent = |part: u64, of: u64| part as f64 * 100.0 / of as f64;
        assert!((0.9..=1.1).contains(&percent(drawn.wrong_orders, drawn.orders)));
        assert!((9.5..=10.5).contains(&(drawn.lines as f64 / drawn.orders as f64)));
        assert!((0.95..=1.05).contains(&percent(drawn.remote_lines, drawn.lines)));
        for input in &all {
            let Input::NewOrder(order) = input else {
                panic!("{input:?}")
            };
            assert_eq!(order.warehouse, 2);
            assert!((5..=15).contains(&order.lines.len()));
            let missing = order.lines.iter().filter(|line| line.item == NO_ITEM);
            assert_eq!(missing.count(), usize::from(order.is_wrong));
            assert!(
                order
                    .lines
                    .is_sorted_by_key(|line| (line.supplier, line.item))
            );
            assert!(
                order
                    .lines
                    .iter()
                    .all(|line| (1..=4).contains(&line.supplier))
            );
        }
    }

    #[test]
    fn the_customer_in_the_middle_is_taken() {
        let middle = [1, 2, 3, 4, 5, 8].map(Customer::middle);
        assert_eq!(middle, [0, 0, 1, 1, 2, 3]);
    }

    #[test]
    fn only_an_order_that_is_meant_to_be_wrong_rolls_back() {
        for order in draw_all(inputs(1), Kind::NewOrder, 1000) {
            let Input::NewOrder(order) = order else {
                panic!("{order:?}")
            };
            let (all, missing) = match order.is_wrong {
                false => (Some(Outcome::Committed), None),
                true => (None, Some(Outcome::RolledBack)),
            };
            assert_eq!(order.outcome(order.lines.len()), all);
            assert_eq!(order.outcome(order.lines.len() - 1), missing);
        }
    }

    #[test]
    fn payments_are_within_the_ranges_of_the_specification() {
        let drawn = drawn(&draw_all(inputs(4), Kind::Payment, 100_000));
        let percent = |part: u64| part as f64 * 100.0 / drawn.payments as f64;
        assert!((14.0..=16.0).contains(&percent(drawn.remote_payments)));
        assert!((57.0..=63.0).contains(&percent(drawn.payments_by_name)));
    }

    /// A share lies within five standard deviations of its mean. Chance leaves that range once in a million times.
    #[test]
    fn shares_of_remote_inputs_are_those_of_the_specification_from_two_warehouses_on() {
        for warehouses in [2, 3, 40] {
            let orders = drawn(&draw_all(inputs(warehouses), Kind::NewOrder, 50_000));
            let payments = drawn(&draw_all(inputs(warehouses), Kind::Payment, 50_000));
            for (part, of, share) in [
                (orders.remote_lines, orders.lines, 0.01),
                (payments.remote_payments, payments.payments, 0.15),
            ] {
                let (part, of) = (part as f64, of as f64);
                let deviation = (of * share * (1.0 - share)).sqrt();
                assert!(
                    (part - of * share).abs() < 5.0 * deviation,
                    "{warehouses} warehouses: {part} of {of}"
                );
            }
        }
    }

    #[test]
    fn one_warehouse_or_no_remote_inputs_stay_at_home() {
        let near = Inputs {
            remote: false,
            ..inputs(4)
        };
        for inputs in [inputs(1), near] {
            for kind in [Kind::NewOrder, Kind::Payment] {
                let mut random = Stream::new(9, 0, Purpose::Measure);
                let terminal = Terminal::of_number(3);
                for _ in 0..10_000 {
                    let drawn = Drawn::of(&inputs.draw(kind, terminal, &mut random));
                    assert_eq!((drawn.remote_lines, drawn.remote_payments), (0, 0));
                }
            }
        }
    }

    #[test]
    fn every_other_warehouse_is_as_likely() {
        let mut random = Stream::new(9, 0, Purpose::Measure);
        let mut counts = [0; 5];
        for _ in 0..30_000 {
            counts[inputs(4).other_warehouse(2, &mut random) as usize] += 1;
        }
        assert_eq!((counts[0], counts[2]), (0, 0));
        assert!(
            [1, 3, 4]
                .iter()
                .all(|w| (9_500..10_500).contains(&counts[*w]))
        );
    }

    #[test]
    fn clients_share_the_terminals() {
        for (clients, warehouses) in [(8, 4), (3, 1), (40, 4), (1, 2), (7, 3)] {
            let mut seen = std::collections::BTreeMap::new();
            for client in 0..clients {
                let mut random = Stream::new(1, client, Purpose::Measure);
                for _ in 0..2000 {
                    let at = Terminal::draw(&mut random, client, clients, warehouses);
                    let by = seen.insert((at.warehouse, at.district), client);
                    assert!(by.is_none_or(|by| by == client));
                }
            }
            assert_eq!(seen.len() as i64, warehouses * 10);
        }
        let mut random = Stream::new(1, 0, Purpose::Measure);
        let shared = Terminal::draw(&mut random, 11, 20, 1);
        assert_eq!(shared, Terminal::of_number(1));
    }
}
