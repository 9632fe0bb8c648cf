//! How much memory the allocator of this process keeps that nobody uses.

use std::ptr;

/// What the allocator reads before it gives out the first piece: two heaps for all threads. More than
/// there are threads at work are memory that is only kept; by default there are four a processor.
#[expect(unsafe_code, reason = "the allocator finds its options by this name")]
#[used]
#[unsafe(no_mangle)]
static malloc_conf: Option<&[u8; 10]> = Some(b"narenas:2\0");

/// Gives the kernel what the allocator keeps between pieces that are in use. For when there is nothing
/// to do: the allocator itself does it ten seconds after they were freed, but only while it is called.
pub fn release_heaps() {
    // By this number all heaps are meant (`MALLCTL_ARENAS_ALL`).
    let order = c"arena.4096.purge";
    #[expect(unsafe_code, reason = "nothing safe asks the allocator")]
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allocator_reads_its_options() {
        let (mut heaps, mut length) = (0_u32, size_of::<u32>());
        #[expect(unsafe_code, reason = "nothing safe asks the allocator")]
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
