//! Pages of studies that were repeated here.

use super::STUDY;
use crate::common::{assert_refused, execute, row};
use postgres::Client;

/// Pages of a study that was repeated here, and of others of the same name.
pub(super) fn have_pages(client: &mut Client) {
    execute(client, STUDY);
    let text = row(
        client,
        "SELECT fsbench.report('heron-2010', format => 'text')",
    );
    for words in [
        "2 hold here (ext2-fastest, ext3-half), 3 do not hold (ext4-a-fifth, ext4-less, xfs-tuning), 11 were not tested.",
        "It rests on 40 runs of 5 variants on an image of 4GB. Not tested: ext3-writeback, ext3-journal, ... (it is of part options; to have it: part => 'options')",
        "ext3-half         holds          0.53 (0.52 to 0.55)",
        "ext4       16.8             87.2            not told apart here",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let page = row(client, "SELECT fsbench.report('heron-2010')");
    // Nothing is drawn by a script: it is small.
    assert!(
        !page.contains("<script") && page.len() < 100_000,
        "{}",
        page.len()
    );
    assert_eq!(page.matches("class=\"estimate\"").count(), 5 + 2 * 4);
    assert_eq!(page.matches("class=\"there\"").count(), 7);
    assert_eq!(page.matches("class=\"here\"").count(), 5);
    let places = [
        "claims",
        "published",
        "questions",
        "untested",
        "findings",
        "environment",
        "repeat",
    ]
    .map(|id| page.find(&format!("<section id=\"{id}\">")).expect(id));
    assert!(places.is_sorted(), "{places:?}");
    assert!(page.contains(
        "SELECT fsbench.study(&#x27;heron-2010&#x27;, image_size =&gt; &#x27;4GB&#x27;);"
    ));
    let redacted = row(
        client,
        "SELECT fsbench.report('heron-2010', redact => true)",
    );
    assert!(page.contains("db1.example") && !redacted.contains("db1.example"));
    let svg = "SELECT xml_is_well_formed_document(fsbench.chart_svg('heron-2010'))";
    assert_eq!(row(client, svg), "t");

    // The name alone is the experiment's.
    execute(
        client,
        "UPDATE fsbench.experiment SET experiment = 'heron-2010' WHERE experiment = 'heron-2010 published'",
    );
    for (arguments, first) in [
        ("'heron-2010'", "heron-2010"),
        (
            "study => 'heron-2010'",
            "Study heron-2010: pgbench TPS per filesystem",
        ),
    ] {
        let text = row(
            client,
            &format!("SELECT fsbench.report({arguments}, format => 'text')"),
        );
        assert_eq!(text.lines().next(), Some(first));
    }
    assert_refused(
        client,
        "SELECT fsbench.report('smith-2011')",
        "22023",
        &["study \"smith-2011\" was not started", "fsbench.study()"],
    );
}
