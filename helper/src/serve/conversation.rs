//! Talks with the process of one database. That process is not trusted: its messages are typed, the configuration decides about its requests, and no
//! other database waits for it.

use super::answers::AnswerSender;
use super::{CountGuard, PATIENCE, Shared};
use crate::config::Database;
use crate::engine::Engine;
use crate::output::log;
use pgfsbench_core::helper::protocol::{Answer, Hello, Message, Order, Reply, read, write};
use pgfsbench_core::helper::{Name, Request};
use std::io::{self, BufReader};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The time for telling the database how a job ended, with all attempts.
const UNTIL_TOLD: Duration = Duration::from_secs(180);

/// Takes requests until the other side has gone. Anything else ends the conversation.
pub fn converse(database: &Database, shared: &Shared, stream: &UnixStream) -> io::Result<()> {
    let mut to = stream;
    write(
        &mut to,
        &Hello {
            database: database.name.clone(),
            connection: database.connection.clone(),
            once: shared.once,
        },
    )?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let sender = AnswerSender::new(stream.try_clone()?);
    let mut from = BufReader::new(stream);
    while let Some(message) = read::<Message>(&mut from)? {
        let Message::Order(order) = message else {
            return Err(offence("it speaks of a job that it has not ordered"));
        };
        if shared.stopping.load(Ordering::SeqCst) {
            break;
        }
        let doing = CountGuard::new(&shared.doing);
        let reply = carry_out(&database.name, shared, &order, &sender);
        let _telling = CountGuard::new(&shared.telling);
        drop(doing);
        let is_made = matches!(reply, Reply::Finished(_));
        let job = order.job;
        let said = sender.send(Answer { job, reply });
        // A process that is gone does not answer: then what it was not told of is released.
        stream.set_read_timeout(Some(UNTIL_TOLD))?;
        let heard = said.and_then(|()| read::<Message>(&mut from));
        stream.set_read_timeout(None)?;
        let is_recorded =
            matches!(heard, Ok(Some(Message::Told { job: of, recorded: true })) if of == job);
        if let (Request::Prepare { target, .. }, true) = (&order.request, is_made) {
            settle(&shared.engine, &database.name, target, is_recorded);
        }
        match heard? {
            Some(Message::Told { job: of, .. }) if of == job => {}
            Some(_) => return Err(offence("it does not say what has become of a job")),
            None => break,
        }
    }
    Ok(())
}

fn offence(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

fn carry_out(database: &Name, shared: &Shared, order: &Order, sender: &AnswerSender) -> Reply {
    let Order { job, run, request } = order;
    // A request that changes nothing need not wait for the others.
    let _turn = match request {
        Request::Describe | Request::Plan { .. } => None,
        _ => Some(shared.engine.turn().take()),
    };
    // The work goes on even if the process does not listen.
    let mut tell = |report| {
        let reply = Reply::Step(report);
        let _ = sender.send(Answer { job: *job, reply });
    };
    match shared.engine.handle(database, *run, request, &mut tell) {
        Ok(result) => Reply::Finished(result),
        Err(refusal) => {
            let target = request.target().map_or("", |name| name.as_str());
            log!(Some(database); "{database}@{target}: {refusal}");
            Reply::Refused(refusal)
        }
    }
}

/// Keeps a prepared target only if its caller can know of it: no other program would ever release it.
fn settle(engine: &Engine, database: &Name, target: &Name, is_recorded: bool) {
    let _turn = engine.turn().take();
    let outcome = match is_recorded {
        true => engine.keep(database, target),
        false => {
            log!(Some(database);
                "releasing {database}@{target}: the database could not be told that it is prepared"
            );
            engine.discard(database, target)
        }
    };
    if let Err(refusal) = outcome {
        log!(Some(database); "{database}@{target}: {refusal}");
    }
}
