/* Maps a file of the zone executable while another thread exchanges what its descriptor leads to, makes
 * machine code of its own without any file, and tries what such code is good for.
 *
 *   race SYSTEM ZONE SECRET
 *
 * SYSTEM is a file that may be mapped executable, ZONE a program that may not; each has a page at least.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 20000 };

static int allowed, forbidden, exchanged;
static volatile int over;

static void *exchange(void *nothing) {
    while (!over) dup2(allowed, exchanged), dup2(forbidden, exchanged);
    return nothing;
}

static void said(const char *what, int got) {
    printf("%s %s\n", got ? "GOT" : "REFUSED", what);
    fflush(stdout);
}

int main(int count, char **files) {
    if (count < 4) return 2;
    allowed = open(files[1], O_RDONLY);
    forbidden = open(files[2], O_RDONLY);
    exchanged = dup(forbidden);
    char mark[16];
    if (pread(forbidden, mark, sizeof mark, 0) != sizeof mark) return 3;
    void *code = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, allowed, 0);
    said("code of the system", code != MAP_FAILED);
    code = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, exchanged, 0);
    said("code of the zone", code != MAP_FAILED);
    pthread_t other;
    if (pthread_create(&other, 0, exchange, 0) != 0) return 4;
    int got = 0;
    for (int round = 0; round < ROUNDS && !got; round++) {
        code = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, exchanged, 0);
        if (code == MAP_FAILED) continue;
        got = memcmp(code, mark, sizeof mark) == 0;
        munmap(code, 4096);
    }
    over = 1;
    pthread_join(other, 0);
    said("code of the zone in a race", got);
    code = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, mark, sizeof mark);
    said("code of its own", mprotect(code, 4096, PROT_READ | PROT_EXEC) == 0);
    said("the secret", open(files[3], O_RDONLY) >= 0);
    said("a socket", socket(AF_INET, SOCK_STREAM, 0) >= 0);
    char *none[] = {0};
    execve(files[2], files, none);
    said("another program", 0);
    printf("DONE\n");
    return 0;
}
