//! Rights given back over a whole tree, after a command that may have taken them away.

use super::rights::{DIRECTORY, FILE, SPECIAL};
use super::{DiskError, Kind, Root};
use fileshed_types::zone::ZonePath;

impl Root {
    /// Gives the server back what it needs of every file and directory.
    pub fn grant_owner(&self) -> Result<(), DiskError> {
        let mut lacking = Vec::new();
        self.survey(&ZonePath::root(), |path, kind, stat| {
            let needed = match kind {
                Kind::File => FILE,
                Kind::Directory => DIRECTORY,
                Kind::Symlink | Kind::Special => return,
            };
            let lacks = stat.st_mode & needed != needed || stat.st_mode & SPECIAL != 0;
            if let (true, Ok(path)) = (lacks, std::str::from_utf8(path)) {
                let mode = (stat.st_mode & 0o777) | needed | 0o044;
                lacking.push((path.to_owned(), mode));
            }
        })?;
        for (path, mode) in lacking {
            match self.entry(&ZonePath::found(path)) {
                Ok(entry) => entry.set_mode(mode)?,
                Err(error) if error.is_gone() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
