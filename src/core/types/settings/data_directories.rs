//! The directories that all data lie in.

use std::path::{Path, PathBuf};

/// Heaviest directory.
const WEIGHT_MAX: u64 = 1000;

/// One directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDirectory {
    /// Where it is.
    pub path: PathBuf,
    /// How many of all tenants come to it, compared with the others.
    pub weight: u64,
}

/// One directory for everything, or several on which tenants are spread. What belongs to no tenant is in
/// the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDirectories {
    first: DataDirectory,
    more: Vec<DataDirectory>,
}

impl DataDirectories {
    /// One for everything.
    pub fn one(path: impl Into<PathBuf>) -> Self {
        Self {
            first: DataDirectory {
                path: path.into(),
                weight: 1,
            },
            more: Vec::new(),
        }
    }

    /// Reads a list of directories, each as `<path>` or `<path>=<weight>`.
    pub fn of_list(items: &[String]) -> Result<Self, String> {
        let items = items.iter().map(|item| item.trim());
        let mut all = items
            .filter(|item| !item.is_empty())
            .map(DataDirectory::read)
            .collect::<Result<Vec<_>, _>>()?
            .into_iter();
        let first = all
            .next()
            .ok_or("must be a directory, or a list of directories")?;
        let more: Vec<DataDirectory> = all.collect();
        let read = Self { first, more };
        let mut paths: Vec<&Path> = read.all().map(|directory| &*directory.path).collect();
        paths.sort_unstable();
        match paths.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("names `{}` twice", pair[0].display())),
            None => Ok(read),
        }
    }

    /// Where what belongs to no tenant is.
    #[must_use]
    pub fn first(&self) -> &Path {
        &self.first.path
    }

    /// All of them, in the order of the setting.
    pub fn all(&self) -> impl Iterator<Item = &DataDirectory> {
        std::iter::once(&self.first).chain(&self.more)
    }

    /// Whether there is more than one.
    #[must_use]
    pub fn are_several(&self) -> bool {
        !self.more.is_empty()
    }
}

impl DataDirectory {
    /// Whoever has a directory whose name ends like a weight says its weight behind it.
    fn read(text: &str) -> Result<Self, String> {
        let is_weight =
            |weight: &str| !weight.is_empty() && weight.bytes().all(|byte| byte.is_ascii_digit());
        let (path, weight) = match text.rsplit_once('=') {
            Some((path, weight)) if !path.is_empty() && is_weight(weight) => (path, weight),
            _ => (text, "1"),
        };
        if path.contains('\0') {
            return Err("must be paths".to_owned());
        }
        let weight = weight.parse().ok();
        let weight = weight.filter(|weight| (1..=WEIGHT_MAX).contains(weight));
        Ok(Self {
            path: PathBuf::from(path),
            weight: weight.ok_or_else(|| {
                format!("must give directories weights from 1 to {WEIGHT_MAX}, like {path}=2")
            })?,
        })
    }

    /// The same text again.
    #[must_use]
    pub fn written(&self) -> String {
        let path = self.path.to_string_lossy();
        let is_plain = self.weight == 1 && !path.contains('=');
        if is_plain {
            path.into_owned()
        } else {
            format!("{path}={}", self.weight)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(items: &[&str]) -> Result<Vec<(String, u64)>, String> {
        let items: Vec<String> = items.iter().map(|item| (*item).to_owned()).collect();
        let read = DataDirectories::of_list(&items)?;
        let all = read.all().map(|directory| {
            let again = DataDirectory::read(&directory.written());
            assert_eq!(again.as_ref(), Ok(directory));
            (directory.path.display().to_string(), directory.weight)
        });
        Ok(all.collect())
    }

    #[test]
    fn each_directory_may_have_a_weight() {
        let own = |path: &str, weight| (path.to_owned(), weight);
        let expected = vec![own("/data", 1), own("/mnt/b", 2), own("/mnt/a=b", 1)];
        assert_eq!(read(&["/data", " /mnt/b=2", "/mnt/a=b", ""]), Ok(expected));
        assert_eq!(read(&["/mnt/a=2=1"]), Ok(vec![own("/mnt/a=2", 1)]));
        for (items, problem) in [
            (&[""][..], "must be a directory"),
            (&["/a", "/b=0"], "from 1 to 1000, like /b=2"),
            (&["/a", "/b", "/a=3"], "`/a` twice"),
        ] {
            let refused = read(items).expect_err("refused");
            assert!(refused.contains(problem), "{refused}");
        }
    }
}
