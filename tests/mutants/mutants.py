"""The mistakes: a line or two of the package that read otherwise, and the tests to notice it."""

from dataclasses import dataclass

PACKAGE = "src/mazurka/"

# Which tests are to notice a mistake: quick ones first.
SEARCHES = (
    "tests/explore/test_explore.py",
    "tests/explore/test_pop.py",
    "tests/explore/test_oracle.py",
    "tests/conformance",
    "tests/test_tasks.py",
)
TRUST = ("tests/explore/trust/test_trust.py", *SEARCHES)
SYMBOLIC = ("tests/python/symbolic", "tests/explore/trust/test_condpor.py")
BOUNDS = (
    "tests/explore/trust/test_preemptions.py",
    "tests/explore/trust/test_buster.py",
    "tests/conformance/test_searches.py",
)
READS_FROM = ("tests/explore/trust/test_reads_from.py", "tests/conformance/test_searches.py")
QPOR = ("tests/explore/qpor", *SEARCHES)
PYTHON = (
    "tests/python/primitives",
    "tests/python/test_python_programs.py",
    "tests/explore/test_oracle.py",
    "tests/python/test_outcomes.py",
    "tests/python/memory",
)
RACES = ("tests/python/runtime",)
TIME = ("tests/python/library/test_clocks.py", "tests/explore/test_oracle.py")
LOOPS = ("tests/python/loops",)
REMEMBERED = (
    "tests/test_remembering.py",
    "tests/python/test_python_programs.py",
    "tests/explore/test_oracle.py",
)
NATIVE = (
    "tests/native/test_outcomes.py",
    "tests/native/test_failures.py",
    "tests/native/test_generated.py",
    "tests/native/test_numbers.py",
    "tests/native/test_loops.py",
)
NATIVE_RACES = ("tests/native/test_races.py",)


@dataclass(frozen=True)
class Mutant:
    file: str
    right: str  # what the file says: once
    wrong: str
    tests: tuple[str, ...]
    survives: str = ""  # why no test can notice it, if that is so

    @property
    def path(self) -> str:
        return PACKAGE + self.file


MUTANTS = [
    # Dependence and happens-before
    Mutant(
        "engine/event.py",
        "if mode == other.mode and mode != WRITE:",
        "if mode == other.mode and mode == 1:",  # adds do not commute
        SEARCHES,
    ),
    Mutant(
        "engine/event.py",
        "if part == other.part or part == ALL or other.part == ALL:",
        "if part == other.part:",
        SEARCHES,
    ),
    Mutant(
        "engine/event.py",
        "(structure == WRITE and other.structure != NONE)",
        "(structure == WRITE and other.structure == WRITE)",
        SEARCHES,
    ),
    Mutant(
        "engine/event.py",
        "return place if other.choice == event.choice else -1",
        "return place",
        SEARCHES,
    ),
    Mutant("engine/operation.py", "        or kind == RELEASE\n", "", SEARCHES),
    Mutant("engine/operation.py", "        or kind == ADD_UNUSED\n", "", SEARCHES),
    Mutant(
        "engine/operation.py",
        "        kind == COMPARE_EXCHANGE\n        or kind == TRY_ACQUIRE\n",
        "        kind == TRY_ACQUIRE\n",
        SEARCHES,
    ),
    Mutant(
        "engine/lanes.py",
        "conflicts = mode == WRITE or key % MODES != mode",
        "conflicts = mode == WRITE",
        SEARCHES,
    ),
    Mutant(
        "engine/lanes.py",
        "            self.look_in(ALL, event, event.mode, found)\n",
        "",
        SEARCHES,
    ),
    Mutant(
        "engine/order.py",
        "event.clock = after(event.clock, self.latest_of(event.choice))",
        "pass",
        SEARCHES,
    ),
    Mutant(
        "engine/order.py",
        "            if event.mode != READ:\n                self.last_change[location] = event",
        "            if event.mode == WRITE:\n                self.last_change[location] = event",
        SEARCHES,
    ),
    # Reversals of races
    Mutant(
        "engine/races.py",
        "if location < 0 or location >= len(order.last_access):",
        "if True:",
        SEARCHES,
    ),
    Mutant(
        "engine/races.py",
        "return not self.left_out or not after_any(event, self.left_out)",
        "return True",
        SEARCHES,
    ),
    Mutant(
        "engine/races.py",
        "if earlier.mode == READ or is_steady(event.kind):",
        "if True:",
        SEARCHES,
    ),
    Mutant("engine/races.py", "if earlier.mode != ADD or lanes is None:", "if True:", SEARCHES),
    Mutant(
        "engine/races.py",
        "event.kind != AWAIT_PART or conflicts(READ, event.structure, event.part, earlier)",
        "True",
        (*LOOPS, *SEARCHES),
    ),
    Mutant(
        "engine/races.py",
        "elif kept and values.some_sum_enables(event, earlier.before, values.sums(kept)):",
        "elif False:",
        SEARCHES,
    ),
    Mutant(
        "engine/races.py",
        "if self.event.thread != step.thread and dependent(self.event, step):",
        "if False:",
        SEARCHES,
    ),
    Mutant(
        "engine/races.py",
        "return own.position if own.choice == step.choice else -1",
        "return own.position",
        SEARCHES,
    ),
    # Optimal
    Mutant(
        "explore/optimal.py", "            if self.doubts:\n", "            if False:\n", SEARCHES
    ),
    Mutant(
        "explore/optimal.py",
        "                if witness is not None:\n",
        "                if witness is not None and relation != FIRST:\n",
        SEARCHES,
    ),
    Mutant(
        "explore/optimal.py",
        "self.request.sleep = [*finished.sleep, finished]",
        "self.request.sleep = [finished]",
        SEARCHES,
    ),
    Mutant(
        "explore/optimal.py",
        "self.resolved.pop()[1].standing = True",
        "self.resolved.pop()[1].standing = False",
        SEARCHES,
    ),
    Mutant(
        "explore/optimal.py",
        "                if relation == BESIDE:\n",
        "                if False:\n",
        SEARCHES,
    ),
    Mutant("explore/optimal.py", "doubt.standing = False", "doubt.standing = True", SEARCHES),
    # Source sets, and every interleaving
    Mutant(
        "explore/source.py",
        "steps.append(reversal.backwards(self.order)[-1])",
        "steps.append(reversal.backwards(self.order)[0])",
        SEARCHES,
    ),
    Mutant(
        "explore/naive.py",
        "both_add = event.mode == ADD and other.mode == ADD",
        "both_add = False",
        SEARCHES,
    ),
    Mutant(
        "explore/naive.py",
        "if event.choice + 1 < event.alternatives:",
        "if event.choice + 2 < event.alternatives:",
        SEARCHES,
    ),
    # POP
    Mutant(
        "explore/pop.py",
        "if head.position < race.end and not race.has(head.thread, head.index):",
        "if False:",
        SEARCHES,
    ),
    Mutant(
        "explore/pop.py",
        "if head.begin <= event.position:",
        "if head.begin < event.position:",
        SEARCHES,
    ),
    Mutant(
        "explore/pop.py",
        "if self.comes_too_early(race.head, race.previous, race.latest, race, head):",
        "if False:",
        SEARCHES,
    ),
    Mutant(
        "explore/pop.py",
        "if self.comes_too_early(event, event.previous, event.previous_access, race, head):",
        "if False:",
        SEARCHES,
    ),
    Mutant("explore/pop.py", "if is_first(access, head.rival, None):", "if False:", SEARCHES),
    Mutant(
        "explore/pop.py",
        "head.location == location and self.program.precedes(thread, head.thread)",
        "head.location == location and thread != head.thread",
        SEARCHES,
    ),
    Mutant(
        "explore/pop.py",
        "depends or any(is_or_happens_before(other, event) for event in past)",
        "depends",
        SEARCHES,
    ),
    Mutant(
        "explore/pop.py",
        "if earlier.mode == WRITE and earlier.position < first_node and stood_before:",
        "if earlier.mode == WRITE and earlier.position < first_node:",
        SEARCHES,
    ),
    Mutant(
        "explore/pop.py",
        "            if not self.is_new(latest):\n",
        "            if False:\n",
        SEARCHES,
    ),
    Mutant(
        "explore/pop.py", "for sleeping in answer.sleeping:", "for sleeping in NO_EVENTS:", SEARCHES
    ),
    Mutant(
        "explore/pop.py",
        "if self.is_free(earlier) and earlier.mode == READ:",
        "if False:",
        SEARCHES,
    ),
    Mutant(
        "explore/pop.py",
        "self.remember_races(max(0, len(path) - 1))",
        "self.remember_races(0)",
        ("tests/test_tasks.py", *SEARCHES),
    ),
    Mutant(
        "explore/pop.py",
        "add = adds[place]\n            if not self.comes_before_head(add) and not any(",
        "add = adds[place]\n            if not any(",
        SEARCHES,
    ),
    # TruSt
    Mutant(
        "explore/trust/visit.py",
        "if is_deleted and not self.has_to_be(graph, position, kept):",
        "if False:",
        TRUST,
    ),
    Mutant(
        "explore/trust/visit.py",
        "if not all_hold(graph.claims, graph.events, graph.added):",
        "if False:",
        TRUST,
    ),
    Mutant(
        "explore/trust/visit.py",
        "return self.program.excludes(others, choice)",
        "return True",
        (*SYMBOLIC, *TRUST),
    ),
    Mutant(
        "explore/trust/revisits.py",
        "return not awaited or in_canonical_order([*awaited, moved])[-1] is moved",
        "return True",
        TRUST,
    ),
    Mutant(
        "explore/trust/revisits.py", "elif access.mode == ADD and deleted:", "elif False:", TRUST
    ),
    Mutant(
        "explore/trust/revisits.py",
        "                selected[later] = False\n",
        "                pass\n",
        TRUST,
    ),
    Mutant(
        "explore/trust/revisits.py",
        "part.settled.append(graph.settled[position] or graph.added[position] > added)",
        "part.settled.append(graph.settled[position])",
        TRUST,
    ),
    Mutant(
        "explore/trust/revisits.py",
        "return all_hold(inner, after.events, after.added)",
        "return True",
        TRUST,
    ),
    Mutant("explore/trust/revisits.py", "    join(kept, revisited.clock)\n", "", TRUST),
    # Buster
    Mutant(
        "explore/trust/preemptions.py",
        "                if could_go_on(self.order, event, when_left):\n",
        "                if False:\n",
        BOUNDS,
    ),
    Mutant(
        "explore/trust/preemptions.py",
        "                if can_come(event.clock, when_left):\n",
        "                if False:\n",
        BOUNDS,
    ),
    Mutant(
        "explore/trust/preemptions.py",
        "            if self.all_done(done)[thread] == before:  # left after this thread\n",
        "            if False:\n",
        BOUNDS,
    ),
    Mutant(
        "explore/trust/preemptions.py",
        "taken = self.schedule.preemptions + self.schedule.left_enabled(waiting)",
        "taken = self.schedule.preemptions",
        BOUNDS,
    ),
    Mutant(
        "explore/trust/linearisation.py",
        "(event.mode != READ and event.location in self.waited)",
        "False",
        BOUNDS,
    ),
    Mutant(
        "explore/trust/linearisation.py",
        "return place + 1 == len(events) or",
        "return",
        BOUNDS,
    ),
    Mutant(
        "explore/trust/preemptions.py",
        "if judged is None or part.ends != judged.ends or part.lengths != judged.lengths:",
        "if judged is None or part.ends != judged.ends:",
        BOUNDS,
    ),
    Mutant(
        "explore/trust/linearisation.py",
        "return done[event.choice] == len(order.of_thread[event.choice])",
        "return True",
        BOUNDS,
    ),
    Mutant(
        "explore/trust/linearisation.py",
        "return is_enabled(self.order, self.waiting[thread], done)",
        "return False",
        BOUNDS,
    ),
    Mutant(
        "explore/trust/preemptions.py",
        "        self.is_exceeded = False\n        self.hopeless = set()\n        return",
        "        self.is_exceeded = False\n        return",
        BOUNDS,
    ),
    Mutant(
        "explore/trust/linearisation.py",
        "                adds.append(access)\n",
        "                pass\n",
        BOUNDS,
    ),
    Mutant(
        "explore/trust/linearisation.py",
        "return not self.is_waited_for(thread, done) and not any(",
        "return not any(",
        BOUNDS,
    ),
    Mutant(
        "explore/trust/linearisation.py",
        "if event.thread != thread and event.index > done[event.thread] + 1:",
        "if False:",
        BOUNDS,
    ),
    Mutant(
        "explore/trust/linearisation.py",
        "        self.main_only_joins_from = place\n",
        "        self.main_only_joins_from = 0\n",
        BOUNDS,
    ),
    # Reads-from
    Mutant(
        "explore/trust/reads_from.py",
        "        for location in answer.polled:\n",
        "        for location in []:\n",
        READS_FROM,
    ),
    Mutant(
        "explore/trust/reads_from.py",
        "            if waiting.location >= 0:\n",
        "            if False:\n",
        READS_FROM,
    ),
    Mutant(
        "explore/trust/reads_from.py",
        "if observes(event) and source_of(event) is not latest.get(event.location):",
        "if False:",
        READS_FROM,
    ),
    Mutant(
        "explore/trust/causality.py",
        "if not is_memory_access(event.kind):",
        "if False:",
        READS_FROM,
    ),
    Mutant(
        "explore/trust/causality.py",
        "return readers == (1 if observes(event) else 0)",
        "return True",
        READS_FROM,
    ),
    # QPOR
    Mutant("explore/qpor/exploration.py", "if local.has(other):", "if False:", QPOR),
    Mutant(
        "explore/qpor/exploration.py",
        "if not prefix.disabled and not prefix.explored:",
        "if True:",
        QPOR,
    ),
    Mutant(
        "explore/qpor/exploration.py", "goals = disabled[-self.k :]", "goals = disabled[-1:]", QPOR
    ),
    Mutant("explore/qpor/exploration.py", "if can_replace(event, other):", "if False:", QPOR),
    Mutant("explore/qpor/unfolding.py", "if other.has_all(mine.others):", "if True:", QPOR),
    Mutant(
        "explore/qpor/unfolding.py",
        "if depends_on_any(their_event, ours) and not one.has(their_event):",
        "if False:",
        QPOR,
    ),
    # What operations of Python programs do
    Mutant(
        "python/operations.py",
        "return ADD if type(value) is int and isinstance(first, int) else WRITE",
        "return ADD",
        PYTHON,
    ),
    Mutant(
        "python/operations.py",
        "    if kind == TRY_ACQUIRE:\n        return WRITE if value is None else READ",
        "    if kind == TRY_ACQUIRE:\n        return WRITE",
        (*SEARCHES, *PYTHON),
    ),
    Mutant(
        "python/operations.py",
        "return (WRITE, WRITE, item) if view.present else (READ, NONE, item)",
        "return (WRITE, NONE, item) if view.present else (READ, NONE, item)",
        SEARCHES,
    ),
    Mutant(
        "python/operations.py",
        "return WRITE, WRITE, view.length",
        "return WRITE, NONE, view.length",
        SEARCHES,
    ),
    Mutant("python/operations.py", "(kind == TAKE and view.length == 0)", "False", SEARCHES),
    Mutant(
        "python/operations.py",
        "        if change.part == item:\n            present = seen.present\n",
        "        if False:\n            present = seen.present\n",
        SEARCHES,
    ),
    Mutant("python/primitives/semaphores.py", "return value > 0", "return value >= 0", PYTHON),
    Mutant(
        "python/primitives/semaphores.py",
        "return value + n <= bound",
        "return value + n < bound",
        PYTHON,
    ),
    Mutant(
        "python/primitives/conditions.py",
        "waiters.pop(0), True",
        "waiters.pop(), True",
        ("tests/python",),
    ),
    Mutant(
        "python/primitives/conditions.py",
        "if not notified and waiter in waiters:",
        "if False:",
        PYTHON,
    ),
    Mutant(
        "python/primitives/locks.py",
        "        self.acquire()\n        self.depth = depth",
        "        self.acquire()\n        self.depth = 1",
        PYTHON,
    ),
    Mutant(
        "python/primitives/atomic.py",
        "if type(owner) is not Atomic or method != owner.fetch_add:",
        "if method != owner.fetch_add:",
        SEARCHES,
    ),
    # What is shared, and put back
    Mutant(
        "python/memory/undo.py",
        "        key = (id(thing), name)\n        if key not in self.changes:\n",
        "        key = (id(thing), name)\n        if True:\n",
        PYTHON,
    ),
    Mutant(
        "python/memory/undo.py",
        "                value.put_back(thing)\n",
        "                pass\n",
        PYTHON,
    ),
    Mutant(
        "python/memory/containers.py",
        "    objects.share(value, label_of(contents))\n",
        "",
        PYTHON,
    ),
    Mutant(
        "python/memory/containers.py",
        "        if kind == ITEM_SET and type(key) is int and key >= 0:",
        "        if kind == ITEM_SET and type(key) is int:",
        (*PYTHON, "tests/python/test_corners.py"),
    ),
    # Data races
    Mutant(
        "python/runtime/race_detector.py", "        if mode != ADD:\n", "        if False:\n", RACES
    ),
    Mutant(
        "python/runtime/race_detector.py",
        "clock[other] > access.after",
        "clock[other] >= access.after",
        RACES,
    ),
    Mutant(
        "python/runtime/race_detector.py",
        "return found or self.whole.unordered(access, clock)",
        "return found",
        RACES,
    ),
    Mutant(
        "python/runtime/race_detector.py", "if structure != NONE and part >= 0:", "if False:", RACES
    ),
    # Virtual time
    Mutant(
        "python/runtime/virtual_time.py", "        if latest > time:", "        if False:", TIME
    ),
    Mutant(
        "python/runtime/virtual_time.py",
        "self.times[thread] = max(self.times[thread], self.times[event.choice])",
        "pass",
        TIME,
    ),
    # Loops that wait
    Mutant(
        "python/loops/rounds.py",
        "return type(event.first) is int and event.first == 0",
        "return type(event.first) is int",
        LOOPS,
    ),
    Mutant(
        "python/loops/rounds.py",
        "    if not same(value_before(first), value_after(last)):\n        return False\n",
        "",
        LOOPS,
    ),
    Mutant(
        "python/rewriting/statements.py",
        "            faint = set()  # others may change what they are computed from\n",
        "            pass\n",
        LOOPS,
    ),
    # Executions that are computed
    Mutant(
        "engine/remembered.py",
        "if self.computed <= self.first_ones or self.computed % self.every == 0:",
        "if False:",
        REMEMBERED,
    ),
    Mutant("engine/parts.py", "        del contents.order[self.order :]\n", "", REMEMBERED),
    Mutant(
        "engine/parts.py", "tuple(self.order), frozenset(items)", "tuple(self.order)", REMEMBERED
    ),
    Mutant("engine/parts.py", "return self.more, tuple(self.order),", "return", REMEMBERED),
    Mutant("engine/parts.py", "contents.more = self.more\n", "pass\n", REMEMBERED),
    Mutant(
        "engine/walk.py",
        "                key = key, self.handed.get(location)\n",
        "                pass\n",
        REMEMBERED,
    ),
    Mutant(
        "engine/walk.py",
        "        if location in self.histories.judged:\n            return False\n",
        "",
        REMEMBERED,
        "operations that look at such a location are not computed anyway",
    ),
    Mutant(
        "engine/walk.py",
        "            elif node.judges and location in self.vague:\n                return False\n",
        "",
        REMEMBERED,
        "whose mode depends on the value is stopped where that is asked; others only hand it on",
    ),
    Mutant(
        "engine/walk.py",
        "        self.handed[self.location] = self.what\n        return",
        "        return",
        REMEMBERED,
    ),
    Mutant(
        "engine/remembered.py",
        "            look_again(self.events[position])\n",
        "            pass\n",
        REMEMBERED,
    ),
    Mutant(
        "engine/histories.py",
        "return left if key_of(left) is not NOT_KEPT else Opaque()",
        "return left if key_of(left) is not NOT_KEPT else SOMETHING",
        REMEMBERED,
    ),
    # C programs
    Mutant(
        "native/operations.py",
        "    if kind == SEMAPHORE_ACQUIRE:\n        return WRITE if part else DISABLED",
        "    if kind == SEMAPHORE_ACQUIRE:\n        return WRITE",
        NATIVE,
    ),
    Mutant("native/operations.py", "| (left << shift)", "| left", NATIVE),
    Mutant(
        "native/runtime/run.c",
        "&& (one->mode != step->mode || one->mode == MODE_WRITE);",
        "&& one->mode == MODE_WRITE;",
        NATIVE,
    ),
    Mutant(
        "native/runtime/run.c",
        "return step->kind == JOIN && !mz.threads[step->choice].is_finished ? MODE_DISABLED",
        "return false ? MODE_DISABLED",
        NATIVE,
    ),
    Mutant(
        "native/runtime/memory.c",
        "if (note == READ_BY_MANY) return is_write;",
        "if (note == READ_BY_MANY) return false;",
        NATIVE,
    ),
    Mutant(
        "native/runtime/memory.c",
        "return !is_own && (is_write || was_written);",
        "return !is_own && is_write;",
        NATIVE,
    ),
    Mutant(
        "native/runtime/threads.c",
        'if (holds(mutex)) mz_fail(RELOCKED, place, "");',
        "",
        NATIVE,
    ),
    Mutant(
        "native/runtime/threads.c",
        "count > 1 ? mz_choose(count, place) : 0",
        "0",
        NATIVE,
    ),
    Mutant(
        "native/runtime/races.c",
        "    for (uint32_t at = cell->more_reads; at; at = races.reads[at].next)\n"
        "        if (!is_known(races.reads[at].stamp, thread))",
        "    for (uint32_t at = 0; at; at = races.reads[at].next)\n"
        "        if (!is_known(races.reads[at].stamp, thread))",
        NATIVE_RACES,
    ),
    Mutant(
        "native/runtime/races.c",
        "stamp >> 8 <= thread->known[other]",
        "stamp >> 8 <= thread->known[other] + 1",
        NATIVE_RACES,
    ),
    Mutant(
        "native/runtime/races.c",
        "if (kind != READS && part->read > thread->known[other] && other != thread->number)",
        "if (false)",
        NATIVE_RACES,
    ),
]
