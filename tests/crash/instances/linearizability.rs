//! Check of histories of calls for linearizability: each call can be given one moment between its beginning
//! and its answer, so that in the order of these moments an object that does one call after the other would
//! have answered the same.
//!
//! The search is that of Wing and Gong (1993) with the memory of Lowe (2017): each set of calls that are
//! left to order, with the state so far, is examined once. A call without an answer may have happened at
//! any moment after its beginning, or never. Histories of different objects are checked separately, which
//! is allowed because linearizability is a local property (Herlihy and Wing 1990), and makes the search
//! fast.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

/// A moment, by the order of moments: later ones are larger.
pub(crate) type Moment = u64;

/// Sequential behaviour of one kind of object.
pub(crate) trait Specification {
    /// All that later answers depend on.
    type State: Clone + Debug + Default + Eq + Hash;

    /// Returns the state after this call with its answer; `None` if the answer is impossible in `state`.
    fn after(&self, state: &Self::State) -> Option<Self::State>;
}

/// A call with what it answered, or would have answered.
#[derive(Clone, Debug)]
pub(crate) struct Event<C> {
    pub(crate) call: C,
    pub(crate) begun: Moment,
    /// `None` if there was no answer, so that the call may or may not have happened.
    pub(crate) answered: Option<Moment>,
}

/// Checks that a history is linearizable, and returns the calls that cannot be ordered as the error.
pub(crate) fn check<C: Specification + Debug>(history: &[Event<C>]) -> Result<(), String> {
    let mut events: Vec<&Event<C>> = history.iter().collect();
    events.sort_by_key(|event| event.begun);
    let mut search = Search {
        events: &events,
        ordered: Ordered(vec![0; events.len().div_ceil(64)]),
        path: Vec::new(),
        seen: HashSet::new(),
        longest: Vec::new(),
    };
    if search.finds_an_order() {
        return Ok(());
    }
    Err(search.explain())
}

/// The calls that have a moment.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Ordered(Vec<u64>);

impl Ordered {
    fn has(&self, number: usize) -> bool {
        self.0[number / 64] & (1 << (number % 64)) != 0
    }

    fn turn(&mut self, number: usize) {
        self.0[number / 64] ^= 1 << (number % 64);
    }

    /// Returns the first call that has no moment.
    fn first_open(&self) -> usize {
        let full = self.0.iter().take_while(|&&word| word == u64::MAX).count();
        let rest = self.0.get(full).map_or(0, |word| word.trailing_ones());
        full * 64 + rest as usize
    }
}

struct Search<'h, C: Specification> {
    events: &'h [&'h Event<C>],
    ordered: Ordered,
    path: Vec<Step<C>>,
    seen: HashSet<(Ordered, C::State)>,
    /// The longest order that was found, for people.
    longest: Vec<usize>,
}

/// A call that was given the next moment.
struct Step<C: Specification> {
    /// `None` for the initial state.
    number: Option<usize>,
    after: C::State,
    /// Calls that may come next and were not tried.
    next: std::vec::IntoIter<usize>,
}

impl<C: Specification + Debug> Search<'_, C> {
    /// Gives every call that was answered a moment, or says that it cannot be.
    fn finds_an_order(&mut self) -> bool {
        let Some(next) = self.next() else {
            return true;
        };
        self.path.push(Step {
            number: None,
            after: C::State::default(),
            next,
        });
        while let Some(step) = self.path.last_mut() {
            let Some(number) = step.next.next() else {
                if let Some(number) = self.path.pop().and_then(|step| step.number) {
                    self.ordered.turn(number);
                }
                continue;
            };
            let Some(after) = self.events[number].call.after(&step.after) else {
                continue;
            };
            self.ordered.turn(number);
            if !self.seen.insert((self.ordered.clone(), after.clone())) {
                self.ordered.turn(number);
                continue;
            }
            let Some(next) = self.next() else {
                return true;
            };
            self.path.push(Step {
                number: Some(number),
                after,
                next,
            });
            if self.path.len() > self.longest.len() + 1 {
                self.longest = self.path.iter().filter_map(|step| step.number).collect();
            }
        }
        false
    }

    /// Returns the calls that may have the next moment; `None` if all answered calls have one.
    fn next(&self) -> Option<std::vec::IntoIter<usize>> {
        let (mut first_answer, mut next) = (None, Vec::new());
        let open = self.ordered.first_open()..self.events.len();
        for number in open.filter(|&number| !self.ordered.has(number)) {
            let event = self.events[number];
            // A call that begins after the first answer cannot precede it.
            if first_answer.is_some_and(|first| event.begun > first) {
                break;
            }
            first_answer = first_answer.into_iter().chain(event.answered).min();
            next.push(number);
        }
        first_answer?;
        // Calls without an answer come last.
        let answered = |&number: &usize| self.events[number].answered;
        next.sort_by_key(|number| (answered(number).is_none(), answered(number)));
        Some(next.into_iter())
    }

    /// The end of the longest order, and what could not come next.
    fn explain(&self) -> String {
        let line = |event: &Event<C>| {
            let answered = event.answered;
            let answered = answered.map_or("never".to_owned(), |at| at.to_string());
            format!("  {}..{answered}: {:?}\n", event.begun, event.call)
        };
        let mut state = C::State::default();
        for &number in &self.longest {
            state = self.events[number].call.after(&state).unwrap_or_default();
        }
        let last = self.longest.iter().rev().take(12).rev();
        let last: String = last.map(|&number| line(self.events[number])).collect();
        let stuck = (0..self.events.len()).filter(|number| !self.longest.contains(number));
        let stuck: String = stuck
            .take(12)
            .map(|number| line(self.events[number]))
            .collect();
        format!(
            "no order of these calls, after\n{last}comes to {state:?}, from where none goes on:\n{stuck}"
        )
    }
}
