/* As many processes, or threads, as there may be; says how many, and they stay.
 *
 *   bomb processes|threads
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 3000 };

static int stay(void *nothing) {
    (void) nothing;
    for (;;) syscall(SYS_pause);
}

int main(int count, char **arguments) {
    int made = 0, refused = 0;
    int threads = count > 1 && strcmp(arguments[1], "threads") == 0;
    char *stacks = mmap(0, MOST * 16384L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    while (made < MOST && refused < 50) {
        long result;
        if (threads) {
            int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
            result = clone(stay, stacks + (made + 1) * 16384L, flags, 0);
        } else {
            result = fork();
            if (result == 0) stay(0);
        }
        if (result < 0) refused++;
        else made++;
    }
    printf("made %d\n", made);
    fflush(stdout);
    return 0;
}
