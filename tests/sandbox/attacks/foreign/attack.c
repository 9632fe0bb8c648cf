/* Machine code of an attacker, as if it had been brought to run: it tries what file rules do not
 * know, and says GOT for each call that went through.
 *
 *   attack SECRET DIRECTORY BYSTANDER SOCKET
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>
#include <sched.h>

static void tried(const char *what, long result) {
    if (result >= 0) printf("GOT %s\n", what);
    fflush(stdout);
}

int main(int count, char **arguments) {
    if (count < 5) return 2;
    const char *secret = arguments[1], *directory = arguments[2];
    pid_t other = atoi(arguments[3]);
    const char *socket_path = arguments[4];
    struct timespec times[2] = {{1, 0}, {2, 0}};
    struct timeval values[2] = {{1, 0}, {2, 0}};
    struct utimbuf buffer = {1, 2};
    char text[4096];
    printf("BEGUN\n");

    /* Modes, owners, times and attributes by path. */
    tried("chmod", chmod(secret, 0777));
    tried("fchmodat", syscall(SYS_fchmodat, AT_FDCWD, secret, 0777));
    tried("fchmodat2", syscall(452, AT_FDCWD, secret, 0777, 0));
    tried("chown", chown(secret, -1, -1));
    tried("lchown", lchown(secret, getuid(), getgid()));
    tried("fchownat", fchownat(AT_FDCWD, secret, getuid(), -1, 0));
    tried("utime", utime(secret, &buffer));
    tried("utimes", utimes(secret, values));
    tried("futimesat", futimesat(AT_FDCWD, secret, values));
    tried("utimensat", utimensat(AT_FDCWD, secret, times, 0));
    tried("utimensat, the link", utimensat(AT_FDCWD, secret, times, AT_SYMLINK_NOFOLLOW));
    tried("setxattr", setxattr(secret, "user.a", "b", 1, 0));
    tried("lsetxattr", lsetxattr(secret, "user.a", "b", 1, 0));
    tried("removexattr", removexattr(secret, "user.b"));
    struct { uint64_t value; uint32_t size, flags; } attribute = {(uint64_t)(uintptr_t) "b", 1, 0};
    tried("setxattrat", syscall(463, AT_FDCWD, secret, 0, "user.a", &attribute, sizeof attribute));
    char nothing[24] = {0};
    tried("file_setattr", syscall(469, AT_FDCWD, secret, nothing, sizeof nothing, 0));

    /* The same by descriptors that lead to a path without opening what is there. */
    int path = open(secret, O_PATH);
    if (path >= 0) {
        sprintf(text, "/proc/self/fd/%d", path);
        tried("chmod of a descriptor's path", chmod(text, 0777));
        tried("fchmodat2, empty path", syscall(452, path, "", 0777, AT_EMPTY_PATH));
        tried("fchownat, empty path", fchownat(path, "", getuid(), -1, AT_EMPTY_PATH));
        tried("utimensat, empty path", utimensat(path, "", times, AT_EMPTY_PATH));
        tried("futimens", futimens(path, times));
        tried("fchmod", fchmod(path, 0777));
        tried("fsetxattr", fsetxattr(path, "user.a", "b", 1, 0));
    }
    int place = open(directory, O_PATH | O_DIRECTORY);
    tried("chmod below a descriptor", syscall(SYS_fchmodat, place, "secret", 0777));
    tried("times below a descriptor", utimensat(place, "secret", times, 0));
    tried("chmod by parents", chmod("../other/secret", 0777));
    tried("chmod of a directory", chmod("..", 0700));
    tried("chmod of a directory outside", chmod(directory, 0700));
    int before = open(".", O_PATH);
    if (chdir(directory) == 0) {
        tried("chmod from there", chmod("secret", 0777));
        tried("times from there", utimes("secret", values));
        tried("attributes from there", setxattr("secret", "user.a", "b", 1, 0));
    }
    if (fchdir(before) != 0) printf("lost\n");
    int library = open("/usr/share", O_RDONLY);
    tried("mode of a library's directory", library < 0 ? -1 : fchmod(library, 0755));
    tried("times of a library's directory", library < 0 ? -1 : futimens(library, times));

    tried("mode of the input", fchmod(0, 0666));
    tried("times of the input", futimens(0, 0));
    tried("mode of a device", chmod("/dev/null", 0666));
    tried("times of a device", utimensat(AT_FDCWD, "/dev/null", 0, 0));
    tried("owner of a device", chown("/dev/null", getuid(), -1));

    /* Content. */
    tried("truncate", truncate(secret, 0));
    tried("open to truncate", open(secret, O_RDONLY | O_TRUNC));
    tried("open", open(secret, O_RDONLY));
    tried("open to write", open(secret, O_WRONLY));
    tried("open to append", open(secret, O_WRONLY | O_APPEND));
    tried("rename", rename(secret, "taken"));
    tried("link", link(secret, "linked"));
    tried("unlink", unlink(secret));
    sprintf(text, "%s/planted", directory);
    tried("rename to outside", rename("a", text));
    tried("link to outside", link("a", text));
    tried("create outside", open(text, O_CREAT | O_WRONLY, 0600));
    tried("symlink", symlink(secret, "symlink"));
    int watch = inotify_init();
    tried("watch", watch < 0 ? -1 : inotify_add_watch(watch, directory, IN_ALL_EVENTS));

    /* Machine code from files of the zone. */
    int data = open("a", O_RDONLY);
    if (data >= 0) {
        void *code = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, data, 0);
        tried("executable mapping", code == MAP_FAILED ? -1 : 0);
        code = mmap(0, 4096, PROT_READ, MAP_PRIVATE, data, 0);
        if (code != MAP_FAILED) tried("mapping made executable", mprotect(code, 4096, PROT_READ | PROT_EXEC));
        close(data);
    }

    /* Ways to other processes that are no files. */
    tried("socket", socket(AF_UNIX, SOCK_DGRAM, 0));
    int pair[2];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, socket_path, sizeof address.sun_path - 1);
    int kinds[] = {SOCK_DGRAM, SOCK_SEQPACKET, SOCK_STREAM};
    for (int kind = 0; kind < 3; kind++)
        if (socketpair(AF_UNIX, kinds[kind], 0, pair) == 0) {
            int sent = sendto(pair[0], "x", 1, 0, (void *) &address, sizeof address);
            /* Where the kernel ignores the address, the other end has it. */
            char had;
            if (sent == 1 && recv(pair[1], &had, 1, MSG_DONTWAIT) == 1) sent = -1;
            tried("datagram to a path", sent);
            tried("connect to a path", connect(pair[0], (void *) &address, sizeof address));
        }
    struct shmid_ds segment;
    tried("shared memory by number", shmctl(0, IPC_STAT, &segment));
    tried("list of shared memory", shmctl(0, 14 /* SHM_INFO */, &segment));

    /* Other processes. */
    struct rlimit none = {0, 0};
    tried("limits", prlimit(other, RLIMIT_NOFILE, &none, 0));
    tried("limits read", prlimit(other, RLIMIT_NOFILE, 0, &none));
    tried("priority", setpriority(PRIO_PROCESS, other, 19));
    if (getuid() != 0) tried("priority of the account", setpriority(PRIO_USER, 0, 19));
    struct sched_param parameter = {0};
    tried("scheduler", sched_setscheduler(other, SCHED_IDLE, &parameter));
    cpu_set_t processors;
    CPU_ZERO(&processors);
    CPU_SET(0, &processors);
    tried("processors", sched_setaffinity(other, sizeof processors, &processors));
    tried("input and output", syscall(SYS_ioprio_set, 1, other, 3 << 13));
    if (getuid() != 0) tried("input and output of the account", syscall(SYS_ioprio_set, 3, getuid(), 3 << 13));
    tried("trace", ptrace(PTRACE_SEIZE, other, 0, 0));
    struct iovec own = {text, 1}, foreign = {main, 1};
    tried("memory", process_vm_readv(other, &own, 1, &foreign, 1, 0));
    const char *files[] = {"mem", "environ", "maps", "fd", "cwd", "root/etc/passwd"};
    for (int file = 0; file < 6; file++) {
        sprintf(text, "/proc/%d/%s", other, files[file]);
        tried(files[file], open(text, O_RDONLY));
    }
    sprintf(text, "/proc/%d/coredump_filter", other);
    tried("coredump_filter", open(text, O_WRONLY));
    sprintf(text, "/proc/%d/oom_score_adj", other);
    tried("oom_score_adj", open(text, O_WRONLY));
    int process = syscall(SYS_pidfd_open, other, 0);
    if (process >= 0) {
        tried("signal by descriptor", syscall(SYS_pidfd_send_signal, process, SIGKILL, 0, 0));
        tried("descriptor", syscall(438, process, 0, 0));
    }
    int ends[2];
    if (pipe(ends) == 0) {
        tried("signal of a pipe", fcntl(ends[0], F_SETOWN, other) == 0
                                      && fcntl(ends[0], F_SETSIG, SIGKILL) == 0
                                      && fcntl(ends[0], F_SETFL, O_ASYNC) == 0
                                      && write(ends[1], "x", 1) == 1 ? 0 : -1);
        int number = other;
        tried("owner of a pipe", ioctl(ends[0], 0x8901 /* FIOSETOWN */, &number));
    }
    siginfo_t information = {0};
    information.si_code = SI_QUEUE;
    tried("queued signal", syscall(SYS_rt_sigqueueinfo, other, SIGKILL, &information));
    tried("queued signal to a thread", syscall(SYS_rt_tgsigqueueinfo, other, other, SIGKILL, &information));
    tried("signal to a thread", syscall(SYS_tgkill, other, other, SIGKILL));
    tried("signal to a thread, the old way", syscall(SYS_tkill, other, SIGKILL));
    tried("signal", kill(other, SIGKILL));
    tried("signal to nobody", kill(other, 0));
    tried("signal to its group", kill(-other, SIGKILL));
    printf("DONE\n");
    fflush(stdout);
    /* It may end this process and whatever is its own; root's is the whole machine. */
    if (getuid() != 0) kill(-1, SIGKILL);
    return 0;
}
