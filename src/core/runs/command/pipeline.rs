//! Commands of two programs, one after the other, each in its own jail: tar with a compressor, and
//! pandoc with a printer.
//!
//! tar compresses by starting a shell, which no jail has. So the server runs the compressor: the
//! input of tar is unpacked beside the zone first, its output is packed there afterwards and
//! then moved in like any other file. A page of pandoc lies beside the zone, too, until it is printed.

use std::io::{Read, Seek, SeekFrom};

use super::invocation::{Invocation, Run};
use super::outcome::CommandOutcome;
use crate::process::{StreamFile, file_sink};
use fileshed_changes::open_ended::OpenEndedPermit;
use fileshed_rules::{ArchiveArgument, Compression};
use fileshed_storage::DiskError;
use fileshed_types::Error;
use fileshed_zones::zone::ZonePath;

/// The first bytes of compressed files (each format's specification), and the program of each.
const MAGIC: [(&[u8], &str); 5] = [
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "lz4"),
];

/// Ends of names that ask for a compression, as tar's `--auto-compress` knows them.
const ENDS: [(&str, &str); 10] = [
    (".gz", "gzip"),
    (".tgz", "gzip"),
    (".taz", "gzip"),
    (".bz2", "bzip2"),
    (".tbz", "bzip2"),
    (".tbz2", "bzip2"),
    (".xz", "xz"),
    (".txz", "xz"),
    (".zst", "zstd"),
    (".tzst", "zstd"),
];

/// The name of a standard stream.
const STREAM: &str = "-";

/// Runs pandoc, which writes a page, and prints it to `path`; `invocation` is the command as it was
/// judged.
pub(super) fn print(
    run: &Run<'_>,
    path: &str,
    invocation: Invocation<'_>,
    permit: Option<&OpenEndedPermit<'_>>,
) -> Result<CommandOutcome, Error> {
    let zone = run.zone;
    let mut destination = StreamFile::new(zone, "shed_exec", "args", path)?;
    let mut page = zone.store.staging(&zone.tenant)?.create()?;
    let (_, stderr) = invocation.sinks;
    let written = run.start(Invocation {
        sinks: (file_sink(&mut page)?, stderr),
        writes: false,
        ..invocation
    })?;
    if written.status != 0 {
        return Ok(written);
    }
    let output = file_sink(&mut destination.staged)?;
    let printed = run.start(Invocation::helper(
        "weasyprint",
        &["-q", "-", "-"],
        &page,
        output,
    ))?;
    if printed.status != 0 {
        return Ok(printed);
    }
    destination.install_by(zone, permit)?;
    Ok(written)
}

/// Runs tar; `invocation` is the command as it was judged.
pub(super) fn archive(
    run: &Run<'_>,
    archive: &ArchiveArgument,
    invocation: Invocation<'_>,
    permit: Option<&OpenEndedPermit<'_>>,
) -> Result<CommandOutcome, Error> {
    if !archive.creates {
        return match archive.path.as_str() {
            STREAM => run.start(invocation),
            _ => unpack(run, archive, invocation),
        };
    }
    let by_name = || ENDS.iter().find(|(end, _)| archive.path.ends_with(end));
    let program = match archive.compression {
        Some(Compression::By(program)) => Some(program),
        Some(Compression::ByName) => by_name().map(|(_, program)| *program),
        None => None,
    };
    match program {
        Some(program) => pack(run, archive, program, invocation, permit),
        None => run.start(invocation),
    }
}

/// The arguments of tar with a standard stream in the place of its archive.
fn on_stream(archive: &ArchiveArgument, mut arguments: Vec<String>) -> Vec<String> {
    if let Some(argument) = arguments.get_mut(archive.position) {
        *argument = format!("{}{STREAM}", archive.prefix);
    }
    arguments
}

/// Unpacks the archive beside the zone and gives tar the result.
fn unpack(
    run: &Run<'_>,
    archive: &ArchiveArgument,
    invocation: Invocation<'_>,
) -> Result<CommandOutcome, Error> {
    let zone = run.zone;
    let path = ZonePath::parse("args", &archive.path)?;
    let Ok(mut file) = zone.data.read(&path) else {
        // tar says what is wrong with it.
        return run.start(invocation);
    };
    let fail = |error| DiskError::of("read", &path, error);
    let mut head = Vec::new();
    file.by_ref().take(8).read_to_end(&mut head).map_err(fail)?;
    let known = MAGIC.iter().find(|(magic, _)| head.starts_with(magic));
    let Some((_, program)) = known else {
        return run.start(invocation);
    };
    file.seek(SeekFrom::Start(0)).map_err(fail)?;
    let staging = zone.store.staging(&zone.tenant)?;
    let packed = staging.copy(file)?;
    let mut unpacked = staging.create()?;
    let output = file_sink(&mut unpacked)?;
    let outcome = run.start(Invocation::helper(program, &["-dc"], &packed, output))?;
    if outcome.status != 0 {
        return Ok(outcome);
    }
    run.start(Invocation {
        arguments: on_stream(archive, invocation.arguments),
        input: Some(&unpacked),
        ..invocation
    })
}

/// Lets tar write beside the zone, and packs the result to where it belongs.
fn pack(
    run: &Run<'_>,
    archive: &ArchiveArgument,
    program: &'static str,
    invocation: Invocation<'_>,
    permit: Option<&OpenEndedPermit<'_>>,
) -> Result<CommandOutcome, Error> {
    let zone = run.zone;
    let mut destination = match archive.path.as_str() {
        STREAM => None,
        path => Some(StreamFile::new(zone, "shed_exec", "args", path)?),
    };
    let mut plain = zone.store.staging(&zone.tenant)?.create()?;
    let (stdout, stderr) = invocation.sinks;
    // Verbose names go where messages go while the archive is on standard output.
    let tarred = run.start(Invocation {
        arguments: on_stream(archive, invocation.arguments),
        sinks: (file_sink(&mut plain)?, stderr),
        ..invocation
    })?;
    if tarred.status != 0 {
        return Ok(tarred);
    }
    let output = match &mut destination {
        Some(destination) => file_sink(&mut destination.staged)?,
        None => stdout,
    };
    let packed = run.start(Invocation::helper(program, &["-c"], &plain, output))?;
    match destination {
        None => Ok(CommandOutcome {
            stderr: tarred.stderr,
            ..packed
        }),
        Some(_) if packed.status != 0 => Ok(packed),
        Some(destination) => {
            destination.install_by(zone, permit)?;
            Ok(tarred)
        }
    }
}
