//! The output that an archive is written to.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::rc::Rc;

use zip::ZipWriter;
use zip::result::ZipError;
use zip::write::StreamWriter;

/// Writer of an archive, front to back. Its output is asked whether it failed: the entries never are.
pub struct ArchiveWriter<W: Write> {
    /// Takes the entries.
    pub zip: ZipWriter<StreamWriter<ArchiveSink<W>>>,
    state: Rc<SinkState>,
}

/// A writer that never fails to the one who writes: what went wrong is asked for, and whatever
/// comes later is dropped. An archive that is given up in the middle would otherwise be finished
/// by its writer, and look whole.
pub struct ArchiveSink<W> {
    inner: W,
    /// Bytes that may still come.
    left: u64,
    state: Rc<SinkState>,
}

/// State that the sink and its writer share.
#[derive(Default)]
struct SinkState {
    closed: Cell<bool>,
    trouble: RefCell<Option<Trouble>>,
}

/// Why an archive is not written.
pub enum Trouble {
    /// The output has as much as it may have.
    Full,
    /// The output failed.
    Failed(io::Error),
    /// The archive could not be put together.
    Writer(ZipError),
}

impl<W: Write> ArchiveWriter<W> {
    /// Writes into `inner`, at most `limit` bytes.
    pub fn new(inner: W, limit: Option<u64>) -> Self {
        let state = Rc::<SinkState>::default();
        let sink = ArchiveSink {
            inner,
            left: limit.unwrap_or(u64::MAX),
            state: Rc::clone(&state),
        };
        let zip = ZipWriter::new_stream(sink);
        Self { zip, state }
    }

    /// Fails where the output did.
    pub fn check(&self) -> Result<(), Trouble> {
        self.state.trouble.take().map_or(Ok(()), Err)
    }

    /// Gives the archive up. Nothing more is written, not even its end, so that nobody takes it for one.
    pub fn abandon(self) {
        self.state.closed.set(true);
    }

    /// Writes the end of an archive that is whole.
    pub fn finish(self) -> Result<(), Trouble> {
        let mut sink = self.zip.finish().map_err(Trouble::Writer)?.into_inner();
        let _reported_below = sink.flush();
        self.state.trouble.take().map_or(Ok(()), Err)
    }
}

impl SinkState {
    fn fail(&self, trouble: Trouble) {
        self.closed.set(true);
        *self.trouble.borrow_mut() = Some(trouble);
    }
}

impl<W: Write> Write for ArchiveSink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.state.closed.get() {
            return Ok(bytes.len());
        }
        match self.left.checked_sub(bytes.len() as u64) {
            None => self.state.fail(Trouble::Full),
            Some(left) => {
                self.left = left;
                if let Err(error) = self.inner.write_all(bytes) {
                    self.state.fail(Trouble::Failed(error));
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.state.closed.get()
            && let Err(error) = self.inner.flush()
        {
            self.state.fail(Trouble::Failed(error));
        }
        Ok(())
    }
}
