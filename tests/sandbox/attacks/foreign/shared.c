/* Memory that no limit of a process counts: each way takes as much as it gets, and says how many
 * mebibytes.
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
#include <sys/shm.h>
#include <sys/syscall.h>
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
    printf("DONE\n");
    return 0;
}
