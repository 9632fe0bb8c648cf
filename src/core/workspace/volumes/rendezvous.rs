//! Which volume a new tenant comes to: the one that scores highest with its name.
//!
//! Weighted rendezvous hashing (Schindelhauer and Schomaker 2005): each volume's score depends on its own
//! name and weight alone, so a volume that is added takes its share from all others and nobody goes
//! elsewhere, and neither order nor mount paths matter.

use sha2::{Digest as _, Sha256};

/// The highest score's number; the first of equal ones.
pub(super) fn choose<'a>(tenant: &str, volumes: impl Iterator<Item = (&'a str, u64)>) -> usize {
    let scores = volumes.map(|(name, weight)| score(tenant, name, weight));
    let mut best = (0, f64::NEG_INFINITY);
    for (number, score) in scores.enumerate() {
        if score > best.1 {
            best = (number, score);
        }
    }
    best.0
}

/// `-weight / ln(u)`, where `u` is evenly spread between 0 and 1.
fn score(tenant: &str, volume: &str, weight: u64) -> f64 {
    let digest = Sha256::digest(format!("{volume}\0{tenant}"));
    let bits = digest
        .first_chunk()
        .map_or(0, |bytes| u64::from_be_bytes(*bytes));
    // As many bits as a float has exactly, and never 0 or 1.
    let even = ((bits >> 12) as f64 + 0.5) / (1_u64 << 52) as f64;
    -(weight as f64) / even.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENANTS: usize = 20_000;

    fn chosen(volumes: &[(&str, u64)]) -> Vec<String> {
        let tenants = (0..TENANTS).map(|number| format!("users/{number:032x}"));
        let chosen = tenants.map(|tenant| choose(&tenant, volumes.iter().copied()));
        chosen.map(|number| volumes[number].0.to_owned()).collect()
    }

    fn share(chosen: &[String], volume: &str) -> f64 {
        chosen.iter().filter(|name| *name == volume).count() as f64 / TENANTS as f64
    }

    #[test]
    fn tenants_are_spread_by_the_weights() {
        let chosen = chosen(&[("volume-1", 1), ("volume-2", 2), ("volume-3", 5)]);
        for (volume, expected) in [("volume-1", 0.125), ("volume-2", 0.25), ("volume-3", 0.625)] {
            let share = share(&chosen, volume);
            assert!((share - expected).abs() < 0.02, "{volume}: {share}");
        }
    }

    #[test]
    fn a_volume_that_is_added_takes_its_share_and_nobody_goes_elsewhere() {
        let before = chosen(&[("volume-1", 1), ("volume-2", 1)]);
        let after = chosen(&[("volume-3", 2), ("volume-2", 1), ("volume-1", 1)]);
        let moved = before.iter().zip(&after).filter(|(old, new)| old != new);
        let moved: Vec<_> = moved.collect();
        assert!(moved.iter().all(|(_, new)| *new == "volume-3"));
        let share = moved.len() as f64 / TENANTS as f64;
        assert!((share - 0.5).abs() < 0.02, "{share}");
    }
}
