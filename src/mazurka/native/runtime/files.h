/* Files as a program sees them: see files.c. */
#ifndef MAZURKA_FILES_H
#define MAZURKA_FILES_H

#include <stdio.h>
#include <sys/types.h>

#include "state.h"

int mz_open_file(const char *path, int flags, mode_t mode, uintptr_t place);
int mz_close_file(int number, uintptr_t place);
ssize_t mz_read_file(int number, char *to, size_t size, bool is_seen, uintptr_t place);
ssize_t mz_write_file(int number, const char *from, size_t size, bool is_seen, uintptr_t place);
off_t mz_seek_file(int number, off_t offset, int whence, uintptr_t place);
int mz_remove_file(const char *path, uintptr_t place);
int mz_rename_file(const char *from, const char *to, uintptr_t place);
bool mz_is_open(int number);
const char *mz_rest_of_file(int number, size_t *size, uintptr_t place);
void mz_begin_files(void);
void mz_begin_streams(void);
void mz_library_call(const void *object, bool is_write, uintptr_t place);
void mz_descriptor_call(int number, bool is_write, uintptr_t place);
void mz_keep_output(const char *text, size_t size);
size_t mz_put_text(FILE *file, const char *from, size_t size, uintptr_t place);
size_t mz_read_text(const char *text, uintptr_t place);

#endif
