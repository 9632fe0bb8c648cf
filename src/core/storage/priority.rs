//! The priority of threads that work behind everybody.

/// The least that anybody waits for.
const NICE: i32 = 19;

/// Gives this thread what time nobody else wants.
pub fn give_way() {
    let this = Some(rustix::thread::gettid());
    if let Err(error) = rustix::process::setpriority_process(this, NICE) {
        let thread = std::thread::current();
        let thread = thread.name();
        tracing::debug!(%error, thread, "a thread works at the usual priority");
    }
}
