//! The announcement of a study: the NOTICE of `study`, and the rows of `study_plan`.

use super::{
    claims,
    not_tested::StudyContext,
    plan::{FileExtension, extends, has_period, second_pass, without_duration},
};
use crate::{
    experiment::{
        arguments::Checked,
        plan::{
            self, Length, RunsBefore,
            rows::{Line, line},
        },
    },
    texts::study::announced as text,
    verdict::looks::FEWEST_BLOCKS,
};

/// A question whose experiment is planned.
#[derive(Clone, Copy, Debug)]
pub struct PlannedQuestion<'a> {
    pub question: &'a str,
    pub checked: &'a Checked,
    pub length: Length,
    pub before: RunsBefore,
    pub seed: i64,
}

/// A study whose experiments are planned.
#[derive(Clone, Debug)]
pub struct Announcement<'a> {
    pub here: StudyContext<'a>,
    pub questions: Vec<PlannedQuestion<'a>>,
    /// Bytes of the filesystems of each question.
    pub needed: &'a [(String, u64)],
}

/// Runs, and how long they take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Runs {
    least: u64,
    most: u64,
    /// Duration with the most runs.
    seconds: f64,
}

impl PlannedQuestion<'_> {
    fn runs(&self) -> Runs {
        let targets = self.checked.candidates.len() as u64;
        let most = targets * u64::from(self.checked.max_blocks);
        Runs {
            least: targets * u64::from(FEWEST_BLOCKS),
            most,
            seconds: most as f64 * self.length.run_seconds() + self.before.seconds(self.length),
        }
    }
}

impl<'a> Announcement<'a> {
    /// In one line.
    pub fn summary(&self) -> String {
        let Runs {
            least,
            most,
            seconds,
        } = self.runs(|_| true);
        let sizes = text::Sizes {
            variants: self.variants(),
            experiments: self.questions.len() as u64,
            least,
            most,
            seconds,
        };
        text::summary(&self.here.study.study, sizes)
    }

    /// The HINT of that line: what is erased, what is left out, and how to go on.
    pub fn hint(&self, starts: bool) -> String {
        let arguments = self.here.arguments;
        let devices = arguments.devices.iter().flatten();
        let erased = [&arguments.device, &arguments.misaligned_device];
        let hint = text::Hint {
            study: &self.here.study.study,
            erased: (erased.into_iter().flatten().chain(devices))
                .map(String::as_str)
                .collect(),
            left: &self.not_tested(),
            without_duration: self.without_duration(),
            second_pass: self.second_pass(),
            starts,
        };
        hint.words()
    }

    /// The rows of `study_plan`.
    pub fn rows(&self) -> Vec<Line> {
        let study = self.here.study;
        let author = text::author(&study.author, study.year, &study.title);
        let mut rows = vec![
            line("plan", &*study.study, self.summary()),
            line("plan", "author", author),
        ];
        let without = self.without_duration();
        for planned in &self.questions {
            rows.extend(self.of_question(planned, without.contains(&planned.question)));
        }
        rows.extend(
            self.second_pass()
                .map(|second| line("plan", "second pass", second)),
        );
        rows.extend(
            self.needed
                .iter()
                .map(|(question, bytes)| line("needs", &**question, text::filesystem(*bytes))),
        );
        let left = self.not_tested().into_iter();
        rows.extend(left.map(|(name, why)| line("left out", name, why)));
        rows.extend(study.claims.iter().map(|claim| {
            let why = self.here.claim(claim).map(|why| why.to_string());
            let says = text::claim(&claim.says, why.as_deref(), &claims::decided_by(claim));
            line("claim", &*claim.claim, says)
        }));
        rows.extend(self.questions.iter().flat_map(runs_of));
        rows
    }

    fn of_question(&self, planned: &PlannedQuestion, is_without_duration: bool) -> Vec<Line> {
        let of = |says: String| line("question", planned.question, says);
        let announced = plan::announced(planned.checked, planned.length, planned.before);
        let mut rows = vec![of(announced)];
        let question = self.here.study.question(planned.question);
        if question.is_some_and(|q| has_period(&self.here, q)) {
            rows.push(of(text::settings_of_its_time()));
        }
        let by_zeros = match question.map(|q| extends(&self.here, q)) {
            Some(FileExtension::ByZeros) => Some(true),
            Some(FileExtension::ByFallocate) => Some(false),
            Some(FileExtension::AsItDoes) | None => None,
        };
        rows.extend(by_zeros.map(|by_zeros| of(text::extends(by_zeros))));
        if is_without_duration {
            rows.push(of(text::without_duration()));
        }
        rows
    }

    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.questions.iter().map(|planned| planned.question)
    }

    fn without_duration(&self) -> Vec<&'a str> {
        without_duration(&self.here, self.names())
    }

    /// Runs of the selected questions.
    fn runs(&self, is_one: impl Fn(&str) -> bool) -> Runs {
        let ones = self.questions.iter().filter(|p| is_one(p.question));
        ones.map(PlannedQuestion::runs)
            .fold(Runs::default(), |a, b| Runs {
                least: a.least + b.least,
                most: a.most + b.most,
                seconds: a.seconds + b.seconds,
            })
    }

    /// How many variants are tried.
    fn variants(&self) -> u64 {
        let mut names: Vec<&str> = (self.questions.iter())
            .flat_map(|planned| planned.checked.candidates.iter())
            .map(|candidate| candidate.target.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        names.len() as u64
    }

    /// The sentence on the second pass with the settings of today, and its duration.
    fn second_pass(&self) -> Option<String> {
        let (parts, questions) = second_pass(&self.here, self.names())?;
        let seconds = self.runs(|name| questions.contains(&name)).seconds;
        Some(text::second_pass(&parts, seconds))
    }

    /// Excluded claims and variants of the questions asked, and the questions of other parts, each with the reason.
    fn not_tested(&self) -> Vec<(String, String)> {
        let (here, study) = (&self.here, self.here.study);
        let mut left: Vec<(String, String)> = Vec::new();
        for question in &study.questions {
            if !here.arguments.has_part(study, &question.part) {
                continue;
            }
            for name in &question.variants {
                let variant = study.variant(name);
                let why = variant.and_then(|v| here.variant_of(question, v));
                if let Some(why) = why.filter(|_| !left.iter().any(|(other, _)| other == name)) {
                    left.push((name.clone(), why.to_string()));
                }
            }
            if let Some(why) = here.question(question) {
                left.push((format!("question {}", question.question), why.to_string()));
            }
        }
        left
    }
}

/// The runs of a question in their order.
fn runs_of(planned: &PlannedQuestion) -> Vec<Line> {
    let candidates = &planned.checked.candidates;
    let order = plan::run_order(candidates.len(), planned.seed);
    let seconds = planned.length.run_seconds();
    let blocks = (1..=planned.checked.max_blocks).zip(order);
    blocks
        .flat_map(|(block, order)| order.into_iter().map(move |number| (block, number)))
        .filter_map(|(block, number)| {
            let name = &candidates.get(number)?.name;
            Some(line(
                "run",
                format!("{}, block {block}", planned.question),
                text::run(name, seconds),
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiment::arguments as experiment,
        study::{
            arguments::StudyArguments,
            builtin,
            not_tested::{Facts, SkipReason},
            plan as of_study,
        },
    };

    /// The announcement of heron-2010 with these arguments.
    fn said<T>(arguments: &StudyArguments, look: impl Fn(&Announcement) -> T) -> T {
        let study = builtin::find("heron-2010").unwrap().unwrap();
        let facts = Facts {
            kernel: "6.1.0".into(),
            server_version_num: 150_000,
            memory_bytes: 24 << 30,
            processors: 2,
            max_wal_bytes: 1 << 30,
            missing: [("jfs".to_owned(), SkipReason::of("this kernel has no jfs"))].into(),
            ..Facts::default()
        };
        let here = StudyContext {
            study: &study,
            arguments,
            facts: &facts,
        };
        let plan = of_study::plan(&here).unwrap();
        let checked: Vec<Checked> = (plan.experiments.iter())
            .map(|e| experiment::check(&e.arguments, &[]).unwrap())
            .collect();
        let length = Length {
            window_seconds: 10.0,
            ..Length::default()
        };
        let questions = plan.experiments.iter().zip(&checked);
        let questions = questions.map(|(e, checked)| PlannedQuestion {
            question: &e.question,
            checked,
            length,
            before: RunsBefore::default(),
            seed: 7,
        });
        let needed = vec![("published".to_owned(), 1 << 30)];
        look(&Announcement {
            here,
            questions: questions.collect(),
            needed: &needed,
        })
    }

    fn on_an_image() -> StudyArguments {
        StudyArguments {
            image_size: Some("4GB".into()),
            ..StudyArguments::default()
        }
    }

    #[test]
    fn each_run_of_the_plan_is_counted_in_its_summary() {
        let (summary, rows) = said(&on_an_image(), |said| (said.summary(), said.rows()));
        let runs = rows.iter().filter(|row| row.part == "run").count();
        assert!(
            summary.contains(&format!(" to {runs} runs, at most about ")),
            "{summary}, {runs}"
        );
        for part in ["plan", "question", "needs", "left out", "claim"] {
            assert!(rows.iter().any(|row| row.part == part), "{part}");
        }
    }

    #[test]
    fn what_is_erased_comes_first_and_what_is_done_next_last() {
        let on_a_device = StudyArguments {
            device: Some("/dev/x".into()),
            ..StudyArguments::default()
        };
        let hint = said(&on_a_device, |said| said.hint(false));
        let places = [
            "Each run erases \"/dev/x\".",
            "Left out here: jfs: this kernel has no jfs.",
            "with those of today, too: part => '",
            "It is only recorded: ",
        ]
        .map(|words| {
            hint.find(words)
                .unwrap_or_else(|| panic!("{words}: {hint}"))
        });
        assert!(places.is_sorted() && places[0] == 0, "{hint}");
        let hint = said(&on_an_image(), |said| said.hint(true));
        assert!(hint.contains("Left out here: "), "{hint}");
        assert!(
            hint.ends_with("SELECT * FROM fsbench.study_claims('heron-2010')."),
            "{hint}"
        );
    }
}
