/* Files as a program sees them. What is on the disk is read when it is first asked for, and never
   changed: what a program writes is kept in memory until the execution ends. So each execution finds
   the same files. Descriptors 0 to 2 are the standard streams: what is written is kept as output.

   Operations of threads on a file, or on a descriptor, are steps if several threads use it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "files.h"

enum { MOST_FILES = 1024, MOST_DESCRIPTORS = 256, WORDS = 4096, PIECE = 8 };

struct file {
    char path[PATH_MAX];
    char *real, *own;  /* what is on the disk, and what the program has made of it */
    size_t real_size, size, room;
    bool is_there, was_there, is_sink;
    mode_t mode;
};

struct descriptor {
    struct file *file;
    size_t position;
    int flags, users;
};

static struct {
    struct file *list;  /* for ever */
    int known;
    struct descriptor descriptors[MOST_DESCRIPTORS], *open[MOST_DESCRIPTORS];
    uint64_t words[WORDS];  /* what stands for a path where threads are told apart */
    uint64_t table_word, descriptor_words[MOST_DESCRIPTORS];
} files STATE = {0};

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);

/* An operation of the library on what it protects by itself. */
void mz_library_call(const void *object, bool is_write, uintptr_t place) {
    mz_guarded((uintptr_t)object, is_write, place);
    mz.current->changes++;
}

/* Each path has a word; some have the same one. */
static uint64_t word_of(const char *path) {
    uint64_t hash = 5381;
    for (; *path; path++) hash = hash * 33 + (unsigned char)*path;
    return hash % WORDS;
}

static void path_call(const char *path, bool is_write, uintptr_t place) {
    mz_library_call(&files.words[word_of(path)], is_write, place);
}

/* The disk, by system calls: the program's own open and read are not these. */

static char *contents(int number, size_t *size) {
    size_t room = 1 << 16, known = 0;
    char *data = __libc_malloc(room);
    for (long got; (got = syscall_of(SYS_read, number, (long)(data + known), (long)(room - known))) > 0;) {
        known += (size_t)got;
        if (known == room) {
            char *more = __libc_malloc(2 * room);
            mz_copy(more, data, known);
            __libc_free(data);
            data = more;
            room *= 2;
        }
    }
    *size = known;
    return data;
}

static void look_at_disk(struct file *file) {
    long number = syscall_of(SYS_open, (long)file->path, O_RDONLY | O_CLOEXEC, 0);
    struct stat about;
    if (number < 0) return;
    if (syscall_of(SYS_fstat, number, (long)&about, 0) == 0) {
        file->was_there = true;
        file->mode = about.st_mode;
        if (S_ISREG(about.st_mode)) file->real = contents((int)number, &file->real_size);
    }
    syscall_of(SYS_close, number, 0, 0);
}

static struct file *new_file(const char *path) {
    if (files.known == MOST_FILES) {
        mz_refuse("the program names more than %d files", MOST_FILES);
        mz_give_up();
    }
    struct file *file = &files.list[files.known++];
    mz_fill(file, 0, sizeof *file);
    for (size_t place = 0; place + 1 < sizeof file->path && path[place]; place++)
        file->path[place] = path[place];
    file->mode = S_IFREG | 0644;
    return file;
}

static void restore(struct file *file) {
    if (file->own) __libc_free(file->own);
    file->own = NULL;
    file->is_there = file->was_there;
    file->size = file->real_size;
}

static struct file *file_called(const char *path) {
    for (int place = 0; place < files.known; place++)
        if (!__builtin_strcmp(files.list[place].path, path)) return &files.list[place];
    struct file *file = new_file(path);
    if (!__builtin_strcmp(path, "/dev/null") || !__builtin_strncmp(path, "/dev/std", 8)) {
        file->was_there = file->is_sink = true;
        file->mode = S_IFCHR | 0666;
    } else {
        look_at_disk(file);
    }
    restore(file);
    return file;
}

/* What the check was given as its own stdin, read once: only a file or a pipe. */
static void read_stdin(struct file *file) {
    struct stat about;
    if (syscall_of(SYS_fstat, 0, (long)&about, 0) != 0) return;
    if (S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode)) file->real = contents(0, &file->real_size);
}

void mz_begin_files(void) {
    if (!files.list) {
        files.list = mz_map(NULL, MOST_FILES * sizeof *files.list);
        const char *names[] = {"standard input", "standard output", "standard error"};
        for (int place = 0; place < 3; place++) {
            struct file *file = new_file(names[place]);
            file->was_there = true;
            file->mode = S_IFCHR | 0600;
        }
    }
    for (int place = 0; place < files.known; place++) restore(&files.list[place]);
    mz_fill(files.open, 0, sizeof files.open);
    mz_fill(files.descriptors, 0, sizeof files.descriptors);
    for (int place = 0; place < 3; place++) {
        files.descriptors[place] = (struct descriptor){&files.list[place], 0, O_RDWR | O_APPEND, 1};
        files.open[place] = &files.descriptors[place];
    }
}

static bool is_output(const struct file *file) {
    return file == &files.list[1] || file == &files.list[2];
}

/* A file that is about to change gets contents of its own. */
static void make_room(struct file *file, size_t size) {
    if (!file->own || size > file->room) {
        size_t room = size < 4096 ? 4096 : 2 * size;
        char *own = __libc_malloc(room);
        mz_copy(own, file->own ? file->own : file->real, file->size);
        if (file->own) __libc_free(file->own);
        file->own = own;
        file->room = room;
    }
    if (size > file->size) {
        mz_fill(file->own + file->size, 0, size - file->size);
        file->size = size;
    }
}

static int failed(int error) {
    errno = error;
    return -1;
}

/* Descriptors */

bool mz_is_open(int number) {
    return number >= 0 && number < MOST_DESCRIPTORS && files.open[number];
}

void mz_descriptor_call(int number, bool is_write, uintptr_t place) {
    if (number >= 0 && number < MOST_DESCRIPTORS)
        mz_library_call(&files.descriptor_words[number], is_write, place);
}

static int free_number(int least) {
    for (int number = least; number < MOST_DESCRIPTORS; number++)
        if (!files.open[number]) return number;
    return failed(EMFILE);
}

static int put_in(struct descriptor one, uintptr_t place) {
    mz_library_call(&files.table_word, true, place);
    int number = free_number(0);
    if (number < 0) return number;
    struct descriptor *free = files.descriptors;
    while (free->users) free++;
    *free = one;
    files.open[number] = free;
    return number;
}

int mz_open_file(const char *path, int flags, mode_t mode, uintptr_t place) {
    mz_read_text(path, place);
    bool writes = (flags & O_ACCMODE) != O_RDONLY;
    path_call(path, (flags & (O_CREAT | O_TRUNC)) != 0, place);
    struct file *file = file_called(path);
    if (!file->is_there && !(flags & O_CREAT)) return failed(ENOENT);
    if (file->is_there && flags & O_CREAT && flags & O_EXCL) return failed(EEXIST);
    if (S_ISDIR(file->mode) && (writes || !(flags & O_DIRECTORY))) return failed(EISDIR);
    if (!S_ISREG(file->mode) && !file->is_sink) {
        mz_refuse("the program opens %s, which is no ordinary file: this cannot be checked", path);
        mz_give_up();
    }
    if (!file->is_there) {
        file->is_there = true;
        file->size = 0;
        file->mode = S_IFREG | (mode & 0777);
    }
    if (flags & O_TRUNC && writes && file->size) {
        make_room(file, file->size);
        file->size = 0;
    }
    return put_in((struct descriptor){file, 0, flags, 1}, place);
}

int mz_close_file(int number, uintptr_t place) {
    mz_library_call(&files.table_word, true, place);
    if (!mz_is_open(number)) return failed(EBADF);
    files.open[number]->users--;
    files.open[number] = NULL;
    return 0;
}

static struct descriptor *used(int number, bool writes, uintptr_t place) {
    if (number < 0 || number >= MOST_DESCRIPTORS) return NULL;
    if (!writes) mz_descriptor_call(number, true, place);  /* else, the file tells threads apart */
    struct descriptor *one = files.open[number];
    if (!one) return NULL;
    int way = one->flags & O_ACCMODE;
    if (way != O_RDWR && way != (writes ? O_WRONLY : O_RDONLY)) return NULL;
    if (!is_output(one->file)) path_call(one->file->path, writes, place);
    if (one->file == &files.list[0] && !one->file->real && !writes) {
        read_stdin(one->file);
        restore(one->file);
    }
    return one;
}

static const char *data_of(const struct file *file) { return file->own ? file->own : file->real; }

/* Between a file and the program's memory, whose parts others may look at one by one. */
static void put_out(char *to, const char *from, size_t size, bool is_seen, uintptr_t place) {
    for (size_t done = 0, part; done < size; done += part) {
        part = PIECE - (uintptr_t)(to + done) % PIECE;
        if (part > size - done) part = size - done;
        if (is_seen) mz_plain((uintptr_t)(to + done), part, true, place);
        mz_copy(to + done, from + done, part);
    }
}

static void take_in(char *to, const char *from, size_t size, bool is_seen, uintptr_t place) {
    for (size_t done = 0, part; done < size; done += part) {
        part = PIECE - (uintptr_t)(from + done) % PIECE;
        if (part > size - done) part = size - done;
        if (is_seen) mz_plain((uintptr_t)(from + done), part, false, place);
        mz_copy(to + done, from + done, part);
    }
}

/* What is left of a file, for functions that look how much of it they need. */
const char *mz_rest_of_file(int number, size_t *size, uintptr_t place) {
    struct descriptor *one = used(number, false, place);
    *size = 0;
    if (!one || one->file->is_sink || one->position >= one->file->size) return NULL;
    *size = one->file->size - one->position;
    return data_of(one->file) + one->position;
}

/* From where the file was left, or from a place of its own: then it is left where it was. */
static ssize_t read_from(int number, const off_t *from, char *to, size_t size, bool is_seen,
                         uintptr_t place) {
    if (from && *from < 0) return failed(EINVAL);
    struct descriptor *one = used(number, false, place);
    if (!one) return failed(EBADF);
    struct file *file = one->file;
    size_t begin = from ? (size_t)*from : one->position;
    if (file->is_sink || begin >= file->size) return 0;
    size_t left = file->size - begin;
    if (size > left) size = left;
    if (!from) one->position += size;
    put_out(to, data_of(file) + begin, size, is_seen, place);
    return (ssize_t)size;
}

ssize_t mz_read_file(int number, char *to, size_t size, bool is_seen, uintptr_t place) {
    return read_from(number, NULL, to, size, is_seen, place);
}

static ssize_t write_to(int number, const off_t *to, const char *from, size_t size, bool is_seen,
                        uintptr_t place) {
    if (to && *to < 0) return failed(EINVAL);
    if (size > SSIZE_MAX) return failed(EINVAL);
    char *copy = __libc_malloc(size + 1);
    take_in(copy, from, size, is_seen, place);
    struct descriptor *one = mz_is_open(number) && is_output(files.open[number]->file)
                                 ? files.open[number]  /* what is printed is in no order */
                                 : used(number, true, place);
    if (!one) {
        __libc_free(copy);
        return failed(EBADF);
    }
    struct file *file = one->file;
    if (is_output(file)) {
        mz_keep_output(copy, size);
    } else if (!file->is_sink) {
        size_t begin = one->flags & O_APPEND ? file->size : to ? (size_t)*to : one->position;
        make_room(file, begin + size);
        mz_copy(file->own + begin, copy, size);
        if (!to) one->position = begin + size;
    }
    __libc_free(copy);
    return (ssize_t)size;
}

ssize_t mz_write_file(int number, const char *from, size_t size, bool is_seen, uintptr_t place) {
    return write_to(number, NULL, from, size, is_seen, place);
}

off_t mz_seek_file(int number, off_t offset, int whence, uintptr_t place) {
    if (number < 0 || number >= MOST_DESCRIPTORS) return failed(EBADF);
    mz_descriptor_call(number, whence != SEEK_CUR || offset, place);
    struct descriptor *one = files.open[number];
    if (!one) return failed(EBADF);
    if (S_ISCHR(one->file->mode) && number < 3) return failed(ESPIPE);
    off_t base = whence == SEEK_SET ? 0
                 : whence == SEEK_CUR ? (off_t)one->position : (off_t)one->file->size;
    if (base + offset < 0) return failed(EINVAL);
    one->position = (size_t)(base + offset);
    return (off_t)one->position;
}

int mz_remove_file(const char *path, uintptr_t place) {
    mz_read_text(path, place);
    path_call(path, true, place);
    struct file *file = file_called(path);
    if (!file->is_there) return failed(ENOENT);
    file->is_there = false;
    file->size = 0;
    return 0;
}

int mz_rename_file(const char *from, const char *to, uintptr_t place) {
    mz_read_text(from, place);
    mz_read_text(to, place);
    path_call(from, true, place);
    path_call(to, true, place);
    struct file *file = file_called(from), *other = file_called(to);
    if (!file->is_there) return failed(ENOENT);
    other->size = 0;
    size_t size = file->size;
    make_room(other, size);
    mz_copy(other->own, data_of(file), size);
    other->is_there = true;
    other->mode = file->mode;
    file->is_there = false;
    return 0;
}

/* What the program calls */

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return mz_open_file(path, flags, mode, PLACE);
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int creat64(const char *path, mode_t mode) __attribute__((alias("creat")));
int creat(const char *path, mode_t mode) {
    return mz_open_file(path, O_CREAT | O_WRONLY | O_TRUNC, mode, PLACE);
}
int close(int number) { return mz_close_file(number, PLACE); }
ssize_t read(int number, void *to, size_t size) { return mz_read_file(number, to, size, true, PLACE); }
ssize_t write(int number, const void *from, size_t size) {
    return mz_write_file(number, from, size, true, PLACE);
}
ssize_t pread(int number, void *to, size_t size, off_t from) {
    return read_from(number, &from, to, size, true, PLACE);
}
ssize_t pread64(int, void *, size_t, off_t) __attribute__((alias("pread")));
ssize_t pwrite(int number, const void *from, size_t size, off_t to) {
    return write_to(number, &to, from, size, true, PLACE);
}
ssize_t pwrite64(int, const void *, size_t, off_t) __attribute__((alias("pwrite")));

/* Several parts at once; no other thread comes between those that are written. */
ssize_t readv(int number, const struct iovec *parts, int count) {
    ssize_t done = 0;
    mz_plain((uintptr_t)parts, (size_t)count * sizeof *parts, false, PLACE);
    for (int place = 0; place < count; place++) {
        ssize_t got = mz_read_file(number, parts[place].iov_base, parts[place].iov_len, true, PLACE);
        if (got < 0) return done ? done : got;
        done += got;
        if ((size_t)got < parts[place].iov_len) break;
    }
    return done;
}
ssize_t writev(int number, const struct iovec *parts, int count) {
    size_t size = 0;
    mz_plain((uintptr_t)parts, (size_t)count * sizeof *parts, false, PLACE);
    for (int place = 0; place < count; place++) size += parts[place].iov_len;
    char *all = __libc_malloc(size + 1), *end = all;
    for (int place = 0; place < count; place++) {
        take_in(end, parts[place].iov_base, parts[place].iov_len, true, PLACE);
        end += parts[place].iov_len;
    }
    ssize_t done = mz_write_file(number, all, size, false, PLACE);
    __libc_free(all);
    return done;
}

off_t lseek(int number, off_t offset, int whence) {
    return mz_seek_file(number, offset, whence, PLACE);
}
off_t lseek64(int number, off_t offset, int whence) __attribute__((alias("lseek")));
int unlink(const char *path) { return mz_remove_file(path, PLACE); }
int remove(const char *path) { return mz_remove_file(path, PLACE); }
int rename(const char *from, const char *to) { return mz_rename_file(from, to, PLACE); }
int fsync(int number) { return mz_is_open(number) ? 0 : failed(EBADF); }
int fdatasync(int number) { return fsync(number); }
int isatty(int number) {
    (void)number;
    errno = ENOTTY;
    return 0;
}

int dup2(int number, int other) {
    mz_library_call(&files.table_word, true, PLACE);
    if (!mz_is_open(number) || other < 0 || other >= MOST_DESCRIPTORS) return failed(EBADF);
    if (number == other) return other;
    if (files.open[other]) files.open[other]->users--;
    files.open[other] = files.open[number];
    files.open[number]->users++;
    return other;
}

int dup(int number) {
    mz_library_call(&files.table_word, true, PLACE);
    int other = free_number(0);
    return other < 0 ? other : dup2(number, other);
}

static int tell_about(const struct file *file, struct stat *about, uintptr_t place) {
    if (!file->is_there) return failed(ENOENT);
    mz_plain((uintptr_t)about, sizeof *about, true, place);
    mz_fill(about, 0, sizeof *about);
    about->st_mode = file->mode;
    about->st_size = (off_t)file->size;
    about->st_nlink = 1;
    about->st_ino = (ino_t)word_of(file->path) + 1;
    about->st_blksize = 4096;
    about->st_blocks = (about->st_size + 511) / 512;
    return 0;
}

int stat(const char *path, struct stat *about) {
    mz_read_text(path, PLACE);
    path_call(path, false, PLACE);
    return tell_about(file_called(path), about, PLACE);
}
int stat64(const char *path, struct stat64 *about) { return stat(path, (struct stat *)about); }
int lstat(const char *path, struct stat *about) { return stat(path, about); }
int lstat64(const char *path, struct stat64 *about) { return stat(path, (struct stat *)about); }
int fstat(int number, struct stat *about) {
    if (!mz_is_open(number)) return failed(EBADF);
    path_call(files.open[number]->file->path, false, PLACE);
    return tell_about(files.open[number]->file, about, PLACE);
}
int fstat64(int number, struct stat64 *about) { return fstat(number, (struct stat *)about); }

int access(const char *path, int how) {
    (void)how;
    mz_read_text(path, PLACE);
    path_call(path, false, PLACE);
    return file_called(path)->is_there ? 0 : failed(ENOENT);
}

int ftruncate(int number, off_t size) {
    struct descriptor *one = used(number, true, PLACE);
    if (!one || size < 0) return failed(EINVAL);
    make_room(one->file, (size_t)size);
    one->file->size = (size_t)size;
    return 0;
}
int ftruncate64(int, off_t) __attribute__((alias("ftruncate")));

int truncate(const char *path, off_t size) {
    int number = mz_open_file(path, O_WRONLY, 0, PLACE);
    if (number < 0) return -1;
    int result = ftruncate(number, size);
    mz_close_file(number, PLACE);
    return result;
}
int truncate64(const char *path, off_t size) __attribute__((alias("truncate")));

/* A file of which nobody has the name: the last six letters of it are to be found. */
int mkostemps(char *name, int ending, int flags) {
    size_t length = mz_read_text(name, PLACE);
    if (ending < 0 || length < (size_t)ending + 6) return failed(EINVAL);
    char *letters = name + length - (size_t)ending - 6;
    if (__builtin_strncmp(letters, "XXXXXX", 6)) return failed(EINVAL);
    mz_plain((uintptr_t)letters, 6, true, PLACE);
    for (int tried = 0; tried < MOST_FILES; tried++) {
        for (int place = 0, left = tried; place < 6; place++, left /= 26)
            letters[place] = (char)('a' + left % 26);
        int number = mz_open_file(name, flags | O_RDWR | O_CREAT | O_EXCL, 0600, PLACE);
        if (number >= 0 || errno != EEXIST) return number;
    }
    return failed(EEXIST);
}
int mkstemps(char *name, int ending) { return mkostemps(name, ending, 0); }
int mkostemp(char *name, int flags) { return mkostemps(name, 0, flags); }
int mkstemp(char *name) { return mkostemps(name, 0, 0); }
int mkstemp64(char *name) { return mkostemps(name, 0, 0); }

/* What the system is told of the use of a file changes nothing here. */
int posix_fadvise(int number, off_t from, off_t size, int advice) {
    (void)number, (void)from, (void)size, (void)advice;
    return 0;
}
int posix_fadvise64(int, off_t, off_t, int) __attribute__((alias("posix_fadvise")));
void sync(void) {}

/* The flags of descriptors, and further ones. Locks of files are between processes. */
int fcntl(int number, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    int given = va_arg(arguments, int);
    va_end(arguments);
    if (!mz_is_open(number)) return failed(EBADF);
    int changed = O_APPEND | O_NONBLOCK;
    switch (command) {
        case F_GETFL:
            mz_descriptor_call(number, false, PLACE);
            return files.open[number]->flags & (O_ACCMODE | changed);
        case F_GETFD:
            mz_descriptor_call(number, false, PLACE);
            return files.open[number]->flags & O_CLOEXEC ? FD_CLOEXEC : 0;
        case F_SETFD:
            changed = O_CLOEXEC;
            given = given & FD_CLOEXEC ? O_CLOEXEC : 0;
            /* fall through */
        case F_SETFL:
            mz_descriptor_call(number, true, PLACE);
            files.open[number]->flags = (files.open[number]->flags & ~changed) | (given & changed);
            return 0;
        case F_DUPFD: case F_DUPFD_CLOEXEC: {
            mz_library_call(&files.table_word, true, PLACE);
            int other = free_number(given);
            return other < 0 ? other : dup2(number, other);
        }
        default:
            mz_refuse("fcntl with command %d cannot be checked", command);
            mz_give_up();
    }
}
int fcntl64(int, int, ...) __attribute__((alias("fcntl")));

/* Who owns a file, and when it was changed, is not told apart. */
int chmod(const char *path, mode_t mode) { (void)mode; return access(path, 0); }
int fchmod(int number, mode_t mode) { (void)mode; return mz_is_open(number) ? 0 : failed(EBADF); }
int fchown(int number, uid_t user, gid_t group) {
    (void)user, (void)group;
    return mz_is_open(number) ? 0 : failed(EBADF);
}
mode_t umask(mode_t mask) { (void)mask; return 022; }
char *getcwd(char *to, size_t size) {
    if (!to) {
        if (!size) size = PATH_MAX;
        to = mz_new(size, 16, PLACE);
        if (!to) return NULL;
    }
    long length = syscall_of(SYS_getcwd, (long)to, (long)size, 0);
    if (length < 0) {
        errno = ERANGE;
        return NULL;
    }
    mz_plain((uintptr_t)to, (size_t)length, true, PLACE);
    return to;
}
