"""To make a text of something reads all that is in it."""

import json

from mazurka import explore
from tests.python.threads import both


class Point:
    x = 0


def test_json_reads_all_that_is_in_an_object() -> None:
    def program() -> str:
        inner: dict[str, int] = {}
        outer = {"inner": [inner]}
        found: list[str] = []

        def change() -> None:
            inner["n"] = 1

        both(change, lambda: found.append(json.dumps(outer)))
        return found[0]

    result = explore(program)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {'{"inner": [{}]}', '{"inner": [{"n": 1}]}'}


def test_json_asks_the_program_for_objects_of_its_classes() -> None:
    def program() -> str:
        point = Point()
        found: list[str] = []

        def move() -> None:
            point.x = 1

        both(move, lambda: found.append(json.dumps([point], default=lambda each: each.x)))
        return found[0]

    result = explore(program)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {"[0]", "[1]"}
