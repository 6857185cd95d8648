//! A thread writes the answers to a database process: a process that does not read then keeps no other waiting.

use pgfsbench_core::helper::protocol::{Answer, LONGEST_LINE, Reply, write};
use pgfsbench_core::refusal::{Kind, Refusal};
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// More than the steps of any job.
const ROOM: usize = 256;

pub struct AnswerSender {
    sender: SyncSender<Answer>,
}

impl AnswerSender {
    /// Ends, with the stream, when it is dropped, or when the process has not read for the stream's write timeout.
    pub fn new(mut stream: UnixStream) -> Self {
        let (sender, receiver) = sync_channel::<Answer>(ROOM);
        thread::spawn(move || {
            for answer in receiver {
                if write(&mut stream, &answer).is_err() {
                    let _ = stream.shutdown(Shutdown::Both);
                    return;
                }
            }
        });
        Self { sender }
    }

    /// Does not wait. An error if what was said before has not been read for long.
    pub fn send(&self, answer: Answer) -> io::Result<()> {
        let sent = self.sender.try_send(fitting(answer));
        sent.map_err(|_| io::ErrorKind::TimedOut.into())
    }
}

/// A line that is too long for the other side would end the conversation.
fn fitting(answer: Answer) -> Answer {
    let length = serde_json::to_vec(&answer).map_or(usize::MAX, |line| line.len() + 1);
    if length <= LONGEST_LINE {
        return answer;
    }
    let refusal = || {
        Refusal::new(Kind::System, "the helper's answer is too long")
            .detail(format!("It has {length} bytes; {LONGEST_LINE} fit."))
            .hint("Name fewer devices in the helper's configuration.")
    };
    let reply = match answer.reply {
        Reply::Step(mut report) => {
            report.output = String::new();
            report.argv.truncate(16);
            Reply::Step(report)
        }
        Reply::Finished(_) | Reply::Refused(_) => Reply::Refused(refusal()),
    };
    Answer { reply, ..answer }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgfsbench_core::helper::protocol::{Report, read};
    use std::io::BufReader;
    use std::time::{Duration, Instant};

    fn step(output: usize) -> Answer {
        let report = Report {
            step: "s".into(),
            argv: vec!["/bin/x".into()],
            ms: 0.0,
            exit_code: None,
            output: "x".repeat(output),
        };
        Answer {
            job: 1,
            reply: Reply::Step(report),
        }
    }

    #[test]
    fn who_does_not_read_keeps_nobody_waiting() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_write_timeout(Some(Duration::from_millis(50)))
            .unwrap();
        let sender = AnswerSender::new(ours.try_clone().unwrap());
        let began = Instant::now();
        let refused = (0..10 * ROOM).filter(|_| sender.send(step(8 << 10)).is_err());
        assert!(refused.count() > 0);
        assert!(began.elapsed() < Duration::from_secs(60));
        // The stream is closed after a while.
        while sender.send(step(0)).is_ok() || began.elapsed() < Duration::from_millis(100) {
            assert!(began.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(5));
        }
        drop(theirs);
    }

    #[test]
    fn what_is_too_long_is_said_shorter() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let sender = AnswerSender::new(ours);
        sender.send(step(LONGEST_LINE)).unwrap();
        let result = serde_json::Value::String("x".repeat(LONGEST_LINE));
        let reply = Reply::Finished(result);
        sender.send(Answer { job: 2, reply }).unwrap();
        let mut from = BufReader::new(theirs);
        let heard: Answer = read(&mut from).unwrap().unwrap();
        assert_eq!(heard, step(0));
        let heard: Answer = read(&mut from).unwrap().unwrap();
        assert!(matches!(heard.reply, Reply::Refused(_)), "{heard:?}");
    }
}
