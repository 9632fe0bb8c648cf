//! How much memory the allocators of this process keep that nobody uses: jemalloc, which Rust uses,
//! and the one of the C library, for libraries in C.

use std::ptr;

/// What jemalloc reads before it gives out the first piece: two heaps for all threads, as the other
/// one has. By default there are four a processor.
#[expect(unsafe_code, reason = "jemalloc finds its options by this name")]
#[used]
#[unsafe(export_name = "_rjem_malloc_conf")]
static OPTIONS: Option<&[u8; 10]> = Some(b"narenas:2\0");

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

/// Lets all threads share two heaps of the C library, and keeps little of what was freed. By default glibc makes eight
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

/// Gives the kernel what the allocators keep between pieces that are in use. For when there is nothing
/// to do: jemalloc does it by itself ten seconds after they were freed, but only while it is called.
pub fn release_heaps() {
    // By this number all heaps are meant (`MALLCTL_ARENAS_ALL`).
    let order = c"arena.4096.purge";
    #[expect(unsafe_code, reason = "nothing safe asks jemalloc")]
    // SAFETY: the order takes and gives nothing, and moves nothing that is in use.
    let failed = unsafe {
        tikv_jemalloc_sys::mallctl(
            order.as_ptr(),
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            0,
        )
    };
    if failed != 0 {
        tracing::warn!("the allocator gave no memory back");
    }
    #[cfg(target_env = "gnu")]
    #[expect(unsafe_code, reason = "nothing safe asks the allocator")]
    // SAFETY: takes a number, and moves nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jemalloc_reads_its_options() {
        let (mut heaps, mut length) = (0_u32, size_of::<u32>());
        #[expect(unsafe_code, reason = "nothing safe asks jemalloc")]
        // SAFETY: the answer is a number of this size.
        let failed = unsafe {
            tikv_jemalloc_sys::mallctl(
                c"opt.narenas".as_ptr(),
                ptr::from_mut(&mut heaps).cast(),
                &raw mut length,
                ptr::null_mut(),
                0,
            )
        };
        assert_eq!((failed, heaps), (0, 2));
    }
}
