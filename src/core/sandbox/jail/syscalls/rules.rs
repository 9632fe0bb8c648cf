//! Rules about calls: conditions on arguments, and what is done where they hold.

use std::collections::{BTreeMap, BTreeSet};

/// Action of the kernel for a call (seccomp(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Action(pub(super) u32);

impl Action {
    pub(super) const ALLOW: Self = Self(libc::SECCOMP_RET_ALLOW);
    /// Hands it to the supervisor.
    pub(super) const ASK: Self = Self(libc::SECCOMP_RET_USER_NOTIF);
    /// Answers that it is not permitted.
    const DENY: Self = Self::refuse(libc::EPERM);
    /// Ends the process.
    pub(super) const KILL: Self = Self(libc::SECCOMP_RET_KILL_PROCESS);

    /// Answers it with this error; with 0 nothing happens, and it succeeds.
    pub(super) const fn refuse(error: i32) -> Self {
        Self(libc::SECCOMP_RET_ERRNO | error as u32)
    }
}

/// Comparison of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal(u32),
    NotEqual(u32),
    /// The bits of the first, as they are in the second.
    Bits(u32, u32),
}

/// A condition on one word of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    /// Its place among the words of all arguments.
    pub(super) word: u8,
    pub(super) comparison: Comparison,
}

impl Condition {
    /// On the lower half of an argument, which is all that the kernel reads of most.
    pub(super) const fn new(argument: u8, comparison: Comparison) -> Self {
        Self {
            word: 2 * argument,
            comparison,
        }
    }

    /// On the upper half.
    pub(super) const fn upper(argument: u8, comparison: Comparison) -> Self {
        Self {
            word: 2 * argument + 1,
            comparison,
        }
    }

    pub(super) const fn equals(argument: u8, value: u32) -> Self {
        Self::new(argument, Comparison::Equal(value))
    }

    pub(super) const fn differs(argument: u8, value: u32) -> Self {
        Self::new(argument, Comparison::NotEqual(value))
    }

    /// All of these bits are set.
    pub(super) const fn has_bits(argument: u8, bits: i32) -> Self {
        Self::new(argument, Comparison::Bits(bits as u32, bits as u32))
    }

    /// None of these bits is set.
    pub(super) const fn has_none(argument: u8, bits: i32) -> Self {
        Self::new(argument, Comparison::Bits(bits as u32, 0))
    }
}

/// A rule holds where all of its conditions do.
pub(super) type Rule = Vec<Condition>;

/// Actions for calls: for each that of its first rule that holds, and none for all others.
#[derive(Debug, Default)]
pub(super) struct Policy {
    pub(super) calls: BTreeMap<i64, Vec<(Rule, Action)>>,
}

impl Policy {
    /// An action for a call where these conditions hold, and no earlier rule does.
    pub(super) fn on(&mut self, call: i64, conditions: &[Condition], action: Action) {
        let rules = self.calls.entry(call).or_default();
        rules.push((conditions.to_vec(), action));
    }

    /// Denies a call where these conditions hold, and no earlier rule does.
    pub(super) fn deny(&mut self, call: i64, conditions: &[Condition]) {
        self.on(call, conditions, Action::DENY);
    }

    /// An action for all other calls up to `newest` than these, and than those that have rules.
    pub(super) fn allow_only(
        &mut self,
        calls: impl Iterator<Item = i64>,
        newest: i64,
        action: Action,
    ) {
        let allowed: BTreeSet<i64> = calls.collect();
        for call in (0..=newest).filter(|call| !allowed.contains(call)) {
            let rules = self.calls.entry(call).or_default();
            if rules.iter().all(|(rule, _)| !rule.is_empty()) {
                rules.push((Vec::new(), action));
            }
        }
    }
}
