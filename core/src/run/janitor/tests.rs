use super::*;
use crate::run::request::is_withdrawn;
use proptest::prelude::*;

const TASKS: [CoordinatorTask; 4] = [
    CoordinatorTask::Run,
    CoordinatorTask::Enqueue,
    CoordinatorTask::Withdraw,
    CoordinatorTask::Recover,
];

#[test]
fn each_further_error_is_followed_by_a_longer_rest() {
    let rests = [0, 1, 2, 3, 6, 7, 100, u32::MAX].map(|failures| rest_after(failures).as_secs());
    assert_eq!(rests, [1, 1, 2, 4, 32, 60, 60, 60]);
}

fn failed(task: CoordinatorTask, failures: u32) -> Failed {
    Failed {
        task,
        failures,
        slot: Slot::There,
        has_row: true,
        has_home: true,
    }
}

fn new(is_cancelled: bool, is_busy: bool, before: usize) -> Action {
    of_new(&New {
        is_cancelled,
        is_busy,
        before,
        may_begin: true,
        has_queue_worker: false,
    })
}

#[test]
fn without_a_slot_the_run_that_is_on_does_the_work_of_the_queue() {
    let without = |task, slot| Failed {
        slot,
        ..failed(task, 0)
    };
    for slot in [Slot::Missing, Slot::MissingForLong] {
        assert_eq!(
            without(CoordinatorTask::Withdraw, slot).at_start(),
            Action::LeaveToCoordinator
        );
        assert_eq!(
            without(CoordinatorTask::Run, slot).at_start(),
            Action::WaitAgain
        );
    }
    assert_eq!(
        without(CoordinatorTask::Enqueue, Slot::Missing).at_start(),
        Action::LeaveToCoordinator
    );
    assert_eq!(
        without(CoordinatorTask::Enqueue, Slot::MissingForLong).at_start(),
        Action::GiveUpStarting
    );
}

#[test]
fn a_queue_worker_puts_into_the_queue_what_has_to_wait() {
    let new = |is_busy| New {
        is_cancelled: false,
        is_busy,
        before: 0,
        may_begin: true,
        has_queue_worker: true,
    };
    assert_eq!(of_new(&new(true)), Action::Wait);
    assert_eq!(of_new(&new(false)), Action::Launch(CoordinatorTask::Run));
    let not_its_turn = New {
        may_begin: false,
        ..new(false)
    };
    assert_eq!(of_new(&not_its_turn), Action::Wait);
}

#[test]
fn a_run_that_died_is_cleared_up_after_and_never_made_again() {
    for task in [CoordinatorTask::Run, CoordinatorTask::Recover] {
        assert_eq!(
            failed(task, 1).at_work(),
            Action::Launch(CoordinatorTask::Recover)
        );
        assert_eq!(failed(task, ATTEMPTS).at_work(), Action::GiveUp);
    }
}

#[test]
fn a_row_that_stands_keeps_its_place_in_the_queue() {
    assert_eq!(
        failed(CoordinatorTask::Enqueue, 9).at_work(),
        Action::WaitAgain
    );
    assert_eq!(
        failed(CoordinatorTask::Run, 1).at_start(),
        Action::WaitAgain
    );
    assert_eq!(
        failed(CoordinatorTask::Run, ATTEMPTS).at_start(),
        Action::GiveUpStarting
    );
    let no_row = Failed {
        has_row: false,
        ..failed(CoordinatorTask::Run, 1)
    };
    assert_eq!(no_row.at_start(), Action::GiveUpStarting);
}

#[test]
fn without_its_database_a_request_ends_whatever_it_was_for() {
    for task in TASKS {
        let homeless = Failed {
            has_home: false,
            ..failed(task, 0)
        };
        assert_eq!(homeless.at_start(), Action::EndHomeless);
        assert_eq!(homeless.at_work(), Action::EndHomeless);
    }
}

#[test]
fn nobody_overtakes() {
    assert_eq!(new(false, false, 0), Action::Launch(CoordinatorTask::Run));
    assert_eq!(
        new(false, false, 1),
        Action::Launch(CoordinatorTask::Enqueue)
    );
    assert_eq!(
        new(false, true, 0),
        Action::Launch(CoordinatorTask::Enqueue)
    );
    assert_eq!(new(true, false, 0), Action::Cancel);
    assert_eq!(
        next_in_queue([(3, false, 'c'), (1, true, 'a'), (2, false, 'b')]),
        Some('b')
    );
    assert_eq!(next_in_queue([(1, true, 'a')]), None);
}

#[test]
fn a_worker_of_another_janitor_is_known_by_its_pid() {
    assert!(!is_dead(Worker::Unknown, true) && is_dead(Worker::Unknown, false));
    assert!(is_dead(Worker::Ended, true) && is_dead(Worker::Runs, false));
    assert_eq!(
        of_starting(Worker::Unknown, CoordinatorTask::Run),
        Some(Action::Launch(CoordinatorTask::Run))
    );
    assert_eq!(of_starting(Worker::Ended, CoordinatorTask::Run), None);
}

/// A request as the simulated server holds it.
#[derive(Clone, Debug)]
struct Sim {
    ticket: u64,
    state: RequestState,
    task: CoordinatorTask,
    worker: Worker,
    alive: bool,
    cancelled: bool,
    has_row: bool,
    has_home: bool,
    failures: u32,
    launches: u32,
}

impl Sim {
    fn new(ticket: u64) -> Self {
        Self {
            ticket,
            state: RequestState::Submitted,
            task: CoordinatorTask::Run,
            worker: Worker::Unknown,
            alive: false,
            cancelled: false,
            has_row: false,
            has_home: true,
            failures: 0,
            launches: 0,
        }
    }

    fn failed(&self) -> Failed {
        Failed {
            task: self.task,
            failures: self.failures,
            slot: Slot::There,
            has_row: self.has_row,
            has_home: self.has_home,
        }
    }

    fn launch(&mut self, task: CoordinatorTask) {
        self.task = task;
        self.state = RequestState::Starting;
        self.worker = Worker::Runs;
        self.alive = true;
        self.launches += 1;
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Wait => {}
            Action::Launch(task) => self.launch(task),
            Action::WaitAgain | Action::LeaveToCoordinator => self.state = RequestState::Queued,
            Action::TakeForDead => {
                self.state = RequestState::Working;
                self.alive = false;
            }
            Action::Cancel | Action::GiveUpStarting | Action::GiveUp | Action::EndHomeless => {
                self.state = RequestState::Ended;
            }
        }
    }

    /// The coordinator does a part of its work.
    fn work(&mut self) {
        if !self.alive {
            return;
        }
        match (self.state, self.task) {
            (RequestState::Starting, _) => self.state = RequestState::Working,
            (RequestState::Working, CoordinatorTask::Enqueue) => {
                self.has_row = true;
                self.state = RequestState::Queued;
                self.end_worker();
            }
            (RequestState::Working, CoordinatorTask::Run) if !self.has_row => self.has_row = true,
            (RequestState::Working, _) => {
                self.state = RequestState::Ended;
                self.end_worker();
            }
            _ => {}
        }
    }

    fn end_worker(&mut self) {
        self.alive = false;
        self.worker = match self.worker {
            Worker::Unknown => Worker::Unknown,
            _ => Worker::Ended,
        };
    }
}

/// The janitor as it patrols, with these hands in the place of the server's.
fn patrol(all: &mut [Sim]) {
    let states = |all: &[Sim]| is_busy(all.iter().map(|r| (r.state, r.task)));
    for i in 0..all.len() {
        let busy = states(all);
        let ticket = all[i].ticket;
        let open = |r: &&Sim| r.state.is_open() && r.ticket < ticket;
        let before = all.iter().filter(open).count();
        let request = &mut all[i];
        let action = match request.state {
            RequestState::Submitted => new(request.cancelled, busy, before),
            RequestState::Starting => {
                of_starting(request.worker, request.task).unwrap_or_else(|| {
                    request.failures += 1;
                    request.failed().at_start()
                })
            }
            RequestState::Working if is_dead(request.worker, request.alive) => {
                request.failures += 1;
                request.failed().at_work()
            }
            _ => Action::Wait,
        };
        request.act(action);
    }
    for i in 0..all.len() {
        let withdraws = all.iter().any(|r| is_withdrawn(r.state, r.task));
        let request = &mut all[i];
        if request.state != RequestState::Queued {
            continue;
        }
        if !request.has_home {
            request.act(Action::EndHomeless);
        } else if request.cancelled && !withdraws {
            request.launch(CoordinatorTask::Withdraw);
        }
    }
    if !states(all) {
        let queue = all
            .iter()
            .enumerate()
            .filter(|(_, r)| r.state == RequestState::Queued);
        let next = next_in_queue(queue.map(|(i, r)| (r.ticket, r.cancelled, i)));
        if let Some(next) = next {
            all[next].launch(CoordinatorTask::Run);
        }
    }
}

/// An event in the life of a request.
#[derive(Clone, Copy, Debug)]
enum Event {
    Work,
    Die,
    Cancel,
    DropHome,
    NewJanitor,
    Patrol,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => Just(Event::Work),
        2 => Just(Event::Die),
        1 => Just(Event::Cancel),
        1 => Just(Event::DropHome),
        1 => Just(Event::NewJanitor),
        6 => Just(Event::Patrol),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(300)))]

    /// Whatever dies, is cancelled or dropped, and however often the janitor itself is replaced: there is one run at a time, none is
    /// made twice, and in the end every request is over.
    #[test]
    fn every_request_ends_and_one_is_on_at_a_time(
        n in 1usize..6,
        events in prop::collection::vec((event(), any::<prop::sample::Index>()), 0..80),
    ) {
        let mut all: Vec<Sim> = (0..n as u64).map(Sim::new).collect();
        let check = |all: &[Sim]| {
            let on = all.iter().filter(|r| is_carried_out(r.state, r.task)).count();
            assert!(on <= 1, "{on} are on: {all:?}");
            for request in all {
                assert!(request.launches <= 3 * ATTEMPTS + 60, "{request:?}");
            }
        };
        for (event, index) in events {
            let request = &mut all[index.index(n)];
            match event {
                Event::Work => request.work(),
                Event::Die => request.end_worker(),
                Event::Cancel => request.cancelled = true,
                Event::DropHome => request.has_home = false,
                Event::NewJanitor => all.iter_mut().for_each(|r| r.worker = Worker::Unknown),
                Event::Patrol => patrol(&mut all),
            }
            check(&all);
        }
        // From here on nothing goes wrong.
        for _ in 0..20 * n {
            patrol(&mut all);
            check(&all);
            all.iter_mut().for_each(Sim::work);
        }
        for request in &all {
            prop_assert_eq!(request.state, RequestState::Ended, "{:?}", request);
        }
    }

    /// If nothing goes wrong, runs end in the order in which they were asked for, however long each takes.
    #[test]
    fn runs_are_made_in_their_order(n in 1usize..6, pace in prop::collection::vec(any::<bool>(), 1..50)) {
        let mut all: Vec<Sim> = (0..n as u64).map(Sim::new).collect();
        let mut ended = Vec::new();
        let mut paces = pace.iter().cycle();
        for round in 0..400 {
            patrol(&mut all);
            let run_works = *paces.next().unwrap_or(&true) || round > 300;
            for (index, request) in all.iter_mut().enumerate() {
                if is_carried_out(request.state, request.task) && !run_works {
                    continue;
                }
                let was_open = request.state.is_open();
                request.work();
                if was_open && !request.state.is_open() {
                    ended.push(index);
                }
            }
        }
        prop_assert_eq!(ended, (0..n).collect::<Vec<_>>());
    }
}
