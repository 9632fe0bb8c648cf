//! The output of a line: read as it comes, as text, and no faster than the disk should take it.

use std::cell::RefCell;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use super::advice::Advice;
use super::shell::ShellWatch;
use crate::hidden_places::{HiddenPlaces, text_of};
use crate::processes::{EndRequest, OutputStream, Process, wait_for};
use fileshed_sandbox::StartedJob;
use fileshed_storage::DiskError;
use fileshed_types::timings::{self, ProcessTimings};
use fileshed_types::{Clock, Error};
use fileshed_zones::store::Store;

/// Most bytes of one entry.
const ENTRY_BYTES: usize = 8 * 1024;

/// Bytes that come at once, however fast.
const BURST_BYTES: f64 = 16.0 * 1024.0 * 1024.0;

/// Bytes a second after that: a process that writes more waits.
const BYTES_PER_SECOND: f64 = 8.0 * 1024.0 * 1024.0;

/// Entries that are read in a row before somebody else has a turn.
const ENTRIES_IN_A_ROW: usize = 16;

/// Reads what a line writes until it ends; returns `true` if the server ended it.
pub(super) fn attend_line(
    store: &Store,
    line: &Process,
    job: &StartedJob<'_>,
    watch: &mut ShellWatch<'_>,
    [stdout, stderr]: [OwnedFd; 2],
) -> Result<bool, Error> {
    let Some(waker) = line.waker() else {
        return Ok(true);
    };
    let minutes = store.settings.terminal_process_max_minutes;
    let (clock, timings) = (&store.clock, &store.settings.timings.processes);
    let mut deadline = clock.instant() + timings::minutes(minutes);
    let (of_stdout, of_stderr) = <(RefCell<Advice>, RefCell<Advice>)>::default();
    let (places, times) = (watch.places.clone(), (clock, timings));
    let mut drains = [
        (stdout, OutputStream::Stdout, &of_stdout),
        (stderr, OutputStream::Stderr, &of_stderr),
    ]
    .map(|(handle, stream, advice)| {
        let give = move |text: String| {
            let new = advice.borrow_mut().hear(&text);
            line.wrote(stream, text);
            for advice in new {
                line.remark(advice);
            }
        };
        Drain::new(handle, places.clone(), times, Box::new(give))
    })
    .into_iter()
    .collect::<Result<Vec<_>, _>>()?;
    let (mut asked, mut stopped) = (EndRequest::None, false);
    let status = loop {
        let ended = job.wait(Duration::ZERO)?;
        let now = clock.instant();
        for drain in &mut drains {
            drain.read(now);
        }
        if let Some(status) = ended {
            break status;
        }
        waker.clear();
        let wished = line.request();
        if wished > asked {
            match wished {
                EndRequest::None => {}
                EndRequest::Terminate => job.terminate(),
                EndRequest::Kill => job.kill(),
            }
            asked = wished;
        }
        if watch.must_stop(job) {
            job.kill();
            stopped = true;
        }
        if now >= deadline {
            if stopped {
                job.kill();
            } else {
                line.remark(&format!(
                    "stopped after {minutes} minutes, the limit for a process"
                ));
                job.terminate();
            }
            stopped = true;
            deadline = now + timings.grace;
        }
        let ends = [job.end(), waker.as_fd()];
        let ends = ends.map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN));
        let outputs = drains.iter().filter_map(|drain| drain.watched(now));
        let mut watched: Vec<PollFd<'_>> = ends.into_iter().chain(outputs).collect();
        wait_for(&mut watched, timings.attention);
    };
    let until = clock.instant() + timings.last_words;
    for drain in &mut drains {
        drain.finish(until);
    }
    let limit = of_stderr.borrow().limit(status, &store.settings);
    if let Some(limit) = limit.filter(|_| !stopped) {
        line.remark(&format!("a limit: {limit}"));
    }
    Ok(stopped)
}

/// The server's end of a stream.
struct Drain<'a> {
    /// Gets what is read.
    give: Box<dyn FnMut(String) + 'a>,
    /// `None` after its end.
    file: Option<File>,
    /// The buffer that is read into.
    piece: Vec<u8>,
    /// Bytes that are not given yet: the beginning of a character, or of a line.
    rest: Vec<u8>,
    places: HiddenPlaces,
    /// When it was read last.
    came: Instant,
    /// Bytes that may be read now.
    allowance: f64,
    counted: Instant,
    clock: &'a Clock,
    timings: &'a ProcessTimings,
}

impl<'a> Drain<'a> {
    /// `places` on disk are called as they are in the tree.
    fn new(
        handle: OwnedFd,
        places: HiddenPlaces,
        (clock, timings): (&'a Clock, &'a ProcessTimings),
        give: Box<dyn FnMut(String) + 'a>,
    ) -> Result<Self, Error> {
        rustix::io::ioctl_fionbio(&handle, true).map_err(DiskError::server)?;
        Ok(Self {
            give,
            file: Some(File::from(handle)),
            piece: vec![0; ENTRY_BYTES],
            rest: Vec::new(),
            places,
            came: clock.instant(),
            allowance: BURST_BYTES,
            counted: clock.instant(),
            clock,
            timings,
        })
    }

    /// Returns what has to be watched for it; `None` while it is to wait.
    fn watched(&self, now: Instant) -> Option<PollFd<'_>> {
        let file = self
            .file
            .as_ref()
            .filter(|_| self.allowance_at(now) > 0.0)?;
        Some(PollFd::from_borrowed_fd(file.as_fd(), PollFlags::IN))
    }

    fn allowance_at(&self, now: Instant) -> f64 {
        let seconds = now.saturating_duration_since(self.counted).as_secs_f64();
        (self.allowance + seconds * BYTES_PER_SECOND).min(BURST_BYTES)
    }

    /// Passes on what is there, in entries.
    fn read(&mut self, now: Instant) {
        self.allowance = self.allowance_at(now);
        self.counted = now;
        for _ in 0..ENTRIES_IN_A_ROW {
            if self.allowance <= 0.0 || !self.read_once() {
                return;
            }
        }
    }

    /// Reads once; returns `false` if nothing is there.
    fn read_once(&mut self) -> bool {
        let Some(file) = &mut self.file else {
            return false;
        };
        let room = ENTRY_BYTES.saturating_sub(self.rest.len()).max(1);
        match file.read(&mut self.piece[..room]) {
            Ok(count) if count > 0 => {
                self.allowance -= count as f64;
                self.came = self.clock.instant();
                let shown = self.places.shown(&self.piece[..count]);
                self.rest.extend(shown);
                self.give_entry();
                true
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => true,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                // Show the held bytes if no more arrive in time to complete a path.
                if self.places.holds() && self.clock.elapsed(self.came) >= self.timings.held_back {
                    self.rest.extend(self.places.rest());
                }
                self.give_entry();
                false
            }
            Ok(_) | Err(_) => {
                self.file = None;
                self.give_all();
                false
            }
        }
    }

    fn give_entry(&mut self) {
        let end = entry_end(&self.rest, ENTRY_BYTES);
        let rest = self.rest.split_off(end);
        let entry = std::mem::replace(&mut self.rest, rest);
        self.give(entry);
    }

    /// Passes on what comes until the end of the stream, or `until` then.
    fn finish(&mut self, until: Instant) {
        while self.file.is_some() {
            while self.read_once() {}
            let left = self.clock.until_look(until);
            let Some(file) = self.file.as_ref().filter(|_| !left.is_zero()) else {
                break;
            };
            let mut watched = [PollFd::from_borrowed_fd(file.as_fd(), PollFlags::IN)];
            wait_for(&mut watched, left.min(self.timings.last_look));
        }
        self.file = None;
        self.give_all();
    }

    fn give_all(&mut self) {
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend(self.places.rest());
        self.give(rest);
    }

    fn give(&mut self, entry: Vec<u8>) {
        if !entry.is_empty() {
            (self.give)(text_of(entry));
        }
    }
}

/// Returns the end of an entry in what was read: before a character that is not whole, and, if it is
/// as large as an entry may be, behind a line.
fn entry_end(bytes: &[u8], most: usize) -> usize {
    if bytes.len() >= most
        && let Some(line) = bytes.iter().rposition(|byte| *byte == b'\n')
    {
        return line + 1;
    }
    for back in 1..=3.min(bytes.len()) {
        let at = bytes.len() - back;
        let Some(byte) = bytes.get(at) else { break };
        let needed = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => break,
        };
        return if needed > back { at } else { bytes.len() };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::io::Write as _;

    use fileshed_types::timings::minutes;
    use proptest::prelude::*;

    fn drained(pieces: &[Vec<u8>]) -> String {
        drained_without(&[], pieces)
    }

    fn drained_without(places: &[(String, String)], pieces: &[Vec<u8>]) -> String {
        let clock = Clock::SYSTEM;
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        let all = RefCell::new(String::new());
        let give = |data: String| {
            assert!(data.len() <= 3 * ENTRY_BYTES && !data.is_empty());
            all.borrow_mut().push_str(&data);
        };
        let (places, timings) = (
            HiddenPlaces::new(places.to_vec()),
            &ProcessTimings::STANDARD,
        );
        let drain = Drain::new(reader.into(), places, (&clock, timings), Box::new(give));
        let mut drain = drain.expect("a drain");
        for piece in pieces {
            writer.write_all(piece).expect("written");
            drain.read(clock.instant());
        }
        drop(writer);
        drain.finish(clock.instant() + minutes(5));
        drop(drain);
        all.into_inner()
    }

    proptest! {
        #[test]
        fn whatever_the_pieces_the_text_is_the_same(text in "\\PC{0,200}", cuts in proptest::collection::vec(0_usize..600, 0..6)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<Vec<u8>> = cuts
                .windows(2)
                .map(|pair| bytes[pair[0]..pair[1]].to_vec())
                .collect();
            prop_assert_eq!(drained(&pieces), text);
        }
    }

    #[test]
    fn long_output_is_cut_behind_lines() {
        let line = format!("{}\n", "x".repeat(99));
        let bytes = line.repeat(200).into_bytes();
        let end = entry_end(&bytes[..ENTRY_BYTES], ENTRY_BYTES);
        assert_eq!(end % 100, 0);
        assert!(end > ENTRY_BYTES - 100);
    }

    #[test]
    fn no_place_on_disk_is_shown_however_long_the_line_is() {
        let places = [(
            "/data/users/7f/Storage/data".to_owned(),
            "/storage".to_owned(),
        )];
        for before in ENTRY_BYTES - 40..ENTRY_BYTES + 2 {
            let line = format!("{}{}/a.txt\n", "x".repeat(before), places[0].0);
            let shown = drained_without(&places, &[line.into_bytes()]);
            assert_eq!(shown, format!("{}/storage/a.txt\n", "x".repeat(before)));
        }
    }

    #[test]
    fn what_only_begins_like_a_place_is_shown_all_the_same() {
        let places = [("/data/users".to_owned(), "/storage".to_owned())];
        let pieces = [b"in /da".to_vec(), b"ta/u".to_vec()];
        assert_eq!(drained_without(&places, &pieces), "in /data/u");
    }

    #[test]
    fn a_process_that_never_ends_a_character_is_read_all_the_same() {
        assert_eq!(
            drained(&[vec![0xe2], vec![0xff, 0xfe], vec![0xe2, 0x82]]),
            "\u{fffd}\u{fffd}\u{fffd}\u{fffd}"
        );
    }
}
