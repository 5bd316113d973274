/* Notes every change of files below POWER_ROOT in POWER_JOURNAL, and every sync: `benchmarks.trust.power` makes of it
   what a disk may hold after a power cut at any moment. Preloaded (LD_PRELOAD), so it sees what is called through the
   dynamic linker: Python, SQLite and Arrow call all they do to files so; what is changed through a mapping is not seen.

   A change is noted once it is done, a sync at its beginning and at its end: whatever is noted before the beginning was
   done before it. Records of all processes and threads are in one order, that of appends to one file.

   Record: op (1 byte), 3 zeros, length of a (4), length of b (4), inode (8), offset (8), then a and b. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static const char *root, *journal;
static size_t root_length;

__attribute__((constructor)) static void begin(void) {
    root = getenv("POWER_ROOT");
    journal = getenv("POWER_JOURNAL");
    root_length = root ? strlen(root) : 0;
}

static int is_ours(const char *path) {
    return root && journal && !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]);
}

static void note(char op, const void *a, size_t n_a, const void *b, size_t n_b, uint64_t inode, uint64_t offset) {
    int before = errno;
    char head[28] = {op};
    uint32_t lengths[2] = {(uint32_t)n_a, (uint32_t)n_b};
    memcpy(head + 4, lengths, 8);
    memcpy(head + 12, &inode, 8);
    memcpy(head + 20, &offset, 8);
    struct iovec parts[3] = {{head, sizeof head}, {(void *)a, n_a}, {(void *)b, n_b}};
    int file = (int)syscall(SYS_openat, AT_FDCWD, journal, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || syscall(SYS_writev, file, parts, 3) != (long)(sizeof head + n_a + n_b)) {
        fprintf(stderr, "the journal of the power cuts cannot be written\n");
        abort(); /* what is not noted would look as if it had never been done */
    }
    syscall(SYS_close, file);
    errno = before;
}

static int path_of(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n < 0 ? 0 : n] = 0;
    return n > 0;
}

/* The whole path of a name in a folder; its links are not followed. */
static void whole(int folder, const char *name, char *path) {
    char in[PATH_MAX] = "";
    if (name[0] != '/' && folder == AT_FDCWD && !getcwd(in, sizeof in)) in[0] = 0;
    if (name[0] != '/' && folder != AT_FDCWD) path_of(folder, in);
    if (snprintf(path, PATH_MAX, "%s%s%s", in, in[0] ? "/" : "", name) >= PATH_MAX) path[0] = 0;
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') path[--n] = 0;
}

/* The inode of an open file of ours; 0 of any other. */
static uint64_t ours(int file) {
    if (!root || !journal) return 0;
    int before = errno;
    struct stat found;
    char path[PATH_MAX];
    uint64_t inode = 0;
    if (!fstat(file, &found) && (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode)) && path_of(file, path) && is_ours(path))
        inode = found.st_ino;
    errno = before;
    return inode;
}

static int opened(int folder, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    struct stat found;
    whole(folder, name, path);
    int mine = is_ours(path), was = mine && !stat(path, &found);
    int file = (int)syscall(SYS_openat, folder, name, flags, mode);
    if (file < 0 || !mine || fstat(file, &found)) return file;
    if (!was && (flags & O_CREAT)) note('c', path, strlen(path), "", 0, found.st_ino, 0);
    else if (flags & O_TRUNC) note('t', "", 0, "", 0, found.st_ino, 0);
    return file;
}

#define MODE mode_t mode = 0; if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); \
    mode = va_arg(more, mode_t); va_end(more); }
int open(const char *name, int flags, ...) { MODE return opened(AT_FDCWD, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE return opened(AT_FDCWD, name, flags, mode); }
int openat(int folder, const char *name, int flags, ...) { MODE return opened(folder, name, flags, mode); }
int openat64(int folder, const char *name, int flags, ...) { MODE return opened(folder, name, flags, mode); }

static ssize_t wrote(int file, const void *data, ssize_t n, off_t offset) {
    uint64_t inode = n > 0 ? ours(file) : 0;
    if (inode) note('w', data, (size_t)n, "", 0, inode, (uint64_t)(offset < 0 ? lseek(file, 0, SEEK_CUR) - n : offset));
    return n;
}

ssize_t write(int file, const void *data, size_t n) { REAL(write); return wrote(file, data, real(file, data, n), -1); }
ssize_t pwrite(int file, const void *data, size_t n, off_t at) { REAL(pwrite); return wrote(file, data, real(file, data, n, at), at); }
ssize_t pwrite64(int file, const void *data, size_t n, off_t at) { REAL(pwrite64); return wrote(file, data, real(file, data, n, at), at); }

/* In small pieces, by what is noted. */
ssize_t writev(int file, const struct iovec *parts, int n) {
    if (!ours(file)) { REAL(writev); return real(file, parts, n); }
    ssize_t all = 0;
    for (int k = 0; k < n; k++) {
        ssize_t done = write(file, parts[k].iov_base, parts[k].iov_len);
        if (done < 0) return all ? all : done;
        all += done;
        if ((size_t)done < parts[k].iov_len) break;
    }
    return all;
}

/* Whoever calls these copies by reading and writing where it is refused. */
ssize_t sendfile(int to, int from, off_t *at, size_t n) { REAL(sendfile); if (ours(to)) { errno = EINVAL; return -1; } return real(to, from, at, n); }
ssize_t sendfile64(int to, int from, off_t *at, size_t n) { REAL(sendfile64); if (ours(to)) { errno = EINVAL; return -1; } return real(to, from, at, n); }
ssize_t copy_file_range(int from, off_t *at, int to, off_t *there, size_t n, unsigned flags) {
    REAL(copy_file_range);
    if (ours(to)) { errno = EXDEV; return -1; }
    return real(from, at, to, there, n, flags);
}
int posix_fallocate(int file, off_t at, off_t n) { REAL(posix_fallocate); return ours(file) ? EOPNOTSUPP : real(file, at, n); }
int posix_fallocate64(int file, off_t at, off_t n) { REAL(posix_fallocate64); return ours(file) ? EOPNOTSUPP : real(file, at, n); }

static int cut(int file, off_t length, int done) {
    uint64_t inode = done ? 0 : ours(file);
    if (inode) note('t', "", 0, "", 0, inode, (uint64_t)length);
    return done;
}
int ftruncate(int file, off_t length) { REAL(ftruncate); return cut(file, length, real(file, length)); }
int ftruncate64(int file, off_t length) { REAL(ftruncate64); return cut(file, length, real(file, length)); }
int truncate(const char *name, off_t length) {
    int file = open(name, O_WRONLY), done = file < 0 ? -1 : ftruncate(file, length);
    if (file >= 0) close(file);
    return done;
}
int truncate64(const char *name, off_t length) { return truncate(name, length); }

static int synced(int file, int (*real)(int)) {
    uint64_t inode = ours(file);
    if (inode) note('(', "", 0, "", 0, inode, 0);
    int done = real(file);
    if (inode && !done) note(')', "", 0, "", 0, inode, 0);
    return done;
}
int fsync(int file) { REAL(fsync); return synced(file, real); }
int fdatasync(int file) { REAL(fdatasync); return synced(file, real); }
void sync(void) {
    REAL(sync);
    if (journal) note('[', "", 0, "", 0, 0, 0);
    real();
    if (journal) note(']', "", 0, "", 0, 0, 0);
}

static int named(char op, int folder, const char *name, int there, const char *other, int done) {
    char a[PATH_MAX], b[PATH_MAX] = "";
    if (done) return done;
    int before = errno;
    struct stat found = {0};
    whole(folder, name, a);
    if (other) whole(there, other, b);
    errno = before;
    if (!is_ours(a) && !is_ours(b)) return done;
    if (op == 'm') stat(a, &found);
    note(op, a, strlen(a), b, strlen(b), found.st_ino, 0);
    return done;
}
int rename(const char *a, const char *b) { REAL(rename); return named('r', AT_FDCWD, a, AT_FDCWD, b, real(a, b)); }
int renameat(int f, const char *a, int g, const char *b) { REAL(renameat); return named('r', f, a, g, b, real(f, a, g, b)); }
int renameat2(int f, const char *a, int g, const char *b, unsigned how) { REAL(renameat2); return named('r', f, a, g, b, real(f, a, g, b, how)); }
int link(const char *a, const char *b) { REAL(link); return named('l', AT_FDCWD, a, AT_FDCWD, b, real(a, b)); }
int linkat(int f, const char *a, int g, const char *b, int how) { REAL(linkat); return named('l', f, a, g, b, real(f, a, g, b, how)); }
int unlink(const char *a) { REAL(unlink); return named('u', AT_FDCWD, a, 0, 0, real(a)); }
int unlinkat(int f, const char *a, int how) { REAL(unlinkat); return named(how & AT_REMOVEDIR ? 'd' : 'u', f, a, 0, 0, real(f, a, how)); }
int remove(const char *a) { REAL(remove); return named('u', AT_FDCWD, a, 0, 0, real(a)); }
int rmdir(const char *a) { REAL(rmdir); return named('d', AT_FDCWD, a, 0, 0, real(a)); }
int mkdir(const char *a, mode_t mode) { REAL(mkdir); return named('m', AT_FDCWD, a, 0, 0, real(a, mode)); }
int mkdirat(int f, const char *a, mode_t mode) { REAL(mkdirat); return named('m', f, a, 0, 0, real(f, a, mode)); }
