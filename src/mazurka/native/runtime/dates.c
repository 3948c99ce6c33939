/* Dates. The time zone is UTC, wherever the check runs, and the language that of C. What localtime,
   gmtime, asctime and ctime give is shared by all threads, as in the C library. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "seen.h"

enum { MINUTE = 60, HOUR = 3600, DAY = 86400, FOUR_CENTURIES = 146097 };

static const char *const DAYS[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
                                   "Saturday"};
static const char *const MONTHS[] = {"January", "February", "March", "April", "May", "June", "July",
                                     "August", "September", "October", "November", "December"};

char *tzname[2] = {"UTC", "UTC"};
long timezone;
int daylight;
extern char *__tzname[2] __attribute__((alias("tzname")));
extern long __timezone __attribute__((alias("timezone")));
extern int __daylight __attribute__((alias("daylight")));
void tzset(void) {}

static int64_t floor_of(int64_t number, int64_t by) {
    return number / by - (number % by < 0);
}

static bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 || year % 400 == 0); }

/* How many days of the year come before a month. */
static int days_before(int month, bool leap) {
    static const short DAYS_BEFORE[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    return DAYS_BEFORE[month] + (leap && month > 1);
}

/* The days from 1970 to the first day of a year. */
static int64_t days_to(int64_t year) {
    int64_t before = year - 1;
    return (year - 1970) * 365 + floor_of(before, 4) - floor_of(before, 100) + floor_of(before, 400)
           - (1969 / 4 - 1969 / 100 + 1969 / 400);
}

static bool split(int64_t time, const char *zone, struct tm *to) {
    int64_t days = floor_of(time, DAY), seconds = time - days * DAY;
    int64_t year = 1970 + floor_of(days * 400, FOUR_CENTURIES);
    while (days_to(year) > days) year--;
    while (days_to(year + 1) <= days) year++;
    if (year - 1900 > INT_MAX || year - 1900 < INT_MIN) {
        errno = EOVERFLOW;
        return false;
    }
    int day = (int)(days - days_to(year)), month = 0;
    while (days_before(month + 1, is_leap(year)) <= day) month++;
    to->tm_sec = (int)(seconds % MINUTE);
    to->tm_min = (int)(seconds / MINUTE % 60);
    to->tm_hour = (int)(seconds / HOUR);
    to->tm_mday = day - days_before(month, is_leap(year)) + 1;
    to->tm_mon = month;
    to->tm_year = (int)(year - 1900);
    to->tm_wday = (int)(days + 4 - floor_of(days + 4, 7) * 7);  /* 1970 began with a Thursday */
    to->tm_yday = day;
    to->tm_isdst = 0;
    to->tm_gmtoff = 0;
    to->tm_zone = zone;
    return true;
}

struct tm *gmtime_r(const time_t *time, struct tm *to) {
    CALLED;
    return split(*time, "GMT", to) ? to : NULL;
}
struct tm *localtime_r(const time_t *time, struct tm *to) {
    CALLED;
    return split(*time, "UTC", to) ? to : NULL;
}

static struct tm what_localtime_gives;
struct tm *gmtime(const time_t *time) {
    CALLED;
    return gmtime_r(time, &what_localtime_gives);
}
struct tm *localtime(const time_t *time) {
    CALLED;
    return localtime_r(time, &what_localtime_gives);
}

/* From a date, of which no part need be within its bounds. */
static time_t joined(struct tm *date, const char *zone) {
    int64_t years = floor_of(date->tm_mon, 12), year = 1900ll + date->tm_year + years;
    int month = (int)(date->tm_mon - years * 12);
    int64_t days = days_to(year) + days_before(month, is_leap(year)) + date->tm_mday - 1;
    int64_t time = days * DAY + (int64_t)date->tm_hour * HOUR + (int64_t)date->tm_min * MINUTE
                   + date->tm_sec;
    return split(time, zone, date) ? time : -1;
}

time_t mktime(struct tm *date) {
    CALLED;
    return joined(date, "UTC");
}
time_t timelocal(struct tm *date) { return mktime(date); }
time_t timegm(struct tm *date) {
    CALLED;
    return joined(date, "GMT");
}

static const char *name_of(const char *const *names, int number, int known) {
    return number >= 0 && number < known ? names[number] : "???";
}

char *asctime_r(const struct tm *date, char *to) {
    CALLED;
    sprintf(to, "%.3s %.3s%3d %.2d:%.2d:%.2d %d\n", name_of(DAYS, date->tm_wday, 7),
            name_of(MONTHS, date->tm_mon, 12), date->tm_mday, date->tm_hour, date->tm_min,
            date->tm_sec, 1900 + date->tm_year);
    return to;
}

static char what_asctime_gives[128];
char *asctime(const struct tm *date) {
    CALLED;
    return asctime_r(date, what_asctime_gives);
}
char *ctime_r(const time_t *time, char *to) {
    CALLED;
    struct tm date;
    return localtime_r(time, &date) ? asctime_r(&date, to) : NULL;
}
char *ctime(const time_t *time) {
    CALLED;
    return ctime_r(time, what_asctime_gives);
}

/* strftime */

struct writer {
    char *to;
    size_t room, size;
    char padding, changes_case;  /* flags of the conversion, or 0 */
    int width;
};

static void put(struct writer *writer, char one) {
    if (writer->size < writer->room) writer->to[writer->size] = one;
    writer->size++;
}

static void pad(struct writer *writer, int length, char with) {
    for (int left = writer->width - length; left > 0; left--) put(writer, with);
}

static char with_case(char one, char change) {
    bool is_lower = one >= 'a' && one <= 'z', is_upper = one >= 'A' && one <= 'Z';
    if (is_lower && (change == '^' || change == '#')) return (char)(one - 32);
    return is_upper && change == 'v' ? (char)(one + 32) : one;
}

static void put_word(struct writer *writer, const char *word, size_t length) {
    pad(writer, (int)length, writer->padding == '0' ? '0' : ' ');
    while (length--) put(writer, with_case(*word++, writer->changes_case));
}

static void put_name(struct writer *writer, const char *name, size_t most) {
    put_word(writer, name, strnlen(name, most));
}

static void put_number(struct writer *writer, int64_t number, int digits, char padding) {
    char text[24];
    int length = sprintf(text, "%ld", number < 0 ? -number : number) + (number < 0);
    if (!writer->padding) writer->padding = padding;
    if (writer->width < digits && writer->padding != '-') writer->width = digits;
    bool is_blank = writer->padding == '_' || writer->padding == '-';
    if (number < 0 && !is_blank) put(writer, '-');
    pad(writer, length, is_blank ? ' ' : '0');
    if (number < 0 && is_blank) put(writer, '-');
    for (const char *at = text; *at; at++) put(writer, *at);
}

static int week_of(const struct tm *date, int first_day) {
    return (date->tm_yday + 7 - (date->tm_wday + 7 - first_day) % 7) / 7;
}

/* The week that ISO 8601 counts, and the year that it belongs to. */
static int iso_week(const struct tm *date, int64_t *year) {
    int day = (date->tm_wday + 6) % 7, week = (date->tm_yday - day + 10) / 7;
    *year = 1900ll + date->tm_year;
    if (week < 1) {
        --*year;
        int days = is_leap(*year) ? 366 : 365;
        return (date->tm_yday + days - day + 10) / 7;
    }
    int left = (is_leap(*year) ? 366 : 365) - date->tm_yday;  /* days, with this one */
    if (week == 53 && left + day < 4) {
        ++*year;
        return 1;
    }
    return week;
}

static size_t formatted(char *to, size_t room, const char *format, const struct tm *date);

static void put_formatted(struct writer *writer, const char *format, const struct tm *date) {
    char text[128];
    put_word(writer, text, formatted(text, sizeof text, format, date));
}

UNSEEN static void refuse_conversion(char kind) {
    mz_refuse("strftime with %%%c cannot be checked", kind);
    mz_give_up();
}

static void convert(struct writer *writer, char kind, const struct tm *date) {
    int64_t year = 1900ll + date->tm_year, iso_year;
    int hour = date->tm_hour, twelve = hour % 12 ? hour % 12 : 12;
    struct tm copy = *date;
    switch (kind) {
        case 'a': put_name(writer, name_of(DAYS, date->tm_wday, 7), 3); break;
        case 'A': put_name(writer, name_of(DAYS, date->tm_wday, 7), SIZE_MAX); break;
        case 'b': case 'h': put_name(writer, name_of(MONTHS, date->tm_mon, 12), 3); break;
        case 'B': put_name(writer, name_of(MONTHS, date->tm_mon, 12), SIZE_MAX); break;
        case 'c': put_formatted(writer, "%a %b %e %H:%M:%S %Y", date); break;
        case 'C': put_number(writer, floor_of(year, 100), 2, '0'); break;
        case 'd': put_number(writer, date->tm_mday, 2, '0'); break;
        case 'D': case 'x': put_formatted(writer, "%m/%d/%y", date); break;
        case 'e': put_number(writer, date->tm_mday, 2, '_'); break;
        case 'F': put_formatted(writer, "%Y-%m-%d", date); break;
        case 'g': iso_week(date, &iso_year), put_number(writer, iso_year % 100, 2, '0'); break;
        case 'G': iso_week(date, &iso_year), put_number(writer, iso_year, 1, '0'); break;
        case 'H': put_number(writer, hour, 2, '0'); break;
        case 'I': put_number(writer, twelve, 2, '0'); break;
        case 'j': put_number(writer, date->tm_yday + 1, 3, '0'); break;
        case 'k': put_number(writer, hour, 2, '_'); break;
        case 'l': put_number(writer, twelve, 2, '_'); break;
        case 'm': put_number(writer, date->tm_mon + 1, 2, '0'); break;
        case 'M': put_number(writer, date->tm_min, 2, '0'); break;
        case 'n': put_word(writer, "\n", 1); break;
        case 'p':
            if (writer->changes_case == '#') writer->changes_case = 'v';
            put_name(writer, hour < 12 ? "AM" : "PM", 2);
            break;
        case 'P': writer->changes_case = 'v', put_name(writer, hour < 12 ? "am" : "pm", 2); break;
        case 'r': put_formatted(writer, "%I:%M:%S %p", date); break;
        case 'R': put_formatted(writer, "%H:%M", date); break;
        case 's': put_number(writer, joined(&copy, "UTC"), 1, '0'); break;
        case 'S': put_number(writer, date->tm_sec, 2, '0'); break;
        case 't': put_word(writer, "\t", 1); break;
        case 'T': case 'X': put_formatted(writer, "%H:%M:%S", date); break;
        case 'u': put_number(writer, (date->tm_wday + 6) % 7 + 1, 1, '0'); break;
        case 'U': put_number(writer, week_of(date, 0), 2, '0'); break;
        case 'V': put_number(writer, iso_week(date, &iso_year), 2, '0'); break;
        case 'w': put_number(writer, date->tm_wday, 1, '0'); break;
        case 'W': put_number(writer, week_of(date, 1), 2, '0'); break;
        case 'y': put_number(writer, (year % 100 + 100) % 100, 2, '0'); break;
        case 'Y': put_number(writer, year, 1, '0'); break;
        case 'z': put_name(writer, "+0000", 5); break;
        case 'Z':
            if (writer->changes_case == '#') writer->changes_case = 'v';
            put_name(writer, date->tm_zone ? date->tm_zone : "", SIZE_MAX);
            break;
        case '%': put_word(writer, "%", 1); break;
        default: refuse_conversion(kind);
    }
}

static size_t formatted(char *to, size_t room, const char *format, const struct tm *date) {
    struct writer writer = {.to = to, .room = room};
    for (; *format; format++) {
        if (*format != '%') {
            put(&writer, *format);
            continue;
        }
        writer.padding = writer.changes_case = 0;
        writer.width = 0;
        for (format++; *format && strchr("_-0^#", *format); format++)
            *(*format == '^' || *format == '#' ? &writer.changes_case : &writer.padding) = *format;
        for (; *format >= '0' && *format <= '9' && writer.width < 1000; format++)
            writer.width = writer.width * 10 + (*format - '0');
        if (*format == 'E' || *format == 'O') format++;
        if (!*format) break;
        convert(&writer, *format, date);
    }
    if (writer.size >= room) return 0;
    to[writer.size] = 0;
    return writer.size;
}

size_t strftime(char *to, size_t room, const char *format, const struct tm *date) {
    CALLED;
    return formatted(to, room, format, date);
}
