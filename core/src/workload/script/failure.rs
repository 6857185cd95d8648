//! Errors of scripts at run time: each says where it happened, in which command, and what to do.

use super::located;
use crate::{
    error_texts::Texts,
    refusal::{quoted, quoted_up_to},
    sqlstate,
};

/// Most characters of a command that are shown: an error may be far from its beginning.
const LONGEST_COMMAND: usize = 500;

/// Whose text has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A script that clients run as transactions.
    Transaction,
    /// The script that makes the tables.
    Init,
}

impl Texts {
    /// The error of the script's line and command, with the server's own DETAIL and HINT. `command`: None at the end of the script.
    pub fn of_script(
        self,
        sqlstate: &str,
        origin: Origin,
        script: &str,
        line: u32,
        command: Option<&str>,
    ) -> Self {
        let command = command.map(|text| {
            let text = quoted_up_to(text.trim_end(), LONGEST_COMMAND);
            format!("The command is {text}.")
        });
        Self {
            message: located(script, line, &self.message),
            detail: joined(command, self.detail),
            hint: self.hint.or_else(|| Some(hint(sqlstate, origin).into())),
            has_context: self.has_context,
        }
    }

    /// The error of a check.
    pub fn of_check(self, name: &str, sql: &str) -> Self {
        let hint = "Correct the query of the check. It is run once, as the role that asked, after the clients have ended.";
        Self {
            message: format!("check {}: {}", quoted(name), self.message),
            detail: joined(Some(format!("The query is {}.", quoted(sql))), self.detail),
            hint: self.hint.or_else(|| Some(hint.into())),
            has_context: self.has_context,
        }
    }
}

fn joined(first: Option<String>, second: Option<String>) -> Option<String> {
    let parts: Vec<String> = first.into_iter().chain(second).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The remedy, where the server says none.
fn hint(state: &str, origin: Origin) -> &'static str {
    match (state, origin) {
        (sqlstate::NO_SUCH_TABLE, Origin::Transaction) => {
            "Correct the name, or have init_script make the table. Without init_script, pgbench's tables are there; with data, those of the copied database."
        }
        (sqlstate::NOT_ALLOWED, _) => {
            "A script can do what the role that asked can do, and on a target's own server nothing that needs a superuser."
        }
        (sqlstate::SERIALIZATION_FAILURE | sqlstate::DEADLOCK, Origin::Transaction) => {
            "Give max_tries, so that such transactions are tried again."
        }
        (_, Origin::Init) => "Correct init_script, and start the run again.",
        // Operator intervention, such as pg_terminate_backend().
        _ if state.starts_with("57") => "Start the run again.",
        _ if state.starts_with("53") => {
            "Free the resource on the server, or start the run with fewer clients."
        }
        _ => {
            "Correct the script, or give continue_on_error => true, which counts failed transactions by SQLSTATE."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::{Refusal, check};

    fn of(sqlstate: &str, origin: Origin, texts: Texts, command: Option<&str>) -> Texts {
        let texts = texts.of_script(sqlstate, origin, "shop", 7, command);
        let refusal = Refusal::argument(texts.message.clone());
        let refusal = refusal.detail(texts.detail.clone().unwrap_or_default());
        check::style(&refusal.hint(texts.hint.clone().unwrap_or_default()));
        texts
    }

    fn message(text: &str) -> Texts {
        Texts {
            message: text.into(),
            ..Texts::default()
        }
    }

    #[test]
    fn an_error_says_where_and_what_to_do() {
        let texts = of(
            "22012",
            Origin::Transaction,
            message("division by zero"),
            Some("SELECT 1 / 0;"),
        );
        assert_eq!(texts.message, "script \"shop\", line 7: division by zero");
        assert_eq!(
            texts.detail.as_deref(),
            Some("The command is \"SELECT 1 / 0;\".")
        );
        for (state, origin, words) in [
            ("22012", Origin::Transaction, "continue_on_error"),
            ("40001", Origin::Transaction, "max_tries"),
            ("40P01", Origin::Transaction, "max_tries"),
            ("42P01", Origin::Transaction, "have init_script"),
            ("42P01", Origin::Init, "Correct init_script"),
            ("42501", Origin::Init, "the role that asked"),
            ("57P01", Origin::Transaction, "Start the run again"),
            ("53200", Origin::Transaction, "fewer clients"),
        ] {
            let hint = of(state, origin, message("x"), Some("y")).hint.unwrap();
            assert!(hint.contains(words), "{state}: {hint}");
        }
    }

    #[test]
    fn the_servers_own_words_stay() {
        let of_server = Texts {
            detail: Some("Key (a)=(1) already exists.".into()),
            hint: Some("Try another one.".into()),
            ..message("duplicate key")
        };
        let long = "INSERT INTO t VALUES (1) ".repeat(1000);
        let texts = of("23505", Origin::Transaction, of_server.clone(), Some(&long));
        let detail = texts.detail.unwrap();
        assert!(detail.starts_with("The command is \"INSERT INTO t"));
        assert!(detail.ends_with("...\". Key (a)=(1) already exists.") && detail.len() < 600);
        assert_eq!(texts.hint.as_deref(), Some("Try another one."));
        let at_end = of("25000", Origin::Transaction, of_server, None);
        assert_eq!(
            at_end.detail.as_deref(),
            Some("Key (a)=(1) already exists.")
        );
    }

    #[test]
    fn a_check_names_its_query() {
        let texts =
            message("relation \"gone\" does not exist").of_check("rows", "SELECT 1 FROM gone");
        assert_eq!(
            texts.message,
            "check \"rows\": relation \"gone\" does not exist"
        );
        let detail = texts.detail.unwrap();
        assert_eq!(detail, "The query is \"SELECT 1 FROM gone\".");
        assert!(texts.hint.unwrap().starts_with("Correct the query"));
    }
}
