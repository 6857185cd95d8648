//! The texts of an error, and which of them may have values of a user's data.

use crate::sqlstate;

/// The texts of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
    /// Whether the server has given a CONTEXT: the error arose within a function, or not in the statement alone.
    pub has_context: bool,
}

/// Beginnings of messages about rights that name an object of the catalogs, or none. A message about a large object has its number, which may be a value.
const ABOUT_RIGHTS: [&str; 11] = [
    "must be superuser ",
    "permission denied for database ",
    "permission denied for function ",
    "permission denied for materialized view ",
    "permission denied for procedure ",
    "permission denied for schema ",
    "permission denied for sequence ",
    "permission denied for table ",
    "permission denied for view ",
    "permission denied to COPY ",
    "permission denied to create ",
];

impl Texts {
    /// The error without the server's words, which may have values of the data. Words stay where the server has chosen all of them.
    /// `has_names_only`: the error arose before the execution of a statement whose text has no values, so that class 42 names objects only. In the
    /// execution, `SELECT note::regclass` raises it with a value. A function can raise any SQLSTATE with any words.
    pub fn without_values(self, sqlstate: &str, has_names_only: bool) -> Self {
        let is_of_server = ["25", "40", "53", "57"]
            .iter()
            .any(|class| sqlstate.starts_with(class));
        let is_about_rights = sqlstate == sqlstate::NOT_ALLOWED
            && ABOUT_RIGHTS
                .iter()
                .any(|words| self.message.starts_with(words));
        let is_of_names = has_names_only && sqlstate.starts_with("42");
        let is_plain =
            is_of_server || is_about_rights || is_of_names || sqlstate::says_corrupted(sqlstate);
        if is_plain && !self.has_context {
            return Self {
                detail: None,
                ..self
            };
        }
        Self {
            message: format!("a statement has failed with SQLSTATE {sqlstate}"),
            detail: Some(
                "The words of the server may have values of the data, and are not stored.".into(),
            ),
            hint: None,
            has_context: self.has_context,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Texts {
        Texts {
            message: text.into(),
            ..Texts::default()
        }
    }

    #[test]
    fn no_value_of_a_users_data_is_in_an_error() {
        let of_server = || Texts {
            detail: Some("Key (card)=(4711) already exists.".into()),
            hint: Some("4711".into()),
            ..message("invalid input syntax for type integer: \"4711\"")
        };
        for (state, has_names_only) in [
            ("22P02", true),
            ("23505", true),
            ("P0001", true),
            ("42601", false),
            // SELECT card::regclass FROM secret
            ("42P01", false),
            ("42704", false),
            ("42501", false),
        ] {
            let texts = of_server().without_values(state, has_names_only);
            assert!(!format!("{texts:?}").contains("4711"), "{texts:?}");
            assert!(texts.message.ends_with(state), "{texts:?}");
        }
        for state in ["42P01", "57014", "40001", "53100", "25006", "XX001"] {
            let raised = Texts {
                has_context: true,
                ..of_server()
            };
            let texts = raised.without_values(state, true);
            assert!(!format!("{texts:?}").contains("4711"), "{texts:?}");
            assert!(texts.message.ends_with(state), "{texts:?}");
        }
    }

    #[test]
    fn words_that_name_objects_stay() {
        for (state, has_names_only, words) in [
            ("42P01", true, "relation \"gone\" does not exist"),
            ("42501", false, "permission denied for table secret"),
            ("53100", false, "could not extend file \"base/5/6\""),
            ("XX002", false, "index \"item_pkey\" is damaged"),
        ] {
            let texts = Texts {
                detail: Some("4711".into()),
                ..message(words)
            };
            let texts = texts.without_values(state, has_names_only);
            assert_eq!((texts.message.as_str(), texts.detail), (words, None));
        }
        let of_value = message("permission denied for large object 4711");
        let texts = of_value.without_values("42501", false);
        assert!(!texts.message.contains("4711"), "{texts:?}");
        let raised = Texts {
            has_context: true,
            ..message("permission denied for table 4711")
        };
        let texts = raised.without_values("42501", false);
        assert!(!texts.message.contains("4711"), "{texts:?}");
    }
}
