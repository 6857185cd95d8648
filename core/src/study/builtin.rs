//! The studies that come with pgfsbench: the files of `studies/`, compiled in by `build.rs`.

use serde_json::Value;

use super::{check, definition::Study};
use crate::refusal::Refusal;

/// Their texts, by the names of the files.
const FILES: &[&str] = &include!(concat!(env!("OUT_DIR"), "/studies.rs"));

/// All of them.
pub fn all() -> Result<Vec<Study>, Refusal> {
    FILES.iter().map(|text| parse(text)).collect()
}

fn parse(text: &str) -> Result<Study, Refusal> {
    let value: Value = serde_json::from_str(text).map_err(|e| check::unreadable(&e))?;
    check::parse(value)
}

/// The one of that name.
pub fn find(name: &str) -> Result<Option<Study>, Refusal> {
    Ok(all()?.into_iter().find(|study| study.study == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// That it has the fields of one, the build has seen. This is what makes a preset fail before it is shipped whose fields name what is not there.
    #[test]
    fn each_file_is_a_study() {
        for text in FILES {
            let study = parse(text).unwrap_or_else(|refusal| {
                panic!("{}: {refusal}: {:?}", &text[..60], refusal.detail)
            });
            assert!(
                !study.claims.is_empty() && !study.published.is_empty()
                    || study.study == "folklore",
                "{}",
                study.study
            );
            assert!(
                text.trim_start()
                    .starts_with(&format!("{{\n  \"study\": \"{}\"", study.study))
            );
            assert!(!study.claims.is_empty(), "{}", study.study);
            // Claims are read before everything that was made for them.
            let place = |name: &str| text.find(&format!("\n  \"{name}\":")).unwrap_or(usize::MAX);
            assert!(place("claims") < place("variants"), "{}", study.study);
        }
    }

    #[test]
    fn names_are_unique() {
        let studies = all().unwrap();
        for (i, study) in studies.iter().enumerate() {
            assert!(studies[..i].iter().all(|other| other.study != study.study));
        }
        assert!(find("heron-2010").unwrap().is_some());
        assert!(find("heron").unwrap().is_none());
    }
}
