//! All durations of the program in one structure, injected like the clock.
//!
//! They are no settings: an administrator needs no other values, a test may. Code without settings
//! or a parameter uses [`Timings::STANDARD`]. The functions below turn numbers, such as the seconds
//! of a setting, into durations.

#![expect(
    clippy::disallowed_methods,
    reason = "the one place that makes durations"
)]

use std::time::Duration;

/// Returns a duration of hours.
#[must_use]
pub const fn hours(number: u64) -> Duration {
    Duration::from_secs(number.saturating_mul(60 * 60))
}

/// Returns a duration of minutes.
#[must_use]
pub const fn minutes(number: u64) -> Duration {
    Duration::from_secs(number.saturating_mul(60))
}

/// Returns a duration of seconds.
#[must_use]
pub const fn seconds(number: u64) -> Duration {
    Duration::from_secs(number)
}

/// Returns a duration of milliseconds.
#[must_use]
pub const fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// Returns a duration of fractional seconds; zero if the number is negative or too large.
#[must_use]
pub fn fractional_seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or_default()
}

/// Declares groups of durations with their production values, and the structure of all groups.
macro_rules! timings {
    ($(
        $(#[$about:meta])*
        $part:ident: $group:ident { $($(#[$field_about:meta])* $field:ident: $value:expr,)* }
    )*) => {
        /// Leases, time limits, intervals and retries: all durations that are no settings.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Timings {
            $($(#[$about])* pub $part: $group,)*
        }

        impl Timings {
            /// Production values.
            pub const STANDARD: Self = Self { $($part: $group::STANDARD,)* };
        }

        $(
            $(#[$about])*
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct $group {
                $($(#[$field_about])* pub $field: Duration,)*
            }

            impl $group {
                /// Production values.
                pub const STANDARD: Self = Self { $($field: $value,)* };
            }
        )*
    };
}

impl Default for Timings {
    fn default() -> Self {
        Self::STANDARD
    }
}

timings! {
    /// Calls that wait for each other.
    calls: CallTimings {
        /// How long a call waits for its permit to run: longer, and its client hears nothing.
        permit: seconds(5),
        /// How long a call waits until the question who it is can be asked.
        lookup: seconds(5),
        /// How long the refusal of a wrong credential is held back.
        refusal: milliseconds(500),
        /// Longest wait for a write lock. It is held for milliseconds, so a longer wait means overload.
        write_lock: seconds(20),
        /// How often a write lock is tried that another process holds as a locked file: nobody tells.
        locked_file: milliseconds(5),
        /// How long a command waits for others to end: who has as many as allowed does better to wait
        /// for their answers.
        command: seconds(2),
        /// How long a transfer waits for others to end.
        transfer: seconds(2),
        /// How often somebody who waits looks whether the caller is gone.
        attention: milliseconds(100),
        /// How often it is asked whether the grounds still hold on which work was begun.
        trust: seconds(2),
    }

    /// Several servers on the same data.
    instances: InstanceTimings {
        /// For how long others believe that a process lives.
        lease: seconds(6),
        /// For how long it believes so itself: the rest is for what is under way when it stops.
        trusted: seconds(4),
        /// How often it says so, and looks after the others: it may fail once and be believed still.
        round: milliseconds(1500),
        /// A place that was not used for so long is given back, so that the table stays small.
        idle: minutes(1),
        /// For how long who waits believes that it will be told.
        recheck: seconds(1),
        /// For how long a thread listens without a look at whether it has to stop.
        listening: milliseconds(200),
        /// For how long the thread of instance recovery waits before it looks whether it has to stop.
        recovery: milliseconds(500),
    }

    /// The database of the registry.
    registry: RegistryTimings {
        /// How long a call waits for a connection before it fails.
        pool: seconds(10),
        /// A connection that nobody used for so long may have ended meanwhile: it is asked first.
        stale: seconds(1),
        /// How long the database may take to answer that.
        alive: seconds(5),
        /// How long it may take to answer a new connection.
        connect: seconds(5),
        /// How long a machine that is gone without a word may leave a call waiting: the kernel's own
        /// patience is a quarter of an hour for what was sent, and two hours where nothing was
        /// (tcp(7)).
        silence: seconds(10),
        /// When the kernel begins to ask whether the other machine is there.
        keepalive_idle: seconds(5),
        /// How often it asks.
        keepalive_interval: seconds(1),
        /// For how long a migration lets those pass that use its tables, before it begins again.
        migration: milliseconds(500),
    }

    /// What is between a change and the disk.
    storage: StorageTimings {
        /// Longest time that an acknowledged change stays in memory only, when relaxed: what the
        /// setting `durability` says.
        sync: seconds(1),
        /// How long the kernel keeps what it read, where nothing else is known of it.
        cached: seconds(10),
    }

    /// Histories and what watches for changes.
    history: HistoryTimings {
        /// How long a measurement counts that nothing was committed after: an administrator may have
        /// made space.
        measurement: seconds(10),
        /// A history that nothing was done to for so long is packed although it is small.
        quiet: seconds(30),
        /// How long after its last change a save takes in another one: programs save in steps.
        save_quiet: seconds(5),
        /// How long a save lasts at most.
        save_longest: minutes(1),
        /// How long a zone that could not be watched is not tried again.
        watch: minutes(1),
    }

    /// Work that is given up or becomes less fine.
    work: WorkTimings {
        /// How long all searches of an edit may take: one pattern must not hold up a zone.
        edit: seconds(1),
        /// How long a comparison of two texts may take before it becomes less fine.
        comparison: seconds(5),
        /// How long a search in a zone may take: what it has found is answered then.
        search: seconds(20),
        /// The time that a statement may take to say how many rows there are beyond those of its
        /// answer.
        counting: milliseconds(50),
        /// What the child that runs a statement has beyond the time of its work, to say that the time
        /// is over.
        database: seconds(3),
        /// How long it is asked which files of a publication are still there.
        publication: seconds(5),
    }

    /// Commands that a call waits for.
    commands: CommandTimings {
        /// How often it is asked whether a running command must stop.
        attention: milliseconds(100),
        /// How long output is still read after the end; what holds the pipe longer is another process.
        last_words: milliseconds(500),
        /// Longest wait for what was ended to be gone.
        end: seconds(10),
        /// How long what was ended in a control group may take to be gone.
        group_end: seconds(2),
        /// How often a control group is looked at meanwhile.
        group_look: milliseconds(1),
        /// How often the space of a command is measured.
        measure: milliseconds(100),
        /// How long the trial of what the kernel can confine may take.
        probe: seconds(5),
    }

    /// Processes that outlive their call.
    processes: ProcessTimings {
        /// How often it is asked whether a process must stop.
        attention: milliseconds(100),
        /// How long one that was asked to end for its time may go on.
        grace: seconds(5),
        /// How long output is still read after the end; what holds the pipe longer is another process.
        last_words: milliseconds(500),
        /// How often what holds the pipe is looked at meanwhile.
        last_look: milliseconds(100),
        /// How long what may be the beginning of a place on disk waits for the rest of it.
        held_back: milliseconds(50),
        /// How long input waits for a process that does not read.
        input: seconds(5),
        /// How long a process may take to end before the answer says that it runs still.
        kill: seconds(5),
    }

    /// Interactive shells.
    shells: ShellTimings {
        /// How long a new shell may take to begin.
        start: seconds(30),
        /// How long a new shell waits for the place of another one.
        place: seconds(2),
        /// How long nothing must have been typed or written before what changed is taken in.
        quiet: seconds(2),
        /// How often a shell is looked at in which something runs.
        busy: milliseconds(250),
        /// How often one is looked at that waits for a line.
        idle: seconds(5),
        /// How long what may be the beginning of a place on disk waits for the rest of it: somebody
        /// looks at the screen.
        held_back: milliseconds(10),
        /// How long what was written is still read after the end.
        last_words: milliseconds(500),
        /// How often it is looked meanwhile whether there is more.
        last_look: milliseconds(5),
        /// How long an id is good for a first connection.
        credential: seconds(30),
        /// How long a client has to say who it is.
        authentication: seconds(10),
        /// How often a client is asked whether it is there.
        ping: seconds(30),
        /// The silence after which a client is not there: three questions without an answer.
        silence: seconds(90),
        /// How long a client may take for the last message.
        farewell: seconds(5),
    }

    /// The zygote and the supervisors of confined commands. They run after a fork, without what the
    /// server was given, and so these are never others.
    jail: JailTimings {
        /// Who finds all places of processes taken is not counted again before this is over.
        census: milliseconds(20),
        /// How long the proxy may take to accept: it listens on this machine and answers at once.
        proxy: seconds(5),
        /// The time for which a spare jail waits for a job.
        spare: seconds(20),
    }

    /// The proxy through which commands reach the network.
    egress: EgressTimings {
        /// Pause after a failed accept, most often for want of descriptors.
        accept: milliseconds(50),
        /// How long a connection may be silent.
        idle: minutes(1),
        /// How long a request may take to arrive.
        request: seconds(10),
        /// How long is waited for a client to read a refusal.
        farewell: seconds(1),
        /// How long one address may take to answer.
        connect: seconds(10),
    }

    /// What is done from time to time.
    rounds: RoundTimings {
        /// How often uploads that have ended are looked for: they are kept for days.
        retention: hours(1),
        /// How often it is recorded who called: a server that is killed forgets at most that.
        last_calls: minutes(1),
        /// How long the groups count that a user named in an earlier call.
        group_claims: minutes(15),
        /// How long the answer counts that an earlier call of a conversation named.
        answers: hours(6),
    }

    /// Files that people attach to messages.
    attachments: AttachmentTimings {
        /// How long an answer of the application counts, where the message is known that it was for.
        message: minutes(1),
        /// How long the answer counts if the message is not known, or after a failure that may pass.
        moment: seconds(5),
        /// How long a file is left alone that could not come in.
        refused: minutes(10),
        /// Time after which no other file is begun: the next call goes on.
        patience: seconds(30),
    }

    /// Connections, bodies and answers of HTTP.
    http: HttpTimings {
        /// How long a connection has for the head of a request: the first, or one that has begun.
        head: seconds(10),
        /// How long a connection waits for the headers of the next request; longer than the minute for
        /// which proxies keep idle connections, so that these end first.
        next_request: seconds(75),
        /// How long a body may bring less than its pace wants.
        slow_body: seconds(30),
        /// How long a client may take less than its pace wants of what is written to it.
        slow_answer: seconds(30),
        /// How often slow connections are looked for.
        slow_look: seconds(1),
        /// How long the rest of a body is read that nobody wants, so that its client reads the answer.
        body_rest: seconds(5),
        /// How long a small body may take to arrive.
        small_body: seconds(10),
        /// How long one chunk of an answer may wait: a client that reads more slowly comes back for
        /// the rest with a range.
        chunk: minutes(1),
        /// Pause after a failed accept, most often for want of descriptors.
        accept: milliseconds(100),
        /// For how long nothing is under way before the server counts as at rest.
        rest: seconds(10),
        /// How long a browser need not ask again whether a page may call.
        cors: minutes(10),
        /// How long another server may take to accept a connection.
        peer: seconds(2),
        /// How long after a directory was listed the file of a message may come: a proxy collects all
        /// of it first.
        message_box: minutes(10),
        /// How long a link to a file of a terminal works.
        terminal_link: minutes(5),
        /// How long what a drive wrote beside its files is kept after it was last read or written.
        sidecar: hours(1),
        /// How long a stream waits for news of a process before it looks for itself.
        news: minutes(1),
    }

    /// The Model Context Protocol.
    mcp: McpTimings {
        /// How long a call that runs when the input ends may go on, so that a script may send its
        /// calls and close the input.
        grace: seconds(1),
        /// How often a client hears of a call that lasts, if it asked for that.
        progress: seconds(1),
        /// How often it is looked whether resources changed, where few want to know.
        look: milliseconds(500),
        /// How often a credential is looked at of whose resources nothing changes.
        credential: seconds(30),
    }

    /// Signing in on the page.
    sign_in: SignInTimings {
        /// How long a link works that an administrator made.
        link: minutes(5),
        /// How long the role of an administrator counts after a provider named it: then it is asked again.
        role: minutes(15),
        /// For the whole of one question to a provider.
        question: seconds(10),
        /// How long what a provider publishes counts.
        published: minutes(10),
        /// How long keys count in which the key of a token is not: a provider changes keys.
        keys: seconds(30),
    }

    /// Questions to Open WebUI.
    openwebui: OpenWebUiTimings {
        /// To establish a connection.
        connect: seconds(3),
        /// For the whole of a small call.
        call: seconds(10),
        /// For the whole of a call that moves a file.
        transfer: minutes(10),
        /// A connection that is not used is not used again after this; Open WebUI closes it a second
        /// later.
        idle: seconds(4),
        /// Before a question is asked again.
        again: milliseconds(200),
        /// How long an answer on an account counts.
        account: seconds(20),
        /// Younger answers on groups are not asked for again: a model that tries names does not become
        /// a load.
        groups: seconds(2),
        /// How long calls fail at once after failures in a row, until one is let through.
        breaker: seconds(10),
        /// Open WebUI gives every one of its servers ten seconds, ours and others.
        register: seconds(40),
        /// How long no more files must come before the notice of an upload is sent.
        notice_quiet: seconds(3),
        /// How long a notice may wait for more files.
        notice_longest: seconds(30),
        /// How long something takes before it shows in a conversation.
        status: seconds(2),
        /// Longest that an answer waits until its line in a conversation has ended.
        status_end: seconds(1),
        /// Before an end is sent again that Open WebUI did not accept.
        status_again: seconds(4),
    }
}
