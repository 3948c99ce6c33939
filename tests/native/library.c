/* What the C library gives: the same here as without Mazurka. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>
char *__xpg_basename(char *), *dirname(char *); /* libgen.h calls the former basename */

static const time_t TIMES[] = {0, 1, -1, 951782400, 1700000000, 4102444799, -30000000000, 253402300800};
static const char *const FORMATS[] = {
    "%a %A %b %B %h", "%c|%x|%X|%D|%F|%r|%R|%T", "%C %g %G %V %u %w %U %W %j", "%d %e %H %I %k %l %m %M",
    "%p %P %s %S %y %Y %z %Z %%", "%_d|%-d|%05d|%^a|%#Z|%#p|%10A|%010Y|%_12F|%Ey|%-3d|%_5m"};
static const int DATES[][6] = {{124, 0, 31, 0, 0, 0}, {124, 14, -5, 30, -70, 1000}, {70, -1, 1, 0, 0, 0}};

static void dates(void) {
    char text[200];
    for (size_t place = 0; place < sizeof TIMES / sizeof *TIMES; place++) {
        struct tm date;
        printf("%p %s", (void *)0, asctime(gmtime_r(&TIMES[place], &date)));
        for (size_t format = 0; format < sizeof FORMATS / sizeof *FORMATS; format++)
            printf("%zu %s\n", strftime(text, sizeof text, FORMATS[format], &date), text);
    }
    for (size_t place = 0; place < sizeof DATES / sizeof *DATES; place++) {
        const int *given = DATES[place];
        struct tm date = {.tm_year = given[0], .tm_mon = given[1], .tm_mday = given[2],
                          .tm_hour = given[3], .tm_min = given[4], .tm_sec = given[5]};
        time_t time = mktime(&date);
        printf("%ld %d %d %s", (long)time, date.tm_wday, date.tm_yday, ctime(&time));
        printf("%ld %s", (long)timegm(&date), ctime_r(&time, text));
    }
    time_t far = INT64_MAX;
    printf("%d %d %zu %g\n", localtime(&far) == NULL, errno, strftime(text, 4, "%Y", gmtime(TIMES)),
           difftime(5, 3));
}

static int compare(const void *one, const void *other) { return *(const int *)one - *(const int *)other; }
static int backwards(const void *one, const void *other, void *unused) {
    (void)unused;
    return compare(other, one);
}
static void visit(const void *node, VISIT order, int depth) {
    (void)depth;
    if (order == leaf || order == postorder) printf(" %d", **(int *const *)node);
}

static void tables(void) {
    int numbers[] = {5, 3, 9, 1, 7, 3};
    void *root = NULL;
    for (int place = 0; place < 6; place++) tsearch(&numbers[place], &root, compare);
    tdelete(&numbers[0], &root, compare);
    twalk(root, visit);
    printf(" %d\n", tfind(&numbers[0], &root, compare) == NULL);
    while (root) tdelete(*(void **)root, &root, compare);
    qsort_r(numbers, 6, sizeof *numbers, backwards, NULL);
    size_t known = 6;
    int wanted = 7, other = 8;
    printf("%td", (int *)lfind(&wanted, numbers, &known, sizeof *numbers, compare) - numbers);
    printf(" %d %zu\n", lfind(&other, numbers, &known, sizeof *numbers, compare) == NULL, known);
    hcreate(4);
    ENTRY entry = {"one", "1"}, asked = {"one", NULL}, none = {"two", NULL};
    hsearch(entry, ENTER);
    printf("%s %d\n", (char *)hsearch(asked, FIND)->data, hsearch(none, FIND) == NULL);
    hdestroy();
}

static void texts(void) {
    char text[40] = "/one/two//", copy[40] = "/one/two//", pairs[] = "badc", swapped[5] = "";
    swab(pairs, swapped, 4);
    printf("%s %s %s %s\n", __xpg_basename(text), dirname(copy), basename("a/b"), swapped);
    printf("%s %s %d\n", strcasestr("a Needle", "NEED"), strerror(ENOENT), strerror_r(2, text, 40) == NULL);
    printf("%s %s %zu\n", (char *)rawmemchr("abc", 'b'), (char *)memccpy(text, "ab;c", ';', 4) - 3,
           strxfrm(copy, "xyz", 40));
    setenv("MAZURKA_ONE", "1", 1);
    setenv("MAZURKA_ONE", "2", 0);
    putenv("MAZURKA_TWO=x=y");
    printf("%s %s", getenv("MAZURKA_ONE"), getenv("MAZURKA_TWO"));
    unsetenv("MAZURKA_ONE");
    printf(" %d %d\n", getenv("MAZURKA_ONE") == NULL, setenv("=", "", 1));
    wchar_t wide[20], *rest;
    printf("%zu", mbstowcs(wide, "some words", 20));
    printf(" %zu", wcslen(wide));
    char narrow[20];
    printf(" %zu", wcstombs(narrow, wcstok(wide, L" ", &rest), 20));
    printf(" %s %ld\n", narrow, (long)(rest - wide));
    printf("%zu %d %d %d\n", wcstombs(text, L"ab", 40), mbtowc(wide, "\xe9", 1), !!iswalpha(L'x'), !!iswalpha(0xe9));
}

static void numbers(void) {
    int exponent, sign, quotient;
    double whole, sine, cosine;
    printf("%g %g %g ", frexp(10, &exponent), modf(2.5, &whole), lgamma_r(-0.5, &sign));
    sincos(1, &sine, &cosine);
    printf("%d %g %d %g %g %g ", exponent, whole, sign, sine, cosine, remquo(7, 3, &quotient));
    printf("%d %g %Lg %" PRIdMAX "\n", quotient, nextafter(1, 2) - 1, expl(1), imaxabs(-5));
}

static void files(void) {
    char name[] = "/tmp/mazurka-XXXXXX", got[9] = "", more[3] = "";
    int file = mkstemp(name);
    struct iovec parts[] = {{"abc", 3}, {"defg", 4}}, into[] = {{got, 2}, {more, 2}};
    printf("%zd", writev(file, parts, 2));
    printf(" %zd", pwrite(file, "X", 1, 1));
    printf(" %zd", pread(file, got, 8, 0));
    printf(" %s %ld", got, (long)lseek(file, 0, SEEK_SET));
    printf(" %zd", readv(file, into, 2));
    printf(" %s %s %d\n", got, more, dprintf(file, "%d", 7));
    printf("%d %d\n", (fcntl(file, F_GETFL) & O_ACCMODE) == O_RDWR, fcntl(99, F_GETFL));
    int number;
    char word[9];
    printf("%d", sscanf("12 ab", "%d %8s", &number, word));
    printf(" %d %s %d\n", number, word, unlink(name));
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int begun;
static void begin(void) {
    if (begun++ == 0) pthread_exit(NULL); /* then the next one is to do it */
}
static void *begin_once(void *unused) {
    pthread_once(&once, begin);
    return unused;
}

static void others(void) {
    pthread_t threads[2];
    for (int place = 0; place < 2; place++) pthread_create(&threads[place], NULL, begin_once, NULL);
    for (int place = 0; place < 2; place++) pthread_join(threads[place], NULL);
    pthread_once(&once, begin);
    char *pages = mmap(NULL, 5000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int sum = pages[4999]++, given[] = {3, 1, 2};
    int by(const void *one, const void *other) { /* has its code on the stack */
        sum++;
        return compare(one, other);
    }
    qsort(given, 3, sizeof *given, by);
    printf("%d %d %d %d\n", begun, munmap(pages, 5000), sum > 0, given[0]);
}

int main(void) {
    others();
    dates();
    tables();
    texts();
    numbers();
    files();
    fflush(stdout);
    return 0;
}
