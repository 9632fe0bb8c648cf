/* Takes as much as it gets of each resource that the kernel counts for an account or the machine, each
 * in a process of its own, and says how much that was and with which error it ended.
 *
 *   counted
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 100000 };

/* With this one and the one that waits for it. */
static long processes(void) {
    static pid_t children[MOST];
    long count = 0;
    while (count < MOST && (children[count] = fork()) > 0) count++;
    if (count < MOST && children[count] == 0) for (;;) pause();
    int error = errno;
    for (long child = 0; child < count; child++) kill(children[child], SIGKILL), waitpid(children[child], 0, 0);
    errno = error;
    return count + 2;
}

static long descriptors(void) {
    long count = 3;
    while (count < MOST && dup(0) >= 0) count++;
    return count;
}

/* Sent and never received, over as many sockets as it takes. */
static long flight(void) {
    char space[CMSG_SPACE(sizeof(int))] = {0};
    char byte = 0;
    struct iovec text = {&byte, 1};
    struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = space,
                             .msg_controllen = sizeof space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    int pair[2], socket = -1;
    long count = 0;
    while (count < MOST) {
        if (socket >= 0 && sendmsg(socket, &message, MSG_DONTWAIT) == 1) count++;
        else if (socket >= 0 && errno != EAGAIN) break;
        else if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0) break;
        else socket = pair[0];
    }
    return count;
}

/* A watch is of a file and a number that it had: half of the descriptors are files, each under every
 * number that is left. */
static long watches(void) {
    struct epoll_event event = {.events = EPOLLIN};
    int polls[512], files[512], ends[2];
    int most = descriptors() - 3;
    for (int used = 3; used < most + 3; used++) close(used);
    int epolls = 0, pipes = 0;
    while (epolls < most / 3 && (polls[epolls] = epoll_create1(0)) >= 0) epolls++;
    while (2 * pipes < most / 3 && pipe(ends) == 0) files[pipes++] = ends[0];
    long count = 0;
    for (int poll = 0; poll < epolls; poll++)
        for (int file = 0; file < pipes; file++)
            for (int number = files[pipes - 1] + 2; dup2(files[file], number) >= 0; number++) {
                if (epoll_ctl(polls[poll], EPOLL_CTL_ADD, number, &event) < 0) return count;
                close(number);
                count++;
            }
    return count;
}

static long signals(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, 0);
    long count = 0;
    while (count < MOST && sigqueue(getpid(), SIGRTMIN, (union sigval){0}) == 0) count++;
    return count;
}

/* In mebibytes. */
static long locked(void) {
    long count = 0;
    while (count < 1024) {
        void *memory = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED || mlock(memory, 1 << 20) < 0) break;
        count++;
    }
    return count;
}

static long call(int number, long a, long b, long c) {
    return syscall(number, a, b, c, 0, 0, 0) >= 0;
}

static long larger_pipe(void) {
    int ends[2];
    return pipe(ends) == 0 && fcntl(ends[0], F_SETPIPE_SZ, 1 << 18) >= 0;
}

static long lease(void) {
    int file = open("a", O_RDONLY);
    return file >= 0 && fcntl(file, F_SETLEASE, F_RDLCK) >= 0;
}

static long space(long flag) { return call(SYS_unshare, flag, 0, 0); }

static char memory[4096];

static long one(const char *name) {
#define IS(text) (strcmp(name, text) == 0)
    if (IS("processes")) return processes();
    if (IS("descriptors")) return descriptors();
    if (IS("descriptors_in_flight")) return flight();
    if (IS("epoll_watches")) return watches();
    if (IS("pending_signals")) return signals();
    if (IS("locked_memory")) return locked();
    if (IS("pipe_pages")) return larger_pipe();
    if (IS("leases")) return lease();
    if (IS("inotify_instances")) return call(SYS_inotify_init1, 0, 0, 0);
    if (IS("inotify_watches")) return call(SYS_inotify_add_watch, 0, (long) ".", IN_ALL_EVENTS);
    if (IS("fanotify_groups")) return call(SYS_fanotify_init, 0x200, 0, 0);
    if (IS("fanotify_marks")) return call(SYS_fanotify_mark, 0, 0, 0);
    if (IS("message_queues")) return call(SYS_mq_open, (long) "queue", O_CREAT | O_RDWR, 0600);
    if (IS("system_v_queues")) return call(SYS_msgget, 0, 01600, 0);
    if (IS("system_v_semaphores")) return call(SYS_semget, 0, 1, 01600);
    if (IS("system_v_memory")) return call(SYS_shmget, 0, 4096, 01600);
    if (IS("keys")) return syscall(SYS_add_key, "user", "a", "b", 1, -2) >= 0;
    if (IS("aio_contexts")) return call(SYS_io_setup, 1, (long) memory, 0);
    if (IS("io_uring")) return call(425, 1, (long) memory, 0);
    if (IS("bpf")) return call(SYS_bpf, 0, (long) memory, 64);
    if (IS("perf_events")) return call(SYS_perf_event_open, (long) memory, 0, -1);
    if (IS("secret_memory")) return call(447, 0, 0, 0);
    if (IS("terminals")) return open("/dev/ptmx", O_RDWR | O_NOCTTY) >= 0;
    if (IS("fuse_requests")) return open("/dev/fuse", O_RDWR) >= 0;
    if (IS("user_namespaces")) return space(CLONE_NEWUSER);
    if (IS("mount_namespaces")) return space(CLONE_NEWNS);
    if (IS("process_namespaces")) return space(CLONE_NEWPID);
    if (IS("network_namespaces")) return space(CLONE_NEWNET);
    if (IS("name_namespaces")) return space(CLONE_NEWUTS);
    if (IS("message_namespaces")) return space(CLONE_NEWIPC);
    if (IS("group_namespaces")) return space(CLONE_NEWCGROUP);
    if (IS("time_namespaces")) return space(0x80);
    errno = 0;
    return -1;
}

int main(int count, char **names) {
    for (int index = 1; index < count; index++) {
        pid_t child;
        /* A supervisor counts again after a moment. */
        while ((child = fork()) < 0) usleep(1000);
        if (child == 0) {
            errno = 0;
            long got = one(names[index]);
            printf("%s %ld %d\n", names[index], got, errno);
            return 0;
        }
        waitpid(child, 0, 0);
    }
    return 0;
}
