//! Links lead to files that are there, and to headings that they have.

use crate::page::{Page, repository};
use std::path::Path;

/// The anchor that GitHub gives a heading.
pub fn anchor(heading: &str) -> String {
    let kept = heading
        .trim()
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase)
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

pub fn anchors(page: &Page) -> Vec<String> {
    let headings = page.prose.iter().filter_map(|(_, line)| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len() && title.starts_with(' ')).then_some(title)
    });
    headings.map(anchor).collect()
}

/// Targets of `](...)`, without those of code and of other sites.
fn links(page: &Page) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    // Code may go on in the next line, but not in the next paragraph.
    let mut is_code = false;
    for (number, line) in &page.prose {
        is_code &= !line.trim().is_empty();
        let parts = line.split('`').skip(usize::from(is_code)).step_by(2);
        let outside: String = parts.collect();
        is_code ^= line.matches('`').count() % 2 == 1;
        for rest in outside.split("](").skip(1) {
            let target = rest.split(')').next().unwrap_or("");
            if !target.contains("://") {
                links.push((*number, target.to_owned()));
            }
        }
    }
    links
}

/// The links of a page that lead nowhere.
pub fn broken(page: &Page) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, link) in links(page) {
        let (path, heading) = match link.split_once('#') {
            Some((path, heading)) => (path, Some(heading)),
            None => (link.as_str(), None),
        };
        let here = Path::new(&page.name).parent().unwrap_or(Path::new(""));
        let name = match path {
            "" => page.name.clone(),
            _ => here.join(path).display().to_string(),
        };
        if !path.is_empty() && !repository().join(&name).exists() {
            faults.push(format!("{}: there is no {name}", page.at(number)));
            continue;
        }
        let Some(heading) = heading else { continue };
        let there = match path {
            "" => anchors(page),
            _ => anchors(&Page::read(&name)),
        };
        if !there.iter().any(|anchor| anchor == heading) {
            faults.push(format!(
                "{}: {name} has no heading #{heading}",
                page.at(number)
            ));
        }
    }
    faults
}
