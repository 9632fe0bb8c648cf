/* Every system call by its number, each in a process of its own, and what the kernel said to those
 * that no program of a user may make.
 *
 *   sweep
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LAST = 700, AT_ONCE = 32 };

/* Never, whatever their arguments. */
static const int never[] = {
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, 438 /* pidfd_getfd */, SYS_kcmp,
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, 429 /* move_mount */, 428 /* open_tree */,
    430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */, 442 /* mount_setattr */,
    SYS_unshare, SYS_setns, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, 425, 426, 427 /* io_uring */,
    SYS_keyctl, SYS_add_key, SYS_request_key, SYS_init_module, SYS_finit_module, SYS_delete_module,
    SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_syslog, SYS_sethostname,
    SYS_setdomainname, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex,
    SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_fanotify_init, SYS_personality, SYS_vhangup,
    SYS_mknodat, SYS_memfd_create, 447 /* memfd_secret */, SYS_shmget, SYS_shmat, SYS_shmctl,
    SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl,
    SYS_mq_open, SYS_mq_unlink, SYS_inotify_init1, SYS_migrate_pages, SYS_move_pages,
    440 /* process_madvise */, 448 /* process_mrelease */, 435 /* clone3 */, 437 /* openat2 */,
    SYS_setxattr, 463 /* setxattrat */, 467 /* open_tree_attr */, SYS_socket, SYS_bind, SYS_connect,
};

/* What would end or hold this process, and says nothing. */
static int is_left_out(int call) {
    return call == SYS_exit || call == SYS_exit_group || call == SYS_rt_sigreturn || call == SYS_pause
        || call == SYS_vfork || call == SYS_kill || call == SYS_tkill || call == SYS_tgkill;
}

static char memory[65536];

static pid_t begin(int call, int kind) {
    pid_t child = fork();
    if (child != 0) return child;
    alarm(1);
    close(0);
    for (int handle = 3; handle < 10; handle++) close(handle);
    long a = kind == 0 ? 0 : kind == 1 ? (long) memory : 1;
    long b = kind == 2 ? (long) memory : 0;
    syscall(call, a, b, b, b, a, 0);
    _exit(0);
}

/* Those that have ended are 0. */
static int are_left(pid_t *children, int count) {
    int left = 0;
    for (int number = 0; number < count; number++) {
        if (children[number] > 0 && waitpid(children[number], 0, WNOHANG) != 0) children[number] = 0;
        left |= children[number] > 0;
    }
    return left;
}

int main(void) {
    printf("BEGUN\n");
    fflush(stdout);
    for (int first = 0; first <= LAST; first += AT_ONCE) {
        pid_t children[3 * AT_ONCE];
        int count = 0;
        for (int call = first; call < first + AT_ONCE && call <= LAST; call++)
            for (int kind = 0; kind < 3 && !is_left_out(call); kind++)
                children[count++] = begin(call, kind);
        /* A stopped one is no reason to wait. */
        for (int round = 0; round < 200 && are_left(children, count); round++) {
            struct timespec moment = {0, 1000000};
            nanosleep(&moment, 0);
        }
        for (int number = 0; number < count; number++)
            if (children[number] > 0) kill(children[number], SIGKILL), waitpid(children[number], 0, 0);
    }
    for (unsigned index = 0; index < sizeof never / sizeof *never; index++) {
        errno = 0;
        long result = syscall(never[index], 0, 0, 0, 0, 0, 0);
        if (result >= 0 || (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP))
            printf("GOT call %d: %ld, %s\n", never[index], result, strerror(errno));
    }
    printf("DONE\n");
    fflush(stdout);
    return 0;
}
