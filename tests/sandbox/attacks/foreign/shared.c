/* Memory in every way there is: each takes as much as it gets, and says how many mebibytes.
 *
 *   shared DIRECTORY
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, MOST = 512 };

static sigjmp_buf out;

static void struck(int signal) {
    (void) signal;
    siglongjmp(out, 1);
}

/* Touches what was mapped; how much of it there was. */
static int touched(char *start, int mebibytes, int writes) {
    static volatile char sum;
    volatile int done = 0;
    if (start == MAP_FAILED) return 0;
    if (sigsetjmp(out, 1) == 0)
        for (; done < mebibytes; done++)
            for (long at = 0; at < MIB; at += 4096) {
                if (writes) start[done * (long) MIB + at] = 1;
                else sum += start[done * (long) MIB + at];
            }
    return done;
}

/* What the heap gives. */
static int heap(void) {
    char *start = sbrk(0);
    int mebibytes = 0;
    while (mebibytes < MOST && sbrk(MIB) != (void *) -1) mebibytes++;
    return touched(start, mebibytes, 1);
}

/* A frame in each call; every mebibyte is told before the next one. */
static int deep(int pipe, int depth) {
    volatile char frame[MIB];
    for (long at = 0; at < MIB; at += 4096) frame[at] = 1;
    write(pipe, "x", 1);
    return depth < MOST ? deep(pipe, depth + 1) + frame[0] : 0;
}

/* What the stack of a process gives that raises its limit first. */
static int stack(void) {
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    int ends[2], mebibytes = 0;
    char byte;
    if (pipe(ends) < 0) return MOST;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        setrlimit(RLIMIT_STACK, &all);
        if (getrlimit(RLIMIT_STACK, &all) == 0) {
            all.rlim_cur = all.rlim_max;
            setrlimit(RLIMIT_STACK, &all);
        }
        _exit(deep(ends[1], 0) & 1);
    }
    close(ends[1]);
    while (read(ends[0], &byte, 1) == 1) mebibytes++;
    waitpid(child, 0, 0);
    return mebibytes;
}

static void said(const char *what, int mebibytes) {
    printf("%s %d\n", what, mebibytes);
    fflush(stdout);
}

int main(int count, char **arguments) {
    (void) count;
    signal(SIGBUS, struck);
    signal(SIGSEGV, struck);
    signal(SIGXFSZ, SIG_IGN);
    printf("BEGUN\n");
    long size = MOST * (long) MIB;
    int both = PROT_READ | PROT_WRITE;
    said("private", touched(mmap(0, size, both, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), MOST, 1));
    said("shared", touched(mmap(0, size, both, MAP_SHARED | MAP_ANONYMOUS, -1, 0), MOST, 1));
    said("validated", touched(mmap(0, size, both, MAP_SHARED_VALIDATE | MAP_ANONYMOUS, -1, 0), MOST, 1));
    said("growing", touched(mmap(0, size, both, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0), MOST, 1));
    said("heap", heap());
    said("stack", stack());
    int zero = open("/dev/zero", O_RDONLY);
    said("zeros", zero < 0 ? 0 : touched(mmap(0, size, PROT_READ, MAP_SHARED, zero, 0), MOST, 0));
    zero = open("/dev/zero", O_RDWR);
    said("zeros to write", zero < 0 ? 0 : touched(mmap(0, size, both, MAP_SHARED, zero, 0), MOST, 1));
    int memory = syscall(SYS_memfd_create, "x", 0);
    if (memory >= 0 && ftruncate(memory, size) != 0) memory = -1;
    said("memfd", memory < 0 ? 0 : touched(mmap(0, size, both, MAP_SHARED, memory, 0), MOST, 1));
    int segment = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
    said("segment", segment < 0 ? 0 : touched(shmat(segment, 0, 0), MOST, 1));
    for (int file = 0; file < 4; file++) {
        char name[64];
        sprintf(name, "/dev/shm/%d", file);
        int shared = open(name, O_CREAT | O_RDWR, 0600);
        if (shared >= 0 && ftruncate(shared, size) != 0) shared = -1;
        said("by name", shared < 0 ? 0 : touched(mmap(0, size, both, MAP_SHARED, shared, 0), MOST, 1));
    }
    /* Only reserved: the kernel's tables for it count as nobody's data. */
    long reserved = 0;
    while (mmap(0, MIB << 6, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED) reserved++;
    printf("DONE, reserved: %ld\n", reserved << 6);
    return 0;
}
