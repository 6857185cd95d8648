//! Texts that are cut so that a document of JSON with them fits where it has to.

/// Stands for what was cut off.
const MORE: &str = " ...";

/// The text, or as much of its beginning as takes at most `budget` bytes inside a string of JSON, with a mark of the cut. The
/// cut is made before the text is encoded, so that what comes out can be read again whatever the text is.
pub fn truncate_for_json(text: &str, budget: usize) -> String {
    if text.chars().map(length).sum::<usize>() <= budget {
        return text.to_owned();
    }
    let room = budget.saturating_sub(MORE.len());
    let mut used = 0;
    let end = text.char_indices().find_map(|(at, c)| {
        used += length(c);
        (used > room).then_some(at)
    });
    let kept = text[..end.unwrap_or(0)].trim_end();
    if budget < MORE.len() {
        return kept.to_owned();
    }
    format!("{kept}{MORE}")
}

/// Bytes of a character inside a string of JSON.
fn length(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if c < ' ' => 6,
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_json(text: &str) -> usize {
        serde_json::to_string(text).expect("JSON").len() - 2
    }

    #[test]
    fn a_text_that_fits_stays_as_it_is() {
        for text in ["", "a", "größe", "say \"no\"\n", "\u{1}"] {
            assert_eq!(truncate_for_json(text, in_json(text)), text);
        }
    }

    #[test]
    fn what_is_cut_fits_and_says_so() {
        for piece in [
            "a",
            "ü",
            "語",
            "🦀",
            "\"",
            "\\",
            "\n",
            "\u{1}",
            "a\u{1}🦀\"",
            " ",
        ] {
            let text = piece.repeat(100_000);
            for budget in [0, 3, 4, 5, 11, 100, 2047, 8000] {
                let cut = truncate_for_json(&text, budget);
                assert!(in_json(&cut) <= budget, "{piece:?} {budget}");
                assert_eq!(budget >= 4, cut.ends_with(" ..."), "{piece:?} {budget}");
            }
        }
    }
}
