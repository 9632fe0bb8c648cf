//! Rules about calls: conditions on arguments, and what is done where they hold. The kernel's filter
//! machine (classic BPF, seccomp(2)) carries them out as a program.
//!
//! Calls are looked up in a tree. The kernel tries out each program that it is given with the number
//! of every call, and runs it before each call that is not always allowed: a list of some two hundred
//! comparisons cost as much as all file rules together.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{FromRawFd as _, OwnedFd};

use libc::sock_filter;

use crate::jail::process::checked;

/// Action of the kernel for a call (seccomp(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FilterAction(pub(super) u32);

impl FilterAction {
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
pub(super) enum WordComparison {
    Equal(u32),
    NotEqual(u32),
    /// The bits of the first, as they are in the second.
    Bits(u32, u32),
}

/// A condition on one word of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArgumentCondition {
    /// Its place among the words of all arguments.
    pub(super) word: u8,
    pub(super) comparison: WordComparison,
}

impl ArgumentCondition {
    /// On the lower half of an argument, which is all that the kernel reads of most.
    pub(super) const fn new(argument: u8, comparison: WordComparison) -> Self {
        Self {
            word: 2 * argument,
            comparison,
        }
    }

    /// On the upper half.
    pub(super) const fn upper(argument: u8, comparison: WordComparison) -> Self {
        Self {
            word: 2 * argument + 1,
            comparison,
        }
    }

    pub(super) const fn equals(argument: u8, value: u32) -> Self {
        Self::new(argument, WordComparison::Equal(value))
    }

    pub(super) const fn differs(argument: u8, value: u32) -> Self {
        Self::new(argument, WordComparison::NotEqual(value))
    }

    /// All of these bits are set.
    pub(super) const fn has_bits(argument: u8, bits: i32) -> Self {
        Self::new(argument, WordComparison::Bits(bits as u32, bits as u32))
    }

    /// None of these bits is set.
    pub(super) const fn has_none(argument: u8, bits: i32) -> Self {
        Self::new(argument, WordComparison::Bits(bits as u32, 0))
    }
}

/// A rule holds where all of its conditions do.
pub(super) type Rule = Vec<ArgumentCondition>;

/// Actions for calls: for each that of its first rule that holds, and none for all others.
#[derive(Debug, Default)]
pub(super) struct Policy {
    pub(super) calls: BTreeMap<i64, Vec<(Rule, FilterAction)>>,
}

impl Policy {
    /// An action for a call where these conditions hold, and no earlier rule does.
    pub(super) fn on(&mut self, call: i64, conditions: &[ArgumentCondition], action: FilterAction) {
        let rules = self.calls.entry(call).or_default();
        rules.push((conditions.to_vec(), action));
    }

    /// Denies a call where these conditions hold, and no earlier rule does.
    pub(super) fn deny(&mut self, call: i64, conditions: &[ArgumentCondition]) {
        self.on(call, conditions, FilterAction::DENY);
    }

    /// An action for all other calls up to `newest` than these, and than those that have rules.
    pub(super) fn allow_only(
        &mut self,
        calls: impl Iterator<Item = i64>,
        newest: i64,
        action: FilterAction,
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

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_GREATER: u16 = 0x25;
const JUMP_IF_NOT_LESS: u16 = 0x35;
const RETURN: u16 = 0x06;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const MACHINE: u32 = 4;
const ARGUMENTS: u32 = 16;

#[cfg(target_arch = "x86_64")]
const THIS_MACHINE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const THIS_MACHINE: u32 = 0xc000_00b7;

/// A whole program.
pub(in crate::jail) struct FilterProgram(Vec<sock_filter>);

impl FilterProgram {
    /// Translates a policy. Calls above `newest` are answered with `unknown`.
    pub(super) fn new(policy: &Policy, newest: i64, unknown: FilterAction) -> Self {
        let mut steps = vec![
            step(LOAD, 0, 0, MACHINE),
            step(JUMP_IF_EQUAL, 1, 0, THIS_MACHINE),
            // The numbers of another machine mean other calls.
            answer(FilterAction::KILL),
            step(LOAD, 0, 0, NUMBER),
            step(JUMP_IF_GREATER, 0, 1, newest as u32),
            answer(unknown),
        ];
        search(&mut steps, &ranges(policy));
        Self(steps)
    }

    /// Applies it to this process, which can gain no privilege any more. Returns the kernel's answer.
    pub(in crate::jail) fn apply(&self, flags: libc::c_ulong) -> std::io::Result<i32> {
        let program = libc::sock_fprog {
            len: u16::try_from(self.0.len()).map_err(std::io::Error::other)?,
            filter: self.0.as_ptr().cast_mut(),
        };
        // SAFETY: the program lives through the call, which only reads it.
        #[expect(unsafe_code, reason = "no safe crate makes listeners")]
        let result = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                std::ptr::from_ref(&program),
            )
        };
        checked(result)
    }

    /// Applies it and returns the descriptor on which the kernel asks the supervisor.
    pub(in crate::jail) fn apply_supervised(&self) -> std::io::Result<OwnedFd> {
        // A call that the supervisor has taken up is not cut off by a signal of its caller's children,
        // which programs do not expect of calls that make processes. Linux 5.19.
        let listener = self
            .apply(libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | WAITS_FOR_ANSWER)
            .or_else(|_| self.apply(libc::SECCOMP_FILTER_FLAG_NEW_LISTENER))?;
        // SAFETY: the kernel has just made this descriptor, and nothing else knows it.
        #[expect(unsafe_code, reason = "a descriptor that the kernel has made")]
        Ok(unsafe { OwnedFd::from_raw_fd(listener) })
    }
}

/// `SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV`
const WAITS_FOR_ANSWER: libc::c_ulong = 1 << 5;

fn step(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

fn answer(action: FilterAction) -> sock_filter {
    step(RETURN, 0, 0, action.0)
}

/// Calls that follow each other and have the same rules.
struct CallRange<'a> {
    first: u32,
    rules: &'a [(Rule, FilterAction)],
}

/// All calls, from 0 on.
fn ranges(policy: &Policy) -> Vec<CallRange<'_>> {
    const ALLOWED: &[(Rule, FilterAction)] = &[];
    let mut ranges = vec![CallRange {
        first: 0,
        rules: ALLOWED,
    }];
    for (call, rules) in &policy.calls {
        let first = *call as u32;
        for (first, rules) in [(first, rules.as_slice()), (first + 1, ALLOWED)] {
            match &mut ranges[..] {
                [.., before] if before.rules == rules => {}
                // The range after the previous call would begin here: drop it, and so extend the one before.
                [.., before, last] if last.first == first && before.rules == rules => {
                    ranges.pop();
                }
                [.., last] if last.first == first => last.rules = rules,
                _ => ranges.push(CallRange { first, rules }),
            }
        }
    }
    ranges
}

/// Finds the number of a call, which is loaded, in one of these.
fn search(steps: &mut Vec<sock_filter>, ranges: &[CallRange<'_>]) {
    match ranges {
        [] => {}
        [range] => decide(steps, range.rules),
        _ => {
            let (lower, higher) = ranges.split_at(ranges.len() / 2);
            // Only this jump reaches as far as it must.
            steps.push(step(JUMP_IF_NOT_LESS, 0, 1, higher[0].first));
            let far = steps.len();
            steps.push(step(JUMP, 0, 0, 0));
            search(steps, lower);
            steps[far].k = (steps.len() - far - 1) as u32;
            search(steps, higher);
        }
    }
}

/// Appends the decision about a call: that of the first rule that holds.
fn decide(steps: &mut Vec<sock_filter>, rules: &[(Rule, FilterAction)]) {
    for (rule, action) in rules {
        let mut behind = rule.iter().map(length).sum::<usize>() + 1;
        for condition in rule {
            behind -= length(condition);
            test(steps, condition, behind as u8);
        }
        steps.push(answer(*action));
        if rule.is_empty() {
            return;
        }
    }
    steps.push(answer(FilterAction::ALLOW));
}

/// Returns how many steps a condition takes.
fn length(condition: &ArgumentCondition) -> usize {
    match condition.comparison {
        WordComparison::Bits(..) => 3,
        WordComparison::Equal(_) | WordComparison::NotEqual(_) => 2,
    }
}

/// Goes on with the next step where the condition holds, else behind as many.
fn test(steps: &mut Vec<sock_filter>, condition: &ArgumentCondition, behind: u8) {
    let place = ARGUMENTS + 4 * u32::from(condition.word);
    steps.push(step(LOAD, 0, 0, place));
    let jump = match condition.comparison {
        WordComparison::Equal(value) => step(JUMP_IF_EQUAL, 0, behind, value),
        WordComparison::NotEqual(value) => step(JUMP_IF_EQUAL, behind, 0, value),
        WordComparison::Bits(mask, value) => {
            steps.push(step(AND, 0, 0, mask));
            step(JUMP_IF_EQUAL, 0, behind, value)
        }
    };
    steps.push(jump);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NEWEST: i64 = 40;
    const UNKNOWN: FilterAction = FilterAction::refuse(libc::ENOSYS);

    /// Returns the answer of the kernel's machine for this data.
    fn run(program: &FilterProgram, data: &[u32; 16]) -> u32 {
        let (mut accumulator, mut at) = (0, 0);
        loop {
            let sock_filter { code, jt, jf, k } = program.0[at];
            let branch = |holds: bool| usize::from(if holds { jt } else { jf });
            at += 1;
            match code {
                LOAD => accumulator = data[k as usize / 4],
                AND => accumulator &= k,
                JUMP => at += k as usize,
                JUMP_IF_EQUAL => at += branch(accumulator == k),
                JUMP_IF_GREATER => at += branch(accumulator > k),
                JUMP_IF_NOT_LESS => at += branch(accumulator >= k),
                RETURN => return k,
                other => unreachable!("code {other}"),
            }
        }
    }

    fn holds(condition: &ArgumentCondition, data: &[u32; 16]) -> bool {
        let word = data[4 + usize::from(condition.word)];
        match condition.comparison {
            WordComparison::Equal(value) => word == value,
            WordComparison::NotEqual(value) => word != value,
            WordComparison::Bits(mask, value) => word & mask == value,
        }
    }

    /// Returns the answer that a policy demands.
    fn wanted(policy: &Policy, data: &[u32; 16]) -> u32 {
        let call = i64::from(data[0]);
        let rules = policy.calls.get(&call).into_iter().flatten();
        let mut decided = rules.filter(|(rule, _)| rule.iter().all(|one| holds(one, data)));
        let known = decided
            .next()
            .map_or(FilterAction::ALLOW, |(_, action)| *action);
        if call > NEWEST { UNKNOWN } else { known }.0
    }

    fn condition() -> impl Strategy<Value = ArgumentCondition> {
        let comparison = (0..3_u8, 0..4_u32, 0..4_u32).prop_map(|(kind, one, other)| match kind {
            0 => WordComparison::Equal(one),
            1 => WordComparison::NotEqual(one),
            _ => WordComparison::Bits(one, other),
        });
        (0..12_u8, comparison).prop_map(|(word, comparison)| ArgumentCondition { word, comparison })
    }

    fn policy() -> impl Strategy<Value = Policy> {
        let action = prop::sample::select(vec![
            FilterAction::ASK,
            FilterAction::refuse(1),
            FilterAction::ALLOW,
        ]);
        let rule = (prop::collection::vec(condition(), 0..3), action);
        let rules = prop::collection::vec(rule, 1..4);
        let calls = prop::collection::btree_map(0..NEWEST, rules, 0..30);
        calls.prop_map(|calls: BTreeMap<_, _>| Policy { calls })
    }

    proptest! {
        #[test]
        fn a_program_does_what_its_policy_says(
            policy in policy(),
            calls in prop::collection::vec((0..60_u32, prop::array::uniform12(0..4_u32)), 50),
        ) {
            let program = FilterProgram::new(&policy, NEWEST, UNKNOWN);
            for (call, words) in calls {
                let mut data = [0; 16];
                data[0] = call;
                data[1] = THIS_MACHINE;
                data[4..].copy_from_slice(&words);
                prop_assert_eq!(run(&program, &data), wanted(&policy, &data));
                data[1] = !THIS_MACHINE;
                prop_assert_eq!(run(&program, &data), FilterAction::KILL.0);
            }
        }
    }
}
