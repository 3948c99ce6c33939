/* stdio: streams on the files of files.c. Nothing is kept in a buffer, so that what is written is
   there at once. A stream begins as one of the C library's own, which macros look into. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "files.h"

#undef feof_unlocked
#undef ferror_unlocked
#undef fgetc_unlocked
#undef getc_unlocked
#undef getchar_unlocked
#undef fputc_unlocked
#undef putc_unlocked
#undef putchar_unlocked
#undef fread_unlocked
#undef fwrite_unlocked

enum { AT_END = 0x10, HAS_ERROR = 0x20, NONE = -1, MOST_POINTERS = 24, MOST_FIELD = 1 << 16 };

struct stream {
    FILE front;
    int number, pushed;  /* its descriptor; a character that was put back */
    char **text;  /* of open_memstream: where the program finds what was written, and its size */
    size_t *size;
};

static struct {
    struct stream standard[3];
    int temporary[MOST_THREADS];  /* how many nameless files each thread has made */
} streams STATE = {0};

void mz_begin_streams(void) {
    mz_fill(&streams, 0, sizeof streams);
    for (int number = 0; number < 3; number++) {
        streams.standard[number].number = number;
        streams.standard[number].pushed = NONE;
    }
}

static struct stream *stream_of(FILE *file) {
    if (file == stdin) return &streams.standard[0];
    if (file == stdout) return &streams.standard[1];
    if (file == stderr) return &streams.standard[2];
    return (struct stream *)file;
}

/* A stream that is about to be used. Its descriptor tells threads apart. */
static struct stream *used(FILE *file, uintptr_t place) {
    struct stream *stream = stream_of(file);
    if (file == stdin || file == stdout || file == stderr) return stream;
    mz_touch((uintptr_t)stream, sizeof *stream, place);
    mz_check_freed((uintptr_t)stream, place);
    return stream;
}

/* What a stream knows of itself is asked, or changed. */
static struct stream *asked(FILE *file, bool is_write, uintptr_t place) {
    struct stream *stream = used(file, place);
    mz_descriptor_call(stream->number, is_write, place);
    return stream;
}

static int flags_of(const char *mode) {
    bool updates = __builtin_strchr(mode, '+') != NULL;
    int way = updates ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    if (__builtin_strchr(mode, 'x')) way |= O_EXCL;
    return *mode == 'r'   ? way
           : *mode == 'w' ? way | O_CREAT | O_TRUNC
           : *mode == 'a' ? way | O_CREAT | O_APPEND
                          : -1;
}

static FILE *new_stream(int number, uintptr_t place) {
    if (number < 0) return NULL;
    struct stream *stream = mz_new(sizeof *stream, 16, place);
    if (!stream) return NULL;
    mz_fill(stream, 0, sizeof *stream);
    stream->number = number;
    stream->pushed = NONE;
    return (FILE *)stream;
}

static FILE *opened(const char *path, const char *mode, uintptr_t place) {
    int flags = flags_of(mode);
    if (flags < 0) {
        errno = EINVAL;
        return NULL;
    }
    return new_stream(mz_open_file(path, flags, 0666, place), place);
}

FILE *fopen(const char *path, const char *mode) { return opened(path, mode, PLACE); }
FILE *fopen64(const char *path, const char *mode) { return opened(path, mode, PLACE); }
FILE *fdopen(int number, const char *mode) {
    (void)mode;
    if (mz_is_open(number)) return new_stream(number, PLACE);
    errno = EBADF;
    return NULL;
}

FILE *freopen(const char *path, const char *mode, FILE *file) {
    struct stream *stream = used(file, PLACE);
    mz_close_file(stream->number, PLACE);
    int number = path ? mz_open_file(path, flags_of(mode), 0666, PLACE) : NONE;
    if (number < 0) return NULL;
    stream->number = number;
    stream->pushed = NONE;
    stream->front._flags &= ~(AT_END | HAS_ERROR);
    return file;
}

static FILE *nameless(uintptr_t place) {
    int64_t thread = mz.current->number;
    char path[64];
    int number = streams.temporary[thread]++;
    snprintf(path, sizeof path, "/tmp/mazurka-temporary-%d-%d", (int)thread, number);
    FILE *file = opened(path, "w+", place);
    if (file) mz_remove_file(path, place);
    return file;
}
FILE *tmpfile(void) { return nameless(PLACE); }

FILE *open_memstream(char **text, size_t *size) {
    FILE *file = nameless(PLACE);
    if (!file) return NULL;
    struct stream *stream = (struct stream *)file;
    stream->text = text;
    stream->size = size;
    *text = NULL;
    fflush(file);
    return file;
}

/* What was written to a stream in memory is put where the program finds it. */
static void settle(struct stream *stream, uintptr_t place) {
    if (!stream->text) return;
    size_t size, position = (size_t)mz_seek_file(stream->number, 0, SEEK_CUR, place);
    mz_seek_file(stream->number, 0, SEEK_SET, place);
    const char *all = mz_rest_of_file(stream->number, &size, place);
    mz_seek_file(stream->number, (off_t)position, SEEK_SET, place);
    mz_plain((uintptr_t)stream->text, sizeof *stream->text, true, place);
    mz_plain((uintptr_t)stream->size, sizeof *stream->size, true, place);
    *stream->text = realloc(*stream->text, size + 1);
    *stream->size = position < size ? position : size;
    mz_plain((uintptr_t)*stream->text, size + 1, true, place);
    mz_copy(*stream->text, all, size);
    (*stream->text)[size] = 0;
}

int fclose(FILE *file) {
    struct stream *stream = used(file, PLACE);
    settle(stream, PLACE);
    int result = mz_close_file(stream->number, PLACE);
    if (stream < streams.standard || stream >= streams.standard + 3) mz_delete(stream, PLACE);
    return result;
}

int fileno(FILE *file) { return stream_of(file)->number; }
int fileno_unlocked(FILE *file) { return fileno(file); }
int feof(FILE *file) { return (asked(file, false, PLACE)->front._flags & AT_END) != 0; }
int feof_unlocked(FILE *file) { return (asked(file, false, PLACE)->front._flags & AT_END) != 0; }
int ferror(FILE *file) { return (asked(file, false, PLACE)->front._flags & HAS_ERROR) != 0; }
int ferror_unlocked(FILE *file) { return (asked(file, false, PLACE)->front._flags & HAS_ERROR) != 0; }
void clearerr(FILE *file) { asked(file, true, PLACE)->front._flags &= ~(AT_END | HAS_ERROR); }
int fflush(FILE *file) {
    if (file) settle(used(file, PLACE), PLACE);
    return 0;
}
int fflush_unlocked(FILE *file) { return fflush(file); }
int setvbuf(FILE *file, char *buffer, int mode, size_t size) {
    (void)file, (void)buffer, (void)mode, (void)size;
    return 0;
}
void setbuf(FILE *file, char *buffer) { (void)file, (void)buffer; }
void setlinebuf(FILE *file) { (void)file; }

/* Reading */

static size_t get(struct stream *stream, char *to, size_t size, bool is_seen, uintptr_t place) {
    size_t got = 0;
    if (size && stream->pushed != NONE) {
        if (is_seen) mz_plain((uintptr_t)to, 1, true, place);
        to[got++] = (char)stream->pushed;
        stream->pushed = NONE;
    }
    ssize_t more = mz_read_file(stream->number, to + got, size - got, is_seen, place);
    if (more < 0) stream->front._flags |= HAS_ERROR;
    else if (got + (size_t)more < size) stream->front._flags |= AT_END;
    return got + (more > 0 ? (size_t)more : 0);
}

static int get_one(FILE *file, uintptr_t place) {
    char one;
    return get(used(file, place), &one, 1, false, place) ? (unsigned char)one : EOF;
}

int fgetc(FILE *file) { return get_one(file, PLACE); }
int getc(FILE *file) { return get_one(file, PLACE); }
int getchar(void) { return get_one(stdin, PLACE); }
int fgetc_unlocked(FILE *file) { return get_one(file, PLACE); }
int getc_unlocked(FILE *file) { return get_one(file, PLACE); }
int getchar_unlocked(void) { return get_one(stdin, PLACE); }
int __uflow(FILE *file) { return get_one(file, PLACE); }
int ungetc(int one, FILE *file) {
    struct stream *stream = asked(file, true, PLACE);
    if (one == EOF || stream->pushed != NONE) return EOF;
    stream->front._flags &= ~AT_END;
    return stream->pushed = (unsigned char)one;
}

static size_t read_items(void *to, size_t size, size_t count, FILE *file, uintptr_t place) {
    struct stream *stream = used(file, place);
    return size && count ? get(stream, to, size * count, true, place) / size : 0;
}
size_t fread(void *to, size_t size, size_t count, FILE *file) {
    return read_items(to, size, count, file, PLACE);
}
size_t fread_unlocked(void *to, size_t size, size_t count, FILE *file) {
    return read_items(to, size, count, file, PLACE);
}

/* How long the rest of a line is, with its end. */
static size_t line_length(struct stream *stream, uintptr_t place) {
    size_t size, length = 0;
    const char *rest = mz_rest_of_file(stream->number, &size, place);
    if (stream->pushed == '\n') return 1;
    while (length < size && rest[length] != '\n') length++;
    return length + (length < size) + (stream->pushed != NONE);
}

char *fgets(char *to, int size, FILE *file) {
    struct stream *stream = used(file, PLACE);
    size_t length = line_length(stream, PLACE);
    if (size <= 0) return NULL;
    if (length > (size_t)size - 1) length = (size_t)size - 1;
    if (!length && size > 1) {
        stream->front._flags |= AT_END;
        return NULL;
    }
    get(stream, to, length, true, PLACE);
    mz_plain((uintptr_t)(to + length), 1, true, PLACE);
    to[length] = 0;
    return to;
}
char *fgets_unlocked(char *to, int size, FILE *file) { return fgets(to, size, file); }

ssize_t getdelim(char **line, size_t *room, int end, FILE *file) {
    struct stream *stream = used(file, PLACE);
    size_t length = 0, size;
    const char *rest = mz_rest_of_file(stream->number, &size, PLACE);
    while (length < size && rest[length] != (char)end) length++;
    length += (length < size) + (stream->pushed != NONE);
    if (!length) {
        stream->front._flags |= AT_END;
        return -1;
    }
    mz_plain((uintptr_t)line, sizeof *line, true, PLACE);
    mz_plain((uintptr_t)room, sizeof *room, true, PLACE);
    if (!*line || *room < length + 1) {
        *room = length + 1 < 120 ? 120 : length + 1;
        *line = realloc(*line, *room);
    }
    get(stream, *line, length, true, PLACE);
    mz_plain((uintptr_t)(*line + length), 1, true, PLACE);
    (*line)[length] = 0;
    return (ssize_t)length;
}
ssize_t getline(char **line, size_t *room, FILE *file) { return getdelim(line, room, '\n', file); }
ssize_t __getdelim(char **line, size_t *room, int end, FILE *file) {
    return getdelim(line, room, end, file);
}

/* Writing */

static size_t put(FILE *file, const char *from, size_t size, bool is_seen, uintptr_t place) {
    struct stream *stream = used(file, place);
    ssize_t done = mz_write_file(stream->number, from, size, is_seen, place);
    if (done < 0) stream->front._flags |= HAS_ERROR;
    return done < 0 ? 0 : (size_t)done;
}

/* For printf and the like: the text is the runtime's. */
size_t mz_put_text(FILE *file, const char *from, size_t size, uintptr_t place) {
    return put(file, from, size, false, place);
}

static int put_one(int one, FILE *file, uintptr_t place) {
    char byte = (char)one;
    return put(file, &byte, 1, false, place) ? (unsigned char)one : EOF;
}

int fputc(int one, FILE *file) { return put_one(one, file, PLACE); }
int putc(int one, FILE *file) { return put_one(one, file, PLACE); }
int putchar(int one) { return put_one(one, stdout, PLACE); }
int fputc_unlocked(int one, FILE *file) { return put_one(one, file, PLACE); }
int putc_unlocked(int one, FILE *file) { return put_one(one, file, PLACE); }
int putchar_unlocked(int one) { return put_one(one, stdout, PLACE); }
int __overflow(FILE *file, int one) { return put_one(one, file, PLACE); }
size_t fwrite(const void *from, size_t size, size_t count, FILE *file) {
    return size && count ? put(file, from, size * count, true, PLACE) / size : 0;
}
size_t fwrite_unlocked(const void *from, size_t size, size_t count, FILE *file) {
    return size && count ? put(file, from, size * count, true, PLACE) / size : 0;
}
int fputs(const char *text, FILE *file) {
    put(file, text, __builtin_strlen(text), true, PLACE);
    return 0;
}
int fputs_unlocked(const char *text, FILE *file) { return fputs(text, file); }
int puts(const char *text) {
    put(stdout, text, __builtin_strlen(text), true, PLACE);
    return put_one('\n', stdout, PLACE) == '\n' ? 0 : EOF;
}

/* Positions */

static int seek(FILE *file, off_t offset, int whence, uintptr_t place) {
    struct stream *stream = used(file, place);
    if (whence == SEEK_CUR && stream->pushed != NONE) offset--;
    if (mz_seek_file(stream->number, offset, whence, place) < 0) return -1;
    stream->pushed = NONE;
    stream->front._flags &= ~AT_END;
    return 0;
}

static off_t tell(FILE *file, uintptr_t place) {
    struct stream *stream = used(file, place);
    off_t found = mz_seek_file(stream->number, 0, SEEK_CUR, place);
    return found > 0 && stream->pushed != NONE ? found - 1 : found;
}

int fseek(FILE *file, long offset, int whence) { return seek(file, offset, whence, PLACE); }
int fseeko(FILE *file, off_t offset, int whence) { return seek(file, offset, whence, PLACE); }
int fseeko64(FILE *file, off_t offset, int whence) { return seek(file, offset, whence, PLACE); }
long ftell(FILE *file) { return tell(file, PLACE); }
off_t ftello(FILE *file) { return tell(file, PLACE); }
off_t ftello64(FILE *file) { return tell(file, PLACE); }
void rewind(FILE *file) { seek(file, 0, SEEK_SET, PLACE); }

/* Reading by a format: the C library does it, on a copy, and into places of our own. */

struct target { char *to; size_t size; char *copy; };

/* How large the thing is that one conversion reads; 0 if it reads into nothing. */
static size_t target_size(const char **format) {
    const char *at = *format + 1;
    bool is_dropped = false;
    size_t size = sizeof(int), width = 0;
    if (*at == '*') is_dropped = at++ != NULL;
    while (*at >= '0' && *at <= '9') width = width * 10 + (size_t)(*at++ - '0');
    bool is_long = false, is_wide = false;
    for (; *at && __builtin_strchr("hlqjztLm", *at); at++) {
        if (*at == 'm') {
            mz_refuse("scanf with %%m cannot be checked");
            mz_give_up();
        }
        if (*at == 'h') size = size == sizeof(short) ? 1 : sizeof(short);
        else if (*at == 'L') is_wide = true, size = 8;
        else is_long = true, size = 8;
    }
    char kind = *at;
    if (kind == '[') {
        at += at[1] == '^' ? 2 : 1;
        if (*at == ']') at++;
        while (*at && *at != ']') at++;
    }
    *format = at;
    if (kind == '%' || !kind || is_dropped) return 0;
    if (kind == 'c') return width ? width : 1;
    if (kind == 's' || kind == '[') return width ? width + 1 : MOST_FIELD;
    if (__builtin_strchr("aAeEfFgG", kind))
        return is_wide ? sizeof(long double) : is_long ? sizeof(double) : sizeof(float);
    return kind == 'p' ? sizeof(void *) : size;
}

static int convert(FILE *from, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int done = vfscanf(from, format, arguments);
    va_end(arguments);
    return done;
}

extern int _IO_fclose(FILE *);
extern long _IO_ftell(FILE *);
extern void *__libc_calloc(size_t, size_t);
extern void __libc_free(void *);

/* Gives how many things were read, and how much of the text was used up. */
static int scanned(const char *text, size_t length, const char *format, va_list arguments,
                   size_t *used_up, uintptr_t place) {
    struct target targets[MOST_POINTERS];
    void *to[MOST_POINTERS] = {0};
    int known = 0;
    for (const char *at = format; *at; at++) {
        if (*at != '%') continue;
        size_t size = target_size(&at);
        if (!*at) break;
        if (!size) continue;
        if (known == MOST_POINTERS) {
            mz_refuse("scanf of more than %d things cannot be checked", MOST_POINTERS);
            mz_give_up();
        }
        bool is_text = *at == 's' || *at == ']';
        struct target *one = &targets[known];
        one->to = va_arg(arguments, char *);
        one->size = is_text ? 0 : size;
        to[known++] = one->copy = __libc_calloc(1, size + 1);
        if (is_text) __builtin_strcpy(one->copy, "\1");
    }
    FILE *copy = length ? fmemopen((void *)text, length, "r") : NULL;
    int done = EOF;
    *used_up = 0;
    if (copy) {
        done = convert(copy, format, to[0], to[1], to[2], to[3], to[4], to[5], to[6], to[7], to[8],
                       to[9], to[10], to[11], to[12], to[13], to[14], to[15], to[16], to[17], to[18],
                       to[19], to[20], to[21], to[22], to[23]);
        *used_up = (size_t)_IO_ftell(copy);
        _IO_fclose(copy);
    }
    for (int index = 0; index < known; index++) {
        struct target *one = &targets[index];
        bool counts = index < done || (done >= 0 && index == done && one->size == 4);
        size_t size = one->size ? one->size : __builtin_strlen(one->copy) + 1;
        if (counts) {
            mz_plain((uintptr_t)one->to, size, true, place);
            mz_copy(one->to, one->copy, size);
        }
        __libc_free(one->copy);
    }
    return done;
}

static int scan_stream(FILE *file, const char *format, va_list arguments, uintptr_t place) {
    struct stream *stream = used(file, place);
    if (stream->pushed != NONE) seek(file, 0, SEEK_CUR, place);
    size_t size, used_up;
    const char *rest = mz_rest_of_file(stream->number, &size, place);
    int done = scanned(rest, size, format, arguments, &used_up, place);
    if (used_up >= size) stream->front._flags |= AT_END;
    mz_seek_file(stream->number, (off_t)used_up, SEEK_CUR, place);
    return done;
}

static int scan_text(const char *text, const char *format, va_list arguments, uintptr_t place) {
    size_t used_up;
    return scanned(text, mz_read_text(text, place), format, arguments, &used_up, place);
}

#define SCAN(name, what, first)                                             \
    int name(what, const char *format, ...) {                               \
        va_list arguments;                                                  \
        va_start(arguments, format);                                        \
        int done = first(from, format, arguments, PLACE);                   \
        va_end(arguments);                                                  \
        return done;                                                        \
    }
/* Programs that declare these themselves call them so. */
int plain_fscanf(FILE *from, const char *format, ...) __asm__("fscanf");
int plain_sscanf(const char *from, const char *format, ...) __asm__("sscanf");
SCAN(plain_fscanf, FILE *from, scan_stream)
SCAN(plain_sscanf, const char *from, scan_text)
SCAN(__isoc99_fscanf, FILE *from, scan_stream)
SCAN(__isoc99_sscanf, const char *from, scan_text)
SCAN(__isoc23_fscanf, FILE *from, scan_stream)
SCAN(__isoc23_sscanf, const char *from, scan_text)
#define SCAN_MORE(prefix)                                                         \
    int prefix##vsscanf(const char *from, const char *format, va_list arguments) { \
        return scan_text(from, format, arguments, PLACE);                         \
    }                                                                             \
    int prefix##scanf(const char *format, ...) {                                  \
        va_list arguments;                                                        \
        va_start(arguments, format);                                              \
        int done = scan_stream(stdin, format, arguments, PLACE);                  \
        va_end(arguments);                                                        \
        return done;                                                              \
    }
int plain_vsscanf(const char *from, const char *format, va_list arguments) __asm__("vsscanf");
int plain_scanf(const char *format, ...) __asm__("scanf");
SCAN_MORE(plain_)
SCAN_MORE(__isoc99_)
SCAN_MORE(__isoc23_)

int fgetpos(FILE *file, fpos_t *to) {
    off_t found = tell(file, PLACE);
    if (found < 0) return -1;
    mz_plain((uintptr_t)to, sizeof *to, true, PLACE);
    mz_fill(to, 0, sizeof *to);
    to->__pos = found;
    return 0;
}
int fsetpos(FILE *file, const fpos_t *from) {
    mz_plain((uintptr_t)from, sizeof *from, false, PLACE);
    return seek(file, from->__pos, SEEK_SET, PLACE);
}
void clearerr_unlocked(FILE *file) { clearerr(file); }
