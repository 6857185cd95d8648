//! The studies that come with pgfsbench: the files of `studies/`, compiled in. A new one is a file there and a line here.

use serde_json::Value;

use super::{check, definition::Study};
use crate::refusal::Refusal;

const FILES: [&str; 6] = [
    include_str!("../../../studies/heron-2010.json"),
    include_str!("../../../studies/smith-2011.json"),
    include_str!("../../../studies/deckelmann-2009.json"),
    include_str!("../../../studies/digoal-2016.json"),
    include_str!("../../../studies/vondra-2015.json"),
    include_str!("../../../studies/folklore.json"),
];

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

    /// This is what makes a preset that misses something fail before it is shipped.
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
