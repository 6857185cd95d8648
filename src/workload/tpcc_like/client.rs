//! A client: draws transactions, and carries them out with statements that it has prepared once.

use std::sync::atomic::{AtomicU64, Ordering::Acquire};

use pgfsbench_core::{
    board::add,
    random::{Purpose, Stream},
    spec::Spec,
    workload::{
        mix::{Choice, Counted, Outcome, Tries},
        tpcc_like::{
            Constants, Customer, DISTRICTS, Drawn, Input, Inputs, Kind, Line, NewOrder, Payment,
            Terminal as At, TpccLikeOptions, WORDS,
        },
    },
};

use crate::{
    errors::{Fault, sqlstate},
    pg::{
        guc,
        plan::{Connection, Plan, Type, Value},
        segment,
    },
    workload::{
        ClientContext,
        transactions::{Transaction, client::become_owner_with_stable_plans},
    },
};

/// How often a transaction is tried that fails with a serialization failure or a deadlock.
const MOST_TRIES: u32 = 10;

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
pub struct Terminal {
    plans: Plans,
    inputs: Inputs,
    own: TpccLikeOptions,
    client: u32,
    clients: u32,
    /// Draws thinking times, which change no input.
    waits: Stream,
    /// The counts of this client.
    words: &'static [AtomicU64],
    /// Inputs of the last try.
    drawn: Drawn,
}

impl<'a> Transaction<'a> for Terminal {
    /// Sessions are READ COMMITTED, whatever the default of the server is. The run's `settings` win.
    fn begin_session(context: &ClientContext<'a>, spec: &Spec) -> Result<(), Fault> {
        guc::apply("default_transaction_isolation", "read committed")?;
        become_owner_with_stable_plans(context, spec)
    }

    fn prepare(
        context: &ClientContext<'a>,
        spec: &Spec,
        spi: &Connection,
        _counted: Counted<'static>,
    ) -> Result<Self, Fault> {
        let own: TpccLikeOptions = spec.options.own();
        let handle = context.board.run.words.load(Acquire);
        let words = segment::words(handle, WORDS * spec.clients as usize)?;
        Ok(Self {
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
            words: &words[context.index as usize * WORDS..][..WORDS],
            drawn: Drawn::default(),
        })
    }

    fn tries(&self) -> Tries {
        Tries {
            most: MOST_TRIES,
            retryable: Tries::WITH_LOCK_TIMEOUTS,
            continue_on_error: false,
        }
    }

    fn choose(&mut self, random: &mut Stream, _is_measured: bool) -> Choice {
        let kind = self.own.mix.choose(random);
        let (wait_before_ns, wait_after_ns) = match self.own.waits {
            true => (kind.keying_ns(), kind.thinking_ns(&mut self.waits)),
            false => (0, 0),
        };
        Choice {
            of_type: kind as usize,
            wait_before_ns,
            wait_after_ns,
        }
    }

    fn run(
        &mut self,
        choice: Choice,
        spi: &Connection,
        random: &mut Stream,
    ) -> Result<Outcome, Fault> {
        let kind = Kind::ALL[choice.of_type];
        let at = At::draw(random, self.client, self.clients, self.inputs.warehouses);
        let input = self.inputs.draw(kind, at, random);
        self.drawn = Drawn::of(&input);
        match &input {
            Input::NewOrder(order) => self.new_order(spi, order),
            Input::Payment(payment) => self.payment(spi, payment),
            Input::OrderStatus {
                warehouse,
                district,
                customer,
            } => self.order_status(spi, [*warehouse, *district], customer),
            Input::Delivery { warehouse, carrier } => self.delivery(spi, *warehouse, *carrier),
            Input::StockLevel {
                warehouse,
                district,
                threshold,
            } => {
                let arguments = ints([*warehouse, *district, *threshold]);
                self.plans.stock_level.one(spi, &arguments)?;
                Ok(Outcome::Committed)
            }
        }
    }

    fn ended(&mut self, choice: Choice, outcome: Outcome, is_measured: bool) {
        if outcome == Outcome::Committed && choice.of_type == Kind::NewOrder as usize {
            add(&self.words[0], 1);
        }
        if is_measured {
            for (word, count) in self.words[1..].iter().zip(self.drawn.counts()) {
                add(word, count);
            }
        }
    }
}

impl Terminal {
    /// New-Order.
    fn new_order(&self, spi: &Connection, order: &NewOrder) -> Result<Outcome, Fault> {
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
        let (mut amount, mut done) = (0, 0);
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
            for row in 0..taken.count {
                amount += value(taken.int(row, 0))?;
            }
            done += taken.count;
            if taken.count < lines.len() {
                break;
            }
        }
        // The terminal would show it.
        std::hint::black_box(total(amount, discount, warehouse_tax + district_tax));
        order.outcome(done).ok_or_else(|| {
            Fault::new(
                sqlstate::CORRUPTED,
                "items or stock of the workload are not those that were loaded",
            )
        })
    }

    /// Payment.
    fn payment(&self, spi: &Connection, payment: &Payment) -> Result<Outcome, Fault> {
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
        Ok(Outcome::Committed)
    }

    /// Order-Status (clause 2.6.2.2).
    fn order_status(
        &self,
        spi: &Connection,
        [warehouse, district]: [i64; 2],
        customer: &Customer,
    ) -> Result<Outcome, Fault> {
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
            _ => Ok(Outcome::Committed),
        }
    }

    /// Delivery. A district without an order that is not delivered is skipped.
    fn delivery(&self, spi: &Connection, warehouse: i64, carrier: i64) -> Result<Outcome, Fault> {
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
        Ok(Outcome::Committed)
    }

    /// The number of a customer. Of several with a last name it is the one in the middle, by their first names.
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
        value(found.int(Customer::middle(found.count), 0))
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
