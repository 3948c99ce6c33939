"""Which benchmarks there are, and how a name such as ``length-param(2,1024)`` is understood."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks import (
    awaiting,
    awaiting_locks,
    awaiting_structures,
    buster,
    buster_structures,
    buster_sv_comp,
    condpor,
    condpor_lists,
    condpor_structures,
    pop,
    qpor,
)
from benchmarks.buster_structures import (
    CLIENTS,
    DglmQueue,
    MichaelScottQueue,
    NewStructure,
    TreiberStack,
)

Program = Callable[[], object]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a benchmark, and the values that it may have."""

    name: str
    least: int = 1
    most: int | None = None
    optional: bool = False

    def __str__(self) -> str:
        if self.most is None:
            return f"{self.name} >= {self.least}"
        return f"{self.least} <= {self.name} <= {self.most}"

    def allows(self, value: int) -> bool:
        return self.least <= value and (self.most is None or value <= self.most)


@dataclass(frozen=True)
class Benchmark:
    """A family of programs: one for each choice of the parameters."""

    name: str
    table: str  # a key of paper.TABLES
    factory: Callable[..., Program]
    parameters: tuple[Parameter, ...] = ()
    counts_violations: bool = False  # whether its programs return those of their checks
    loops: bool = False  # whether it waits in loops, which the search must see

    @property
    def signature(self) -> str:
        names = [parameter.name + "?" * parameter.optional for parameter in self.parameters]
        return spell(self.name, ",".join(names))

    def takes(self, count: int) -> bool:
        """Whether a program can be had with so many parameters."""
        needed = sum(not parameter.optional for parameter in self.parameters)
        return needed <= count <= len(self.parameters)


@dataclass(frozen=True)
class Instance:
    """One program: a benchmark with its parameters filled in."""

    benchmark: Benchmark
    values: tuple[int, ...]

    @property
    def parameter(self) -> str:
        """The parameters as the papers' tables write them."""
        return ",".join(str(value) for value in self.values)

    def __str__(self) -> str:
        return spell(self.benchmark.name, self.parameter)

    def program(self) -> Program:
        return self.benchmark.factory(*self.values)


ROUNDS = Parameter("rounds")
THREADS = Parameter("threads")

# Beyond these limits the consumer of circular-buffer, which never wraps its position, leaves the
# buffer, and indexer looks for ever for an empty cell in a full table.
BUFFER_ROUNDS = Parameter("rounds", most=10)
INDEXER_THREADS = Parameter("threads", most=32)

INSERTERS_AND_REMOVERS = (Parameter("inserters"), Parameter("removers", optional=True))

CONDPOR = (
    Benchmark("W+SW+R+R", "condpor-text", condpor.written_input),
    Benchmark("RS+W", "condpor-text", condpor.checked_input),
    Benchmark("section-4.1", "condpor-text", condpor.assumed_input),
    Benchmark("pushes", "condpor-text", condpor.symbolic_pushes, (Parameter("pushes"),)),
    Benchmark("pushes-counted", "condpor-text", condpor.counted_pushes, (Parameter("pushes"),)),
    Benchmark("SVQueue1", "condpor-2", condpor.sv_queue_1, (Parameter("size"),)),
    Benchmark("SVQueue2", "condpor-2", condpor.sv_queue_2, (Parameter("size"),)),
    Benchmark("SVQueue3", "condpor-2", condpor.sv_queue_3, (Parameter("size"),)),
    Benchmark("SVStack1", "condpor-2", condpor.sv_stack_1, (Parameter("size"),)),
    Benchmark("SVStack2", "condpor-2", condpor.sv_stack_2, (Parameter("size"),)),
    Benchmark("Counter1", "condpor-2", condpor.counter_1, (THREADS,)),
    Benchmark("Counter2", "condpor-2", condpor.counter_2, (THREADS,)),
    *(
        Benchmark(name, table, factory, INSERTERS_AND_REMOVERS)
        for name, table, factory in (
            ("LBQueue", "condpor-3", condpor_structures.lb_queue),
            ("HWQueue", "condpor-3", condpor_structures.hw_queue),
            ("UBQueue", "condpor-3", condpor_structures.ub_queue),
            ("MSQueue", "condpor-3", condpor_structures.ms_queue),
            ("MSQueue-textbook", "condpor-3", condpor_structures.ms_queue_textbook),
            ("AGMStack", "condpor-3", condpor_structures.agm_stack),
            ("TreiStack", "condpor-3", condpor_structures.trei_stack),
            ("CoarseList", "condpor-5", condpor_lists.coarse_list),
            ("FineList", "condpor-5", condpor_lists.fine_list),
            ("OptList", "condpor-5", condpor_lists.opt_list),
            ("LazyList", "condpor-5", condpor_lists.lazy_list),
            ("TSStack-symbolic", "condpor-7", condpor_structures.ts_stack_symbolic),
            ("TSStack-atomic", "condpor-7", condpor_structures.ts_stack_atomic),
            ("TSStack-interval", "condpor-7", condpor_structures.ts_stack_interval),
            ("LPQueue", "condpor-8", condpor_structures.lp_queue),
            ("EBStack", "condpor-8", condpor_structures.eb_stack),
        )
    ),
    Benchmark("BigShotS", "condpor-9", condpor.big_shot_s),
    Benchmark("BigShotS2", "condpor-9", condpor.big_shot_s2),
    Benchmark("BigShotP", "condpor-9", condpor.big_shot_p),
    Benchmark("Lazy01", "condpor-9", condpor.lazy_01),
    Benchmark("FibBench1", "condpor-9", condpor.fib_bench_1, (ROUNDS,)),
    Benchmark("FibBench2", "condpor-9", condpor.fib_bench_2, (ROUNDS,)),
    Benchmark("Sigma", "condpor-9", condpor.sigma, (THREADS,)),
    Benchmark("Singleton", "condpor-9", condpor.singleton),
    Benchmark("Singleton_wup", "condpor-9", condpor.singleton_wup),
    # The paper does not say what these two are: we take them for those with the same counts.
    Benchmark("Queue_ok", "condpor-9", partial(condpor.sv_queue_1, 1)),
    Benchmark("Stack-1", "condpor-9", partial(condpor.sv_stack_1, 5)),
)

WRITERS = (Parameter("writers"),)

QPOR = (
    Benchmark("Disp", "qpor-1", qpor.dispatcher, (Parameter("servers"), Parameter("requests"))),
    Benchmark("Mpat", "qpor-1", qpor.mutex_pattern, (Parameter("pairs"),)),
    Benchmark(
        "MPC",
        "qpor-1",
        qpor.producers_and_consumers,
        (Parameter("producers"), Parameter("workers", least=2)),
    ),
    Benchmark("Pi", "qpor-1", qpor.pi, (THREADS,)),
    Benchmark("Pol", "qpor-1", pop.poke, (Parameter("workers"), Parameter("pokes"))),
    Benchmark("qpor-figure-1", "qpor-small", qpor.figure_1, WRITERS),
    Benchmark("qpor-figure-1-mutexes", "qpor-small", qpor.figure_1_with_mutexes, WRITERS),
    Benchmark("qpor-figure-2", "qpor-small", qpor.figure_2),
    Benchmark("ssbsimple", "qpor-small", qpor.simple_ssb),
    Benchmark("ssbexp", "qpor-small", qpor.exponential_ssb, WRITERS),
    Benchmark(
        "ssb3", "qpor-small", qpor.ssb_behind_branch, (Parameter("writers"), Parameter("length"))
    ),
    Benchmark("spat", "qpor-small", qpor.staircase, (THREADS, Parameter("mutexes"))),
)


def buggy(name: str, factory: Callable[..., Program], *parameters: Parameter) -> list[Benchmark]:
    """A program with checks that it violates, and the same with these violations counted."""
    return [
        Benchmark(name, "buster-1", factory, parameters),
        Benchmark(name + COUNTED, "buster-1", partial(factory, counted=True), parameters, True),
    ]


def clients(name: str, structure: NewStructure, *suffixes: str) -> list[Benchmark]:
    """A stack or a queue with some of its clients."""
    return [
        Benchmark(name + suffix, "buster-3", partial(CLIENTS[suffix], structure), (COUNT,))
        for suffix in suffixes
    ]


COUNTED = "-counted"
COUNT = Parameter("count")

PHILOSOPHERS = Parameter("philosophers", least=2)  # one alone has but one fork

BUSTER_BUGGY = (
    *buggy("account-bad", buster.account_bad),
    *buggy("bluetooth-driver-bad", buster.bluetooth_driver_bad),
    *buggy("circular-buffer-bad", buster.circular_buffer_bad, BUFFER_ROUNDS),
    *buggy("din-phil-sat", buster.din_phil_sat, PHILOSOPHERS),
    *buggy("din-phil-sat-protected", buster.din_phil_sat_protected, PHILOSOPHERS),
    *buggy("fsbench-bad", buster.fsbench_bad, THREADS),
    *buggy("lazy01-bad", buster.lazy01_bad),
    *buggy("queue-bad", buster.queue_bad, Parameter("size")),
    *buggy("reorder-bad", buster.reorder_bad, Parameter("setters"), Parameter("checkers")),
    *buggy("stack-bad", buster.stack_bad, ROUNDS),
    *buggy("token-ring-bad", buster.token_ring_bad),
    *buggy("twostage-bad", buster.twostage_bad, Parameter("writers"), Parameter("readers")),
    *buggy(
        "wronglock-bad", buster.wronglock_bad, Parameter("first kind"), Parameter("second kind")
    ),
    *buggy("sigma-unsafe", buster_sv_comp.sigma_unsafe, Parameter("workers")),
    *buggy("singleton-unsafe", buster_sv_comp.singleton_unsafe),
    *buggy("stateful01-unsafe", buster_sv_comp.stateful01_unsafe),
    *buggy("triangular-unsafe", buster_sv_comp.triangular_unsafe, ROUNDS),
    *buggy("triangular-joined", buster_sv_comp.triangular_joined, ROUNDS),
    *buggy("read-write-lock-unsafe", buster_sv_comp.read_write_lock_unsafe),
    *buggy("read-write-lock-unsafe-protected", buster_sv_comp.read_write_lock_unsafe_protected),
)

PUSHERS_AND_POPPERS = (Parameter("pushers"), Parameter("poppers", least=0))

BUSTER_SAFE = (
    Benchmark(
        "locked-stores",
        "buster-3",
        buster_structures.locked_stores,
        (Parameter("first rounds"), Parameter("second rounds")),
    ),
    Benchmark("ttas-lock2", "buster-3", buster_structures.ttas_lock_2, (ROUNDS,)),
    Benchmark("ttas-lock3", "buster-3", buster_structures.ttas_lock_3, (ROUNDS,)),
    Benchmark(
        "ttas-lock-reading", "buster-3", buster_structures.ttas_lock_reading, (THREADS, ROUNDS)
    ),
    *clients("bstack", partial(TreiberStack, pruned=True), "", "2", "-opposed"),
    *clients("ms-queue", partial(MichaelScottQueue, pruned=True), *CLIENTS),
    *clients("ms-queue-retrying", partial(MichaelScottQueue, pruned=False), *CLIENTS),
    # The one with the paper's figures does not check the tail.
    *clients("dglm-queue", partial(DglmQueue, pruned=True, checks_tail=False), "", "2"),
    *clients("dglm-queue-checked", partial(DglmQueue, pruned=True, checks_tail=True), *CLIENTS),
    *clients("dglm-queue-retrying", partial(DglmQueue, pruned=False, checks_tail=True), *CLIENTS),
    Benchmark("treiber", "buster-4", buster_structures.treiber, PUSHERS_AND_POPPERS),
    Benchmark(
        "treiber-retrying", "buster-4", buster_structures.treiber_retrying, PUSHERS_AND_POPPERS
    ),
    Benchmark("ttas-lock", "buster-4", buster_structures.ttas_lock, (THREADS,)),
)

# Threads that write, that read, and that do both.
KINDS = tuple(Parameter(kind, least=0) for kind in ("writers", "readers", "both"))
OPERATIONS = tuple(Parameter(f"thread-{number}", optional=number > 2) for number in (1, 2, 3))

STORED = tuple(Parameter(name, least=0) for name in ("first", "second", "third"))

WAITING = tuple(
    Benchmark(name, "awaiting-loops", factory, parameters, loops=True)
    for name, factory, parameters in (
        ("ttaslock", awaiting_locks.ttaslock, (THREADS,)),
        ("twalock", awaiting_locks.twalock, (THREADS,)),
        ("mcslock", awaiting_locks.mcslock, (THREADS,)),
        ("qspinlock", awaiting_locks.qspinlock, (THREADS,)),
        ("mutex", awaiting_locks.mutex, (THREADS,)),
        ("mutex-musl", awaiting_locks.mutex_musl, (THREADS,)),
        ("rwlocks", awaiting_locks.linuxrwlocks, KINDS),
        ("seqlock", awaiting_locks.seqlock, KINDS),
        ("mpmc-queue", awaiting_structures.mpmc_queue, KINDS),
        ("mpmc-queue-reload", awaiting_structures.mpmc_queue_reload, KINDS),
        ("treiber-stack", awaiting_structures.treiber_stack, KINDS),
        ("ms-queue-loops", awaiting_structures.ms_queue, KINDS),
        ("safestack", awaiting_structures.safestack, OPERATIONS),
        ("safestack-daemons", awaiting_structures.safestack_daemons, OPERATIONS),
        ("safestack-unchecked", awaiting_structures.safestack_unchecked, OPERATIONS),
        ("sortnet-loops", awaiting_structures.sortnet, (THREADS,)),
        ("figure-6-loop", awaiting.figure_6_loop, STORED),
    )
)

BENCHMARKS = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark("circular-buffer", "pop-1", pop.circular_buffer, (BUFFER_ROUNDS,)),
        Benchmark("fib-bench", "pop-1", pop.fib_bench, (ROUNDS,)),
        Benchmark("linuxrwlocks", "pop-1", pop.linuxrwlocks, (ROUNDS,)),
        Benchmark("filesystem", "pop-1", pop.filesystem, (THREADS,)),
        Benchmark("indexer", "pop-1", pop.indexer, (INDEXER_THREADS,)),
        Benchmark("lastzero", "pop-1", pop.lastzero, (Parameter("writers"),)),
        Benchmark("exp-mem3", "pop-1", pop.exp_mem3, (Parameter("leaves"),)),
        Benchmark("dispatcher", "pop-1", pop.dispatcher, (Parameter("servers"),)),
        Benchmark("poke", "pop-1", pop.poke, (Parameter("workers"),)),
        Benchmark(
            "length-param", "pop-1", pop.length_param, (THREADS, Parameter("length", least=0))
        ),
        Benchmark("sortnet", "awaiting-1", awaiting.sortnet, (THREADS,)),
        Benchmark("figure-1", "awaiting-figures", awaiting.figure_1),
        Benchmark("figure-2", "awaiting-figures", awaiting.figure_2),
        Benchmark("figure-3", "awaiting-figures", awaiting.figure_3),
        Benchmark("figure-4", "awaiting-figures", awaiting.figure_4),
        Benchmark("figure-5", "awaiting-figures", awaiting.figure_5),
        Benchmark(
            "figure-6",
            "awaiting-figures",
            awaiting.figure_6,
            STORED,
        ),
        *CONDPOR,
        *QPOR,
        *BUSTER_BUGGY,
        *BUSTER_SAFE,
        *WAITING,
    )
}


def spell(name: str, parameter: str) -> str:
    """A benchmark's name with its parameters, the way it is typed and printed."""
    return f"{name}({parameter})" if parameter else name


def parse(text: str) -> Instance:
    """The program that a name such as ``fib-bench(4)`` stands for; ValueError says why none."""
    match = re.fullmatch(r"\s*([\w.+-]+)\s*(?:\(([^()]*)\)\s*)?", text)
    if match is None:
        raise ValueError(f"{text!r} is not of the form name(parameter,...), as in 'fib-bench(4)'")
    name, inside = match.groups()
    if name not in BENCHMARKS:
        raise ValueError(f"there is no benchmark {name!r}; 'python -m benchmarks list' shows them")
    benchmark = BENCHMARKS[name]
    words = inside.split(",") if inside and inside.strip() else []
    if not benchmark.takes(len(words)):
        raise ValueError(f"{text!r} does not have the parameters of {benchmark.signature}")
    pairs = zip(benchmark.parameters, words, strict=False)  # some may be left out
    values = tuple(parse_value(text, parameter, word) for parameter, word in pairs)
    return Instance(benchmark, values)


def parse_value(text: str, parameter: Parameter, word: str) -> int:
    """One parameter's value, within its range."""
    try:
        value = int(word)
    except ValueError:
        raise ValueError(f"{text!r}: {parameter.name} must be a whole number") from None
    if not parameter.allows(value):
        raise ValueError(f"{text!r} is out of range: {parameter}")
    return value
