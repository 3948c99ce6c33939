"""The C version of each benchmark: its file in ``c/``, and what its macros are.

A flag with ``{0}`` in it gets the first parameter, and so on; ``{all}`` is all of them. Programs
that count their violations print a word for each.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import mazurka
from benchmarks.registry import BENCHMARKS, Instance
from mazurka.native.c_program import CProgram

FOLDER = Path(__file__).parent / "c"

POP = {
    "circular-buffer": "circular_buffer -DN={0}",
    "fib-bench": "fib_bench -DN={0}",
    "linuxrwlocks": "linuxrwlocks -DN={0}",
    "filesystem": "filesystem -DN={0}",
    "indexer": "indexer -DN={0}",
    "lastzero": "lastzero -DN={0}",
    "exp-mem3": "exp_mem3 -DN={0}",
    "dispatcher": "dispatcher -DN={0}",
    "poke": "poke -DN={0}",
    "length-param": "length_param -DN={0} -DLENGTH={1}",
}
QPOR = {
    "Disp": "dispatcher -DN={0} -DREQUESTS={1}",
    "Mpat": "mutex_pattern -DN={0}",
    "MPC": "producers_and_consumers -DN={0} -DWORKERS={1}",
    "Pi": "pi -DN={0}",
    "Pol": "poke -DN={0} -DPOKES={1}",
    "qpor-figure-1": "qpor_figure_1 -DN={0}",
    "qpor-figure-1-mutexes": "qpor_figure_1 -DN={0} -DMUTEXES",
    "qpor-figure-2": "qpor_figure_2",
    "ssbsimple": "ssbsimple",
    "ssbexp": "ssbexp -DN={0}",
    "ssb3": "ssb3 -DN={0} -DLENGTH={1}",
    "spat": "spat -DN={0} -DMUTEXES={1}",
}
BUGGY = {
    "account-bad": "account_bad",
    "bluetooth-driver-bad": "bluetooth_driver_bad",
    "circular-buffer-bad": "circular_buffer_bad -DN={0}",
    "din-phil-sat": "din_phil_sat -DN={0}",
    "din-phil-sat-protected": "din_phil_sat -DN={0} -DPROTECTED",
    "fsbench-bad": "fsbench_bad -DN={0}",
    "lazy01-bad": "lazy01_bad",
    "queue-bad": "queue_bad -DN={0}",
    "reorder-bad": "reorder_bad -DSETTERS={0} -DCHECKERS={1}",
    "stack-bad": "stack_bad -DN={0}",
    "token-ring-bad": "token_ring_bad",
    "twostage-bad": "twostage_bad -DWRITERS={0} -DREADERS={1}",
    "wronglock-bad": "wronglock_bad -DFIRST={0} -DSECOND={1}",
    "sigma-unsafe": "sigma_unsafe -DN={0}",
    "singleton-unsafe": "singleton_unsafe",
    "stateful01-unsafe": "stateful01_unsafe",
    "triangular-unsafe": "triangular_unsafe -DN={0}",
    "triangular-joined": "triangular_unsafe -DN={0} -DJOINED",
    "read-write-lock-unsafe": "read_write_lock_unsafe",
    "read-write-lock-unsafe-protected": "read_write_lock_unsafe -DPROTECTED",
}
CLIENTS = {"": 1, "2": 2, "-alternating": 3, "-opposed": 4}
STRUCTURES = {
    "bstack": "",
    "ms-queue": "-DQUEUE",
    "ms-queue-retrying": "-DQUEUE -DRETRYING",
    "dglm-queue": "-DQUEUE -DDGLM",
    "dglm-queue-checked": "-DQUEUE -DDGLM -DCHECKS_TAIL",
    "dglm-queue-retrying": "-DQUEUE -DDGLM -DCHECKS_TAIL -DRETRYING",
}
SAFE = {
    "locked-stores": "locked_stores -DFIRST={0} -DSECOND={1}",
    "ttas-lock": "ttas_lock -DTHREADS={0} -DROUNDS=1",
    "ttas-lock2": "ttas_lock -DTHREADS=2 -DROUNDS={0}",
    "ttas-lock3": "ttas_lock -DTHREADS=3 -DROUNDS={0}",
    "ttas-lock-reading": "ttas_lock -DTHREADS={0} -DROUNDS={1} -DREADING",
    "treiber": "treiber_client -DPUSHERS={0} -DPOPPERS={1}",
    "treiber-retrying": "treiber_client -DPUSHERS={0} -DPOPPERS={1} -DRETRYING",
    **{
        structure + suffix: f"structure_client -DCOUNT={{0}} -DCLIENT={client} {flags}"
        for structure, flags in STRUCTURES.items()
        for suffix, client in CLIENTS.items()
        if structure + suffix in BENCHMARKS
    },
}
# The state of a thread that waits is its stack and registers: -O1 leaves less there that is over.
KINDS = "-DFIRST_KIND={0} -DSECOND_KIND={1} -DBOTH_KINDS={2}"
WAITING = {
    "ttaslock": "ttaslock -O1 -DTHREADS={0}",
    "twalock": "twalock -O1 -DTHREADS={0}",
    "mcslock": "mcslock -O1 -DTHREADS={0}",
    "qspinlock": "qspinlock -O1 -DTHREADS={0}",
    "mutex": "futex_mutex -O1 -DTHREADS={0}",
    "mutex-musl": "futex_mutex -O1 -DTHREADS={0} -DMUSL",
    "rwlocks": f"rwlocks -O1 {KINDS}",
    "seqlock": f"seqlock -O1 {KINDS}",
    "mpmc-queue": f"mpmc_queue -O1 {KINDS}",
    "mpmc-queue-reload": f"mpmc_queue -O1 {KINDS} -DRELOAD",
    "treiber-stack": f"treiber_stack -O1 {KINDS}",
    "ms-queue-loops": f"ms_queue -O1 {KINDS}",
    "safestack": "safestack -O1 -DOPERATIONS={all}",
    "sortnet-loops": "sortnet -O1 -DTHREADS={0}",
    "figure-6-loop": "figure_6_loop -O1 -DFIRST={0} -DSECOND={1} -DTHIRD={2}",
}
IN_C = {
    **POP,
    **QPOR,
    **BUGGY,
    **{f"{name}-counted": f"{words} -DCOUNTED" for name, words in BUGGY.items()},
    **SAFE,
    **WAITING,
}


def is_in_c(benchmark: str) -> bool:
    return benchmark in IN_C


def in_c(instance: Instance) -> CProgram:
    """The C version of a program; ValueError if there is none."""
    name = instance.benchmark.name
    if not is_in_c(name):
        raise ValueError(f"{name} is not written in C")
    file, *flags = IN_C[name].format(*instance.values, all=instance.parameter).split()
    return mazurka.c_program(FOLDER / f"{file}.c", flags)


def violating(outcomes: Counter[Any]) -> int:
    """How many executions of a program with counted checks have violated one: these print it."""
    return sum(count for outcome, count in outcomes.items() if outcome != 0)
