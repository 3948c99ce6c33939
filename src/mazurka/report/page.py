"""Results as one page of HTML that needs nothing else: no network, no other file.

What the program gives (names, values, messages, its source) gets into the page as JSON, and from
there into text nodes: none of it is ever read as HTML. A policy forbids all scripts but ours.
"""

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from typing import Any, Final

from mazurka.engine.result import Failure, Result
from mazurka.report.page_data import page_data
from mazurka.report.text import LINE_WIDTH, failure_text, outcomes_text, result_text

ASSETS: Final = "mazurka.report"
PLACE: Final = re.compile(r"\{\{(\w+)\}\}")
IN_SCRIPT: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def page_of(title: str, result: Result) -> str:
    """Everything there is to say about a search."""
    text = f"{result_text(title, result, LINE_WIDTH)}\n\n{outcomes_text(result)}"
    return page(title, page_data(title, result), text)


def page_of_failure(title: str, failure: Failure) -> str:
    """One failing execution."""
    result = Result("failed", failures=[failure])
    return page(title, {**page_data(title, result), "summary": ""}, failure_text(failure))


def page(title: str, data: dict[str, Any], text: str) -> str:
    style, script = asset("page.css"), asset("page.js")
    policy = f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'"
    parts = {
        "title": html.escape(title),
        "policy": html.escape(policy),
        "style": style,
        "script": script,
        "data": in_script(data),
        "text": html.escape(text),
    }
    whole = PLACE.sub(lambda found: parts[found[1]], asset("page.html"))
    return whole.encode("utf-8", "backslashreplace").decode("utf-8")


def asset(name: str) -> str:
    return files(ASSETS).joinpath("assets", name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """What a policy calls a text that may stand in the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def in_script(data: dict[str, Any]) -> str:
    """JSON in which no character ends the element that it stands in."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return re.sub("[<>&]", lambda found: IN_SCRIPT[found[0]], text)
