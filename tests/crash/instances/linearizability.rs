//! Whether a history of calls is linearizable: whether each call can be given one moment between its
//! beginning and its answer, so that in the order of these moments an object that does one call after the
//! other would have answered the same.
//!
//! The search is that of Wing and Gong (1993) with the memory of Lowe (2017): what is left to order, with
//! the state so far, is looked at once. A call without an answer may have happened at any moment after
//! its beginning, or never. Histories of different objects are looked at apart, which is allowed because
//! linearizability is a local property (Herlihy and Wing 1990), and what makes the search fast.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

/// A moment, by the order of moments: later ones are larger.
pub(crate) type Moment = u64;

/// What one object does, if it does one call after the other.
pub(crate) trait Specification {
    /// All that later answers depend on.
    type State: Clone + Debug + Default + Eq + Hash;

    /// The state after this call, with what it answered; nothing where it cannot have answered so.
    fn after(&self, state: &Self::State) -> Option<Self::State>;
}

/// A call with what it answered, or would have answered.
#[derive(Clone, Debug)]
pub(crate) struct Event<C> {
    pub(crate) call: C,
    pub(crate) begun: Moment,
    /// Nothing where there was no answer, so that nobody knows whether it happened.
    pub(crate) answered: Option<Moment>,
}

/// Says what cannot be ordered, where a history is not linearizable.
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

    /// The first that has none.
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
    /// Nothing before the first one.
    number: Option<usize>,
    after: C::State,
    /// What may come next and was not tried.
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

    /// The calls that may have the next moment; nothing where all that were answered have one.
    fn next(&self) -> Option<std::vec::IntoIter<usize>> {
        let (mut first_answer, mut next) = (None, Vec::new());
        let open = self.ordered.first_open()..self.events.len();
        for number in open.filter(|&number| !self.ordered.has(number)) {
            let event = self.events[number];
            // Nothing that begins later can come before the first answer.
            if first_answer.is_some_and(|first| event.begun > first) {
                break;
            }
            first_answer = first_answer.into_iter().chain(event.answered).min();
            next.push(number);
        }
        first_answer?;
        // Those of which nobody knows come last.
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
