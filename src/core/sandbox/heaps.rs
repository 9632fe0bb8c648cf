//! How much memory the allocator of this process keeps that nobody uses.

/// Heaps of the allocator. More than there are threads at work are memory that is only kept.
#[cfg(target_env = "gnu")]
const HEAPS: libc::c_int = 2;

/// Bytes from which on a piece of memory is the kernel's again as soon as it is freed. By default
/// glibc raises this to the largest piece that was ever freed, and keeps what is smaller.
#[cfg(target_env = "gnu")]
const LARGE: libc::c_int = 256 * 1024;

/// Free bytes at the end of a heap that are kept.
#[cfg(target_env = "gnu")]
const KEPT: libc::c_int = 256 * 1024;

/// Lets all threads share two heaps, and keeps little of what was freed. By default glibc makes eight
/// heaps a processor, and each of them keeps what the largest call that ever ran in it has freed.
pub fn share_heaps() {
    #[cfg(target_env = "gnu")]
    for (option, value) in [
        (libc::M_ARENA_MAX, HEAPS),
        (libc::M_MMAP_THRESHOLD, LARGE),
        (libc::M_TRIM_THRESHOLD, KEPT),
    ] {
        #[expect(unsafe_code, reason = "nothing safe sets options of the allocator")]
        // SAFETY: takes two numbers, and changes nothing but what the allocator keeps from now on.
        let taken = unsafe { libc::mallopt(option, value) };
        if taken == 0 {
            tracing::warn!("an option of the allocator could not be set");
        }
    }
}

/// Gives the kernel what the allocator keeps between pieces that are in use. For when there is nothing
/// to do.
pub fn release_heaps() {
    #[cfg(target_env = "gnu")]
    #[expect(unsafe_code, reason = "nothing safe asks the allocator")]
    // SAFETY: takes a number, and moves nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}
