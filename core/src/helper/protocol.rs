//! The messages of the helper's two processes over a socket pair: one JSON document a line, of limited length. Root's process does not
//! trust the one that speaks with the database.

use std::io::{self, BufRead, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Name, Request};
use crate::refusal::Refusal;

/// The longest line, with its newline.
pub const LONGEST_LINE: usize = 128 << 10;

/// The first line, from root: which database to serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The name of the database in the configuration.
    pub database: Name,
    /// Connection parameters as libpq's key=value, without a password.
    pub connection: String,
    /// True to end when no job is left, and not to wait for more.
    pub once: bool,
}

/// To root: a job to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The number of the job, which comes back in the answers.
    pub job: i64,
    /// The run that it is for, if it is for one: what is prepared for a run is released when that is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<i64>,
    pub request: Request,
}

/// Messages to root from the process that speaks with a database: an order; then, when it is answered, what has become of
/// the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Message {
    /// A job to be done.
    Order(Order),
    /// Tells whether the database knows how a job ended. Jobs that it does not know are not kept.
    Told {
        job: i64,
        /// True if its row says how it ended.
        recorded: bool,
    },
}

/// From root: what has become of it. Any number of steps, then one of the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub job: i64,
    pub reply: Reply,
}

/// The answers about a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// A step is over; the job goes on.
    Step(Report),
    /// The job is done, with this result.
    Finished(serde_json::Value),
    /// The job is not done, and what it had made is removed.
    Refused(Refusal),
}

/// A step that was taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub step: String,
    /// The command; for a step without a program, one sentence.
    pub argv: Vec<String>,
    pub ms: f64,
    /// The program's exit code; None when it was no program, or was killed.
    pub exit_code: Option<i32>,
    /// The output of the program, or the error; only the beginning, if it was long.
    pub output: String,
}

/// Reads a line that ends in a newline; None at the end of the stream. A longer line, an incomplete one and one that does
/// not parse are errors of kind InvalidData, after which the stream is of no use any more.
pub fn read<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    let limited = &mut io::Read::take(&mut *from, LONGEST_LINE as u64);
    limited.read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.pop() != Some(b'\n') {
        return Err(invalid("the line is too long, or has no end"));
    }
    serde_json::from_slice(&line)
        .map(Some)
        .map_err(|e| invalid(&e.to_string()))
}

fn invalid(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem.to_owned())
}

/// Writes a value as one line.
pub fn write(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    if line.len() > LONGEST_LINE {
        return Err(invalid("the line would be too long"));
    }
    to.write_all(&line)?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(job: i64, target: &str) -> Order {
        let target = Name::new(target).unwrap();
        Order {
            job,
            run: None,
            request: Request::Release { target },
        }
    }

    #[test]
    fn lines_come_out_as_they_went_in() {
        let mut wire = Vec::new();
        write(&mut wire, &order(1, "a")).unwrap();
        write(&mut wire, &order(2, "b")).unwrap();
        let mut from = wire.as_slice();
        assert_eq!(read(&mut from).unwrap(), Some(order(1, "a")));
        assert_eq!(read(&mut from).unwrap(), Some(order(2, "b")));
        assert_eq!(read::<Order>(&mut from).unwrap(), None);
    }

    #[test]
    fn what_root_is_told() {
        let told = Message::Told {
            job: 3,
            recorded: false,
        };
        let mut wire = Vec::new();
        write(&mut wire, &told).unwrap();
        assert_eq!(read(&mut wire.as_slice()).unwrap(), Some(told));
        for line in [
            r#"{"told":{"job":1}}"#,
            r#"{"told":{"job":1,"recorded":true,"x":1}}"#,
            r#"{"finished":{}}"#,
            r#"{"order":{"job":1,"request":{"describe":null}},"told":{"job":1,"recorded":true}}"#,
        ] {
            let line = format!("{line}\n");
            assert!(read::<Message>(&mut line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn long_incomplete_and_wrong_lines() {
        let long = [vec![b' '; LONGEST_LINE], b"\n".to_vec()].concat();
        let traversal = br#"{"job":1,"request":{"release":{"target":"../x"}}}"#;
        for line in [
            &long[..],
            b"{\"job\":1",
            b"\n",
            b"{}\n",
            b"[]\n",
            &[traversal, &b"\n"[..]].concat(),
        ] {
            let error = read::<Order>(&mut &line[..]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
        }
        assert!(write(&mut Vec::new(), &"x".repeat(LONGEST_LINE)).is_err());
    }

    proptest! {
        #[test]
        fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut from = bytes.as_slice();
            while let Ok(Some(_)) = read::<Message>(&mut from) {}
        }

        #[test]
        fn a_damaged_order_is_refused_or_still_typed(at in 0usize..60, byte: u8) {
            let mut line = Vec::new();
            write(&mut line, &Message::Order(order(7, "target"))).unwrap();
            let at = at % line.len();
            line[at] = byte;
            if let Ok(Some(Message::Order(order))) = read(&mut line.as_slice()) {
                prop_assert!(order.request.target().is_none_or(|name| Name::new(name.as_str()).is_ok()));
                let _ = order.request.check();
            }
        }
    }
}
