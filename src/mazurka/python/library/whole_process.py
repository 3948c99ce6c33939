"""What belongs to the whole process: settings and tables of the interpreter and of logging.

Nobody announces a change of these. So they are compared when a search is over: if they are not what
they were, the search begins anew, and puts them back before each execution.
"""

import builtins
import copyreg
import csv
import gc
import locale
import logging
import os
import socket
import sys
import threading
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

LISTS: list[list[Any]] = [sys.path, sys.meta_path, sys.path_hooks]
TABLES: list[dict[Any, Any]] = [
    vars(builtins),
    copyreg.dispatch_table,
    logging.root.manager.loggerDict,
    vars(logging)["_levelToName"],
    vars(logging)["_nameToLevel"],
]
CHANGED_BY_PYTHON = {"_"}  # among the built-in names: what a prompt has shown last


# Settings that C keeps: what they are, and what sets them back


def working_directory() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return None


def change_directory(path: str | None) -> None:
    if path is not None:
        os.chdir(path)


def umask() -> int:
    found = os.umask(0o77)
    os.umask(found)
    return found


def stack_size() -> int:
    found = threading.stack_size(0)
    threading.stack_size(found)
    return found


def switch_collection(is_on: bool) -> None:
    if is_on:
        gc.enable()
    else:
        gc.disable()


def trace_memory(is_on: bool) -> None:
    if is_on:
        tracemalloc.start()
    else:
        tracemalloc.stop()


def dialects() -> dict[str, Any]:
    return {name: csv.get_dialect(name) for name in csv.list_dialects()}


def put_back_dialects(before: dict[str, Any]) -> None:
    for name in csv.list_dialects():
        csv.unregister_dialect(name)
    for name, dialect in before.items():
        csv.register_dialect(name, dialect)


def time_zone() -> tuple[Any, ...]:
    return time.tzname, time.timezone, os.environ.get("TZ")


def put_back_time_zone(before: tuple[Any, ...]) -> None:
    *_, name = before
    if hasattr(time, "tzset"):
        if name is None:
            os.unsetenv("TZ")
        else:
            os.putenv("TZ", name)
        time.tzset()


SETTINGS: list[tuple[Callable[[], Any], Callable[[Any], object]]] = [
    (working_directory, change_directory),
    (umask, os.umask),
    (stack_size, threading.stack_size),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (sys.getswitchinterval, sys.setswitchinterval),
    (sys.get_int_max_str_digits, sys.set_int_max_str_digits),
    (gc.isenabled, switch_collection),
    (gc.get_threshold, lambda thresholds: gc.set_threshold(*thresholds)),
    (gc.get_debug, gc.set_debug),
    (tracemalloc.is_tracing, trace_memory),
    (socket.getdefaulttimeout, socket.setdefaulttimeout),
    (lambda: locale.setlocale(locale.LC_ALL), lambda name: locale.setlocale(locale.LC_ALL, name)),
    (time_zone, put_back_time_zone),
    (csv.field_size_limit, csv.field_size_limit),
    (dialects, put_back_dialects),
    (lambda: logging.root.manager.disable, logging.disable),
]


class WholeProcess:
    """The state of the process as it was when a search began."""

    def __init__(self) -> None:
        self.lists = [list(each) for each in LISTS]
        self.tables = [dict(each) for each in TABLES]
        self.filters = warnings.filters, list(warnings.filters)
        self.settings = [get() for get, _ in SETTINGS]
        self.attributes = plain_attributes()
        self.loggers = [(logger, settings_of(logger)) for logger in all_loggers()]

    def is_as_it_was(self) -> bool:
        lists = all(a == b for a, b in zip(self.lists, LISTS, strict=True))
        tables = all(map(is_same_table, self.tables, TABLES))
        filters, entries = self.filters
        return (
            lists
            and tables
            and (warnings.filters is filters and filters == entries)
            and self.settings == [get() for get, _ in SETTINGS]
            and plain_attributes() == self.attributes
            and all(settings_of(logger) == settings for logger, settings in self.loggers)
        )

    def take_in_imported(self) -> None:
        """A module that was imported stays, with what it has added."""
        for table, before in zip(TABLES, self.tables, strict=True):
            before.update({key: value for key, value in table.items() if key not in before})
        known = {id(logger) for logger, _ in self.loggers}
        new = [logger for logger in all_loggers() if id(logger) not in known]
        self.loggers += [(logger, settings_of(logger)) for logger in new]

    def put_back(self) -> None:
        for current, before in zip(LISTS, self.lists, strict=True):
            current[:] = before
        for table, was in zip(TABLES, self.tables, strict=True):
            put_back_table(table, was)
        filters, entries = self.filters
        filters[:] = entries  # type: ignore[index]
        warnings.filters = filters
        warnings._filters_mutated()  # type: ignore[attr-defined]
        for (get, put), before in zip(SETTINGS, self.settings, strict=True):
            if get() != before:
                put(before)
        put_back_attributes(self.attributes)
        for logger, settings in self.loggers:
            put_back_settings(logger, settings)
        logging.root.manager._clear_cache()  # type: ignore[attr-defined]


def is_same_table(before: dict[Any, Any], now: dict[Any, Any]) -> bool:
    """Whether a table has the same objects at the same keys."""
    if before.keys() ^ now.keys() - CHANGED_BY_PYTHON:
        return False
    return all(now[key] is value for key, value in before.items() if key not in CHANGED_BY_PYTHON)


def put_back_table(table: dict[Any, Any], before: dict[Any, Any]) -> None:
    for key in table.keys() - before.keys() - CHANGED_BY_PYTHON:
        del table[key]
    table.update(before)


# The attributes of sys that programs may set, or add


def plain_attributes() -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(sys).items()
        if isinstance(value, (bool, int, float, str, type(None))) and not name.startswith("last_")
    }


def put_back_attributes(before: dict[str, Any]) -> None:
    for name in plain_attributes().keys() - before.keys():
        delattr(sys, name)
    for name, value in before.items():
        setattr(sys, name, value)


# Loggers


def all_loggers() -> list[logging.Logger]:
    known = logging.root.manager.loggerDict.values()
    return [logging.root, *(logger for logger in known if isinstance(logger, logging.Logger))]


def settings_of(logger: logging.Logger) -> tuple[Any, ...]:
    return (
        logger.level, logger.propagate, logger.disabled, list(logger.handlers), list(logger.filters)
    )  # fmt: skip


def put_back_settings(logger: logging.Logger, settings: tuple[Any, ...]) -> None:
    logger.level, logger.propagate, logger.disabled, handlers, filters = settings
    logger.handlers[:] = handlers
    logger.filters[:] = filters
