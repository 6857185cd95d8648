//! Experiments that are made up: ln metric of runs, with noise of many kinds.

use pgfsbench_core::random::{Purpose, Stream};
use pgfsbench_core::verdict::Run;
use pgfsbench_core::verdict::order;

/// Seeded random numbers.
pub struct Random(Stream);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(Stream::new(seed, 0, Purpose::Measure))
    }

    pub fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn whole(&mut self, low: u32, high: u32) -> u32 {
        self.0.range(low.into(), high.into()) as u32
    }

    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    pub fn exponential(&mut self) -> f64 {
        self.0.exponential(1.0)
    }

    /// ln of a slow run: 20 to 40 % less.
    pub fn slow(&mut self) -> f64 {
        (1.0 - self.between(0.2, 0.4)).ln()
    }
}

/// Noise in addition to the normal one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Normal,
    /// 5 % of the runs are slow.
    Slow,
    /// 30 % of the runs have a clock that is 1.3 times as fast.
    Clock,
    /// A random walk from run to run.
    Walk,
    /// 25 % less over a METHOD's length of experiment.
    Drift,
    /// 30 % less from some run on.
    Step,
    /// The last target is three times as noisy.
    LastNoisy,
    /// The first target (the baseline) is.
    FirstNoisy,
}

/// A setting.
#[derive(Clone, Debug)]
pub struct Setting {
    pub kind: Kind,
    /// Standard deviation of ln metric of a run.
    pub sigma: f64,
    /// True ln metric of each target; of goal `baseline` the first is that.
    pub truth: Vec<f64>,
    pub blocks: usize,
}

impl Setting {
    pub fn new(kind: Kind, sigma: f64, truth: Vec<f64>) -> Self {
        Self {
            kind,
            sigma,
            truth,
            blocks: 12,
        }
    }

    /// The runs of one experiment, a row a target, as if no target were ever settled.
    pub fn draw(&self, random: &mut Random) -> Vec<Vec<Run>> {
        let k = self.truth.len();
        let order = order::draw(k, self.blocks, random.0.bits());
        let mut runs = vec![Vec::with_capacity(self.blocks); k];
        let mut course = Course::new(self, random);
        for block in order {
            let mut of_block = vec![0.0; k];
            for target in block {
                of_block[target] = course.next(random);
            }
            for (target, shift) in of_block.into_iter().enumerate() {
                runs[target].push(Run::Measured(
                    self.truth[target] + shift + self.noise(target, random),
                ));
            }
        }
        runs
    }

    fn noise(&self, target: usize, random: &mut Random) -> f64 {
        let last = self.truth.len() - 1;
        let times = match self.kind {
            Kind::LastNoisy if target == last => 3.0,
            Kind::FirstNoisy if target == 0 => 3.0,
            _ => 1.0,
        };
        let odd = match self.kind {
            Kind::Slow if random.chance(0.05) => random.slow(),
            Kind::Clock if random.chance(0.3) => 1.3_f64.ln(),
            _ => 0.0,
        };
        random.normal() * self.sigma * times + odd
    }
}

/// Changes from run to run that all targets share.
struct Course {
    kind: Kind,
    step: f64,
    /// Runs over which it drifts.
    length: f64,
    at: f64,
    run: f64,
    turn: f64,
}

impl Course {
    fn new(setting: &Setting, random: &mut Random) -> Self {
        let k = setting.truth.len();
        let length = (if k == 2 { 6 } else { 8 } * k) as f64;
        Self {
            kind: setting.kind,
            step: setting.sigma.max(0.01),
            length,
            at: 0.0,
            run: 0.0,
            turn: length * random.between(0.3, 0.7),
        }
    }

    fn next(&mut self, random: &mut Random) -> f64 {
        let run = self.run;
        self.run += 1.0;
        match self.kind {
            Kind::Walk => {
                self.at += random.normal() * self.step;
                self.at
            }
            Kind::Drift => 0.75_f64.ln() * run / self.length,
            Kind::Step if run >= self.turn => 0.7_f64.ln(),
            _ => 0.0,
        }
    }
}
