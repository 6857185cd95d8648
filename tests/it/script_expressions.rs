//! Expressions of scripts at random, right and wrong ones, against the machine's own pgbench: values, errors and the part that is wrong.

use pgfsbench_tests::{TestServer, is_soak};
use std::{env, fs};

use crate::common::server;

#[path = "../../core/tests/script/client.rs"]
#[allow(dead_code)]
mod client;
mod whole_scripts;

use client::{End, Run};

/// The variables that each script gets as -D.
const GIVEN: [(&str, &str); 2] = [("v", "5"), ("w", "2.5")];

const CONSTANTS: &str = "0 1 2 3 7 10 64 63 9223372036854775807 9223372036854775808 3000000000 010 \
    0.0 1.0 0.5 2.5 1e3 1e18 9.3e18 1e308 1e-300 .5 1. 0.1 123456.789 1e15 1e16 null true false :scale :client_id :v :w :undefined";
const BINARY: &str = "+ - * / % < <= > >= = <> != and or & | # << >>";
const AFTER: &str = "is_null is_not_null isnull notnull is_true is_not_false";
/// Functions and how many arguments each takes here.
const FUNCTIONS: &str = "abs1 debug1 double1 exp1 greatest3 hash1 hash2 hash_fnv1a2 hash_murmur22 int1 least2 ln1 mod2 permute3 pi0 pow2 \
    power2 random2 random_exponential3 random_gaussian3 random_zipfian3 sqrt1 nofunction1 greatest0";
/// Random functions with arguments that are mostly in range.
const DRAWS: &str = "random(1,100) random(0,1) random(5,1) random_exponential(1,100,2.5) random_exponential(1,10,0) random_gaussian(1,1000,2.5) \
    random_gaussian(1,10,1.5) random_zipfian(1,1000,1.1) random_zipfian(1,10,3) random_zipfian(1,10,1.0) permute(7,100) permute(-1,3,5)";
/// Written into a script at a random place.
const SPOILS: &str = "$ ( ) , 1 e . : x ! \\ is \" end ~ é --";

/// Numbers by SplitMix64: the same cases on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % bound as u64) as usize
    }

    fn word(&mut self, words: &str) -> String {
        let words: Vec<&str> = words.split_whitespace().collect();
        words[self.below(words.len())].replace('_', " ")
    }

    fn name(&mut self, words: &str) -> String {
        self.word(words).replace(' ', "_")
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.below(5) == 0 {
            return self.name(CONSTANTS);
        }
        match self.below(10) {
            0..4 => {
                let (left, right) = (self.expression(depth - 1), self.expression(depth - 1));
                format!("{left} {} {right}", self.word(BINARY))
            }
            4 => format!(
                "{}{}",
                ["- ", "not ", "~ ", "+"][self.below(4)],
                self.expression(depth - 1)
            ),
            5 => format!("{} {}", self.expression(depth - 1), self.word(AFTER)),
            6 => format!("({})", self.expression(depth - 1)),
            7 => {
                let [when, then, other] = [(); 3].map(|()| self.expression(depth - 1));
                format!("case when {when} then {then} else {other} end")
            }
            8 => self.name(DRAWS),
            _ => {
                let function = self.name(FUNCTIONS);
                let (name, number) = function.split_at(function.len() - 1);
                let arguments = (0..number.parse().expect("a digit ends it"))
                    .map(|_| self.expression(depth - 1));
                format!("{name}({})", arguments.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// A script whose commands show their values. One of eight is spoilt.
    fn script(&mut self) -> String {
        let commands = (0..=self.below(3)).map(|_| {
            let depth = 1 + self.below(3);
            format!("\\set x debug({})\n", self.expression(depth))
        });
        let mut script: String = commands.collect();
        if self.below(8) == 0 {
            // Not where a line begins: it would be a statement.
            let is_inside = |at: &usize| *at > 0 && !script[..*at].ends_with(['\n', '\\']);
            let places: Vec<usize> = script
                .char_indices()
                .map(|(at, _)| at)
                .filter(is_inside)
                .collect();
            let spoil = self.word(SPOILS);
            script.insert_str(places[self.below(places.len())], &spoil);
        }
        script
    }
}

/// The result of a script: its values, and the first line of the error.
type Outcome = (Vec<String>, Option<String>);

fn of_pgbench(server: &TestServer, file: &str) -> Outcome {
    let mut pgbench = server.client_program("pgbench");
    pgbench.args(["-n", "-t", "1", "--random-seed=42", "-s", "1", "-f", file]);
    for (name, value) in GIVEN {
        pgbench.arg("-D").arg(format!("{name}={value}"));
    }
    let output = pgbench.output().expect("pgbench runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let values = said.lines().filter(|line| line.starts_with("debug("));
    let values = values
        .filter_map(|line| line.split_once("): "))
        .map(|(_, value)| value.to_owned());
    let error = said
        .lines()
        .find_map(|line| line.strip_prefix("pgbench: error: "));
    (values.collect(), error.map(str::to_owned))
}

fn of_ours(script: &str, file: &str) -> Outcome {
    let mut run = Run::of(script);
    run.given = GIVEN.to_vec();
    let outcome = run.outcome();
    let error = match outcome.end {
        End::Over => None,
        End::Refused(error) => Some(format!("{file}:{}: {error}", error.command_line)),
        End::Failed(_, error) => Some(error.to_string()),
    };
    (outcome.debug, error)
}

/// Whether we refuse what pgbench takes: numbers that are not finite as parameters, booleans for abs(), and a character that ends a command.
fn is_ours_alone(error: &str) -> bool {
    [
        "boolean to int or double",
        "finite",
        "unterminated",
        "unbalanced",
        "invalid variable name",
    ]
    .iter()
    .any(|word| error.contains(word))
}

#[test]
fn expressions_have_the_values_and_errors_of_pgbench() {
    let server = server(&[]);
    let place = tempfile::tempdir().expect("a directory can be made");
    let file = place.path().join("s.sql").display().to_string();
    let seed = env::var("PGFSBENCH_KILLS_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let mut random = Random(seed.unwrap_or(1));
    let mut kinds = [0; 2];
    for case in 0..if is_soak() { 5000 } else { 150 } {
        let script = random.script();
        fs::write(&file, &script).expect("the script can be written");
        let (theirs, ours) = (of_pgbench(&server, &file), of_ours(&script, &file));
        if ours.1.as_deref().is_some_and(is_ours_alone) {
            continue;
        }
        kinds[usize::from(theirs.1.is_some())] += 1;
        assert_eq!(ours, theirs, "case {case}: {script}");
    }
    assert!(
        kinds[0] > 20 && kinds[1] > 20,
        "values and errors: {kinds:?}"
    );
}
