//! A server that speaks PostgreSQL's protocol to any client, and says whatever a test wants.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// A message that is to be answered.
pub enum Message<'a> {
    /// A connection, which has just been authenticated.
    Connection,
    /// A statement, by the extended protocol.
    Statement(&'a str),
}

pub struct FakeServer {
    port: u16,
}

/// The connection by which the server sends.
pub struct Link(TcpStream);

impl FakeServer {
    /// For each connection, and for each statement, `answer` is called. After an error of its the connection is closed.
    pub fn start(
        answer: impl Fn(Message, &mut Link) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let answer = Arc::clone(&answer);
                std::thread::spawn(move || serve(Link(stream), &*answer));
            }
        });
        Self { port }
    }

    /// How to connect to it, in libpq's words.
    pub fn connection(&self) -> String {
        format!("host=127.0.0.1 port={} dbname=d user=u", self.port)
    }
}

fn serve(mut link: Link, answer: &dyn Fn(Message, &mut Link) -> io::Result<()>) -> io::Result<()> {
    const PROTOCOL: u32 = 3 << 16;
    const SSL: u32 = 80_877_103;
    const GSS: u32 = 80_877_104;
    loop {
        let text = link.read_body()?;
        match text.first_chunk().map(|code| u32::from_be_bytes(*code)) {
            Some(SSL | GSS) => link.0.write_all(b"N")?,
            Some(PROTOCOL) => break,
            _ => return Ok(()),
        }
    }
    link.send(b'R', &[0; 4])?;
    answer(Message::Connection, &mut link)?;
    link.send(b'K', &[0; 8])?;
    link.ready()?;
    let mut statement = String::new();
    loop {
        let mut kind = [0];
        link.0.read_exact(&mut kind)?;
        let body = link.read_body()?;
        match kind[0] {
            // Parse: its name, and the text.
            b'P' => {
                let text = body.split(|&byte| byte == 0).nth(1).unwrap_or_default();
                statement = String::from_utf8_lossy(text).into_owned();
            }
            // Sync.
            b'S' => {
                answer(Message::Statement(&statement), &mut link)?;
                link.ready()?;
            }
            b'X' => return Ok(()),
            _ => {}
        }
    }
}

impl Link {
    fn read_body(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.0.read_exact(&mut length)?;
        let length = u32::from_be_bytes(length).saturating_sub(4) as usize;
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        Ok(body)
    }

    fn ready(&mut self) -> io::Result<()> {
        self.send(b'Z', b"I")
    }

    /// A message.
    pub fn send(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        self.0.write_all(&message(kind, body))
    }

    /// Bytes that need not be a message.
    pub fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// The beginning of an answer with one column.
    pub fn begin_rows(&mut self) -> io::Result<()> {
        self.send(b'1', b"")?;
        self.send(b'2', b"")?;
        let column = [
            &[0, 1][..],
            b"v\0",
            &[0; 6],
            &[0, 0, 0, 25, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0],
        ]
        .concat();
        self.send(b'T', &column)
    }

    /// An answer of one value, or of NULL.
    pub fn value(&mut self, value: Option<&str>) -> io::Result<()> {
        self.begin_rows()?;
        self.0.write_all(&row(value))?;
        self.send(b'C', b"SELECT 1\0")
    }
}

/// A message with its length.
pub fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 4).to_be_bytes();
    [&[kind][..], &length, body].concat()
}

/// A row of one column.
pub fn row(value: Option<&str>) -> Vec<u8> {
    let value = match value {
        Some(text) => [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat(),
        None => vec![0xff; 4],
    };
    message(b'D', &[&[0, 1][..], &value].concat())
}
