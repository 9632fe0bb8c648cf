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
pub const fn hours(number: u64) -> Duration {
    Duration::from_secs(number.saturating_mul(60 * 60))
}

/// Returns a duration of minutes.
pub const fn minutes(number: u64) -> Duration {
    Duration::from_secs(number.saturating_mul(60))
}

/// Returns a duration of seconds.
pub const fn seconds(number: u64) -> Duration {
    Duration::from_secs(number)
}

/// Returns a duration of milliseconds.
pub const fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// Returns a duration of fractional seconds; zero if the number is negative or too large.
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
        /// Longest wait of a call for its permit to run. Its client gets no response in the meantime.
        permit: seconds(5),
        /// Longest wait of a call until it may ask for the caller's identity.
        lookup: seconds(5),
        /// Delay of the response to a wrong credential.
        refusal: milliseconds(500),
        /// Longest wait of a password of a link for those that other addresses try.
        guess: seconds(15),
        /// Longest wait for a write lock. It is held for milliseconds, so a longer wait means overload.
        write_lock: seconds(20),
        /// Interval of the attempts to take a write lock that another process holds as a file lock,
        /// whose release is not announced.
        locked_file: milliseconds(5),
        /// Longest wait of a command for others to end. A client at its limit does better to wait for
        /// the responses of its other commands.
        command: seconds(2),
        /// Longest wait of a transfer for others to end.
        transfer: seconds(2),
        /// Interval at which a waiting thread checks that its caller is still there.
        attention: milliseconds(100),
        /// Interval of the checks that the trust on which work began still holds.
        trust: seconds(2),
    }

    /// Several servers on the same data.
    instances: InstanceTimings {
        /// Time for which the other processes count a process as alive after its last sign of life.
        lease: seconds(6),
        /// Time for which a process counts itself as alive. The rest of the lease is for running work
        /// when it stops.
        trusted: seconds(4),
        /// Interval at which a process renews its lease and checks the others. One renewal may fail
        /// without loss of the lease.
        round: milliseconds(1500),
        /// Time after which the lease of an unused place is given back, so that the table stays small.
        idle: minutes(1),
        /// Time that a thread waits for a notice before it tries to take the lease again.
        recheck: seconds(1),
        /// Time that a thread listens before it checks whether it has to stop.
        listening: milliseconds(200),
        /// Time that the thread of instance recovery waits before it checks whether it has to stop.
        recovery: milliseconds(500),
    }

    /// The database of the registry.
    registry: RegistryTimings {
        /// Longest wait of a call for a connection; then it fails.
        pool: seconds(10),
        /// Time without use after which a connection is tested before its next use, because it may have
        /// ended.
        stale: seconds(1),
        /// Longest wait for the answer to this test.
        alive: seconds(5),
        /// Longest wait for a new connection.
        connect: seconds(5),
        /// Longest wait of a call for a machine that no longer answers. The kernel's own limits are a
        /// quarter of an hour if data were sent, and two hours if not (tcp(7)).
        silence: seconds(10),
        /// Silence after which the kernel begins to test whether the other machine is there.
        keepalive_idle: seconds(5),
        /// Interval of these tests.
        keepalive_interval: seconds(1),
        /// Time for which a migration yields to transactions that use its tables, before it tries again.
        migration: milliseconds(500),
    }

    /// Writing of changes to disk.
    storage: StorageTimings {
        /// Longest time that an acknowledged change is in memory only if the setting `durability` is
        /// `relaxed`.
        sync: seconds(1),
        /// Time for which the kernel is assumed to keep a directory in memory that it has read.
        cached: seconds(10),
    }

    /// Histories, and the watching of zones for changes.
    history: HistoryTimings {
        /// Time for which the measured size of a history counts if there is no commit: an administrator
        /// may have freed space.
        measurement: seconds(10),
        /// Time without changes after which even a small history is packed.
        quiet: seconds(30),
        /// Time after its last change for which a commit takes in further changes: programs save in steps.
        save_quiet: seconds(5),
        /// Longest time for which a commit takes in further changes.
        save_longest: minutes(1),
        /// Time after which the server tries again to watch a zone that could not be watched.
        watch: minutes(1),
    }

    /// Work that is cut off or becomes coarser after a time.
    work: WorkTimings {
        /// Limit on all searches of an edit: one pattern must not hold up a zone.
        edit: seconds(1),
        /// Time after which a comparison of two texts becomes coarser.
        comparison: seconds(5),
        /// Limit on a search in a zone; then the response has the matches so far.
        search: seconds(20),
        /// Limit on counting the rows that a statement has beyond those of its response.
        counting: milliseconds(50),
        /// Time that the child process of a statement has beyond the statement's limit, so that it can
        /// report the timeout.
        database: seconds(3),
        /// Limit on asking which published files still exist.
        publication: seconds(5),
    }

    /// Commands that a call waits for.
    commands: CommandTimings {
        /// Interval of the checks whether a running command must stop.
        attention: milliseconds(100),
        /// Time for which output is still read after the end of a command. Another process holds a pipe
        /// that stays open longer.
        last_words: milliseconds(500),
        /// Longest wait for killed processes to be gone.
        end: seconds(10),
        /// Longest wait for the killed processes of a control group to be gone.
        group_end: seconds(2),
        /// Interval at which the control group is checked meanwhile.
        group_look: milliseconds(1),
        /// Interval at which the space that a command takes is measured.
        measure: milliseconds(100),
        /// Limit on the probe of what the kernel can confine.
        probe: seconds(5),
    }

    /// Processes that outlive their call.
    processes: ProcessTimings {
        /// Interval of the checks whether a process must stop.
        attention: milliseconds(100),
        /// Time that a process has to end by itself after its time is over.
        grace: seconds(5),
        /// Time for which output is still read after the end of a process. Another process holds a pipe
        /// that stays open longer.
        last_words: milliseconds(500),
        /// Interval of the checks of such a pipe meanwhile.
        last_look: milliseconds(100),
        /// Time for which output that may be the beginning of a path on disk is held back until the rest
        /// of it comes.
        held_back: milliseconds(50),
        /// Longest wait of input for a process that does not read.
        input: seconds(5),
        /// Longest wait for a killed process to end before the response says that it still runs.
        kill: seconds(5),
    }

    /// Interactive shells.
    shells: ShellTimings {
        /// Limit on the start of a new shell.
        start: seconds(30),
        /// Longest wait of a new shell for the place of another one.
        place: seconds(2),
        /// Time without input and output after which changes are committed.
        quiet: seconds(2),
        /// Interval at which a shell that runs something is checked.
        busy: milliseconds(250),
        /// Interval at which a shell that waits for a line is checked.
        idle: seconds(5),
        /// Time for which output that may be the beginning of a path on disk is held back until the rest
        /// of it comes. It is short because somebody looks at the screen.
        held_back: milliseconds(10),
        /// Time for which output is still read after the end of a shell.
        last_words: milliseconds(500),
        /// Interval at which this output is read.
        last_look: milliseconds(5),
        /// Time for which an id is valid for a first connection.
        credential: seconds(30),
        /// Time that a client has to authenticate.
        authentication: seconds(10),
        /// Interval of the pings to a client.
        ping: seconds(30),
        /// Silence after which a client counts as gone: three pings without an answer.
        silence: seconds(90),
        /// Longest wait for a client to take the last message.
        farewell: seconds(5),
    }

    /// The zygote and the supervisors of confined commands. They run after a fork, without the settings
    /// of the server, so these values are always the standard ones.
    jail: JailTimings {
        /// Shortest time between two counts of a command that has as many processes as it may.
        census: milliseconds(20),
        /// Longest wait for the proxy to accept: it listens on this machine and answers at once.
        proxy: seconds(5),
        /// Time for which a spare jail waits for a job.
        spare: seconds(20),
    }

    /// The proxy through which commands reach the network.
    egress: EgressTimings {
        /// Pause after a failed accept, which most often fails because file descriptors ran out.
        accept: milliseconds(50),
        /// Silence after which a connection is closed.
        idle: minutes(1),
        /// Limit on the arrival of a request.
        request: seconds(10),
        /// Longest wait for a client to read a refusal.
        farewell: seconds(1),
        /// Longest wait for one address to answer.
        connect: seconds(10),
    }

    /// Periodic tasks, and values recalled from earlier calls.
    rounds: RoundTimings {
        /// Interval of the searches for expired uploads; they are kept for days.
        retention: hours(1),
        /// Interval at which the times of the tenants' last calls are recorded. A server that is killed
        /// loses at most this.
        last_calls: minutes(1),
        /// Time for which groups count that a user named in an earlier call.
        group_claims: minutes(15),
        /// Time for which the answer counts that an earlier call of a conversation named.
        answers: hours(6),
    }

    /// Files that people attach to messages.
    attachments: AttachmentTimings {
        /// Time for which a response of the application counts if the message is known.
        message: minutes(1),
        /// Time for which the response counts if the message is not known, or after a failure that may pass.
        moment: seconds(5),
        /// Time after which a file is tried again that could not be imported.
        refused: minutes(10),
        /// Time after which a call imports no further file; the next call goes on.
        patience: seconds(30),
    }

    /// Connections, bodies and answers of HTTP.
    http: HttpTimings {
        /// Limit on the head of a request: of the first one of a connection, or of one that has begun.
        head: seconds(10),
        /// Longest wait of a connection for the headers of the next request. It is longer than the
        /// minute for which proxies keep idle connections, so that these end first.
        next_request: seconds(75),
        /// Time for which a body may arrive more slowly than the minimum rate.
        slow_body: seconds(30),
        /// Time for which a client may read a response more slowly than the minimum rate.
        slow_answer: seconds(30),
        /// Interval of the checks for slow connections.
        slow_look: seconds(1),
        /// Time for which the rest of an unwanted body is read, so that its client reads the response.
        body_rest: seconds(5),
        /// Limit on the arrival of a small body.
        small_body: seconds(10),
        /// Longest wait of one chunk of a response. A client that reads more slowly requests the rest
        /// with a range.
        chunk: minutes(1),
        /// Pause after a failed accept, which most often fails because file descriptors ran out.
        accept: milliseconds(100),
        /// Time without requests after which the server counts as idle.
        rest: seconds(10),
        /// Time for which a browser may cache that a page may call the server.
        cors: minutes(10),
        /// Longest wait for another server to accept a connection.
        peer: seconds(2),
        /// Time after the listing of a directory within which the file of a message may follow: a proxy
        /// collects all of the file first.
        message_box: minutes(10),
        /// Lifetime of a link to a file of a terminal.
        terminal_link: minutes(5),
        /// Time for which the sidecar files of a WebDAV client are kept after they were last read or written.
        sidecar: hours(1),
        /// Longest wait of a stream for a notice from a process before it checks the process itself.
        news: minutes(1),
    }

    /// The Model Context Protocol.
    mcp: McpTimings {
        /// Time for which a call may go on that runs when the input ends, so that a script may send its
        /// calls and close the input.
        grace: seconds(1),
        /// Interval of the progress notifications for a long call, if the client asked for them.
        progress: seconds(1),
        /// Interval of the checks for changed resources if there are few subscriptions.
        look: milliseconds(500),
        /// Interval at which a credential is checked again while its resources do not change.
        credential: seconds(30),
    }

    /// Signing in on the page.
    sign_in: SignInTimings {
        /// Lifetime of a sign-in link that an administrator made.
        link: minutes(5),
        /// Time for which the administrator role counts after a provider named it; then the provider is
        /// asked again.
        role: minutes(15),
        /// Limit on one whole request to a provider.
        question: seconds(10),
        /// Time for which a provider's published metadata and keys are cached.
        published: minutes(10),
        /// Time after which the keys are fetched again if the key of a token is not among them: a
        /// provider changes keys.
        keys: seconds(30),
    }

    /// Requests to Open WebUI.
    openwebui: OpenWebUiTimings {
        /// Limit on establishing a connection.
        connect: seconds(3),
        /// Limit on a whole small request.
        call: seconds(10),
        /// Limit on a whole request that moves a file.
        transfer: minutes(10),
        /// Time without use after which a connection is not used again; Open WebUI closes it a second later.
        idle: seconds(4),
        /// Pause before a request is repeated.
        again: milliseconds(200),
        /// Time for which the response about an account counts.
        account: seconds(20),
        /// Age below which the response about groups is not requested again, so that a model that tries
        /// names does not become a load.
        groups: seconds(2),
        /// Time for which calls fail at once after failures in a row, until one is let through.
        breaker: seconds(10),
        /// Limit on a registration: Open WebUI gives each of its servers ten seconds, this one and others.
        register: seconds(40),
        /// Time without further files after which the notice of an upload is sent.
        notice_quiet: seconds(3),
        /// Longest time for which a notice waits for more files.
        notice_longest: seconds(30),
        /// Time after which running work shows in a conversation.
        status: seconds(2),
        /// Longest wait of a response until its status line in a conversation has ended.
        status_end: seconds(1),
        /// Pause before the end of a status line is sent again that Open WebUI did not accept.
        status_again: seconds(4),
    }
}
