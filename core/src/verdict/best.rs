//! Goal `best`: which target is best, and which others are as good? All pairs are compared, and a target within the margin of the
//! best is never thrown out. More of the metric is better here; where less is, the caller gives −ln.
//!
//! R is the set of targets that ran since the last look; k the number of all; a the level. For each pair of R with at least three common blocks x_ij is the mean of
//! ln(i / j), with its [noise](super::noise) shared among the pairs of R that are alike, e = s/√h.
//! - *Leading* is the b of R with the largest Σ x_bj (of equals the first); it is never out at that look.
//! - Each other i of R, and each i that is `equivalent to the best` with respect to another than b, is, the first that holds: `equivalent to the best` with respect to b,
//!   when |x_bi| + t(a, f)·e < δ; `out`, when for some j of R (for one that was equivalent: j = b only) x_ji > δ and x_ji − t(a/(k − 1), f)·e > 0; else `open`.
//! - Out is final; equivalent is final while b leads. Both are not run again, b and the open ones are. It ends when nothing is open.
//!
//! A lead that was measured within the margin never puts a target out, so that this goal cannot throw out what [`super::compare`] calls equivalent on the same ratio; the price is that at a true
//! lead of exactly the margin half of the targets stay open.

use super::compare::ratios;
use super::giving_up::gives_up;
use super::keeping::cannot_keep;
use super::looks::{FEWEST_BLOCKS, Look, Looks};
use super::needed;
use super::noise::{Noise, Pool, Spread};
use super::set_aside::{KeptValues, set_aside};
use super::student_t::quantile;
use super::{Estimate, Reason, Run};

/// Scores that differ by less are equal: they are the same in real numbers.
const ROUNDING: f64 = 1e-12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It leads, and all others are settled.
    Best,
    /// It leads, while another is open.
    Leading,
    /// Certainly within the margin of the one that leads.
    Equivalent,
    /// Certainly worse, and by more than the margin as measured.
    Out,
    /// It stays in the answer.
    Open(Reason),
    /// It did not keep the rate.
    CannotKeepTheRate,
    /// The runs of the target failed; the target gets no more runs.
    SetAside,
}

impl Standing {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Leading => "leading",
            Self::Equivalent => "equivalent to the best",
            Self::Out => "out",
            Self::Open(_) => "open",
            Self::CannotKeepTheRate => "cannot keep the rate",
            Self::SetAside => "set aside",
        }
    }

    /// True if it is in the answer: every target is that is not out.
    pub fn is_in_answer(self) -> bool {
        !matches!(self, Self::Out | Self::CannotKeepTheRate | Self::SetAside)
    }
}

/// A target's standing, and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    pub standing: Standing,
    /// The target that it is compared with: the one that leads, or, of one that is out, the one that shows it best.
    pub against: Option<usize>,
    /// The estimate of ln(`against` / this one); None for the leader.
    pub estimate: Option<Estimate>,
}

impl Ranked {
    /// Blocks that a decision among this many targets would take, when there is none.
    pub fn blocks_needed(&self, targets: usize, delta: f64) -> Option<u32> {
        let estimate = self.estimate?;
        matches!(self.standing, Standing::Open(_))
            .then(|| needed::blocks_needed_to_rank(estimate.mean, estimate.sd, targets, delta))?
    }
}

/// A target that was set aside: its runs failed, up to one in this block, and it has none any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// By its place among the targets.
    pub target: usize,
    pub block: u32,
}

/// Plays the looks in order, as far as there are blocks. Each of `targets` has one run a block; runs of a target while it is settled are not used.
pub fn best(targets: &[Vec<Run>], delta: f64, looks: &Looks) -> Vec<Ranked> {
    best_without(targets, &[], delta, looks)
}

/// The ranking where some targets were set aside. From its block on such a target is settled, like one that cannot keep the rate. Targets that were
/// judged against it are open again, and run.
pub fn best_without(
    targets: &[Vec<Run>],
    gone: &[SetAside],
    delta: f64,
    looks: &Looks,
) -> Vec<Ranked> {
    let blocks = targets.iter().map(Vec::len).min().unwrap_or(0);
    let mut replay = Replay::new(targets, gone, delta);
    let mut before = 0;
    for look in &looks.looks {
        if look.blocks as usize <= blocks && !replay.is_over() {
            replay.run(before, look.blocks as usize);
            replay.look(*look);
            before = look.blocks as usize;
        }
    }
    // The block that comes next is without those that were set aside in it.
    replay.leave_out(blocks + 1);
    replay.conclude(looks.why_open(blocks as u32))
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Open,
    Equivalent { to: usize },
    Out,
    GivenUp,
    CannotKeepTheRate,
    SetAside,
}

/// One pair at a look.
struct Pair {
    kept: KeptValues,
    spread: Spread,
}

struct Replay<'a> {
    targets: &'a [Vec<Run>],
    gone: &'a [SetAside],
    delta: f64,
    /// The runs that were made, up to the last look.
    made: Vec<Vec<Run>>,
    state: Vec<State>,
    /// The targets that ran since the look before.
    ran: Vec<bool>,
    leads: Option<usize>,
    against: Vec<Option<usize>>,
    estimates: Vec<Option<Estimate>>,
}

impl<'a> Replay<'a> {
    fn new(targets: &'a [Vec<Run>], gone: &'a [SetAside], delta: f64) -> Self {
        let k = targets.len();
        Self {
            targets,
            gone,
            delta,
            made: vec![Vec::new(); k],
            state: vec![State::Open; k],
            ran: vec![false; k],
            leads: None,
            against: vec![None; k],
            estimates: vec![None; k],
        }
    }

    /// Nothing is open but what leads.
    fn is_over(&self) -> bool {
        let open = self.state.iter().filter(|s| **s == State::Open).count();
        open == 0 || (open == 1 && self.leads.is_some_and(|b| self.state[b] == State::Open))
    }

    /// Settles the targets that were set aside up to a block. What was judged against one of them is open again.
    fn leave_out(&mut self, to: usize) {
        let gone = self.gone.iter();
        for gone in gone.filter(|gone| gone.block as usize <= to) {
            if self.state[gone.target] != State::Open {
                continue;
            }
            self.state[gone.target] = State::SetAside;
            for i in 0..self.state.len() {
                if self.against[i] == Some(gone.target) && self.state[i] != State::SetAside {
                    self.state[i] = State::Open;
                    (self.against[i], self.estimates[i]) = (None, None);
                }
            }
        }
    }

    /// The open targets, with the one that leads, run from one block to another.
    fn run(&mut self, from: usize, to: usize) {
        self.leave_out(to);
        for (i, made) in self.made.iter_mut().enumerate() {
            let runs = &self.targets[i][from..to];
            if self.state[i] == State::Open {
                made.extend(runs);
            } else {
                made.extend(runs.iter().map(|_| Run::Missing));
            }
            self.ran[i] = made[from..].iter().any(|run| *run != Run::Missing);
            if self.state[i] == State::Open && cannot_keep(made) {
                self.state[i] = State::CannotKeepTheRate;
                self.ran[i] = false;
                (self.against[i], self.estimates[i]) = (None, None);
            }
        }
    }

    fn look(&mut self, look: Look) {
        let ran: Vec<usize> = (0..self.state.len()).filter(|&i| self.ran[i]).collect();
        // One that is left alone since others were set aside has nothing that it could be better than.
        let is_gone = |gone: &SetAside| gone.block <= look.blocks + 1;
        if ran.len() == 1 && self.leads != Some(ran[0]) && self.gone.iter().any(is_gone) {
            return;
        }
        let pairs = Pairs::new(&self.made, &ran, look);
        let Some(leads) = pairs.leading(&ran) else {
            return;
        };
        self.leads = Some(leads);
        (self.against[leads], self.estimates[leads]) = (None, None);
        let judged: Vec<(usize, Judged)> = (0..self.state.len())
            .filter(|&i| i != leads)
            .filter_map(|i| match self.state[i] {
                State::Open if self.ran[i] => Some((i, pairs.judge(i, leads, &ran, self.delta))),
                State::Equivalent { to } if to != leads => {
                    Some((i, pairs.judge(i, leads, &[leads], self.delta)))
                }
                _ => None,
            })
            .collect();
        for (i, judged) in judged {
            self.state[i] = judged.state;
            (self.against[i], self.estimates[i]) = (Some(judged.against), judged.estimate);
        }
    }

    fn conclude(self, why_open: Reason) -> Vec<Ranked> {
        let is_open = |i: usize| {
            matches!(self.state[i], State::Open | State::GivenUp) && Some(i) != self.leads
        };
        let any_open = (0..self.state.len()).any(is_open);
        let standing = |i: usize| match self.state[i] {
            State::Open if Some(i) == self.leads && any_open => Standing::Leading,
            State::Open if Some(i) == self.leads => Standing::Best,
            State::Open => Standing::Open(why_open),
            State::GivenUp => Standing::Open(Reason::TooNoisy),
            State::Equivalent { .. } => Standing::Equivalent,
            State::Out => Standing::Out,
            State::CannotKeepTheRate => Standing::CannotKeepTheRate,
            State::SetAside => Standing::SetAside,
        };
        (0..self.state.len())
            .map(|i| Ranked {
                standing: standing(i),
                against: self.against[i],
                estimate: self.estimates[i],
            })
            .collect()
    }
}

/// The result of a look for one target.
struct Judged {
    state: State,
    against: usize,
    estimate: Option<Estimate>,
}

/// All pairs of a look.
struct Pairs<'a> {
    look: Look,
    made: &'a [Vec<Run>],
    pool: Pool,
    /// Pairs of R, by the lower and the higher number.
    of_those_that_ran: Vec<((usize, usize), Pair)>,
}

impl<'a> Pairs<'a> {
    fn new(made: &'a [Vec<Run>], ran: &[usize], look: Look) -> Self {
        let mut pairs = Vec::new();
        for (at, &i) in ran.iter().enumerate() {
            for &j in &ran[at + 1..] {
                pairs.extend(pair(made, i, j).map(|pair| ((i, j), pair)));
            }
        }
        let spreads: Vec<Spread> = pairs.iter().map(|(_, pair)| pair.spread).collect();
        Self {
            look,
            made,
            pool: Pool::among(&spreads, ran.len(), look.blocks),
            of_those_that_ran: pairs,
        }
    }

    /// The one with the largest sum of its ratios to all others.
    fn leading(&self, ran: &[usize]) -> Option<usize> {
        let mut scores = vec![0.0; self.made.len()];
        for ((i, j), pair) in &self.of_those_that_ran {
            scores[*i] += pair.kept.mean;
            scores[*j] -= pair.kept.mean;
        }
        let first = *ran.first()?;
        Some(ran.iter().fold(first, |best, &i| {
            if scores[i] > scores[best] + ROUNDING {
                i
            } else {
                best
            }
        }))
    }

    /// Judges i against the one that leads, and, whether it is out, against each of `others`.
    fn judge(&self, i: usize, leads: usize, others: &[usize], delta: f64) -> Judged {
        let to_best = self.estimate(leads, i);
        let against_best = |state| Judged {
            state,
            against: leads,
            estimate: to_best.map(|(estimate, _)| estimate),
        };
        if to_best.is_some_and(|(x, noise)| self.is_equivalent(&x, noise, delta)) {
            return against_best(State::Equivalent { to: leads });
        }
        let ahead = (others.iter())
            .filter_map(|&j| Some((j, self.estimate(j, i)?.0)))
            .filter(|(_, x)| x.mean > delta && x.low() > 0.0)
            .max_by(|a, b| a.1.low().total_cmp(&b.1.low()));
        if let Some((against, x)) = ahead {
            return Judged {
                state: State::Out,
                against,
                estimate: Some(x),
            };
        }
        let gives_up = |(x, noise): (Estimate, Noise)| {
            gives_up(self.look, self.parts(), delta, x.mean, noise, x.pairs)
        };
        against_best(if to_best.is_some_and(gives_up) {
            State::GivenUp
        } else {
            State::Open
        })
    }

    fn is_equivalent(&self, x: &Estimate, noise: Noise, delta: f64) -> bool {
        let error = noise.sd / (x.kept as f64).sqrt();
        x.mean.abs() + quantile(self.look.level(), noise.freedom) * error < delta
    }

    /// Among how many the level is divided: each of the others might be thrown out wrongly.
    fn parts(&self) -> f64 {
        (self.made.len() - 1) as f64
    }

    /// The estimate of ln(i / j), with its noise; None below three common blocks. A pair that did not run uses the pool of those that
    /// did, and is not in it.
    fn estimate(&self, i: usize, j: usize) -> Option<(Estimate, Noise)> {
        let key = (i.min(j), i.max(j));
        let found = self.of_those_that_ran.iter().find(|(k, _)| *k == key);
        let Pair { kept, spread } = match found {
            Some((_, pair)) => pair,
            None => &pair(self.made, key.0, key.1)?,
        };
        let noise = self.pool.noise_of(*spread);
        let error = noise.sd / (kept.count as f64).sqrt();
        let estimate = Estimate {
            mean: if i == key.0 { kept.mean } else { -kept.mean },
            half_width: quantile(self.look.level() / self.parts(), noise.freedom) * error,
            sd: noise.sd,
            blocks: self.look.blocks,
            pairs: kept.kept.len(),
            kept: kept.count,
        };
        Some((estimate, noise))
    }
}

fn pair(made: &[Vec<Run>], i: usize, j: usize) -> Option<Pair> {
    let d = ratios(&made[i], &made[j]);
    (d.len() >= FEWEST_BLOCKS as usize).then(|| {
        let kept = set_aside(&d);
        let spread = Spread::of(&kept);
        Pair { kept, spread }
    })
}
