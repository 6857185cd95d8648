//! A connection to a server. The other end of a Unix socket has to be the user that servers run as before anything is said or
//! believed: in a directory that others may write to, anybody can listen while the server is away.

use crate::connection::{self, Peer};
use pgfsbench_core::escape::one_line;
use pgfsbench_core::refusal::{Kind, Refusal};
use std::error::Error as StdError;
use std::future::{Future, poll_fn};
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Config, Error, NoTls, Row};

pub type Failure = Box<dyn StdError + Send + Sync>;

/// The time for connecting and authentication.
const PATIENCE: Duration = Duration::from_secs(30);

/// Settings of every session. A client's settings win over those of ALTER DATABASE and ALTER ROLE. The search path matters most:
/// in another one, names may lead to other people's functions.
const SETTINGS: &[(&str, &str)] = &[
    ("search_path", "pg_catalog,pg_temp"),
    ("role", "none"),
    ("client_min_messages", "error"),
    ("standard_conforming_strings", "on"),
    ("default_transaction_isolation", "read\\ committed"),
    ("default_transaction_read_only", "off"),
    ("default_transaction_deferrable", "off"),
    ("lock_timeout", "10s"),
    ("statement_timeout", "60s"),
    ("idle_session_timeout", "0"),
    ("idle_in_transaction_session_timeout", "0"),
];

type Messages = Box<dyn FnMut(&mut Context) -> Poll<Option<Result<AsyncMessage, Error>>>>;
type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A session. Nothing is read from the server but while something is waited for.
pub struct Client {
    wire: Wire,
    client: tokio_postgres::Client,
}

struct Wire {
    runtime: Runtime,
    messages: Messages,
    /// True if a notification came since this was last asked. Their number and payload are not kept.
    is_notified: bool,
}

/// A session by these parameters.
pub fn connect(parameters: &str) -> Result<Client, Failure> {
    let (mut config, peer) = connection::resolve(parameters)?;
    let given = config.get_options().unwrap_or_default().to_owned();
    config
        .application_name(concat!("pgfsbench-helper ", env!("CARGO_PKG_VERSION")))
        .options(format!("{given} {}", options()));
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let attempt = async { tokio::time::timeout(PATIENCE, attempt(&config, peer)).await };
    let (client, messages) = runtime.block_on(attempt).map_err(|_| {
        format!(
            "the server has not answered within {} s",
            PATIENCE.as_secs()
        )
    })??;
    let wire = Wire {
        runtime,
        messages,
        is_notified: false,
    };
    Ok(Client { wire, client })
}

fn options() -> String {
    let options = SETTINGS
        .iter()
        .map(|(name, value)| format!("-c {name}={value}"));
    options.collect::<Vec<_>>().join(" ")
}

async fn attempt(
    config: &Config,
    peer: Option<Peer>,
) -> Result<(tokio_postgres::Client, Messages), Failure> {
    let Some(Peer { socket, uid }) = peer else {
        let (client, mut connection) = config.connect(NoTls).await?;
        return Ok((client, Box::new(move |cx| connection.poll_message(cx))));
    };
    let stream = UnixStream::connect(&socket)
        .await
        .map_err(|e| unreachable(&socket, &e))?;
    let found = stream.peer_cred()?.uid();
    if found != uid {
        return Err(impostor(&socket, found, uid).into());
    }
    let (client, mut connection) = config.connect_raw(stream, NoTls).await?;
    Ok((client, Box::new(move |cx| connection.poll_message(cx))))
}

fn unreachable(socket: &Path, error: &std::io::Error) -> Failure {
    format!(
        "could not connect to {}: {error}",
        crate::secure::shown(socket)
    )
    .into()
}

fn impostor(socket: &Path, found: u32, wanted: u32) -> Refusal {
    Refusal::new(
        Kind::NotAllowed,
        format!(
            "who listens on {} is not the servers' user",
            crate::secure::shown(socket)
        ),
    )
    .detail(format!(
        "It is user {found}, and not user {wanted}: nothing is said to it."
    ))
    .hint("Put server_user right in the helper's configuration, or requirepeer=USER in the connection; or see who listens there.")
}

impl Wire {
    fn wait<T>(&mut self, future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let Self {
            runtime,
            messages,
            is_notified,
        } = self;
        let mut future = pin!(future);
        runtime.block_on(poll_fn(|cx| match read(messages, is_notified, cx) {
            Poll::Ready(Err(e)) => Poll::Ready(Err(e)),
            // Once the connection has gone, this says so.
            Poll::Ready(Ok(())) | Poll::Pending => future.as_mut().poll(cx),
        }))
    }
}

/// Takes what has come; ready when no more will.
fn read(
    messages: &mut Messages,
    is_notified: &mut bool,
    cx: &mut Context,
) -> Poll<Result<(), Error>> {
    loop {
        match messages(cx) {
            Poll::Ready(Some(Ok(AsyncMessage::Notification(_)))) => *is_notified = true,
            Poll::Ready(Some(Ok(_))) => {}
            Poll::Ready(Some(Err(e))) => return Poll::Ready(Err(e)),
            Poll::Ready(None) => return Poll::Ready(Ok(())),
            Poll::Pending => return Poll::Pending,
        }
    }
}

impl Client {
    pub fn query(&mut self, sql: &str, parameters: Parameters) -> Result<Vec<Row>, Error> {
        self.wire.wait(self.client.query(sql, parameters))
    }

    pub fn query_one(&mut self, sql: &str, parameters: Parameters) -> Result<Row, Error> {
        self.wire.wait(self.client.query_one(sql, parameters))
    }

    pub fn query_opt(&mut self, sql: &str, parameters: Parameters) -> Result<Option<Row>, Error> {
        self.wire.wait(self.client.query_opt(sql, parameters))
    }

    pub fn execute(&mut self, sql: &str, parameters: Parameters) -> Result<u64, Error> {
        self.wire.wait(self.client.execute(sql, parameters))
    }

    pub fn batch_execute(&mut self, sql: &str) -> Result<(), Error> {
        self.wire.wait(self.client.batch_execute(sql))
    }

    /// Does this in one transaction, which is committed if it succeeds.
    pub fn transaction<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.batch_execute("BEGIN")?;
        let result = act(self).and_then(|done| self.batch_execute("COMMIT").map(|()| done));
        if result.is_err() {
            let _ = self.batch_execute("ROLLBACK");
        }
        result
    }

    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Waits for a notification. True if one comes within this time, or came since this was last asked. An error as soon as the
    /// connection is lost.
    pub fn is_notified(&mut self, within: Duration) -> Result<bool, Error> {
        let Wire {
            runtime,
            messages,
            is_notified,
        } = &mut self.wire;
        let next = poll_fn(|cx| match read(messages, is_notified, cx) {
            Poll::Pending if *is_notified => Poll::Ready(Ok(())),
            other => other,
        });
        // A flood of notifications counts as one.
        let heard = runtime.block_on(async { tokio::time::timeout(within, next).await });
        if let Ok(ended) = heard {
            ended?;
        }
        Ok(std::mem::take(&mut self.wire.is_notified))
    }
}

/// The server's words, which Display of tokio_postgres::Error leaves out, and the details of a refusal: one line.
pub fn describe(error: &Failure) -> String {
    let said = if let Some(refusal) = error.downcast_ref::<Refusal>() {
        match &refusal.detail {
            Some(detail) => format!("{refusal}: {}", detail.trim_end_matches('.')),
            None => refusal.to_string(),
        }
    } else if let Some(error) = error.downcast_ref::<Error>() {
        match (error.as_db_error(), error.source()) {
            (Some(server), _) => server.to_string(),
            (None, Some(source)) => format!("{error}: {source}"),
            (None, None) => error.to_string(),
        }
    } else {
        error.to_string()
    };
    one_line(&said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_what_a_server_takes_apart_at_blanks() {
        let options = options();
        assert!(options.starts_with("-c search_path=pg_catalog,pg_temp -c role=none "));
        assert!(options.contains("=read\\ committed "));
    }
}
