//! A client: draws transactions, carries them out with statements that it has prepared once, tries them again where that helps, and
//! counts.

use std::sync::atomic::{
    AtomicU64,
    Ordering::Acquire,
};

use pgfsbench_core::{
    board::add,
    random::{Purpose, Stream},
    spec::Spec,
    workload::{
        script::{Counted, End},
        tpcc_like::{
            COUNTERS, Constants, Customer, DISTRICTS, Drawn, Input, Inputs, Kind, Line, NewOrder,
            Own, Payment, ROLLED_BACK, Terminal as At, WORDS,
        },
    },
};

use crate::{
    board::Board,
    clock,
    errors::{Fault, sqlstate},
    pg::{
        plan::{Connection, Plan, Type, Value},
        process, report, segment, xact,
    },
    workload::{
        ClientContext,
        transactions::{Ended, Transaction},
    },
};

/// How often a transaction is tried that fails with a serialization failure or a deadlock.
const MOST_TRIES: u64 = 10;

/// The prepared statements.
struct Plans {
    order_header: Plan,
    next_order: Plan,
    insert_order: Plan,
    insert_lines: Plan,
    pay_warehouse: Plan,
    pay_district: Plan,
    pay_customer: Plan,
    insert_history: Plan,
    customers_by_name: Plan,
    customer: Plan,
    last_order: Plan,
    lines_of_order: Plan,
    take_oldest: Plan,
    deliver_order: Plan,
    deliver_lines: Plan,
    stock_level: Plan,
}

impl Plans {
    fn prepare(spi: &Connection) -> Result<Self, Fault> {
        const INT: Type = Type::Int;
        macro_rules! prepare {
            ($file:literal, $($types:expr),*) => {
                spi.prepare(include_str!(concat!("queries/", $file)), &[$($types),*])?
            };
        }
        Ok(Self {
            order_header: prepare!("order_header.sql", INT, INT, INT),
            next_order: prepare!("next_order.sql", INT, INT),
            insert_order: prepare!("insert_order.sql", INT, INT, INT, INT, INT, INT, INT),
            insert_lines: prepare!(
                "insert_lines.sql",
                INT,
                INT,
                INT,
                Type::Ints,
                Type::Ints,
                Type::Ints,
                Type::Ints
            ),
            pay_warehouse: prepare!("pay_warehouse.sql", INT, Type::Numeric),
            pay_district: prepare!("pay_district.sql", INT, INT, Type::Numeric),
            pay_customer: prepare!("pay_customer.sql", INT, INT, INT, Type::Numeric, INT, INT),
            insert_history: prepare!("insert_history.sql", INT, INT, INT, INT, INT, Type::Numeric),
            customers_by_name: prepare!("customers_by_name.sql", INT, INT, Type::Text),
            customer: prepare!("customer.sql", INT, INT, INT),
            last_order: prepare!("last_order.sql", INT, INT, INT),
            lines_of_order: prepare!("lines_of_order.sql", INT, INT, INT),
            take_oldest: prepare!("take_oldest.sql", INT, INT),
            deliver_order: prepare!("deliver_order.sql", INT, INT, INT, INT),
            deliver_lines: prepare!("deliver_lines.sql", INT, INT, INT, INT),
            stock_level: prepare!("stock_level.sql", INT, INT, INT),
        })
    }
}

/// A client.
pub struct Terminal<'a> {
    board: &'a Board,
    serial: u32,
    plans: Plans,
    inputs: Inputs,
    own: Own,
    client: u32,
    clients: u32,
    /// Draws keying and thinking times, and the type of the transaction that they come before.
    waits: Stream,
    /// The type of the next transaction, once a terminal has waited for it.
    next: Option<Kind>,
    /// Counters of the transaction types, and of New-Orders that were rolled back.
    counters: &'static [Counted],
    words: &'static [AtomicU64],
    /// The last transaction.
    kind: Kind,
    drawn: Drawn,
    counter: usize,
    failure: End,
    retries: u64,
    /// Whether a failure was reported to the server's log.
    is_told: bool,
}

/// How a transaction has ended that was carried out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carried {
    ToCommit,
    /// An item does not exist.
    ToRollback,
}

impl<'a> Transaction<'a> for Terminal<'a> {
    fn prepare(context: &ClientContext<'a>, spec: &Spec, spi: &Connection) -> Result<Self, Fault> {
        let own: Own = spec.options.own();
        let clients = spec.clients as usize;
        let area = &context.board.run;
        let index = context.index as usize;
        let counters = segment::counters(area.script_counters.load(Acquire), COUNTERS * clients)?;
        let words = segment::words(area.words.load(Acquire), WORDS * clients)?;
        Ok(Self {
            board: context.board,
            serial: context.serial,
            plans: Plans::prepare(spi)?,
            inputs: Inputs {
                warehouses: spec.scale.into(),
                constants: Constants::of_seed(spec.seed),
                remote: own.remote,
            },
            own,
            client: context.index,
            clients: spec.clients,
            waits: Stream::new(spec.seed as u64, context.index, Purpose::Pacing),
            next: None,
            counters: &counters[index * COUNTERS..][..COUNTERS],
            words: &words[index * WORDS..][..WORDS],
            kind: Kind::NewOrder,
            drawn: Drawn::default(),
            counter: 0,
            failure: End::OtherError,
            retries: 0,
            is_told: false,
        })
    }

    /// Not called: transactions end here in several ways.
    fn run(&self, _spi: &Connection, _random: &mut Stream) -> Result<(), Fault> {
        Ok(())
    }

    fn wait_ns(&mut self) -> u64 {
        if !self.own.waits {
            return 0;
        }
        // The first transaction has none before it.
        let thinking = match self.next {
            Some(_) => self.kind.thinking_ns(&mut self.waits),
            None => 0,
        };
        let next = self.own.mix.choose(&mut self.waits);
        self.next = Some(next);
        thinking + next.keying_ns()
    }

    fn transact(&mut self, random: &mut Stream, _is_measured: bool) -> Result<Ended, Fault> {
        let kind = match self.next {
            Some(kind) => kind,
            None => self.own.mix.choose(random),
        };
        let at = At::draw(random, self.client, self.clients, self.inputs.warehouses);
        let input = self.inputs.draw(kind, at, random);
        self.kind = kind;
        self.drawn = Drawn::of(&input);
        self.counter = kind as usize;
        self.retries = 0;
        loop {
            let carried = xact::catch(|| self.carry_out(&input)).and_then(|carried| carried);
            let fault = match carried {
                Ok(ended) => return Ok(ended),
                Err(fault) => fault,
            };
            xact::abort();
            if !sqlstate::is_retryable(&fault.sqlstate) {
                return Err(fault);
            }
            if self.retries + 1 >= MOST_TRIES || self.board.run.stopped(self.serial) {
                return Ok(self.failed(&fault));
            }
            self.retries += 1;
            process::check_interrupts();
        }
    }

    fn measured(&mut self, latency_ns: Option<u64>) {
        let end = latency_ns.map_or(self.failure, End::Done);
        self.counters[self.counter].count(end, self.retries);
        for (word, count) in self.words[1..].iter().zip(self.drawn.counts()) {
            add(word, count);
        }
    }
}

impl Terminal<'_> {
    /// One try of a transaction.
    fn carry_out(&mut self, input: &Input) -> Result<Ended, Fault> {
        xact::begin();
        let spi = Connection::open();
        let carried = match input {
            Input::NewOrder(order) => self.new_order(&spi, order)?,
            Input::Payment(payment) => self.payment(&spi, payment)?,
            Input::OrderStatus {
                warehouse,
                district,
                customer,
            } => self.order_status(&spi, [*warehouse, *district], customer)?,
            Input::Delivery { warehouse, carrier } => self.delivery(&spi, *warehouse, *carrier)?,
            Input::StockLevel {
                warehouse,
                district,
                threshold,
            } => {
                let arguments = ints([*warehouse, *district, *threshold]);
                self.plans.stock_level.one(&spi, &arguments)?;
                Carried::ToCommit
            }
        };
        spi.close();
        let began_ns = clock::now_ns();
        match carried {
            Carried::ToCommit => xact::commit(),
            Carried::ToRollback => xact::abort(),
        }
        let end_ns = clock::now_ns();
        match (carried, self.kind) {
            (Carried::ToRollback, _) => self.counter = ROLLED_BACK,
            (Carried::ToCommit, Kind::NewOrder) => add(&self.words[0], 1),
            (Carried::ToCommit, _) => {}
        }
        Ok(Ended {
            commit_ns: end_ns - began_ns,
            end_ns,
            is_committed: true,
        })
    }

    /// Clause 2.4.2.
    fn new_order(&self, spi: &Connection, order: &NewOrder) -> Result<Carried, Fault> {
        let NewOrder {
            warehouse,
            district,
            customer,
            lines,
            ..
        } = order;
        let plans = &self.plans;
        let header = plans
            .order_header
            .one(spi, &ints([*warehouse, *district, *customer]))?;
        let (warehouse_tax, discount) = (value(header.int(0, 0))?, value(header.int(0, 1))?);
        let next = plans.next_order.one(spi, &ints([*warehouse, *district]))?;
        let (number, district_tax) = (value(next.int(0, 0))?, value(next.int(0, 1))?);
        let is_local = lines
            .iter()
            .all(|line| i64::from(line.supplier) == *warehouse);
        let count = lines.len() as i64;
        plans.insert_order.one(
            spi,
            &ints([
                number,
                *district,
                *warehouse,
                *customer,
                count,
                is_local.into(),
                self.client.into(),
            ]),
        )?;
        let mut amount = 0;
        for lines in rounds(lines) {
            let column = |field: fn(&Line) -> i32| lines.iter().map(field).collect::<Vec<i32>>();
            let (items, suppliers) = (column(|line| line.item), column(|line| line.supplier));
            let (quantities, numbers) = (column(|line| line.quantity), column(|line| line.number));
            let taken = plans.insert_lines.rows(
                spi,
                &[
                    Value::Int(number),
                    Value::Int(*district),
                    Value::Int(*warehouse),
                    Value::Ints(&items),
                    Value::Ints(&suppliers),
                    Value::Ints(&quantities),
                    Value::Ints(&numbers),
                ],
            )?;
            if taken.count < lines.len() {
                return Ok(Carried::ToRollback);
            }
            for row in 0..taken.count {
                amount += value(taken.int(row, 0))?;
            }
        }
        // The terminal would show it.
        std::hint::black_box(total(amount, discount, warehouse_tax + district_tax));
        Ok(Carried::ToCommit)
    }

    /// Clause 2.5.2.
    fn payment(&self, spi: &Connection, payment: &Payment) -> Result<Carried, Fault> {
        let Payment {
            warehouse,
            district,
            customer_warehouse,
            customer_district,
            ref customer,
            amount,
        } = *payment;
        let plans = &self.plans;
        let (of, amount) = (
            [customer_warehouse, customer_district],
            Value::Hundredths(amount),
        );
        let int = Value::Int;
        plans.pay_warehouse.one(spi, &[int(warehouse), amount])?;
        plans
            .pay_district
            .one(spi, &[int(warehouse), int(district), amount])?;
        let customer = self.number_of(spi, of, customer)?;
        plans.pay_customer.one(
            spi,
            &[
                int(customer_warehouse),
                int(customer_district),
                int(customer),
                amount,
                int(district),
                int(warehouse),
            ],
        )?;
        plans.insert_history.one(
            spi,
            &[
                int(customer),
                int(customer_district),
                int(customer_warehouse),
                int(district),
                int(warehouse),
                amount,
            ],
        )?;
        Ok(Carried::ToCommit)
    }

    /// Clause 2.6.2.
    fn order_status(
        &self,
        spi: &Connection,
        [warehouse, district]: [i64; 2],
        customer: &Customer,
    ) -> Result<Carried, Fault> {
        let plans = &self.plans;
        let customer = self.number_of(spi, [warehouse, district], customer)?;
        let arguments = ints([warehouse, district, customer]);
        plans.customer.one(spi, &arguments)?;
        let order = plans.last_order.one(spi, &arguments)?;
        let order = value(order.int(0, 0))?;
        let lines = plans
            .lines_of_order
            .rows(spi, &ints([warehouse, district, order]))?;
        match lines.count {
            0 => Err(Fault::new(
                sqlstate::CORRUPTED,
                "an order of the workload has no lines",
            )),
            _ => Ok(Carried::ToCommit),
        }
    }

    /// Clause 2.7.4. A district without an order that is not delivered is skipped.
    fn delivery(&self, spi: &Connection, warehouse: i64, carrier: i64) -> Result<Carried, Fault> {
        let plans = &self.plans;
        for district in 1..=DISTRICTS {
            let oldest = plans.take_oldest.rows(spi, &ints([warehouse, district]))?;
            let Some(order) = oldest.int(0, 0) else {
                continue;
            };
            let delivered = plans
                .deliver_order
                .one(spi, &ints([warehouse, district, order, carrier]))?;
            let customer = value(delivered.int(0, 0))?;
            plans
                .deliver_lines
                .one(spi, &ints([warehouse, district, order, customer]))?;
        }
        Ok(Carried::ToCommit)
    }

    /// The number of a customer. Of several with a last name it is the one in the middle, by their first names (clause 2.5.2.2).
    fn number_of(
        &self,
        spi: &Connection,
        [warehouse, district]: [i64; 2],
        customer: &Customer,
    ) -> Result<i64, Fault> {
        let name = match customer {
            Customer::Number(number) => return Ok(*number),
            Customer::LastName(name) => name,
        };
        let arguments = [
            Value::Int(warehouse),
            Value::Int(district),
            Value::Text(name),
        ];
        let found = self.plans.customers_by_name.rows(spi, &arguments)?;
        value(found.int(found.count.div_ceil(2).saturating_sub(1), 0))
    }

    /// Remembers a transaction that has failed; the first failure is reported.
    fn failed(&mut self, fault: &Fault) -> Ended {
        self.failure = End::failed(&fault.sqlstate);
        if !self.is_told {
            report::log_warning(&fault.clone().context("transaction failed"));
            self.is_told = true;
        }
        Ended {
            commit_ns: 0,
            end_ns: clock::now_ns(),
            is_committed: false,
        }
    }
}

fn ints<const N: usize>(values: [i64; N]) -> [Value<'static>; N] {
    values.map(Value::Int)
}

fn value(found: Option<i64>) -> Result<i64, Fault> {
    found.ok_or_else(|| Fault::new(sqlstate::CORRUPTED, "a value of the workload is missing"))
}

/// Hundredths that an order costs: discount and taxes are ten-thousandths.
fn total(amount: i64, discount: i64, tax: i64) -> i64 {
    amount * (10_000 - discount) / 10_000 * (10_000 + tax) / 10_000
}

/// The lines in rounds, none of which takes twice from the same row of stock: nearly always one. Lines of the same row stand together.
fn rounds(lines: &[Line]) -> Vec<Vec<Line>> {
    let mut rounds: Vec<Vec<Line>> = vec![Vec::with_capacity(lines.len())];
    let mut before: Option<&Line> = None;
    let mut round = 0;
    for line in lines {
        let is_again = before
            .is_some_and(|before| (before.supplier, before.item) == (line.supplier, line.item));
        round = if is_again { round + 1 } else { 0 };
        if round == rounds.len() {
            rounds.push(Vec::new());
        }
        rounds[round].push(*line);
        before = Some(line);
    }
    rounds
}
