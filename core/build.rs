//! The studies that come with pgfsbench are the files of `studies/`: a new one needs no line of code. One that misses a field, or has
//! one that there is not, stops the build; what its fields say is checked by tests.

use std::{env, error::Error, fmt::Write, fs, path::Path};

/// The types of a study, from the file that the crate uses too.
#[allow(dead_code)]
#[path = "src/study/definition.rs"]
mod definition;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../studies");
    println!("cargo:rerun-if-changed={}", folder.display());
    println!("cargo:rerun-if-changed=src/study/definition.rs");
    let mut list = "[\n".to_owned();
    for (name, text) in files(&folder)? {
        check(&name, &text)?;
        // Itself, so that a file that changes is compiled in anew.
        writeln!(list, "    include_str!({:?}),", folder.join(name))?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("studies.rs"), list)?;
    Ok(())
}

/// Names and texts of the files of a folder that are studies, by name.
pub fn files(folder: &Path) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            found.push((name.into_owned(), fs::read_to_string(&path)?));
        }
    }
    found.sort();
    Ok(found)
}

/// Refuses a file with other fields than a study has, and one that is not named after its study.
pub fn check(name: &str, text: &str) -> Result<(), String> {
    let study: definition::Study = serde_json::from_str(text)
        .map_err(|error| format!("studies/{name} is no study: {error}"))?;
    match name.strip_suffix(".json") == Some(study.study.as_str()) {
        true => Ok(()),
        false => Err(format!("studies/{name} has study {}", study.study)),
    }
}
