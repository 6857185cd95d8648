//! A target that an experiment or a study makes for itself, with the caller's own rights, as anybody makes one. One that is there already is used
//! again where it is defined alike.

use pgfsbench_core::refusal::quoted;
use serde_json::{Map, Value};

use crate::{
    errors::{Fault, sqlstate, to_json_text},
    host::storage,
    pg::{session, sql, xact},
    store::definition,
};

/// Arguments of `create_target` by name.
pub type Arguments = Map<String, Value>;

/// The name of a target for a moment: made once more, it is compared with the one that there is.
const AGAIN: &str = "pgfsbench-again";

/// Makes a target of that name by `create`, unless one is there that is defined as `create` would do it; true if it was made. `whose` says, for an error, by
/// whom it would be defined. `owner` is that of the extension.
pub fn make_or_use(
    owner: u32,
    name: &str,
    whose: &str,
    create: impl Fn(&str) -> Result<(), Fault>,
) -> Result<bool, Fault> {
    if !is_there(name)? {
        create(name)?;
        return Ok(true);
    }
    // As it would be now, which is undone.
    let is_alike = xact::attempt(|| {
        quietly(|| create(AGAIN))?;
        session::with_rights_of(owner, || definition::are_alike(name, AGAIN))
    });
    match is_alike.and_then(|is_alike| is_alike)? {
        true => Ok(false),
        false => Err(exists(
            name,
            &format!("It is not defined as the {whose} would define it."),
            &format!(
                "Drop it with fsbench.drop_target() (the results of its runs stay), or give the {whose} another name or the same place."
            ),
        )),
    }
}

/// A device that can discard is trimmed before each run, so that none finds what the run before has left there.
pub fn trimmed(device: Option<&str>, mut arguments: Arguments) -> Arguments {
    if device.is_some_and(storage::can_discard) {
        arguments.insert("ssd_state".into(), "trimmed".into());
    }
    arguments
}

/// Makes one as a call of `create_target` does. Its error is raised anew: on its way through SQL it would take a backtrace along, in its DETAIL.
pub fn create(name: &str, arguments: &Arguments) -> Result<(), Fault> {
    let arguments = to_json_text(arguments)?;
    xact::catch(|| {
        sql::write(
            include_str!("queries/create_target.sql"),
            &[Some(name), Some(&arguments)],
        )
    })??;
    Ok(())
}

/// Whether there is a target of that name.
pub fn is_there(name: &str) -> Result<bool, Fault> {
    let known = sql::read_latest(
        "SELECT 1 FROM fsbench.target WHERE target = $1",
        &[Some(name)],
    )?;
    Ok(known.is_some())
}

/// The error for one that cannot be used.
pub fn exists(name: &str, detail: &str, hint: &str) -> Fault {
    let message = format!("target {} already exists", quoted(name));
    Fault::new(sqlstate::EXISTS_ALREADY, message)
        .detail(detail)
        .hint(hint)
}

/// Many targets are one message: that of the experiment or study.
pub fn quietly<T, E: From<Fault>>(f: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    const NAME: &str = "client_min_messages";
    let set = |level: &str| {
        sql::write(
            "SELECT set_config($1, $2, true)",
            &[Some(NAME), Some(level)],
        )
    };
    let before = sql::read("SELECT current_setting($1)", &[Some(NAME)])?;
    let before = before.as_deref().unwrap_or("notice");
    // Who has asked for errors only gets no more.
    if before != "error" {
        set("warning")?;
    }
    let done = f()?;
    set(before)?;
    Ok(done)
}
