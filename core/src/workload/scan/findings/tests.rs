use super::super::BlocksFrom;
use super::*;
use crate::spec::Workload;

const GB: u64 = 1 << 30;

/// Facts of scans without anything to find.
fn clean() -> ScanFacts {
    ScanFacts {
        degrees_not_launched: Some(vec![]),
        ..ScanFacts::default()
    }
}

/// The facts make this finding alone.
fn finds(facts: ScanFacts, code: &str, severity: Severity, message: &str) {
    let findings = judge(&facts);
    assert_eq!(findings.len(), 1, "{findings:?}");
    let found = &findings[0];
    assert_eq!(
        (found.code.as_str(), found.severity, found.message.as_str()),
        (code, severity, message)
    );
    assert!(found.hint.ends_with('.') && !message.ends_with('.') && !message.contains('\n'));
}

fn finds_nothing(facts: ScanFacts) {
    assert_eq!(judge(&facts), []);
}

/// A scan of 10 GB, of which so much came from storage or, in shared buffers, was not there.
fn scan_made((degree, repeat, used, read): (u32, u32, bool, u64)) -> ScanMade {
    let blocks = BlocksFrom {
        bytes: 10 * GB,
        outside: read,
        storage: Some(read),
        device: Some(20 * GB),
    };
    ScanMade {
        degree,
        repeat,
        used,
        for_others: None,
        blocks,
    }
}

#[test]
fn findings_about_scans() {
    let scan = |scan, read, cache| ScanFacts {
        gb_per_second: Some(scan),
        read_gb_per_second: Some(read),
        readers: Some(4),
        cache: Some(cache),
        ..clean()
    };
    finds(
        ScanFacts {
            degrees_not_launched: Some(vec![16, 32]),
            ..clean()
        },
        "workers_not_launched",
        Severity::Warning,
        "not all workers were there at degree 16, 32",
    );
    let message = "scans were bound by the processor: 1.00 GB/s at the best degree, and 3.00 GB/s when 4 processes read the same files without the executor";
    finds(
        scan(1.0, 3.0, Cache::Cold),
        "cpu_bound",
        Severity::Warning,
        message,
    );
    finds(
        scan(1.0, 3.0, Cache::Warm),
        "cpu_bound",
        Severity::Info,
        message,
    );
    finds_nothing(scan(0.9, 1.0, Cache::Cold));
    let made = |cache, scans: &[(u32, u32, bool, u64)]| ScanFacts {
        cache: Some(cache),
        scans: Some(scans.iter().copied().map(scan_made).collect()),
        ..clean()
    };
    let among_others = |cache| {
        let mut facts = made(cache, &[(1, 1, true, 0), (2, 1, true, 0)]);
        facts.scans.iter_mut().flatten().for_each(|scan| {
            scan.for_others = (scan.degree == 2).then_some(50 << 20);
            scan.blocks.storage = None;
            scan.blocks.device = None;
        });
        facts
    };
    finds(
        among_others(Cache::Warm),
        "read_for_others",
        Severity::Warning,
        "in 1 of 2 scans the server's I/O workers read for others, too, up to 50 MB",
    );
    finds_nothing(among_others(Cache::SharedBuffers));
    const THEY: &str = "they do not count, and even made again";
    let again = [
        (1, 1, true, 0),
        (2, 1, false, GB),
        (2, 1, true, 0),
        (1, 2, false, GB / 2),
        (1, 2, true, 0),
        (2, 2, true, 0),
    ];
    finds(
        made(Cache::Warm, &again),
        "cache_not_as_asked",
        Severity::Info,
        "in 2 of 6 scans from a warm cache up to 10.00 % of the table came from storage; they do not count, and were made again",
    );
    finds(
        made(Cache::SharedBuffers, &again),
        "cache_not_as_asked",
        Severity::Info,
        "in 2 of 6 scans from shared buffers up to 10.00 % of the table was not there; they do not count, and were made again",
    );
    let lost = [
        (4, 1, true, 0),
        (4, 2, false, GB),
        (4, 2, false, GB),
        (2, 1, false, GB),
        (1, 1, false, GB),
        (1, 1, true, 0),
    ];
    finds(
        made(Cache::Warm, &lost),
        "cache_not_as_asked",
        Severity::Warning,
        &format!(
            "in 4 of 6 scans from a warm cache up to 10.00 % of the table came from storage; {THEY} fewer repeats than asked for are left at degree 4, and no scan is left at degree 2"
        ),
    );
    finds(
        made(Cache::Cold, &[(1, 1, true, 10 * GB), (1, 2, false, 5 * GB)]),
        "cache_not_as_asked",
        Severity::Warning,
        &format!(
            "in 1 of 2 scans from a cold cache as little as 50.00 % of the table came from storage; {THEY} fewer repeats than asked for are left at degree 1"
        ),
    );
    finds(
        made(Cache::Cold, &[(1, 1, false, 5 * GB), (2, 1, false, 0)]),
        "cache_not_as_asked",
        Severity::Invalid,
        &format!(
            "in 2 of 2 scans from a cold cache as little as 0.00 % of the table came from storage; {THEY} no scan is left at degree 1, 2"
        ),
    );
    let mut others = made(Cache::Warm, &[(1, 1, true, 0), (2, 1, true, 0)]);
    others
        .scans
        .iter_mut()
        .flatten()
        .take(1)
        .for_each(|scan| scan.blocks.storage = None);
    finds(
        others,
        "cache_not_as_asked",
        Severity::Warning,
        "in 1 of 2 scans from a warm cache up to all of the table came from storage, or was read for others; they count",
    );
    finds_nothing(made(Cache::Warm, &[(1, 1, true, GB / 20), (2, 1, true, 0)]));
    finds_nothing(made(
        Cache::Cold,
        &[(1, 1, true, 10 * GB), (2, 1, true, 11 * GB)],
    ));
    finds_nothing(made(Cache::Cold, &[]));
    // No read had as few processes as the scans.
    finds_nothing(ScanFacts {
        read_gb_per_second: None,
        readers: None,
        ..scan(1.0, 3.0, Cache::Cold)
    });
}

#[test]
fn facts_that_are_not_known_make_no_finding() {
    finds_nothing(clean());
    finds_nothing(ScanFacts::default());
    let scans = Workload::parse("scan").unwrap();
    assert_eq!(scans.findings("{}").unwrap(), []);
    assert!(scans.findings("[]}").is_err());
    let found = scans.findings(r#"{"degrees_not_launched": [4]}"#).unwrap();
    assert_eq!(found[0].code, "workers_not_launched");
}
