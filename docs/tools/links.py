"""A hook of mkdocs: pages link to files of the project, which a site does not have. What is left
there is what such a link says."""

import os
import re
from typing import Any

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, **others: Any) -> str:
    folder = os.path.dirname(page.file.src_uri)

    def replaced(found: re.Match[str]) -> str:
        target = found[3]
        if "://" in target or not leaves(os.path.normpath(os.path.join(folder, target))):
            return found[0]
        return found[2]

    return LINK.sub(replaced, markdown)


def leaves(path: str) -> bool:
    """Whether a path leads out of the folder of the documentation, or to its tools."""
    return path.startswith(("..", "tools"))
