//! Connection parameters that the postgres crate does not know: `passfile` and `requirepeer`. They keep passwords out of the configuration, and others from passing for the server. Syntax and order of
//! precedence are libpq's.

use pgfsbench_core::quoting;
use pgfsbench_core::refusal::{Kind, Refusal, quoted};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// The variable that root's process hands on to the process that connects.
pub const PASSFILE: &str = "PGPASSFILE";

type Pairs = Vec<(String, String)>;

/// The user that the server behind a Unix socket must run as.
#[derive(Debug, PartialEq, Eq)]
pub struct Peer {
    pub socket: PathBuf,
    pub uid: u32,
}

fn wrong(what: impl Into<String>) -> Refusal {
    Refusal::argument("invalid connection")
        .detail(what.into())
        .hint(
            "Give key=value as for psql, such as: host=/run/postgresql dbname=bench user=postgres.",
        )
}

/// Refuses what could never connect, and passwords: they belong into a file of the servers' user.
pub fn check(text: &str) -> Result<(), Refusal> {
    let has_password = if is_url(text) {
        parsed(text)?.get_password().is_some()
    } else {
        let (pairs, own) = split(text)?;
        if let Some(path) = own.passfile.filter(|path| !path.is_absolute()) {
            return Err(wrong(format!(
                "\"{}\" is no absolute path.",
                path.display()
            )));
        }
        parsed(&join(&pairs))?.get_password().is_some()
    };
    match has_password {
        false => Ok(()),
        true => Err(Refusal::argument("a connection must not hold a password")
            .hint("Let server_user in by peer authentication over the local socket, or give passfile=FILE.")),
    }
}

/// The parameters of a connection, with the password that the password file of this process's user adds; and for a Unix socket the user
/// that the server must run as: `requirepeer`, or the user of this process.
pub fn resolve(text: &str) -> Result<(Config, Option<Peer>), Refusal> {
    let (pairs, own) = match is_url(text) {
        true => (Vec::new(), InterpretedParameters::default()),
        false => split(text)?,
    };
    let mut config = match is_url(text) {
        true => parsed(text)?,
        false => parsed(&join(&pairs))?,
    };
    let passfile = own
        .passfile
        .or_else(|| std::env::var_os(PASSFILE).map(PathBuf::from))
        .or_else(|| Some(home()?.join(".pgpass")));
    if config.get_password().is_none()
        && let Some(passfile) = passfile
        && let Some(password) = password_in(&passfile, &config)?
    {
        config.password(password);
    }
    let peer = peer(&config, own.requirepeer.as_deref())?;
    Ok((config, peer))
}

fn peer(config: &Config, required: Option<&str>) -> Result<Option<Peer>, Refusal> {
    let directories = config.get_hosts().iter().filter_map(|host| match host {
        Host::Unix(directory) => Some(directory),
        Host::Tcp(_) => None,
    });
    let directories: Vec<&PathBuf> = directories.collect();
    let Some(directory) = directories.first() else {
        return match required {
            Some(_) => Err(wrong("requirepeer is for Unix sockets.")),
            None => Ok(None),
        };
    };
    // Which one of several would answer is not known beforehand.
    if config.get_hosts().len() > 1 || !config.get_hostaddrs().is_empty() {
        return Err(wrong(
            "A directory of sockets stands alone: without further hosts, and without hostaddr.",
        ));
    }
    let port = config.get_ports().first().unwrap_or(&5432);
    let uid = match required {
        None => rustix::process::geteuid().as_raw(),
        Some(user) => user_id(user).ok_or_else(|| {
            wrong(format!(
                "There is no user {} for requirepeer.",
                quoted(user)
            ))
        })?,
    };
    Ok(Some(Peer {
        socket: directory.join(format!(".s.PGSQL.{port}")),
        uid,
    }))
}

/// A user's number, by name or as it is.
fn user_id(user: &str) -> Option<u32> {
    user.parse().ok().or_else(|| {
        let fields = passwd(|fields| fields.first() == Some(&user))?;
        fields.get(2)?.parse().ok()
    })
}

fn is_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

fn parsed(text: &str) -> Result<Config, Refusal> {
    text.parse::<Config>().map_err(|e| {
        let source = std::error::Error::source(&e).map(|source| format!(": {source}"));
        wrong(format!("{e}{}.", source.unwrap_or_default()))
    })
}

/// Parameters that the helper interprets itself; libpq gets the others.
#[derive(Default)]
struct InterpretedParameters {
    passfile: Option<PathBuf>,
    requirepeer: Option<String>,
}

fn split(text: &str) -> Result<(Pairs, InterpretedParameters), Refusal> {
    let mut own = InterpretedParameters::default();
    let mut others = Vec::new();
    for (key, value) in pairs(text)? {
        match key.as_str() {
            "passfile" => own.passfile = Some(value.into()),
            "requirepeer" => own.requirepeer = Some(value),
            _ => others.push((key, value)),
        }
    }
    Ok((others, own))
}

/// `key = value` and `key = 'va\'lue'`, with blanks between.
fn pairs(text: &str) -> Result<Pairs, Refusal> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (key, after) = rest
            .split_once('=')
            .ok_or_else(|| wrong(format!("There is no \"=\" after \"{rest}\".")))?;
        let key = key.trim();
        if key.is_empty() || key.contains(char::is_whitespace) {
            return Err(wrong(format!("There is no \"=\" after \"{key}\".")));
        }
        let after = after.trim_start();
        let (quoted, body) = match after.strip_prefix('\'') {
            Some(body) => (true, body),
            None => (false, after),
        };
        let mut value = String::new();
        let mut end = None;
        let mut characters = body.char_indices();
        while let Some((at, c)) = characters.next() {
            match c {
                '\\' => value.extend(characters.next().map(|(_, c)| c)),
                '\'' if quoted => {
                    end = Some(at + 1);
                    break;
                }
                c if !quoted && c.is_whitespace() => {
                    end = Some(at);
                    break;
                }
                c => value.push(c),
            }
        }
        if quoted && end.is_none() {
            return Err(wrong(format!(
                "The value of \"{key}\" has no closing quote."
            )));
        }
        pairs.push((key.to_owned(), value));
        rest = body[end.unwrap_or(body.len())..].trim_start();
    }
    Ok(pairs)
}

fn join(pairs: &Pairs) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('\'', "\\'");
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(key, value)| format!("{key}='{}'", quoted(value)))
        .collect();
    pairs.join(" ")
}

/// The password of the first line that fits: host:port:database:user:password.
fn password_in(file: &Path, config: &Config) -> Result<Option<String>, Refusal> {
    let metadata = match std::fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(unreadable("password file", file, &e)),
    };
    if !metadata.is_file() || metadata.mode() & 0o077 != 0 {
        let message = format!("password file \"{}\" is open to others", file.display());
        return Err(Refusal::new(Kind::NotAllowed, message)
            .detail("It is not read.")
            .hint(format!(
                "Run: chmod 0600 {}.",
                quoting::shell(&file.display().to_string())
            )));
    }
    let text = std::fs::read_to_string(file).map_err(|e| unreadable("password file", file, &e))?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) if is_usual(path) => "localhost".into(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".into(),
    };
    let port = config.get_ports().first().unwrap_or(&5432).to_string();
    let user = config.get_user().unwrap_or_default().to_owned();
    let database = config.get_dbname().unwrap_or(&user).to_owned();
    Ok(matching(&text, &[&host, &port, &database, &user]))
}

/// libpq calls the server behind the usual socket localhost.
fn is_usual(directory: &Path) -> bool {
    [
        Path::new("/run/postgresql"),
        Path::new("/var/run/postgresql"),
    ]
    .contains(&directory)
}

fn matching(text: &str, wanted: &[&str; 4]) -> Option<String> {
    let fields = |line: &str| {
        let mut fields = vec![String::new()];
        let mut characters = line.chars();
        while let Some(c) = characters.next() {
            // The password is the rest, and may hold colons.
            match c {
                ':' if fields.len() <= wanted.len() => fields.push(String::new()),
                '\\' => fields.last_mut()?.extend(characters.next()),
                c => fields.last_mut()?.push(c),
            }
        }
        Some(fields)
    };
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(fields)
        .find(|fields| {
            fields.len() == wanted.len() + 1
                && wanted.iter().zip(fields).all(|(w, f)| f == "*" || f == w)
        })
        .and_then(|mut fields| fields.pop())
}

fn unreadable(what: &str, file: &Path, error: &std::io::Error) -> Refusal {
    let message = format!("could not read the {what} \"{}\"", file.display());
    Refusal::new(Kind::System, message)
        .detail(format!("{error}."))
        .hint("server_user of the helper's configuration has to be able to read it.")
}

/// The home directory of this process's user.
fn home() -> Option<PathBuf> {
    let uid = rustix::process::geteuid().as_raw().to_string();
    let fields = passwd(|fields| fields.get(2) == Some(&uid.as_str()))?;
    fields.get(5).map(PathBuf::from)
}

/// The first line of the machine's users that is this one.
fn passwd(is_it: impl Fn(&[&str]) -> bool) -> Option<Vec<String>> {
    let passwd = std::fs::read_to_string("/etc/passwd").ok()?;
    let mut lines = passwd
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>());
    let fields = lines.find(|fields| is_it(fields))?;
    Some(fields.into_iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn parameters_are_split_as_libpq_does() {
        let split = |text: &str| pairs(text).ok();
        let made = |pairs: &[(&str, &str)]| {
            let own = |&(k, v): &(&str, &str)| (k.to_owned(), v.to_owned());
            Some(pairs.iter().map(own).collect::<Pairs>())
        };
        assert_eq!(split("a=b  c = d"), made(&[("a", "b"), ("c", "d")]));
        assert_eq!(
            split(r"a='b \'c\\' d="),
            made(&[("a", r"b 'c\"), ("d", "")])
        );
        assert_eq!(split(r"a=b\ c"), made(&[("a", "b c")]));
        assert_eq!(split(""), made(&[]));
        for bad in ["a", "a b=c", "=b", "a='b"] {
            assert!(pairs(bad).is_err(), "{bad}");
        }
        let again = made(&[("a", r"b 'c\"), ("d", "")]).unwrap();
        assert_eq!(pairs(&join(&again)).ok(), Some(again));
    }

    #[test]
    fn what_a_configuration_may_hold() {
        assert!(check("passfile=/etc/pgfsbench/pass dbname=x").is_ok());
        assert!(check("postgresql://postgres@localhost/bench").is_ok());
        for bad in [
            "password=x",
            "postgresql://postgres:x@localhost/bench",
            "passfile=pass",
            "service=y",
            "nonsense=1",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_first_line_of_a_password_file_that_fits() {
        let text = "# h:1:d:u:no\nh:2:d:u:two\nh:1:*:u\\:v:co\\:lo:n\\\\\n*:*:*:*:rest\n";
        let find = |wanted: [&str; 4]| matching(text, &wanted);
        assert_eq!(find(["h", "2", "d", "u"]).as_deref(), Some("two"));
        assert_eq!(find(["h", "1", "d", "u:v"]).as_deref(), Some("co:lo:n\\"));
        assert_eq!(find(["x", "1", "d", "u"]).as_deref(), Some("rest"));
        assert_eq!(matching("h:1:d:u\n", &["h", "1", "d", "u"]), None);
    }

    #[test]
    fn who_has_to_be_behind_a_socket() {
        let peer = |text: &str| resolve(text).map(|(_, peer)| peer.map(|peer| peer.uid));
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(peer("host=/run/x user=u").ok(), Some(Some(own)));
        assert_eq!(
            peer("host=/run/x user=u requirepeer=root").ok(),
            Some(Some(0))
        );
        assert_eq!(
            peer("host=/run/x user=u requirepeer=77").ok(),
            Some(Some(77))
        );
        assert_eq!(peer("host=localhost user=u").ok(), Some(None));
        for bad in [
            "host=/run/x user=u requirepeer=nobody-of-that-name",
            "host=localhost user=u requirepeer=root",
            "host=/run/x,/tmp user=u",
            "host=localhost,/tmp user=u",
            "host=/run/x hostaddr=127.0.0.1 user=u",
        ] {
            assert!(peer(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_password_file_makes_a_connection() {
        let place = tempfile::tempdir().unwrap();
        let passwords = place.path().join("p");
        std::fs::write(
            &passwords,
            "/tmp/here:5433:other:u:secret
",
        )
        .unwrap();
        std::fs::set_permissions(&passwords, std::fs::Permissions::from_mode(0o600)).unwrap();
        let text = format!(
            "host=/tmp/here port=5433 dbname=other user=u passfile={}",
            passwords.display()
        );
        let (config, peer) = resolve(&text).unwrap();
        let own = rustix::process::geteuid().as_raw();
        let socket = "/tmp/here/.s.PGSQL.5433".into();
        assert_eq!(peer, Some(Peer { socket, uid: own }));
        assert_eq!(config.get_password(), Some(&b"secret"[..]));

        std::fs::set_permissions(&passwords, std::fs::Permissions::from_mode(0o640)).unwrap();
        let refusal = resolve(&text).unwrap_err();
        assert!(refusal.hint.is_some());
        assert!(refusal.message.contains("open to others"), "{refusal}");
    }
}
