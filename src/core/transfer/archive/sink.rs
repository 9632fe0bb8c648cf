//! Where an archive is written to.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::rc::Rc;

/// A writer that never fails to the one who writes: what went wrong is asked for, and whatever
/// comes later is dropped. An archive that is given up in the middle would otherwise be finished
/// by its writer, and look whole.
pub struct ArchiveSink<W> {
    inner: W,
    /// Bytes that may still come.
    left: u64,
    state: Rc<SinkState>,
}

/// What both sides see.
#[derive(Default)]
pub struct SinkState {
    closed: Cell<bool>,
    trouble: RefCell<Option<Trouble>>,
}

/// Why a sink takes nothing any more.
pub enum Trouble {
    /// It has as much as it may have.
    Full,
    /// It failed.
    Failed(io::Error),
}

impl<W: Write> ArchiveSink<W> {
    /// A sink before `inner` that takes at most `limit` bytes, and what is known of it later.
    pub fn new(inner: W, limit: Option<u64>) -> (Self, Rc<SinkState>) {
        let state = Rc::<SinkState>::default();
        let sink = Self {
            inner,
            left: limit.unwrap_or(u64::MAX),
            state: Rc::clone(&state),
        };
        (sink, state)
    }
}

impl SinkState {
    /// Fails where the sink did.
    pub fn check(&self) -> Result<(), Trouble> {
        self.trouble.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// Drops whatever is still written.
    pub fn close(&self) {
        self.closed.set(true);
    }

    fn fail(&self, trouble: Trouble) {
        self.close();
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
