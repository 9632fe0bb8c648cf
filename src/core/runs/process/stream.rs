//! Destinations of the streams of a command: into the answer, or into files of the zone.

use fileshed_changes::open_ended::OpenEndedPermit;
use fileshed_changes::{SizeError, check_lock, check_owner};
use fileshed_sandbox::OutputSink;
use fileshed_storage::{DiskError, Staged};
use fileshed_types::Error;
use fileshed_zones::zone::{Zone, ZonePath};

/// A file of the zone that gets a stream, checked before the command runs.
#[derive(Debug)]
pub(crate) struct StreamFile {
    operation: &'static str,
    parameter: &'static str,
    pub(crate) path: ZonePath,
    pub(crate) staged: Staged,
}

impl StreamFile {
    pub(crate) fn new(
        zone: &Zone<'_>,
        operation: &'static str,
        parameter: &'static str,
        path: &str,
    ) -> Result<Self, Error> {
        zone.expect_writable()?;
        let path = zone.path_to_change(parameter, path)?;
        let target = zone.target(parameter, &path)?;
        check_lock(zone, &path)?;
        check_owner(zone, [target.path()])?;
        Ok(Self {
            operation,
            parameter,
            path,
            staged: zone.store.staging(&zone.tenant)?.create()?,
        })
    }

    /// Fails where the stream was cut at the size that a file may have.
    pub(crate) fn expect_whole(&self, zone: &Zone<'_>, status: i32) -> Result<(), Error> {
        const SIGXFSZ: i32 = rustix::process::Signal::XFSZ.as_raw();
        let limit = zone.store.settings.largest_file();
        if status == -SIGXFSZ && self.staged.size()? > limit {
            return Err(SizeError {
                path: self.path.clone(),
                size: limit + 1,
                limit,
            }
            .into());
        }
        Ok(())
    }

    /// Gives the file its name: as a part of what the command with this permit does.
    pub(crate) fn install_by(
        self,
        zone: &Zone<'_>,
        permit: Option<&OpenEndedPermit<'_>>,
    ) -> Result<(), Error> {
        let Some(permit) = permit else {
            return self.install(zone).map(drop);
        };
        let (size, limit) = (self.staged.size()?, zone.store.settings.largest_file());
        if size > limit {
            let path = self.path;
            return Err(SizeError { path, size, limit }.into());
        }
        permit.install(self.staged, zone.target(self.parameter, &self.path)?)
    }

    /// Gives the file its name, as any other write.
    pub(crate) fn install(self, zone: &Zone<'_>) -> Result<u64, Error> {
        let writer = fileshed_changes::writer(zone, self.operation)?;
        let target = zone.target(self.parameter, &self.path)?;
        let text = format!("Write {} ({})", self.path, self.operation);
        Ok(writer.write(self.staged, target, None, &text)?.size)
    }
}

/// Returns the sink of a stream: the other stream, a file, or `limit` bytes of the response.
pub(crate) fn sink(
    file: Option<&mut StreamFile>,
    merge: bool,
    limit: usize,
) -> Result<OutputSink, Error> {
    if merge {
        return Ok(OutputSink::Output);
    }
    match file {
        None => Ok(OutputSink::Answer(limit)),
        Some(file) => file_sink(&mut file.staged),
    }
}

/// A stream into a staged file.
pub(crate) fn file_sink(staged: &mut Staged) -> Result<OutputSink, Error> {
    let file = staged.file().try_clone();
    let file = file.map_err(|error| DiskError::of("open", &ZonePath::root(), error));
    Ok(OutputSink::File(file?))
}
