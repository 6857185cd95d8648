//! SQLSTATEs: those that pgfsbench raises, those that it asks others' errors for, and what follows from one.

/// invalid_parameter_value
pub const INVALID_PARAMETER: &str = "22023";
/// character_not_in_repertoire
pub const NOT_IN_REPERTOIRE: &str = "22021";
/// cardinality_violation
pub const WRONG_ROW_COUNT: &str = "21000";
/// numeric_value_out_of_range
pub const NUMBER_TOO_LARGE: &str = "22003";
/// division_by_zero
pub const DIVISION_BY_ZERO: &str = "22012";
/// syntax_error
pub const SYNTAX_ERROR: &str = "42601";
/// indeterminate_datatype
pub const INDETERMINATE_TYPE: &str = "42P18";
/// protocol_violation
pub const PROTOCOL_VIOLATION: &str = "08P01";
/// invalid_name
pub const INVALID_NAME: &str = "42602";
/// undefined_object
pub const NO_SUCH_OBJECT: &str = "42704";
/// datatype_mismatch
pub const WRONG_TYPE: &str = "42804";
/// object_not_in_prerequisite_state
pub const NOT_IN_THIS_STATE: &str = "55000";
/// object_in_use
pub const IN_USE: &str = "55006";
/// duplicate_object
pub const EXISTS_ALREADY: &str = "42710";
/// feature_not_supported
pub const NOT_SUPPORTED: &str = "0A000";
/// active_sql_transaction
pub const IN_TRANSACTION: &str = "25001";
/// insufficient_resources
pub const NO_RESOURCES: &str = "53000";
/// disk_full
pub const DISK_FULL: &str = "53100";
/// configuration_limit_exceeded
pub const LIMIT_REACHED: &str = "53400";
/// program_limit_exceeded
pub const TOO_MUCH: &str = "54000";
/// insufficient_privilege
pub const NOT_ALLOWED: &str = "42501";
/// query_canceled
pub const CANCELED: &str = "57014";
/// idle_session_timeout
pub const LEASE_OVER: &str = "57P05";
/// sqlclient_unable_to_establish_sqlconnection
pub const CANNOT_CONNECT: &str = "08001";
/// connection_failure
pub const CONNECTION_LOST: &str = "08006";
/// admin_shutdown
pub const TERMINATED: &str = "57P01";
/// crash_shutdown
pub const CRASHED: &str = "57P02";
/// system_error
pub const SYSTEM: &str = "58000";
/// io_error
pub const IO: &str = "58030";
/// internal_error; only for bugs
pub const INTERNAL: &str = "XX000";
/// data_corrupted
pub const CORRUPTED: &str = "XX001";

/// serialization_failure
pub const SERIALIZATION_FAILURE: &str = "40001";

/// cannot_connect_now; only servers say so, as with all below
const CANNOT_CONNECT_NOW: &str = "57P03";
/// invalid_catalog_name
pub const NO_SUCH_DATABASE: &str = "3D000";
/// undefined_table
pub const NO_SUCH_TABLE: &str = "42P01";
/// index_corrupted
const INDEX_CORRUPTED: &str = "XX002";
/// deadlock_detected
pub const DEADLOCK: &str = "40P01";
/// lock_not_available
pub const LOCK_NOT_AVAILABLE: &str = "55P03";

/// Class of connection exceptions.
const OF_CONNECTIONS: &str = "08";
/// Class of errors outside of PostgreSQL: files that are gone, or cannot be read.
const OF_THE_SYSTEM: &str = "58";
/// Codes with which a server ends a session: it is shut down, has crashed, starts, or drops the database.
const OF_ENDED_SESSIONS: &str = "57P";
/// Classes of what is no error: success, warnings, no data.
const NO_ERRORS: [&str; 3] = ["00", "01", "02"];

/// Whether it is one of an error: what another server sends may be anything.
pub fn is_of_an_error(text: &str) -> bool {
    text.len() == 5
        && (text.bytes()).all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
        && !NO_ERRORS.contains(&&text[..2])
}

/// Classes of data exceptions, and of limits that a value exceeds.
const OF_VALUES: [&str; 2] = ["22", "54"];

/// Whether what is stored is at fault: the same statement fails each time, until the row is another one. A panic of ours counts, too.
pub fn is_of_stored_rows(sqlstate: &str) -> bool {
    [INTERNAL, CORRUPTED].contains(&sqlstate)
        || OF_VALUES.iter().any(|class| sqlstate.starts_with(class))
}

/// Whether it says that the connection to a server is gone, or the server itself.
pub fn is_of_the_connection(sqlstate: &str) -> bool {
    sqlstate.starts_with(OF_CONNECTIONS)
        || [TERMINATED, CRASHED, CANNOT_CONNECT_NOW].contains(&sqlstate)
}

/// Whether a server ends a session with it, whatever the statement was.
pub fn ends_a_session(sqlstate: &str) -> bool {
    sqlstate.starts_with(OF_ENDED_SESSIONS)
}

/// Whether the operating system has refused something.
pub fn is_of_the_system(sqlstate: &str) -> bool {
    sqlstate.starts_with(OF_THE_SYSTEM)
}

/// Whether an error of a statement that reads all data says something about the data: corrupted pages and indexes, tables and
/// files that are gone, and what the server has no name for, such as the errors of a filesystem's checksums.
pub fn speaks_of_data(sqlstate: &str) -> bool {
    is_of_the_system(sqlstate)
        || [INTERNAL, CORRUPTED, INDEX_CORRUPTED, NO_SUCH_TABLE].contains(&sqlstate)
}

/// Whether an error says that a table or an index is damaged.
pub fn says_corrupted(sqlstate: &str) -> bool {
    [CORRUPTED, INDEX_CORRUPTED].contains(&sqlstate)
}

/// PostgreSQL's packed form: six bits a character (MAKE_SQLSTATE in elog.h).
pub fn pack(sqlstate: &str) -> i32 {
    sqlstate
        .bytes()
        .take(5)
        .enumerate()
        .fold(0, |code, (i, byte)| {
            code | (i32::from(byte.wrapping_sub(b'0')) & 0x3f) << (6 * i)
        })
}

/// The five characters of a packed one.
pub fn unpack(code: i32) -> String {
    (0..5)
        .map(|i| char::from(((code >> (6 * i)) & 0x3f) as u8 + b'0'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_speaks_of_data_and_a_connection_does_not() {
        for sqlstate in [
            "58000", "58030", "58P01", "XX000", "XX001", "XX002", "42P01",
        ] {
            assert!(speaks_of_data(sqlstate), "{sqlstate}");
        }
        for sqlstate in [
            "08006", "57014", "57P01", "57P02", "53100", "42501", "55000", "",
        ] {
            assert!(!speaks_of_data(sqlstate), "{sqlstate}");
        }
    }

    #[test]
    fn a_connection_is_lost_with_its_server_and_not_with_a_statement() {
        for sqlstate in ["08000", "08006", "57P01", "57P02", "57P03"] {
            assert!(is_of_the_connection(sqlstate), "{sqlstate}");
        }
        for sqlstate in ["57014", "57P05", "58030", "40001", ""] {
            assert!(!is_of_the_connection(sqlstate), "{sqlstate}");
        }
    }

    #[test]
    fn a_class_is_told_by_its_first_characters() {
        for sqlstate in [TERMINATED, CRASHED, CANNOT_CONNECT_NOW, LEASE_OVER] {
            assert!(ends_a_session(sqlstate), "{sqlstate}");
        }
        for sqlstate in [CANCELED, CONNECTION_LOST, SYSTEM, ""] {
            assert!(!ends_a_session(sqlstate), "{sqlstate}");
        }
        assert!(is_of_the_system(IO) && is_of_the_system(SYSTEM));
        assert!(!is_of_the_system(CANCELED) && !is_of_the_system(DISK_FULL));
    }

    #[test]
    fn what_is_stored_fails_each_time() {
        for sqlstate in [INVALID_PARAMETER, CORRUPTED, INTERNAL, "22P02", TOO_MUCH] {
            assert!(is_of_stored_rows(sqlstate), "{sqlstate}");
        }
        for sqlstate in [DISK_FULL, NOT_IN_THIS_STATE, CANCELED, "23514", "P0001", ""] {
            assert!(!is_of_stored_rows(sqlstate), "{sqlstate}");
        }
    }

    #[test]
    fn only_five_capitals_and_digits_are_of_an_error() {
        for sqlstate in ["XX000", "22023", "57P02"] {
            assert!(is_of_an_error(sqlstate), "{sqlstate}");
        }
        for text in [
            "", "22", "220233", "xx000", "22 23", "00000", "01000", "02000", "äöü",
        ] {
            assert!(!is_of_an_error(text), "{text}");
        }
    }

    #[test]
    fn packed_as_postgresql_packs_it() {
        // ERRCODE_T_R_SERIALIZATION_FAILURE and ERRCODE_INTERNAL_ERROR of its headers.
        assert_eq!((pack("40001"), pack("XX000")), (16_777_220, 2_600));
        for sqlstate in ["40001", "XX000", "57P05", "ZZZZZ", "00000"] {
            assert_eq!(unpack(pack(sqlstate)), sqlstate);
        }
    }
}
