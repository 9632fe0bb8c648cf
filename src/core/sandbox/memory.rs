//! Unused memory of this process: free blocks of its allocator, and pages of the program.

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

/// Gives the kernel the free blocks that the allocator keeps between those in use. Called when the process
/// is idle.
pub fn release_heaps() {
    #[cfg(target_env = "gnu")]
    #[expect(unsafe_code, reason = "nothing safe asks the allocator")]
    // SAFETY: takes a number, and moves nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Takes the pages of code and constants out of this process's memory; those that it still needs come
/// back as they are used, most often without the disk. For when it has begun, and when it has nothing
/// to do: the kernel maps many pages around each one that is needed, and they would stay for as long
/// as the process runs.
pub fn release_program_pages() {
    // SAFETY: takes a function that is given valid objects, one after another.
    #[expect(unsafe_code, reason = "nothing safe tells where the program lies")]
    unsafe {
        libc::dl_iterate_phdr(Some(release), std::ptr::null_mut());
    }
}

/// The first object is the program; the libraries behind it are shared with everybody.
#[expect(unsafe_code, reason = "nothing safe gives pages of a file back")]
unsafe extern "C" fn release(
    object: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    _data: *mut libc::c_void,
) -> libc::c_int {
    const STOP: libc::c_int = 1;
    // SAFETY: the caller hands on what the loader knows of an object, with all of its headers.
    let (base, headers) = unsafe {
        let object = &*object;
        let number = usize::from(object.dlpi_phnum);
        let headers = std::slice::from_raw_parts(object.dlpi_phdr, number);
        (object.dlpi_addr, headers)
    };
    // SAFETY: takes a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    let unchanging = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W == 0);
    for header in unchanging {
        let begin = (base + header.p_vaddr) / page * page;
        let length = base + header.p_vaddr + header.p_memsz - begin;
        // SAFETY: a mapping of a file that nothing can write to: its pages are read from there again.
        let _kept_as_well = unsafe {
            libc::madvise(
                begin as *mut libc::c_void,
                length as usize,
                libc::MADV_DONTNEED,
            )
        };
    }
    STOP
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory of this process that is pages of files, in KiB.
    fn of_files() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("told");
        let line = status.lines().find(|line| line.starts_with("RssFile:"));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        number
            .and_then(|number| number.parse().ok())
            .expect("a number")
    }

    #[test]
    fn a_program_runs_on_without_the_pages_of_its_start() {
        let before = of_files();
        release_program_pages();
        let after = of_files();
        assert!(after < before, "{before} KiB became {after}");
    }
}
