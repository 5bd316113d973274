/* Lets the n-th write below FAULTS_ROOT fail: write, pwrite, writev, fsync, fdatasync, rename, ftruncate, and what opens
   a file for writing. Preloaded (LD_PRELOAD); `faults_arm` says which, and with what error: ENOSPC of a full disk stays
   from then on, any other comes once. `faults_count` says how many there have been since. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static long count, at;
static int fault;

void faults_arm(long n, int error) { count = 0; at = n; fault = error; }
long faults_count(void) { return count; }

static int named(const char *path) {
    const char *root = getenv("FAULTS_ROOT");
    return root && !strncmp(path, root, strlen(root));
}

/* Whether this write fails. Nothing is counted before `faults_arm`, whose n is -1 where none is to fail. */
static int fails(int is_ours) {
    if (!at || !is_ours) return 0;
    long mine = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
    if (at < 0 || !(mine == at || (fault == ENOSPC && mine > at))) return 0;
    errno = fault;
    return 1;
}

static int ours(int file) {
    char link[64], path[PATH_MAX];
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t n = at ? readlink(link, path, PATH_MAX - 1) : -1;
    path[n < 0 ? 0 : n] = 0;
    errno = before;
    return n > 0 && named(path);
}

static int opened(int folder, const char *name, int flags, mode_t mode) {
    if ((flags & (O_WRONLY | O_RDWR)) && (flags & (O_CREAT | O_TRUNC)) && fails(named(name))) return -1;
    return (int)syscall(SYS_openat, folder, name, flags, mode);
}

#define MODE mode_t mode = 0; if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); \
    mode = va_arg(more, mode_t); va_end(more); }
int open(const char *name, int flags, ...) { MODE return opened(AT_FDCWD, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE return opened(AT_FDCWD, name, flags, mode); }
int openat(int folder, const char *name, int flags, ...) { MODE return opened(folder, name, flags, mode); }
int openat64(int folder, const char *name, int flags, ...) { MODE return opened(folder, name, flags, mode); }

ssize_t write(int file, const void *data, size_t n) { REAL(write); return fails(ours(file)) ? -1 : real(file, data, n); }
ssize_t pwrite(int file, const void *data, size_t n, off_t o) { REAL(pwrite); return fails(ours(file)) ? -1 : real(file, data, n, o); }
ssize_t pwrite64(int file, const void *data, size_t n, off_t o) { REAL(pwrite64); return fails(ours(file)) ? -1 : real(file, data, n, o); }
ssize_t writev(int file, const struct iovec *parts, int n) { REAL(writev); return fails(ours(file)) ? -1 : real(file, parts, n); }
int fsync(int file) { REAL(fsync); return fails(ours(file)) ? -1 : real(file); }
int fdatasync(int file) { REAL(fdatasync); return fails(ours(file)) ? -1 : real(file); }
int ftruncate(int file, off_t n) { REAL(ftruncate); return fails(ours(file)) ? -1 : real(file, n); }
int ftruncate64(int file, off_t n) { REAL(ftruncate64); return fails(ours(file)) ? -1 : real(file, n); }
int rename(const char *a, const char *b) { REAL(rename); return fails(named(a) || named(b)) ? -1 : real(a, b); }
