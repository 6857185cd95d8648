//! Import of files: it writes with the rights of the extension's owner, in the name of the calling role.

use pgrx::{pg_extern, pg_sys::panic::ErrorReport};

use super::guard;
use crate::pg::{
    session, sql,
    text::{ReturnedText, Text},
    xact,
};

const IMPORT: &str = "SELECT to_jsonb(i) FROM fsbench._import($1, $2, pg_get_userbyid($3::oid)) i";
const DROP: &str = "SELECT fsbench._drop_imported($1, pg_get_userbyid($2::oid))";

/// The calling role is the one whose rights are in use: in the owner's index or trigger that is not the role of the session.
#[pg_extern(sql = false)]
fn fsbench_change_imported(
    verb: Option<Text>,
    file: Option<&[u8]>,
    host: Option<&[u8]>,
) -> Result<ReturnedText, ErrorReport> {
    let owner = guard::extension()?.owner;
    xact::check_may_write(c"this function");
    let caller = session::role().to_string();
    let caller = Some(caller.as_bytes());
    let said = session::with_rights_of(owner, || match verb.map(String::from).as_deref() {
        Some("import") => sql::write_raw(IMPORT, &[file, host, caller]),
        Some("drop") => sql::write_raw(DROP, &[host, caller]),
        _ => Err(guard::unknown_verb()),
    })?;
    Ok(said.unwrap_or_default().into())
}
