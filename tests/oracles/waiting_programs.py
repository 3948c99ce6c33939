"""Generated programs whose threads wait in loops, as text: once with the loops as they are, and
once with a bound on the rounds of each, which leaves nothing to cut or to await."""

import textwrap
from collections.abc import Callable
from random import Random

from mazurka.engine.program import REDUNDANT
from mazurka.engine.program import Program as EngineProgram
from mazurka.engine.result import EXCEPTION, Result
from mazurka.engine.search import Search
from mazurka.explore.algorithms import ALGORITHMS
from mazurka.python.check import RUNNING
from mazurka.python.new_check import new_check
from mazurka.python.rewriting.rewritten_code import OrdinaryCode
from tests.oracles.checks import explored
from tests.oracles.python_programs import load, rewritten

HEADER = """\
import queue, random, threading, time
from collections import deque
from mazurka import Atomic, assume, spawn
class Box:
    def read_x(self):
        return self.x
    def read_y(self):
        return self.y
    z = property(lambda self: self.x)
"""

# How a shared variable is made, read and written.
STYLES = {
    "atomic": ("{v} = Atomic(0)", "{v}.load()", "{v}.store({k})"),
    "attribute": ("box.{v} = 0", "box.{v}", "box.{v} = {k}"),
    "closure": ("{v} = 0", "{v}", "{v} = {k}"),
    "item": ("items['{v}'] = 0", "items['{v}']", "items['{v}'] = {k}"),
    "index": ("{v} = [0]", "{v}[0]", "{v}[0] = {k}"),
    "get": ("items['{v}'] = 0", "items.get('{v}')", "items['{v}'] = {k}"),
    "method": ("box.{v} = 0", "box.read_{v}()", "box.{v} = {k}"),
}

# What loops may ask whether to go on.
HELPERS = """\
def is_x(k):
    return $x == k
def is_either(k):
    if $x == k:
        return True
    return $y == k
def are_both(k, m):
    return $x == k and $y == m
def has_some():
    return bool(things)
def next_of(k):
    try:
        return table[k]
    except KeyError:
        return 0
is_zero = lambda: not $x
"""

# Loops: a condition, and a body. $v and $w are shared variables, $k and $m small numbers, which
# they are compared with; $set(v, k) stores one.
LOOPS = [
    ("$v != $k", "pass"),
    ("$v != $k", "time.sleep(0.1)"),
    ("$v == 0 and $w == 0", "pass"),
    ("$v == 0 or $w == $k", "pass"),
    ("not ($v == $k or $v > $w)", "pass"),
    ("(a := $v) < $k", "pass"),
    ("True", "a = $v\nif a == $k:\n    break"),
    ("True", "a = $v\nb = $w\nif a == $k or b == $m:\n    break"),
    ("True", "a = $v\nif a == $k:\n    $set(w, m)\nif a != 0:\n    break"),
    ("True", "a = $v\n$w\nif a == $k:\n    $set(w, m)\nif a < $m:\n    break"),
    ("True", "if $v == $k:\n    continue\nif $w != $m:\n    break"),
    ("True", "with lock:\n    if $v == $k:\n        break"),
    ("True", "with lock:\n    a = $v\n    if a == $k:\n        $set(v, m)\n        break"),
    ("True", "a = $v\nif a == $k:\n    got.append(a)\n    break\nb = a"),
    ("$v == 0 and len(got) < 2", "got.append($w)"),
    ("(a := $v) == $k and b < 2", "b += 1"),
    ("b == 0", "b = $v"),
    ("b != $k", "b = $v\nif b == $m:\n    $set(w, k)"),
    ("not flag.is_set()", "pass"),
    ("not flag.is_set()", "if $v == $k:\n    flag.set()"),
    ("not flag.wait(0.1)", "pass"),
    ("not word.compare_exchange(0, $k)", "pass"),
    ("word.exchange(1) == 1", "pass"),
    ("True", "a = word.load()\nif word.compare_exchange(a, a + $v):\n    break"),
    ("True", "while_polling = $v\nif word.exchange($k) != $k:\n    break"),
    ("not lock.acquire(blocking=False)", "pass"),
    ("lock.locked()", "pass"),
    ("line.empty()", "pass"),
    (
        "True",
        "try:\n    got.append(line.get_nowait())\n    break\nexcept queue.Empty:\n    pass",
    ),
    ("True", "with lock:\n    if flag.is_set() or $v == $k:\n        break\ntime.sleep(1)"),
    ("True", "$set(v, k)\nif $w == 0:\n    break\n$set(v, m)"),
    ("time.monotonic() < 1002 and $v == 0", "time.sleep(1)"),
    ("all(x == 0 for x in ($v, $w))", "pass"),
    # Containers
    ("not things", "pass"),
    ("things", "time.sleep(0.1)"),
    ("len(things) <= $k", "pass"),
    ("len(things) <= $m or things[0] == $k", "pass"),
    ("things[0] == $k", "pass"),
    ("$m not in table", "pass"),
    ("table.get($m) == $k", "pass"),
    ("table.get($m, $k) == $k", "pass"),
    ("table[$m] != $k", "pass"),
    ("not pile", "pass"),
    ("len(pile) == $k", "pass"),
    ("not (pile and pile[0] == $k)", "pass"),
    ("$m not in several", "pass"),
    ("True", "try:\n    got.append(table[$m])\n    break\nexcept KeyError:\n    pass"),
    ("True", "try:\n    if table[$m] == $k:\n        break\nexcept KeyError:\n    continue"),
    ("True", "try:\n    got.append(things[$m])\n    break\nexcept LookupError:\n    pass"),
    ("True", "try:\n    got.append(pile.popleft())\n    break\nexcept IndexError:\n    pass"),
    ("True", "if things:\n    got.append(things.pop())\n    break"),
    # Functions
    ("not is_x($k)", "pass"),
    ("not is_either($k)", "pass"),
    ("not are_both($k, $m)", "pass"),
    ("not has_some()", "pass"),
    ("next_of($m) == $k", "pass"),
    ("is_zero()", "time.sleep(1)"),
    ("True", "a = is_x($k)\nif a or is_either($m):\n    break"),
    # Rotated, hoisted
    ("b == $k", "$w\nb = $v"),
    ("b == a", "b = $v"),
    ("True", "if b == $k:\n    break\nb = $v"),
    ("not a", "a = $v == $k"),
    ("True", "a = $v\nword.load()\nif a == $k:\n    $set(w, m)\nif a < 1:\n    break"),
    ("True", "a = $v\nb = word.load()\nif a != $k:\n    break"),
    ("word.exchange(int($v == 0)) == 0", "pass"),
    # Sleeping for times that do not matter, and do
    ("$v != $k", "time.sleep(random.random())"),
    ("$v != $k", "time.sleep(d * random.uniform(0, 1))\nd = min(2 * d, 8)"),
    ("$v != $k", "e += 1\nif e % 2 == 0:\n    time.sleep(0.1)"),
    ("$v == 0 or $w == $k", "time.sleep(2**e)\ne += 1"),
    ("True", "a = $v\nif a == $k:\n    break\ne = random.randint(0, 3)\ntime.sleep(e)"),
    ("not lock.acquire(blocking=False)", "time.sleep(random.uniform(0, d))\nd += 1"),
    ("$v == $k", "time.sleep(d)\nd = d - 0.5"),
    ("$v == $k", "d = $w\ntime.sleep(d - 1)"),
    ("$v == $k and d < 3", "d = d + 1\ntime.sleep(d)"),
    # Whatever else there may be in a loop
    ("True", "try:\n    if $v == $k:\n        break\nfinally:\n    a = $w"),
    ("True", "try:\n    if $v == $k:\n        break\nfinally:\n    b += 1\n    assume(b < 3)"),
    ("$v == 0", "for c in range(2):\n    if $w == $k:\n        b = c"),
    ("not [c for c in ($v, $w) if c == $k]", "pass"),
    ("[a := $v, $w][1] == $k", "pass"),
    ("1 // ($v + 1) == $k", "pass"),
    ("(b := b + 1) < 3 and $v == $k", "pass"),
]

OTHERS = [
    "$set(v, k)",
    "$set(v, m)",
    "a = $v\n$set(w, k)\ngot.append(a)",
    "got.append($v)",
    "assert $v != $k, 'number $n'",
    "flag.set()",
    "flag.set()\nflag.clear()",
    "word.store($k)",
    "word.store(0)",
    "word.add(1)",
    "line.put($k)",
    "with lock:\n    $set(v, k)",
    "with lock:\n    $set(v, k)\n    $set(w, m)",
    "got.append((a, b))",
    "got.append(d)",
    "things.append($k)",
    "things[:] = [$m]",
    "things.clear()",
    "if things:\n    things[0] = $m",
    "got.append(len(things))",
    "table[$m] = $k",
    "table.pop($m, None)",
    "pile.append($k)",
    "pile.clear()",
    "several.add($k)",
    "several.discard($m)",
]


class WaitingProgram:
    """A program of two or three threads."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.style = random.choice(list(STYLES))
        self.threads: list[list[tuple[str, str]]] = []
        loops = 0
        for _ in range(random.choice((2, 2, 2, 3))):
            statements = []
            for _ in range(random.choice((1, 2, 2, 3))):
                is_loop = random.random() < 0.45 and loops < 3
                loops += is_loop
                loop = random.choice(LOOPS) if is_loop else ("", random.choice(OTHERS))
                statements.append(self.filled(loop, random))
            self.threads.append(statements)

    def filled(self, statement: tuple[str, str], random: Random) -> tuple[str, str]:
        v, w = random.sample(("x", "y"), 2)
        k, m = str(random.choice((0, 1, 2))), str(random.choice((0, 1)))
        _, read, write = STYLES[self.style]
        values = {"v": v, "w": w, "k": k, "m": m, "n": str(random.randrange(100))}

        def fill(text: str) -> str:
            for one in "vw":
                for other in "km":
                    stored = write.format(v=values[one], k=values[other])
                    text = text.replace(f"$set({one}, {other})", stored)
                text = text.replace(f"${one}", read.format(v=values[one]))
            for name in "kmn":
                text = text.replace(f"${name}", values[name])
            return text

        return fill(statement[0]), fill(statement[1])

    def source(self, rounds: int | None) -> str:
        make = STYLES[self.style][0]
        body = ["box, items = Box(), {}", *(make.format(v=v) for v in "xy")]
        body += ["word, flag, lock = Atomic(0), threading.Event(), threading.Lock()"]
        body += ["line, things, table, pile, several = queue.Queue(), [], {}, deque(), set()"]
        helpers = HELPERS
        for v in "xy":
            helpers = helpers.replace(f"${v}", STYLES[self.style][1].format(v=v))
        body += [helpers]
        for number, statements in enumerate(self.threads):
            lines = ["nonlocal x, y"] if self.style == "closure" else []
            lines += ["got, a, b, d, e = [], 0, 0, 1, 0"]
            lines += [text_of(*statement, rounds) for statement in statements]
            lines += ["return tuple(got)"]
            body += [f"def thread_{number}():", textwrap.indent("\n".join(lines), "    ")]
        names = [f"thread_{number}" for number in range(len(self.threads))]
        body += [f"handles = [spawn(thread) for thread in ({', '.join(names)})]"]
        reads = ", ".join(STYLES[self.style][1].format(v=v) for v in "xy")
        seen = f"{reads}, word.load(), things, table, list(pile), sorted(several)"
        body += [f"return [handle.join() for handle in handles], {seen}"]
        return HEADER + "def main():\n" + textwrap.indent("\n".join(body), "    ") + "\n"


def text_of(condition: str, body: str, rounds: int | None) -> str:
    if not condition:
        return body
    if rounds is None:
        return f"while {condition}:\n" + textwrap.indent(body, "    ")
    lines = [f"for _ in range({rounds}):", f"    if not ({condition}):", "        break"]
    lines += [textwrap.indent(body, "    "), "else:", "    assume(False)"]
    return "\n".join(lines)


class Behaviour:
    """What a search finds that a program can do."""

    def __init__(self, algorithm: str, source: str, most: int) -> None:
        self.algorithm = algorithm
        self.most = most
        self.exceptions: set[str] = set()
        self.outcomes: set[str] = set()
        self.result = Result()
        module = load(source)
        with new_check(), rewritten(module) as code:
            self.finished = self.explored(module.main, code)
        kinds = {failure.kind for failure in self.result.failures}
        self.others = kinds - {EXCEPTION, "deadlock", "livelock"}

    def explored(self, main: Callable[[], object], code: OrdinaryCode) -> bool:
        def new_search(program: EngineProgram) -> Search:
            self.exceptions, self.outcomes, self.result = set(), set(), Result()
            return Search(program, self.result, False, self.most, None, None, self.observe)

        algorithm = ALGORITHMS[self.algorithm]
        return explored(main, 400, code, new_search, lambda search: algorithm(search).explore())

    def observe(self, program: EngineProgram) -> None:
        if program.answer.status == REDUNDANT:
            return
        raised = {
            str(thread.exception)
            for thread in RUNNING.check.runtime.live
            if thread.exception is not None
        }
        self.exceptions |= raised
        if not program.answer.failed and program.answer.status == 0:
            self.outcomes.add(repr(program.outcome()))


def difference(program: WaitingProgram, algorithm: str = "pop", most: int = 1000) -> str | None:
    """What the transformation changes about a program; None if nothing, "" if it is too large."""
    found = Behaviour(algorithm, program.source(None), most)
    if not found.finished or "too long" in found.others:
        return ""
    if found.others:
        return f"it fails: {found.result.failures[0]}"
    oracle = Behaviour("naive", program.source(3), most)
    if not oracle.finished:
        oracle = Behaviour("source", program.source(3), most)
        if not oracle.finished:
            return ""
    missing = oracle.outcomes - found.outcomes, oracle.exceptions - found.exceptions
    if any(missing):
        return f"it misses {missing}"
    if found.outcomes == oracle.outcomes and found.exceptions == oracle.exceptions:
        return None
    # Three rounds may be too few for what only many can lead to.
    oracle = Behaviour("source", program.source(7), 20 * most)
    invented = found.outcomes - oracle.outcomes, found.exceptions - oracle.exceptions
    return f"it invents {invented}" if oracle.finished and any(invented) else None
