"""Calls that are not linearizable, to read: a column for each thread, and time goes down."""

from collections.abc import Callable

from mazurka.engine.linearizable import Judge, Verdict

MARGIN = 3
LEAST = 12  # letters of a column

Row = tuple[int, str]  # a thread, and what it does


def complaint(judge: Judge, name: Callable[[int], str]) -> str:
    """Why the calls are not linearizable, in a sentence."""
    verdict = known(judge)
    if verdict.blamed >= 0:
        call = judge.calls[verdict.blamed]
        return (
            f"{call.operation} of {name(call.thread)} {ended(call.given.how, call.given.text)}: no "
            "order of the calls in which each takes effect between its begin and its end explains "
            "that"
        )
    who = " and ".join([f"{call.operation} of {name(call.thread)}" for call in judge.waiting])
    return f"{who} would wait for ever, but by the specification need not"


def ended(how: str, text: str) -> str:
    return text if how == "raises" else f"{how} {text}"


def history_lines(judge: Judge, name: Callable[[int], str]) -> list[str]:
    """The calls in an order in which they are not linearizable."""
    rows = rows_of(judge)
    threads = list(dict.fromkeys(sorted([call.thread for call in [*judge.calls, *judge.waiting]])))
    widths = [
        max([LEAST, len(name(thread)), *[len(text) for who, text in rows if who == thread]])
        for thread in threads
    ]
    lines = [line_of([name(thread) for thread in threads], widths)]
    for who, text in rows:
        lines.append(line_of([text if thread == who else "" for thread in threads], widths))
    return ["", *lines]


def line_of(cells: list[str], widths: list[int]) -> str:
    padded = [cell.ljust(width + MARGIN) for cell, width in zip(cells, widths, strict=True)]
    return "".join(padded).rstrip()


def rows_of(judge: Judge) -> list[Row]:
    """A row for each begin and each end of a call; one for both if nothing comes between."""
    verdict = known(judge)
    order = [judge.ends[place] for place in verdict.order]
    rows: list[Row] = []
    for place, end in enumerate(order):
        call = judge.calls[end.call]
        mark = "   <--" if end.call == verdict.blamed else ""
        following = order[place + 1] if place + 1 < len(order) else None
        preceding = order[place - 1] if place else None
        if end.begins and (end.ends or (following is not None and following.call == end.call)):
            rows.append((call.thread, call.text + mark))
        elif end.begins:
            rows.append((call.thread, f"{call.operation} ..."))
        elif preceding is None or preceding.call != end.call:
            rows.append((call.thread, f"... {call.text}{mark}"))
    return [*rows, *[(call.thread, f"{call.operation} waits") for call in judge.waiting]]


def known(judge: Judge) -> Verdict:
    assert judge.verdict is not None, "the calls are linearizable"
    return judge.verdict
