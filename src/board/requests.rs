//! The requests as a whole: their texts, and their order.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use pgfsbench_core::spec::Spec;

use super::{AT_HAND, Board, Cancel, CoordinatorTask, Request, RequestState, RequestTexts};
use crate::errors::{Fault, read_json, sqlstate};

impl Board {
    /// The texts of a request; None while it has none, since it only waits.
    pub fn texts(&self, request: &Request) -> Option<&RequestTexts> {
        let ticket = request.ticket.load(Acquire);
        self.texts.iter().find(|texts| texts.belong_to(ticket))
    }

    /// The specification of a request.
    pub fn specification(&self, request: &Request) -> Result<Spec, Fault> {
        let texts = self.texts(request).ok_or_else(|| {
            Fault::new(
                sqlstate::INTERNAL,
                "the request has no specification at hand",
            )
        })?;
        read_json("specification", &texts.spec.get())
    }

    /// The outcome of a request, JSON; empty while there is none.
    pub fn outcome(&self, request: &Request) -> String {
        self.texts(request)
            .map_or_else(String::new, |texts| texts.outcome.get())
    }

    /// Gives texts to a new request of that ticket; false when all are taken. One is left for the run whose turn comes.
    pub fn give_texts_to_caller(&self, ticket: u64) -> bool {
        self.texts[..AT_HAND - 1]
            .iter()
            .any(|texts| texts.take(ticket))
    }

    /// Gives texts to a request that has waited; false when all are taken.
    pub fn give_texts_to_waiting(&self, request: &Request) -> bool {
        let ticket = request.ticket.load(Acquire);
        self.texts(request).is_some() || self.texts.iter().rev().any(|texts| texts.take(ticket))
    }

    /// Takes the texts of a request back: it waits from now on, or is over.
    pub fn take_texts_back(&self, ticket: u64) {
        for texts in &self.texts {
            texts.give_back(ticket);
        }
    }

    /// How many runs wait for their turn; those that are just being taken out of the queue do not.
    pub fn queued(&self) -> usize {
        let requests = self.requests.iter();
        requests
            .filter(|r| r.waits_for_its_turn() && r.cancel() == Cancel::No)
            .count()
    }

    /// How many runs come before this one: the one that is on, and those that have waited longer, in whatever database.
    pub fn before(&self, request: &Request) -> usize {
        let ticket = request.ticket.load(Acquire);
        let comes_first = |other: &&Request| other.is_open() && other.ticket.load(Acquire) < ticket;
        self.requests.iter().filter(comes_first).count()
    }

    /// The requests that stand in the queue and are to be carried out, in their order, each with its index.
    pub fn queue(&self) -> Vec<(usize, &Request)> {
        let mut queue: Vec<(usize, &Request)> = self
            .requests
            .iter()
            .enumerate()
            .filter(|(_, request)| request.state() == RequestState::Queued)
            .collect();
        queue.sort_by_key(|(_, request)| request.ticket.load(Acquire));
        queue
    }

    /// Takes what can be done for the queue by a process of that database: a new request that has to wait is put into it, the first
    /// one first; then one that was cancelled is taken out. Under the lock, by the process that does it.
    pub fn take_task(&self, extension_database: u32, pid: i32) -> Option<&Request> {
        let (request, task) = self.task_of(extension_database)?;
        // A waiting session reads its outcome.
        let needs_texts = task == CoordinatorTask::Withdraw && request.waiter.load(Acquire) != 0;
        if needs_texts && !self.give_texts_to_waiting(request) {
            return None;
        }
        request.set_task(task);
        request.launch.fetch_add(1, Relaxed);
        request.coordinator.store(pid, Release);
        request.set_state(RequestState::Working);
        Some(request)
    }

    /// Finds the next errand for that database, without taking it.
    pub fn task_of(&self, extension_database: u32) -> Option<(&Request, CoordinatorTask)> {
        let of_home = || {
            let requests = self.requests.iter();
            requests.filter(move |request| {
                request.extension_database.load(Acquire) == extension_database
            })
        };
        let is_new = |request: &&Request| {
            request.state() == RequestState::Submitted && request.cancel() == Cancel::No
        };
        let first = of_home()
            .filter(is_new)
            .min_by_key(|request| request.ticket.load(Acquire))
            // A request with none before it is left to the janitor, who has it carried out at once.
            .filter(|request| self.before(request) > 0)
            .map(|request| (request, CoordinatorTask::Enqueue));
        let cancelled = |request: &&Request| {
            request.state() == RequestState::Queued && request.cancel() != Cancel::No
        };
        first.or_else(|| {
            of_home()
                .find(cancelled)
                .map(|request| (request, CoordinatorTask::Withdraw))
        })
    }
}
