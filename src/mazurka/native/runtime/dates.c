/* Dates. The time zone is UTC, wherever the check runs, and the language that of C. What localtime,
   gmtime, asctime and ctime give is shared by all threads, as in the C library. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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

UNSEEN static void refuse_conversion(const char *function, char kind) {
    mz_refuse("%s with %%%c cannot be checked", function, kind);
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
        default: refuse_conversion("strftime", kind);
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

/* strptime */

/* Where a text and a format are; the text is NULL once it does not fit. */
struct reader {
    const char *text;
    struct tm *to;
    bool is_afternoon, has_twelve;
    bool is_of_a_date, has_month, has_day, has_day_of_year, has_weekday, has_year;
    int century;  /* -1 if it is not given */
};

static const char *without_blanks(const char *text) {
    while (*text == ' ' || (*text >= '\t' && *text <= '\r')) text++;
    return text;
}

static int read_number(struct reader *reader, int least, int most, int digits) {
    int number = 0, known = 0;
    reader->text = without_blanks(reader->text);
    while (known < digits && *reader->text >= '0' && *reader->text <= '9') {
        number = number * 10 + (*reader->text++ - '0');
        known++;
    }
    if (known && number >= least && number <= most) return number;
    reader->text = NULL;
    return least;
}

/* One of some names, the whole or its first letters. */
static int read_name(struct reader *reader, const char *const *names, int known, size_t letters) {
    for (int number = 0; number < known; number++) {
        size_t length = strlen(names[number]);
        if (strncasecmp(reader->text, names[number], length)) length = letters;
        if (strncasecmp(reader->text, names[number], length)) continue;
        reader->text += length;
        return number;
    }
    reader->text = NULL;
    return 0;
}

/* How far from UTC: +hh, +hhmm or +hh:mm; or Z. */
static long read_zone(struct reader *reader) {
    reader->text = without_blanks(reader->text);
    char sign = *reader->text++;
    if (sign == 'Z') return 0;
    int digits = 0, number = 0;
    for (; (sign == '+' || sign == '-') && digits < 4; digits++, reader->text++) {
        if (digits == 2 && *reader->text == ':') reader->text++;
        if (*reader->text < '0' || *reader->text > '9') break;
        number = number * 10 + (*reader->text - '0');
    }
    if (digits == 2) number *= 100;
    if ((digits != 2 && digits != 4) || number % 100 >= 60) {
        reader->text = NULL;
        return 0;
    }
    long seconds = (number / 100 * 60 + number % 100) * 60;
    return sign == '-' ? -seconds : seconds;
}

static void read_seconds(struct reader *reader) {
    int64_t seconds = 0;
    const char *begin = reader->text;
    while (*reader->text >= '0' && *reader->text <= '9') seconds = seconds * 10 + (*reader->text++ - '0');
    if (reader->text == begin) reader->text = NULL;
    else split(seconds, "UTC", reader->to);
}

static void read_format(struct reader *reader, const char *format);

static void read_conversion(struct reader *reader, char kind) {
    static const char *const HALVES[] = {"AM", "PM"};
    struct tm *to = reader->to;
    switch (kind) {
        case 'a': case 'A':
            to->tm_wday = read_name(reader, DAYS, 7, 3), reader->has_weekday = true;
            break;
        case 'b': case 'B': case 'h':
            to->tm_mon = read_name(reader, MONTHS, 12, 3);
            reader->has_month = reader->is_of_a_date = true;
            break;
        case 'c': read_format(reader, "%a %b %e %H:%M:%S %Y"); break;
        case 'C': reader->century = read_number(reader, 0, 99, 2), reader->is_of_a_date = true; break;
        case 'd': case 'e':
            to->tm_mday = read_number(reader, 1, 31, 2), reader->has_day = reader->is_of_a_date = true;
            break;
        case 'D': case 'x': read_format(reader, "%m/%d/%y"); break;
        case 'F': read_format(reader, "%Y-%m-%d"); break;
        case 'H': case 'k':
            to->tm_hour = read_number(reader, 0, 23, 2), reader->has_twelve = false;
            break;
        case 'I': case 'l':
            to->tm_hour = read_number(reader, 1, 12, 2) % 12, reader->has_twelve = true;
            break;
        case 'j':
            to->tm_yday = read_number(reader, 1, 366, 3) - 1, reader->has_day_of_year = true;
            break;
        case 'm':
            to->tm_mon = read_number(reader, 1, 12, 2) - 1;
            reader->has_month = reader->is_of_a_date = true;
            break;
        case 'M': to->tm_min = read_number(reader, 0, 59, 2); break;
        case 'n': case 't': reader->text = without_blanks(reader->text); break;
        case 'p': reader->is_afternoon = read_name(reader, HALVES, 2, 2); break;
        case 'r': read_format(reader, "%I:%M:%S %p"); break;
        case 'R': read_format(reader, "%H:%M"); break;
        case 's': read_seconds(reader); break;
        case 'S': to->tm_sec = read_number(reader, 0, 61, 2); break;
        case 'T': case 'X': read_format(reader, "%H:%M:%S"); break;
        case 'u': to->tm_wday = read_number(reader, 1, 7, 1) % 7, reader->has_weekday = true; break;
        case 'w': to->tm_wday = read_number(reader, 0, 6, 1), reader->has_weekday = true; break;
        case 'y':
            to->tm_year = read_number(reader, 0, 99, 2);
            if (to->tm_year < 69) to->tm_year += 100;
            reader->has_year = reader->is_of_a_date = true;
            break;
        case 'Y':
            to->tm_year = read_number(reader, 0, 9999, 4) - 1900, reader->is_of_a_date = true;
            reader->has_year = false, reader->century = -1;
            break;
        case 'z': to->tm_gmtoff = read_zone(reader); break;
        case '%': reader->text = *reader->text == '%' ? reader->text + 1 : NULL; break;
        default: refuse_conversion("strptime", kind);
    }
}

static void read_format(struct reader *reader, const char *format) {
    for (; *format && reader->text; format++) {
        if (*format == ' ' || (*format >= '\t' && *format <= '\r')) {
            reader->text = without_blanks(reader->text);
        } else if (*format != '%') {
            reader->text = *reader->text == *format ? reader->text + 1 : NULL;
        } else {
            for (format++; *format && strchr("_-0^#EO", *format);) format++;
            if (!*format) break;
            read_conversion(reader, *format);
        }
    }
}

/* What follows from the parts of a date that were given. */
static void complete(struct reader *reader) {
    struct tm *to = reader->to;
    if (reader->has_twelve && reader->is_afternoon) to->tm_hour += 12;
    if (reader->century >= 0)
        to->tm_year = (reader->century - 19) * 100 + (reader->has_year ? to->tm_year % 100 : 0);
    if (!reader->is_of_a_date) return;
    bool leap = is_leap(1900ll + to->tm_year);
    if (reader->has_day_of_year && !reader->has_weekday) {
        if (!reader->has_month)
            for (to->tm_mon = 0; to->tm_mon < 11 && days_before(to->tm_mon + 1, leap) <= to->tm_yday;)
                to->tm_mon++;
        if (!reader->has_day) to->tm_mday = to->tm_yday - days_before(to->tm_mon, leap) + 1;
    }
    if (to->tm_mon < 0 || to->tm_mon > 11) return;
    int day = days_before(to->tm_mon, leap) + to->tm_mday - 1;
    int64_t days = days_to(1900ll + to->tm_year) + day;
    if (!reader->has_weekday) to->tm_wday = (int)(days + 4 - floor_of(days + 4, 7) * 7);
    if (!reader->has_day_of_year) to->tm_yday = day;
}

char *strptime(const char *text, const char *format, struct tm *to) {
    CALLED;
    struct reader reader = {.text = text, .to = to, .century = -1};
    read_format(&reader, format);
    if (reader.text) complete(&reader);
    return (char *)reader.text;
}
