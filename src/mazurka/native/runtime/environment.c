/* The environment: what it was when the check began, in each execution. Threads share it: who sets
   a variable while another one looks for one has a data race, as in the C library. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "seen.h"

enum { MOST_VARIABLES = 4096, ROOM = 1 << 16 };

static char *environment[MOST_VARIABLES];  /* all this is put back as the program's globals are */
char **environ = environment;
extern char **__environ __attribute__((alias("environ")));
static char room_of_environment[ROOM];
static size_t used_of_room;

extern char **_environ;  /* the C library's own */

/* Called once, before what is put back is copied. */
UNSEEN void mz_keep_environment(void) {
    size_t known = 0;
    for (; _environ && _environ[known] && known + 1 < MOST_VARIABLES; known++)
        environment[known] = _environ[known];
}

/* The entry of a variable; of what is not there, that of the end, or NULL. */
static char **entry_of(const char *name, size_t length) {
    char **entry = environ;
    for (; entry && *entry; entry++)
        if (!strncmp(*entry, name, length) && (*entry)[length] == '=') break;
    return entry;
}

char *getenv(const char *name) {
    CALLED;
    size_t length = strlen(name);
    char **entry = entry_of(name, length);
    return entry && *entry ? *entry + length + 1 : NULL;
}
char *secure_getenv(const char *name) { return getenv(name); }

UNSEEN static void refuse_more(void) {
    mz_refuse("the program sets more of its environment than can be kept");
    mz_give_up();
}

static int put(char *text, size_t length) {
    char **entry = entry_of(text, length);
    if (!entry) {  /* after clearenv */
        environ = entry = environment;
        *entry = NULL;
    }
    bool is_new = !*entry;
    if (is_new && (entry < environment || entry + 1 >= environment + MOST_VARIABLES)) refuse_more();
    *entry = text;
    if (is_new) entry[1] = NULL;
    return 0;
}

static size_t length_of_name(const char *text) { return strcspn(text, "="); }

int unsetenv(const char *name) {
    CALLED;
    if (!name || !*name || name[length_of_name(name)]) {
        errno = EINVAL;
        return -1;
    }
    char **entry = entry_of(name, strlen(name));
    for (; entry && *entry; entry++) entry[0] = entry[1];
    return 0;
}

int putenv(char *text) {
    CALLED;
    size_t length = length_of_name(text);
    return text[length] ? put(text, length) : unsetenv(text);
}

int setenv(const char *name, const char *value, int overwrites) {
    CALLED;
    if (!name || !*name || name[length_of_name(name)]) {
        errno = EINVAL;
        return -1;
    }
    size_t length = strlen(name), size = length + strlen(value) + 2;
    if (getenv(name) && !overwrites) return 0;
    if (size > ROOM - used_of_room) refuse_more();
    char *text = room_of_environment + used_of_room;
    used_of_room += size;
    strcpy(text, name);
    text[length] = '=';
    strcpy(text + length + 1, value);
    return put(text, length);
}

int clearenv(void) {
    CALLED;
    environ = NULL;
    return 0;
}
