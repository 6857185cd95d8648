//! The machine and the server, as a study takes them.

use std::collections::{BTreeMap, BTreeSet};

use pgfsbench_core::{
    doctor::helper::{Description, NoDriver},
    study::{
        definition::Study,
        not_tested::{Facts, SkipReason},
        plan::FILE_EXTEND_METHOD,
    },
};

use super::super::doctor;
use crate::{
    errors::{Fault, read_json, to_json_text},
    host::{fio, machine},
    pg::sql,
    store::study as store,
};

/// Facts about this machine and server that a study depends on. With the rights of the extension's owner.
pub fn collect(study: &Study) -> Result<Facts, Fault> {
    let number = |statement: &str| -> Result<i64, Fault> {
        let text = sql::read(statement, &[])?;
        Ok(text.and_then(|text| text.parse().ok()).unwrap_or(0))
    };
    let usable = machine::usable();
    let described = doctor::description()?.map(|(described, _)| described);
    let mut missing = BTreeMap::new();
    for line in doctor::filesystems(described.as_ref()) {
        if ["missing", "warning"].contains(&line.state) {
            let why = SkipReason {
                why: format!(
                    "{} cannot be made here ({})",
                    line.item,
                    line.detail.unwrap_or_default()
                ),
                brings: Some(brings(&line.item, line.hint)),
            };
            missing.insert(line.item, why);
        }
    }
    Ok(Facts {
        kernel: rustix::system::uname()
            .release()
            .to_string_lossy()
            .into_owned(),
        server_version_num: number("SELECT current_setting('server_version_num')")? as i32,
        memory_bytes: usable.memory_bytes.unwrap_or(0),
        processors: usable.processors.unwrap_or(1),
        missing,
        without_driver: described.as_ref().map(without_driver).unwrap_or_default(),
        without_fio: fio::find().err().map(|fault| SkipReason {
            why: fault.message,
            brings: fault.hint.map(|hint| within_a_sentence(&hint)),
        }),
        not_allowed: described.map_or_else(Vec::new, |described| described.not_allowed()),
        max_wal_bytes: number("SELECT pg_size_bytes(current_setting('max_wal_size'))")?
            .unsigned_abs(),
        reserved_bytes: number(
            "SELECT pg_size_bytes(current_setting('pgfsbench.reserved_space'))",
        )?
        .unsigned_abs(),
        enums: enums(study)?,
        on_images: store::on_images(study)?,
    })
}

/// Drivers of layouts that the helper does not find.
fn without_driver(helper: &Description) -> BTreeMap<String, SkipReason> {
    let reason = |(driver, missing): (&String, &NoDriver)| {
        let why = SkipReason {
            why: missing.why_not.clone(),
            brings: missing.hint.as_deref().map(within_a_sentence),
        };
        (driver.clone(), why)
    };
    helper.no_layouts.iter().map(reason).collect()
}

/// The values that settings of a study may have here, of those that take one of a list: which there are depends on how the server was built.
fn enums(study: &Study) -> Result<BTreeMap<String, Vec<String>>, Fault> {
    let of_variants = study.variants.iter().filter_map(|v| v.settings.as_ref());
    let of_questions = study.questions.iter();
    let of_questions =
        of_questions.flat_map(|q| [&q.settings, &q.full.settings, &q.quick.settings]);
    let settings = of_variants.chain(of_questions);
    let names = settings.flat_map(|settings| settings.keys());
    let names: BTreeSet<String> = (names.map(|name| name.to_lowercase()))
        .chain([FILE_EXTEND_METHOD.0.to_owned()])
        .collect();
    let text = sql::read(
        "SELECT coalesce(jsonb_object_agg(lower(name), enumvals), '{}') FROM pg_catalog.pg_settings \
         WHERE enumvals IS NOT NULL AND lower(name) IN (SELECT jsonb_array_elements_text($1::jsonb))",
        &[Some(&to_json_text(&names)?)],
    )?;
    read_json("values of settings", &text.unwrap_or_default())
}

/// The remedy for a missing filesystem: doctor's hint, or a guest that has it.
fn brings(filesystem: &str, hint: Option<String>) -> String {
    let hint = within_a_sentence(&hint.unwrap_or_default());
    match hint.is_empty() {
        true => format!("make lab FS={filesystem}"),
        false => format!("{hint}; or make lab FS={filesystem}"),
    }
}

/// A hint as it goes on within a sentence.
fn within_a_sentence(hint: &str) -> String {
    let mut characters = hint.trim_end_matches('.').chars();
    let first = characters.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(characters).collect()
}
