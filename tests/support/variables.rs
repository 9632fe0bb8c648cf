//! Length of tests and their random seed: variables of the environment, whose defaults are small and the
//! same in every run.

/// Default of `FILESHED_TEST_SEED`.
const SEED: u64 = 1;

/// Default of `FILESHED_TEST_ROUNDS`: kills and other faults of a test.
const ROUNDS: u64 = 5;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

/// Returns the seed of a test that draws at random, and prints it.
#[expect(
    clippy::print_stdout,
    reason = "whoever reads of a failure can repeat it"
)]
pub fn seed() -> u64 {
    let seed = number("FILESHED_TEST_SEED").unwrap_or(SEED);
    println!("FILESHED_TEST_SEED={seed} draws the same numbers");
    seed
}

/// Returns the number of kills, or of other faults, between which a test compares.
pub fn rounds() -> u64 {
    rounds_unless_said(ROUNDS)
}

/// Returns the same number for a test that has another default.
pub fn rounds_unless_said(usual: u64) -> u64 {
    number("FILESHED_TEST_ROUNDS").unwrap_or(usual)
}

/// Returns the number of calls that race with a swap.
pub fn calls(usual: u64) -> u64 {
    number("FILESHED_TEST_CALLS").unwrap_or(usual)
}

/// Returns the number of commands on one server.
pub fn commands(usual: u64) -> u64 {
    number("FILESHED_TEST_COMMANDS").unwrap_or(usual)
}

/// Returns the number of calls that are compared with a model.
pub fn steps(usual: u64) -> u64 {
    number("FILESHED_TEST_STEPS").unwrap_or(usual)
}
