//! Names of columns, each of which may be there once.

use std::collections::{HashMap, HashSet};

/// Gives names that were there before a number: `a`, `a_2`. They are compared as SQLite does,
/// without case.
pub(super) fn unique_names(names: Vec<String>) -> Vec<String> {
    let mut known: HashSet<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
    // The last number given to a name that is there more than once.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    names
        .into_iter()
        .map(|name| {
            let number = numbers.entry(name.to_ascii_lowercase()).or_insert(0);
            *number += 1;
            if *number == 1 {
                return name;
            }
            loop {
                let free = format!("{name}_{number}");
                if known.insert(free.to_ascii_lowercase()) {
                    return free;
                }
                *number += 1;
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_unique() {
        let names = ["a", "A", "a_2", "b", "a"].map(str::to_owned).to_vec();
        assert_eq!(unique_names(names), ["a", "A_3", "a_2", "b", "a_4"]);
    }
}
