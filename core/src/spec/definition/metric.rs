//! Figures of the results of one workload: experiments can decide by them, and claims of studies can be about them.

use std::fmt;

use serde_json::{Map, Value};

/// A figure that only runs of one workload have.
#[derive(Clone, Copy)]
pub struct OwnMetric {
    /// Name; of a figure with a parameter, the text before the parameter.
    pub name: &'static str,
    /// The parameter in its name, if it has one.
    pub parameter: Option<MetricParameter>,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// Noun in the plural, or a mass noun. The parameter follows it.
    pub noun: &'static str,
    /// Unit of the figures for people, and how many of its own unit are one of these.
    pub unit: Option<(&'static str, f64)>,
    /// Whether it belongs to the metrics that share a level when none of them is the declared one.
    pub shares_level: bool,
    /// Whether only studies know it: no experiment decides by it.
    pub only_in_studies: bool,
    /// Detail of the refusal for runs of another workload.
    pub measures: &'static str,
    /// The missing option of a run with these options, given the parameter; None if the run has the figure.
    pub lack: fn(&Map<String, Value>, &str) -> Option<Lack>,
    /// The figure of the run `$1`, as an expression in SQL. `PARAMETER` stands for the parameter, a text.
    pub sql: &'static str,
}

/// The parameter of a figure, behind its name.
#[derive(Clone, Copy)]
pub struct MetricParameter {
    /// For people: "N (a degree)".
    pub form: &'static str,
    pub is_known: fn(&str) -> bool,
}

/// An option without which a run does not have a figure.
pub struct Lack {
    /// The option in words.
    pub option: &'static str,
    pub detail: &'static str,
    /// Options that a run needs, as JSON.
    pub example: String,
}

impl OwnMetric {
    /// A figure that every run of the workload has, and of which more is better.
    pub const fn new(
        name: &'static str,
        noun: &'static str,
        measures: &'static str,
        sql: &'static str,
    ) -> Self {
        Self {
            name,
            parameter: None,
            more_is_better: true,
            noun,
            unit: None,
            shares_level: false,
            only_in_studies: false,
            measures,
            lack: |_, _| None,
            sql,
        }
    }

    /// A figure of which less is better.
    pub const fn less_is_better(self) -> Self {
        Self {
            more_is_better: false,
            ..self
        }
    }

    /// A figure with a parameter.
    pub const fn with(self, form: &'static str, is_known: fn(&str) -> bool) -> Self {
        Self {
            parameter: Some(MetricParameter { form, is_known }),
            ..self
        }
    }

    /// A figure that is shown in this unit.
    pub const fn shown_in(self, unit: &'static str, of_own: f64) -> Self {
        Self {
            unit: Some((unit, of_own)),
            ..self
        }
    }

    /// A figure that belongs to the metrics that share a level.
    pub const fn sharing_level(self) -> Self {
        Self {
            shares_level: true,
            ..self
        }
    }

    /// A figure that only studies know.
    pub const fn only_in_studies(self) -> Self {
        Self {
            only_in_studies: true,
            ..self
        }
    }

    /// A figure that runs with some options lack.
    pub const fn lacking(self, lack: fn(&Map<String, Value>, &str) -> Option<Lack>) -> Self {
        Self { lack, ..self }
    }

    /// The parameter in a name of this figure, empty for a figure without one; None if the name is of another figure.
    pub fn parameter_in<'a>(&self, name: &'a str) -> Option<&'a str> {
        let rest = name.strip_prefix(self.name)?;
        let is_known = match self.parameter {
            Some(parameter) => (parameter.is_known)(rest),
            None => rest.is_empty(),
        };
        is_known.then_some(rest)
    }

    /// Its name for people.
    pub fn form(&self) -> String {
        let form = self.parameter.map_or("", |parameter| parameter.form);
        format!("{}{form}", self.name)
    }
}

impl PartialEq for OwnMetric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for OwnMetric {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name)
    }
}
