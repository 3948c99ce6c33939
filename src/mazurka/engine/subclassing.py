"""Lets plain Python have subclasses of what is compiled, so that a front end need not be compiled.

mypyc looks for its own decorator; where the program runs, there is nothing to do, and no need to
have mypyc's library installed. This module is not compiled itself.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr as mypyc_attr
else:

    def mypyc_attr(**_):
        return lambda cls: cls
