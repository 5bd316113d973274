/* A disk that hesitates: one sync in SLOW_EVERY of a file below SLOW_ROOT, and one write in twenty times as many, takes
   SLOW_LEAST to SLOW_MOST milliseconds longer. Preloaded (LD_PRELOAD). SLOW_LOG gets a line for each: milliseconds,
   call, path. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define WRITES 20

static unsigned long syncs, writes;

static long number(const char *name) { return atol(getenv(name)); }

static void hesitate(int file, const char *what, unsigned long *count, long every) {
    char link[64], path[PATH_MAX];
    const char *root = getenv("SLOW_ROOT"), *log = getenv("SLOW_LOG");
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t n = root && log ? readlink(link, path, PATH_MAX - 1) : -1;
    path[n < 0 ? 0 : n] = 0;
    if (n > 0 && !strncmp(path, root, strlen(root))) {
        unsigned long drawn = __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST) * 2654435761UL >> 7;
        if (drawn % (every * number("SLOW_EVERY")) == 0) {
            long ms = number("SLOW_LEAST") + (drawn >> 8) % (number("SLOW_MOST") - number("SLOW_LEAST") + 1);
            struct timespec wait = {ms / 1000, ms % 1000 * 1000000L};
            int into = open(log, O_WRONLY | O_APPEND | O_CREAT, 0600);
            if (into >= 0) { dprintf(into, "%ld %s %s\n", ms, what, path); close(into); }
            nanosleep(&wait, NULL);
        }
    }
    errno = before;
}

ssize_t write(int file, const void *data, size_t n) { REAL(write); hesitate(file, "write", &writes, WRITES); return real(file, data, n); }
ssize_t pwrite(int file, const void *data, size_t n, off_t o) { REAL(pwrite); hesitate(file, "pwrite", &writes, WRITES); return real(file, data, n, o); }
ssize_t pwrite64(int file, const void *data, size_t n, off_t o) { REAL(pwrite64); hesitate(file, "pwrite64", &writes, WRITES); return real(file, data, n, o); }
int fsync(int file) { REAL(fsync); hesitate(file, "fsync", &syncs, 1); return real(file); }
int fdatasync(int file) { REAL(fdatasync); hesitate(file, "fdatasync", &syncs, 1); return real(file); }
