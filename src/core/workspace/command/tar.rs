//! tar with compression: two programs one after the other, each in its own jail.
//!
//! tar compresses by starting a shell, which no jail has. So the server runs the compressor: what
//! tar reads is unpacked beside the zone first, what it writes is packed there afterwards and
//! then moved in like any other file.

use std::io::{Read, Seek, SeekFrom};

use super::invocation::{Invocation, Run};
use super::outcome::CommandOutcome;
use crate::Error;
use crate::changes::OpenEndedPermit;
use crate::process::{StreamFile, file_sink};
use crate::zone::ZonePath;
use fileshed_rules::{ArchiveArgument, Compression};
use fileshed_sandbox::Sink;
use fileshed_storage::{DiskError, Staged};

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

/// What stands for a stream.
const STREAM: &str = "-";

/// Runs tar; `invocation` is the command as it was judged.
pub(super) fn run(
    run: &Run<'_>,
    archive: &ArchiveArgument,
    invocation: Invocation<'_>,
    permit: Option<&OpenEndedPermit<'_>>,
) -> Result<CommandOutcome, Error> {
    if archive.path == STREAM && !archive.creates {
        return run.start(invocation);
    }
    if !archive.creates {
        return read(run, archive, invocation);
    }
    let program = match archive.compression {
        Some(Compression::By(program)) => Some(program),
        Some(Compression::ByName) => by_name(&archive.path),
        None => None,
    };
    match program {
        Some(program) => write(run, archive, program, invocation, permit),
        None => run.start(invocation),
    }
}

fn by_name(path: &str) -> Option<&'static str> {
    ENDS.iter()
        .find(|(end, _)| path.ends_with(end))
        .map(|(_, program)| *program)
}

fn on_stream(archive: &ArchiveArgument, arguments: &mut [String]) {
    if let Some(argument) = arguments.get_mut(archive.position) {
        *argument = format!("{}{STREAM}", archive.prefix);
    }
}

/// Unpacks the archive beside the zone and gives tar the result.
fn read(
    run: &Run<'_>,
    archive: &ArchiveArgument,
    mut invocation: Invocation<'_>,
) -> Result<CommandOutcome, Error> {
    let zone = run.zone;
    let path = ZonePath::parse("args", &archive.path)?;
    let Ok(mut file) = zone.data().read(&path) else {
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
    let outcome = compressor(run, program, &["-dc"], &packed, &mut unpacked)?;
    if outcome.status != 0 {
        return Ok(outcome);
    }
    on_stream(archive, &mut invocation.arguments);
    run.start(Invocation {
        input: Some(&unpacked),
        ..invocation
    })
}

/// Lets tar write beside the zone, and packs the result to where it belongs.
fn write(
    run: &Run<'_>,
    archive: &ArchiveArgument,
    program: &'static str,
    mut invocation: Invocation<'_>,
    permit: Option<&OpenEndedPermit<'_>>,
) -> Result<CommandOutcome, Error> {
    let zone = run.zone;
    let destination = match archive.path.as_str() {
        STREAM => None,
        path => Some(StreamFile::new(zone, "shed_exec", "args", path)?),
    };
    let mut plain = zone.store.staging(&zone.tenant)?.create()?;
    on_stream(archive, &mut invocation.arguments);
    let (stdout, stderr) = invocation.sinks;
    // Verbose names go where messages go while the archive is on standard output.
    let tarred = run.start(Invocation {
        sinks: (file_sink(&mut plain)?, stderr),
        ..invocation
    })?;
    if tarred.status != 0 {
        return Ok(tarred);
    }
    let Some(mut destination) = destination else {
        let packed = run.start(Invocation {
            arguments: vec!["-c".to_owned()],
            command: program,
            input: Some(&plain),
            writes: false,
            sinks: (stdout, Sink::Answer(0)),
            environment: Vec::new(),
            repository: None,
            directory: zone.data(),
        })?;
        return Ok(CommandOutcome {
            stderr: tarred.stderr,
            ..packed
        });
    };
    let packed = compressor(run, program, &["-c"], &plain, &mut destination.staged)?;
    if packed.status != 0 {
        return Ok(packed);
    }
    destination.install_by(zone, permit)?;
    Ok(tarred)
}

fn compressor(
    run: &Run<'_>,
    program: &'static str,
    arguments: &[&str],
    input: &Staged,
    output: &mut Staged,
) -> Result<CommandOutcome, Error> {
    const COMPLAINTS: usize = 4096;
    run.start(Invocation {
        command: program,
        arguments: arguments.iter().map(|&text| text.to_owned()).collect(),
        directory: run.zone.data(),
        writes: false,
        input: Some(input),
        sinks: (file_sink(output)?, Sink::Answer(COMPLAINTS)),
        environment: Vec::new(),
        repository: None,
    })
}
