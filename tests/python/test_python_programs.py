"""Every search against the brute-force oracle, and against Python itself, on generated programs
that are ordinary Python text."""

import textwrap
from string import Template

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.oracles.generated import PROGRAMS, generated
from tests.oracles.python_programs import PLACES, Program, disagreement, source_of, unseen

# What threads do to shared state, by what they do it to. `$v` is a small number, `$k` a key.
STATEMENTS: dict[str, list[str]] = {
    "variables": [
        "$count += 1",
        "$count = $v",
        "$flag = True",
        "$flag = not $flag",
        "$count, $flag = $v, True",
        "$ref = [$v]",
        "$ref = Plain()",
        "if $ref is not None:\n    got.append(repr($ref))",
        "if $flag:\n    $count += $v",
        "while not $flag and $count < 2:\n    $count += 1",
        "made = Plain()\nmade.x = $v\n$ref = made",
        "made = Plain()\n$ref = made\nmade.x = $v",
        "made = [$v]\n$ref = made\nmade.append($v)",
        "try:\n    del $ref\nexcept (NameError, AttributeError):\n    got.append('gone')",
        "$call = lambda: $count",
        "if $call is not None:\n    got.append($call())",
    ],
    "box": [
        "$box.x = $v",
        "$box.x += 1",
        "$box.double = $v",
        "$box.double += 2",
        "$box.level = $v",
        "$box.level += 1",
        "Plain.level = $v",
        "Plain.level += 1",
        "got.append($box.increase())",
        "$box.items.append($v)",
        "$box.items = [$v]",
        "$box.link = Slotted($v)",
        "if $box.link is not None:\n    $box.link.x += 1",
        "try:\n    del $box.x\nexcept AttributeError:\n    got.append('gone')",
        "got.append(getattr($box, 'x', 'none'))",
        "got.append(hasattr($box, 'link'))",
        "setattr($box, 'x', $v)",
        "$slot.x = $v",
        "$slot.x += 1",
        "$slot.link = $box",
        "made = Slotted()\nmade.link = [$v]\n$slot.link = made",
        "if isinstance($slot.link, Slotted):\n    $slot.link.link.append($v)",
        "$box.x, $slot.x = $slot.x, $box.x",
        "method = $box.increase\nmethod($v)",
    ],
    "list": [
        "$items.append($v)",
        "$items.insert(0, $v)",
        "$items.extend($other)",
        "$items.extend([$v, 3])",
        "$items += [$v]",
        "$items.sort()",
        "$items.reverse()",
        "$items.clear()",
        "$items[0] = $v",
        "$items[-1] = $v",
        "$items[0] += 1",
        "$items[:] = [$v]",
        "$items[1:] = $other",
        "del $items[0]",
        "del $items[:]",
        "got.append($items.pop())",
        "got.append($items.pop(0))",
        "$items.remove($v)",
        "$other.append($v)",
        "$other = $items",
        "$other = list($items)",
        "for each in $items:\n    got.append(each)",
        "for each in $items:\n    $other.append(each)",
        "for place, each in enumerate($items):\n    $items[place] = each + 1",
        "for each in reversed($items):\n    got.append(each)",
        "for one, two in zip($items, $other):\n    got.append((one, two))",
        "first, *rest = $items\ngot.append((first, rest))",
        "one, two = $items\ngot.append(one - two)",
        "if $items:\n    got.append($items[0])",
        "if $v in $items:\n    $items.remove($v)",
        "while len($items) < 3:\n    $items.append($v)",
        "push = $items.append\npush($v)",
        "got.append($stack.push($v))",
        "$stack[0] = $v",
        "got.append($stack[-1])",
        "$items.append(len($items))",
    ],
    "lists": [
        "$lists[0].append($v)",
        "$lists[1].clear()",
        "$lists[0], $lists[1] = $lists[1], $lists[0]",
        "$lists.append([$v])",
        "$lists.pop()",
        "$lists[0] += [$v]",
        "$lists.sort()",
        "$lists.sort(key=len)",
        "$lists.remove([0])",
        "$lists.sort(key=lambda each: len($lists[0]))",
        "for each in $lists:\n    each.append($v)",
        "first = $lists[0]\nfirst.append($v)",
        "for first, *rest in $lists:\n    got.append((first, rest))",
        "$lists[0][0] += 1",
        "$lists[0] = $lists[1]",
    ],
    "dict": [
        "$table['$k'] = $v",
        "$table['$k'] += 1",
        "$table.update($k=$v)",
        "$table.update({'$k': $v})",
        "$table |= {'$k': $v}",
        "$table.clear()",
        "del $table['$k']",
        "got.append($table.pop('$k'))",
        "got.append($table.pop('$k', 5))",
        "got.append($table.popitem())",
        "got.append($table.setdefault('$k', $v))",
        "if '$k' not in $table:\n    $table['$k'] = $v",
        "for key in $table:\n    got.append(key)",
        "for key in $table:\n    $table[key] += 1",
        "for key, value in $table.items():\n    got.append((key, value))",
        "for key, value in list($table.items()):\n    $table[key] = value + 1",
        "for value in $table.values():\n    got.append(value)",
        "keys = $table.keys()\ngot.append('$k' in keys)",
        "values = $table.values()\ngot.append(sum(values))",
        "$nested['a'].append($v)",
        "$nested['b']['$k'] = $v",
        "$nested['b'].setdefault('c', []).append($v)",
        "$nested['a'] = [$v]",
        "$nested['b'] = {'$k': [$v]}",
        "$spare['$k'].append($v)",
        "$ranked['$k'] = $v",
        "$ranked.move_to_end('a')",
        "got.append($ranked.popitem(last=False))",
        "del $ranked['$k']",
        "$tally['$k'] += 1",
        "$tally.update('ab')",
        "$tally.subtract(a=1)",
        "$by_key[$keys[0]] = $v",
        "$by_key[$keys[1]] = $v",
        "$by_key[$keys[0], '$k'] = $v",
        "key = Key('m')\n$by_key[key] = $v\n$by_key[key] += 1",
        "got.append($by_key.get($keys[0]))",
        "$by_key.pop($keys[0], None)",
    ],
    "set": [
        "$bag.add($v)",
        "$bag.discard($v)",
        "$bag.remove($v)",
        "$bag |= {$v}",
        "$bag -= {$v}",
        "$bag.update([$v, 3])",
        "$bag.clear()",
        "if $v in $bag:\n    $bag.add(3)",
        "for each in $bag:\n    got.append(each)",
        "got.append($bag.pop())",
        "$bag = $bag | {$v}",
    ],
    "deque": [
        "$line.append($v)",
        "$line.appendleft($v)",
        "got.append($line.pop())",
        "got.append($line.popleft())",
        "$line.rotate(1)",
        "$line[0] = $v",
        "$line.extend([$v, 3])",
        "for each in $line:\n    got.append(each)",
        "if $line:\n    got.append($line.popleft())",
        "while $line:\n    got.append($line.pop())",
        "$line += [$v]",
    ],
    "threads": [
        "child = threading.Thread(target=$extra)\nchild.start()",
        "child = threading.Thread(target=$extra)\nchild.start()\nchild.join()",
        "$local.x = $v\ngot.append($local.x)",
        "got.append(getattr($local, 'x', None))",
    ],
}
EXPRESSIONS: dict[str, list[str]] = {
    "variables": [
        "$count", "$flag", "f'{$count}'", "repr($ref)", "($count, $flag)", "$count == $v",
    ],
    "box": [
        "$box.x", "$box.double", "$box.level", "Plain.level", "repr($box)", "$box.x == $slot.x",
        "f'{$box.x}-{$slot.x}'", "$slot.x", "repr($slot.link)", "$box.items[0]", "len($box.items)",
        "$box.link is None", "$box.x or $slot.x", "$box.x < $v < 2",
    ],
    "list": [
        "len($items)", "bool($items)", "$items[0]", "$items[-1]", "$items[1:]", "$items[:]",
        "$v in $items", "list($items)", "tuple($items)", "sum($items)", "min($items)",
        "max($items, default=7)", "sorted($items)", "any($items)", "all($items)",
        "[each + 1 for each in $items]", "[each for each in $items if each]",
        "sum(each for each in $items)", "any(each > 0 for each in $items)", "repr($items)",
        "f'{$items}'", "str($items)", "$items == $other", "$items == [0, 1]", "$items + $other",
        "$items * 2", "$items + [$v]", "[*$items]", "[*$items, *$other]", "$items.copy()",
        "$items.index($v)", "$items.count($v)", "list(reversed($items))", "list(enumerate($items))",
        "list(zip($items, $other))", "list(map(str, $items))", "list(filter(None, $items))",
        "$items[0] if $items else 9", "$items and $items[0]", "not $items", "$items is $other",
        "' '.join(map(str, $items))", "', '.join([str(each) for each in $items])",
        "'%s' % $items", "next(iter($items), None)", "max(*$items, 0)", "len($stack)", "$stack[0]",
        "dict(enumerate($items))", "set($items) | {9}", "$items < $other",
    ],
    "lists": [
        "max($lists, key=len)[:]", "min($lists)[:]", "sorted($lists)[0][:]", "sum($lists, [])",
        "repr($lists)", "f'{$lists}'", "[0] in $lists", "any($lists)", "all($lists)",
        "[each for part in $lists for each in part]", "[*itertools.chain(*$lists)]",
        "[*itertools.chain.from_iterable($lists)]", "[*map(len, $lists)]",
        "$lists == [[0], [0, 1]]",
        "operator.itemgetter(0)($lists)[:]", "functools.reduce(operator.add, $lists)",
        "copy.deepcopy($lists)", "len(copy.copy($lists))", "[*itertools.islice($lists[0], 1)]",
        "str($lists[0])", "$lists[0] < $lists[1]", "$lists[0] + $lists[1]",
        "$lists[0] is $lists[1]",
        "[len(each) for each in reversed($lists)]", "$lists.index([0])", "$lists.count([0])",
        "'{}'.format($lists)", "[*zip(*$lists)]", "[*map(sum, $lists)]",
    ],
    "dict": [
        "len($table)", "$table['$k']", "$table.get('$k')", "$table.get('$k', 4)", "'$k' in $table",
        "list($table)", "list($table.items())", "dict($table)", "{**$table}", "sorted($table)",
        "{key: value for key, value in $table.items()}", "$table == {'a': $v}", "repr($table)",
        "sum($table.values())", "max($table.values(), default=0)", "bool($table)",
        "$table.copy()", "$table | {'z': 1}", "f'{$table}'", "'$k' in $table.keys()",
        "$v in $table.values()", "len($table.items())", "$nested['a'][0]", "repr($nested)",
        "f'{$nested}'", "$nested['b'].get('$k')", "len($spare)", "repr($spare)",
        "len($spare['$k'])",
        "$spare.get('$k')", "list($ranked)", "next(iter($ranked))", "$ranked == {'a': 0, 'b': 1}",
        "$tally['$k']", "$tally.most_common(1)", "sum($tally.values())", "len($by_key)",
        "$keys[0] in $by_key", "list($ranked.items())",
        "[*$ranked.values()]", "$table.keys() == {'a'}", "repr($table.items())",
        "[key for key in $ranked.keys()]", "repr(($box, $nested))", "list($by_key.values())",
    ],
    "set": [
        "len($bag)", "$v in $bag", "sorted($bag)", "list($bag)", "$bag | {9}", "$bag & {$v}",
        "$bag == {0, 1}", "$bag <= {0, 1, 2}", "bool($bag)", "sum($bag)", "frozenset($bag)",
        "{each + 1 for each in $bag}", "$bag.isdisjoint({$v})", "$bag.union([$v])", "repr($bag)",
    ],
    "deque": [
        "len($line)", "$line[0]", "$line[-1]", "list($line)", "$v in $line", "bool($line)",
        "repr($line)", "[each for each in $line]", "sum($line)", "$line.copy()",
    ],
    "threads": ["getattr($local, 'y', 0)"],
}  # fmt: skip
BLOCKING = [
    "with $lock:\n    $count += 1",
    "with $lock:\n    $items.append(len($items))",
    "with $lock, $again:\n    got.append($count)",
    "with $again:\n    with $lock:\n        $flag = True",
    "with $condition:\n    $flag = True\n    $condition.notify()",
    "with $condition:\n    $count += 1\n    $condition.notify_all()",
    "with $condition:\n    while not $flag:\n        $condition.wait()\n    got.append($count)",
    "with $condition:\n    got.append($condition.wait_for(lambda: $flag, timeout=1))",
    "with $semaphore:\n    $count += 1",
    "if $lock.acquire(blocking=False):\n    $count += 1\n    $lock.release()",
    "$event.set()",
    "$event.wait()\ngot.append($count)",
    "got.append($event.wait(1))",
    "got.append($event.is_set())",
    "$jobs.put($v)",
    "$jobs.put([$v])",
    "got.append($jobs.get())",
    "job = $jobs.get()\nif type(job) is list:\n    job.append($v)\n    $ref = job",
    "job = [$v]\n$jobs.put(job)\njob.append($v)",
    "try:\n    got.append($jobs.get_nowait())\nexcept queue.Empty:\n    got.append('empty')",
    "got.append($jobs.qsize())",
    "$count += 1",
    "$flag = True",
    "got.append(repr($ref))",
    "got.append(threading.current_thread() is threading.main_thread())",
]
ERRORS = "(AttributeError, IndexError, KeyError, NameError, RuntimeError, TypeError, ValueError)"
GROUPS = list(STATEMENTS)


def filled(template: str, value: int, key: str) -> str:
    return Template(template).safe_substitute(v=value, k=key)


def wrapped(statement: str, how: str) -> str:
    """A statement, maybe in another one: most of what threads may run into is caught."""
    if how == "caught":
        body = textwrap.indent(statement, "    ")
        return f"try:\n{body}\nexcept {ERRORS} as error:\n    got.append(type(error).__name__)"
    return statement


def statements(groups: list[str]) -> st.SearchStrategy[str]:
    texts = [text for group in groups for text in STATEMENTS[group]]
    texts += [f"got.append({text})" for group in groups for text in EXPRESSIONS[group]]
    return filled_in(texts)


def filled_in(texts: list[str]) -> st.SearchStrategy[str]:
    plain = st.builds(filled, st.sampled_from(texts), st.integers(0, 2), st.sampled_from("abc"))
    return st.builds(wrapped, plain, st.sampled_from(["", "caught", "caught"]))


# How many statements main has, and each of the threads that it starts.
SHAPES = st.sampled_from(
    [(1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (0, 1, 1), (1, 1, 1), (0, 2, 1)]
)


def starts_nothing(statement: str) -> bool:
    return "$extra" not in statement


def programs(statement: st.SearchStrategy[str]) -> st.SearchStrategy[Program]:
    def of_shape(shape: tuple[int, ...]) -> st.SearchStrategy[Program]:
        blocks = [st.lists(statement, min_size=min(1, most), max_size=most) for most in shape]
        extra = statement.filter(starts_nothing).map(lambda text: (text,))
        return st.builds(
            Program,
            st.sampled_from(PLACES),
            st.tuples(*[block.map(tuple) for block in blocks]),
            extra,
            st.sampled_from([True, True, True, False]),
        )

    return SHAPES.flatmap(of_shape)


# One kind of state, so that threads are likely to meet; or two; or with what blocks.
one_kind = st.sampled_from(GROUPS[:-1])
without_blocking = st.one_of(
    one_kind.flatmap(lambda group: programs(statements([group]))),
    one_kind.flatmap(lambda group: programs(statements([group, "threads"]))),
    st.lists(st.sampled_from(GROUPS), min_size=2, max_size=2, unique=True).flatmap(
        lambda groups: programs(statements(groups))
    ),
)
any_program = st.one_of(
    without_blocking, without_blocking, without_blocking, programs(filled_in(BLOCKING))
)


@pytest.mark.slow
@generated(max(PROGRAMS // 2, 1))
@given(any_program)
def test_searches_agree_with_the_oracle(program: Program) -> None:
    problem = disagreement(program)
    assume(problem != "")
    assert problem is None, f"{problem}:\n{source_of(program)}"


@pytest.mark.slow
@generated(max(PROGRAMS // 40, 1))
@given(without_blocking, st.integers(0, 2**32))
def test_what_python_does_is_found(program: Program, seed: int) -> None:
    problem = unseen(program, 100, seed)
    assume(problem != "")
    assert problem is None, f"{problem}:\n{source_of(program)}"
