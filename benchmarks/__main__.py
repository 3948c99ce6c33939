"""The command line: ``python -m benchmarks list | run | table | qpor | bounds | gap | halves |
faster | ordinary | jobs | kills | simulate | estimates | executors | lengths | trees | edits |
told``."""

import sys
from collections import Counter
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table

import mazurka
from benchmarks.bounds import explore_within
from benchmarks.bounds import render as render_bounds
from benchmarks.comparison import STYLES, Comparison, compare, render, why_skipped
from benchmarks.crew_costs import measured_costs
from benchmarks.edits import AS_IT_WAS, EDITS, FIRST, examples_called, tried_after
from benchmarks.edits import render as render_edits
from benchmarks.estimates import others, row_of
from benchmarks.estimates import render as render_estimates
from benchmarks.estimates import summary as summary_of_estimates
from benchmarks.executors import PROGRAMS, measured
from benchmarks.executors import render as render_executors
from benchmarks.faster import PAPER as PAPERS_BOUNDS
from benchmarks.faster import compared
from benchmarks.faster import render as render_faster
from benchmarks.gap import gaps
from benchmarks.gap import render as render_gaps
from benchmarks.halves import explore_in_halves
from benchmarks.jobs import killed, pair
from benchmarks.jobs import render as render_pairs
from benchmarks.jobs import run as run_once
from benchmarks.lengths import LENGTHS, OPERATIONS, SEARCHES, THREADS, cost_of, written
from benchmarks.lengths import render as render_costs
from benchmarks.line_plot import Line, as_svg
from benchmarks.measure import ALGORITHMS, PATIENCE, Measurement, measure, measure_in_c
from benchmarks.ordinary import PROGRAMS as ORDINARY
from benchmarks.ordinary import compared as compared_computed
from benchmarks.ordinary import render as render_ordinary
from benchmarks.paper import TABLES, measured_parameters, paper_executions, rows
from benchmarks.plot import plot
from benchmarks.recordings import Recording, recorded
from benchmarks.registry import BENCHMARKS, Instance, parse
from benchmarks.side_by_side import COLUMNS, growing
from benchmarks.side_by_side import render as render_side_by_side
from benchmarks.simulation import Simulated, simulated
from benchmarks.simulation import render as render_simulated
from benchmarks.told import markdown, told
from benchmarks.told import render as render_told
from benchmarks.trees import PROGRAMS as PROGRAMS_WITH_TREES
from benchmarks.trees import look_at
from benchmarks.trees import render as render_trees
from mazurka.report.amounts import duration

WORKERS = (2, 16, 32, 64, 128, 256, 512, 1024)  # that are simulated
PIPE_WIDTH = 160  # where there is no terminal to ask

max_executions_option = click.option(
    "--max-executions",
    type=click.IntRange(min=1),
    default=300_000,
    show_default=True,
    help="Skip rows that should have more.",
)


class WrongInput(click.ClickException):
    """One line and exit code 2."""

    exit_code = 2


def open_console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=PIPE_WIDTH)


@click.group()
def main() -> None:
    """The papers' benchmark programs, and our figures beside the papers'."""


@main.command("list")
def list_benchmarks() -> None:
    """Show every benchmark, with its parameters and those that the paper measures."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("benchmark", no_wrap=True)
    table.add_column("range", no_wrap=True)
    table.add_column("table", no_wrap=True)
    table.add_column("measured in the paper")
    for benchmark in BENCHMARKS.values():
        table.add_row(
            benchmark.signature,
            ", ".join(str(parameter) for parameter in benchmark.parameters),
            benchmark.table,
            " ".join(f"({parameter})" for parameter in measured_parameters(benchmark) if parameter),
        )
    open_console().print(table)


@main.command()
@click.argument("program", metavar="'NAME(PARAMETER,...)'")
@click.option("--algorithm", type=click.Choice(ALGORITHMS), default="pop", show_default=True)
@click.option("--max-executions", type=click.IntRange(min=1), help="Stop after so many.")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), help="In seconds.")
@click.option("--no-independent-adds", is_flag=True, help="Let two adds conflict.")
@click.option("--no-loop-purity", is_flag=True, help="Do not cut loops that change nothing.")
@click.option("--no-awaits", is_flag=True, help="Do not make awaits of polling loops.")
@click.option("--unroll", type=click.IntRange(min=1), help="Rounds of loops.")
@click.option("--stop-on-failure", is_flag=True, help="Stop at the first one.")
@click.option("--c", "is_c", is_flag=True, help="Run the C version of it.")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def run(
    program: str,
    algorithm: str,
    max_executions: int | None,
    time_limit: float | None,
    no_independent_adds: bool,
    no_loop_purity: bool,
    no_awaits: bool,
    unroll: int | None,
    stop_on_failure: bool,
    is_c: bool,
    as_json: bool,
) -> None:
    """Run one program, such as 'fib-bench(4)'."""
    try:
        instance = parse(program)
        if is_c:
            measured = measure_in_c(
                instance,
                algorithm,
                max_executions,
                time_limit,
                not no_independent_adds,
                not no_loop_purity,
                unroll,
                stop_on_failure,
            )
        else:
            measured = measure(
                instance,
                algorithm,
                max_executions,
                time_limit,
                not no_independent_adds,
                not no_loop_purity,
                not no_awaits,
                unroll,
                stop_on_failure,
            )
    except ValueError as error:
        raise WrongInput(str(error)) from None
    click.echo(measured.to_json() if as_json else summary(str(instance), measured))


def summary(name: str, measured: Measurement) -> str:
    paper = "" if measured.paper_executions is None else f" (paper: {measured.paper_executions})"
    return (
        f"{name} {measured.algorithm}: {measured.verdict}, {measured.executions} executions{paper}"
        f" = {measured.complete} complete + {measured.blocked} blocked"
        f" + {measured.redundant} redundant; {measured.cpu_seconds:.2f} s CPU,"
        f" {measured.executions_per_cpu_second:.0f} executions/s, {measured.peak_rss_mb:.0f} MB"
    )


@main.command()
@click.argument("name", type=click.Choice(list(TABLES)))
@click.option(
    "--algorithm",
    "algorithms",
    type=click.Choice(ALGORITHMS),
    multiple=True,
    default=["pop"],
    show_default=True,
    help="Give it twice to see two algorithms side by side.",
)
@click.option("--c", "with_c", is_flag=True, help="Run the programs' C versions, too.")
@click.option("--only-c", is_flag=True, help="Run these alone.")
@click.option(
    "--plot",
    "plot_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write an SVG file with what an execution takes, beside the paper's figures.",
)
@max_executions_option
def table(
    name: str,
    algorithms: tuple[str, ...],
    with_c: bool,
    only_c: bool,
    plot_file: Path | None,
    max_executions: int,
) -> None:
    """Run the rows of a paper's table, and compare; exit code 1 when any of them differs."""
    console = open_console()
    comparisons = []
    languages = [True] if only_c else [False, True] if with_c else [False]
    for row in rows(name):
        for algorithm in algorithms:
            for is_c in languages:
                reason = why_skipped(row, name, max_executions, is_c)
                if reason:
                    comparisons.append(Comparison(row, algorithm, "skipped", reason, None, is_c))
                    continue
                with console.status(f"running {row} with {algorithm}"):
                    comparisons.append(compare(row, algorithm, max_executions, is_c))
    console.print(render(name, comparisons))
    print_exceptions(console, comparisons)
    if plot_file is not None:
        plot_file.write_text(plot(name, comparisons), encoding="utf-8")
    if any(comparison.status in ("DIFFERS", "FAILED") for comparison in comparisons):
        sys.exit(1)


@main.command()
@click.argument(
    "name",
    type=click.Choice([name for name in TABLES if name.startswith("qpor")]),
    default="qpor-1",
)
@click.option(
    "--max-executions",
    type=click.IntRange(min=1),
    default=20_000,
    show_default=True,
    help=f"Skip programs that have more; end searches with {PATIENCE} times as many.",
)
def qpor(name: str, max_executions: int) -> None:
    """Run qpor with k = 1, 2, 3 and optimal, source, optimal and pop on the programs of Table 1 of
    its paper (qpor-1), or of its figures (qpor-small), side by side; exit code 1 when a number of
    executions differs from the paper's."""
    console = open_console()
    programs = []
    for row in rows(name):
        if why_skipped(row, name, max_executions):
            continue
        comparisons = []
        for algorithm in COLUMNS:
            comparison = compare(row, algorithm, max_executions)
            comparisons.append(comparison)
            click.echo(progress(comparison), err=True)  # it takes long
        programs.append(comparisons)
    console.print(render_side_by_side(name, programs))
    console.print(
        f"more redundant executions with a larger k: {', '.join(growing(programs)) or '-'}"
    )
    all_of_them = [comparison for comparisons in programs for comparison in comparisons]
    print_exceptions(console, all_of_them)
    if any(comparison.status in ("DIFFERS", "FAILED") for comparison in all_of_them):
        sys.exit(1)


def progress(comparison: Comparison) -> str:
    """One program and algorithm, in a line."""
    name = str(comparison.row)
    if comparison.measured is None:
        return f"{name} {comparison.algorithm}: {comparison.status}, {comparison.reason}"
    return summary(name, comparison.measured)


@main.command()
@click.argument("words", nargs=-1)
@click.option("--max-executions", type=click.IntRange(min=1), default=50_000, show_default=True)
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), default=60.0)
def executors(words: tuple[str, ...], max_executions: int, time_limit: float) -> None:
    """Run programs with executors and queues whose tasks are independent: all, or those whose names
    have one of these words in them."""
    console = open_console()
    rows = []
    for name in PROGRAMS:
        if not words or any(word in name for word in words):
            with console.status(f"running {name}"):
                rows.append(measured(name, max_executions, time_limit))
    console.print(render_executors(rows))


@main.command()
@click.argument("words", nargs=-1)
@click.option("--search", "searches", type=click.Choice(list(SEARCHES)), multiple=True)
@click.option("--threads", type=click.IntRange(min=1), multiple=True, default=THREADS)
@click.option("--length", "lengths", type=click.IntRange(min=1), multiple=True, default=LENGTHS)
@click.option(
    "--patience",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="Leave out longer executions that would take longer than so many seconds.",
)
@click.option("--data", type=click.Path(dir_okay=False, writable=True), help="A CSV file to plot.")
def lengths(
    words: tuple[str, ...],
    searches: tuple[str, ...],
    threads: tuple[int, ...],
    lengths: tuple[int, ...],
    patience: float,
    data: str | None,
) -> None:
    """What an event costs, by the length of the execution: for all operations, or those whose names
    have one of these words in them; with all searches, unless some are named."""
    console = open_console()
    found = []
    for operation in OPERATIONS:
        if words and not any(word in operation.name for word in words):
            continue
        for search in searches or SEARCHES:
            for count in threads:
                with console.status(f"{operation.name}, {search}, {count} threads"):
                    found.append(cost_of(operation, search, count, lengths, patience))
                if data is not None:
                    written(found, lengths, data)
    console.print(render_costs(found, lengths))


@main.command()
@click.argument("name", type=click.Choice([name for name in TABLES if name.startswith("buster")]))
@click.option("--most", type=click.IntRange(min=0), default=3, show_default=True, help="Bounds.")
@click.option(
    "--max-executions",
    type=click.IntRange(min=1),
    default=5_000,
    show_default=True,
    help="End each search after so many.",
)
def bounds(name: str, most: int, max_executions: int) -> None:
    """Explore the programs of a table with bounds on preemptions; exit code 1 when a number of
    executions differs from the exact one."""
    console = open_console()
    found = []
    for row in rows(name):
        if why_skipped(row, name, sys.maxsize) == "" and row.by_bound:
            for bound in range(most + 1):
                with console.status(f"running {row} with a bound of {bound}"):
                    found.append(explore_within(row, bound, max_executions))
    console.print(render_bounds(name, found))
    if any(bounded.difference for bounded in found):
        sys.exit(1)


@main.command
@click.argument("names", nargs=-1, type=click.Choice(list(PAPERS_BOUNDS)))
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True)
def faster(names: tuple[str, ...], repeats: int) -> None:
    """Up to which bound on preemptions a search is faster than without one, beside the paper's."""
    console = open_console()
    found = []
    for name in names or PAPERS_BOUNDS:
        with console.status(f"running {name}"):
            found.append(compared(name, repeats))
    console.print(render_faster(found))


@main.command
@click.argument("names", nargs=-1, type=click.Choice(list(ORDINARY)))
@click.option("--max-executions", type=click.IntRange(min=1), default=300_000, show_default=True)
def ordinary(names: tuple[str, ...], max_executions: int) -> None:
    """Ordinary programs, with and without executions that are computed; exit code 1 if the searches
    find different things."""
    console = open_console()
    found = []
    for name in names or ORDINARY:
        with console.status(f"running {name}"):
            found.append(compared_computed(name, max_executions))
    console.print(render_ordinary(found))
    if not all(row.is_equal for row in found):
        sys.exit(1)


@main.command
@click.argument("part", default="")
def edits(part: str) -> None:
    """Edit the failing examples (with PART in their names) in small ways, and follow the failing
    execution that is kept of each."""
    found = {example: tried_after(example) for example in examples_called(part)}
    if not found:
        raise WrongInput(f"no failing example has {part!r} in its name")
    open_console().print(render_edits(found))
    fared = [how for each in found.values() for how in each.values()]
    at_once = sum(how in (AS_IT_WAS, FIRST) for how in fared)
    click.echo(
        f"{len(found)} examples, {len(EDITS)} edits: {at_once} of {len(fared)} found in the first "
        f"execution, {fared.count(AS_IT_WAS)} by the schedule as it was"
    )


@main.command(name="told")
@click.argument("part", default="")
@click.option("--as-markdown", is_flag=True, help="Print the table as it is in docs/failures.md.")
def table_of_told(part: str, as_markdown: bool) -> None:
    """How the failing executions of the examples (with PART in their names) are minimised; exit
    code 1 if one has more preemptions than the least bound that finds the failure."""
    rows = [told(example) for example in examples_called(part)]
    if not rows:
        raise WrongInput(f"no failing example has {part!r} in its name")
    if as_markdown:
        click.echo(markdown(rows))
    else:
        open_console().print(render_told(rows))
    if any(row.preemptions > row.least_bound for row in rows):
        sys.exit(1)


@main.command()
@max_executions_option
def gap(max_executions: int) -> None:
    """Explore the programs of Table 1 of the concolic paper with symbolic inputs, and with every
    value of them from {0, 1, 2}; exit code 1 when the latter gives another number of executions
    than the paper's."""
    console = open_console()
    with console.status("running"):
        found = gaps(max_executions)
    console.print(render_gaps(found, max_executions))
    if any(gap.differs for gap in found):
        sys.exit(1)


@main.command()
@click.argument("programs", nargs=-1, metavar="'NAME(PARAMETER,...)' ...")
def trees(programs: tuple[str, ...]) -> None:
    """Look at the trees of the unfolding, and at where the time of qpor goes, for programs of the
    paper's Table 1. Needs plain Python: install with MAZURKA_PURE=1."""
    if mazurka.COMPILED:
        raise WrongInput("this Mazurka is compiled: install it with MAZURKA_PURE=1 to look inside")
    console = open_console()
    with console.status("running"):
        found = look_at(programs or PROGRAMS_WITH_TREES)
    console.print(render_trees(found))


@main.command()
@click.argument("name", type=click.Choice(list(TABLES)))
@max_executions_option
def halves(name: str, max_executions: int) -> None:
    """Explore the rows of a paper's table in two processes, half of the work each; exit code 1
    when the total of any is not the one to expect."""
    differing = 0
    for row in rows(name):
        if row.independent_adds is False or row.expected_executions is None:
            continue
        if why_skipped(row, name, max_executions):
            continue
        found = explore_in_halves(parse(str(row)))
        same = found.total == row.expected_executions
        differing += not same
        click.echo(
            f"{row}: {found.first} executions, then {found.tasks} tasks in two processes:"
            f" {found.halves[0]} + {found.halves[1]}; {found.total} in all, expected"
            f" {row.expected_executions}: {'match' if same else 'DIFFERS'}"
        )
    if differing:
        sys.exit(1)


@main.command()
@click.argument("programs", nargs=-1, required=True, metavar="'NAME(PARAMETER,...)' ...")
@click.option("--jobs", type=click.IntRange(min=2), default=2, show_default=True)
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True)
def jobs(programs: tuple[str, ...], jobs: int, repeats: int) -> None:
    """Explore programs in one process and in several, in turn, and compare the best times; exit
    code 1 when a number of executions differs."""
    pairs = []
    for program in programs:
        pairs.append(pair(instance_called(program), jobs, repeats))
        click.echo(f"{program}: done", err=True)
    open_console().print(render_pairs(pairs))
    if any(found.one.executions != found.several.executions for found in pairs):
        sys.exit(1)


@main.command()
@click.argument("program", metavar="'NAME(PARAMETER,...)'")
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--times", type=click.IntRange(min=1), default=20, show_default=True)
@click.option("--c", "is_c", is_flag=True, help="Run the C version of it.")
@click.option("--cluster", default="", metavar="ADDRESS", help="Search on a cluster of Ray.")
def kills(program: str, jobs: int, times: int, is_c: bool, cluster: str) -> None:
    """Kill a search at random moments, its workers at others, and resume it until it is over, so
    many times; exit code 1 when it does not say each time what a search says that was not killed.
    """
    instance = instance_called(program)
    result = run_once(instance, 1, is_c)
    expected = f"verified {result.executions}"
    wrong = kills = 0
    for seed in range(times):
        found = killed(program, jobs, seed, "C" if is_c else "Python", cluster)
        wrong += found.said != expected
        kills += found.kills
        how = f"killed {found.kills} times, had got on {found.resumed} times"
        click.echo(f"{how}: {found.said}{'' if found.said == expected else ', WRONG'}")
    click.echo(f"{times - wrong} of {times} as expected: {expected}; {kills} kills")
    sys.exit(1 if wrong else 0)


@main.command()
@click.argument("programs", metavar="['NAME(PARAMETER,...)']...", nargs=-1)
@click.option("--c", "in_c", multiple=True, metavar="PROGRAM", help="Its C version.")
@click.option("--workers", type=click.IntRange(min=1), multiple=True, default=WORKERS)
@click.option(
    "--stretch",
    "stretches",
    type=click.FloatRange(min=0, min_open=True),
    multiple=True,
    default=(1.0, 10.0, 100.0),
    help="As if each execution took so many times as long.",
)
@click.option("--cluster", is_flag=True, help="Workers cost what they cost on a cluster of Ray.")
@click.option("--kept", type=click.Path(file_okay=False, path_type=Path), help="Has recordings.")
@click.option(
    "--plot",
    "plot_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw it, too: an SVG file.",
)
def simulate(
    programs: tuple[str, ...],
    in_c: tuple[str, ...],
    workers: tuple[int, ...],
    stretches: tuple[float, ...],
    cluster: bool,
    kept: Path | None,
    plot_file: Path | None,
) -> None:
    """Record searches, and say what they would take with many workers."""
    costs = measured_costs(cluster)
    click.echo(f"workers cost, in seconds: {costs}")
    found: list[Simulated] = []
    for program, is_c in [*((one, False) for one in programs), *((one, True) for one in in_c)]:
        recording = recording_of(program, is_c, kept)
        click.echo(f"{recording.name}: {len(recording):,} executions, tasks: {recording.costs}")
        for stretch in stretches:
            found += [simulated(recording, count, costs, stretch) for count in workers]
    open_console().print(render_simulated(found))
    if plot_file is not None:
        plot_file.write_text(as_svg("workers", "efficiency", lines_of(found)), encoding="utf-8")


def recording_of(program: str, is_c: bool, kept: Path | None) -> Recording:
    """Recorded now, or kept from an earlier time."""
    if kept is None:
        return recorded(instance_called(program), is_c)
    file = kept / f"{program}{' in C' if is_c else ''}.pickle"
    if not file.exists():
        kept.mkdir(parents=True, exist_ok=True)
        recorded(instance_called(program), is_c).save(file)
    return Recording.load(file)


def lines_of(found: list[Simulated]) -> list[Line]:
    """A line for each search, and for how long it takes alone."""
    names = list(dict.fromkeys(one.name for one in found))
    lengths = {name: sorted({one.alone for one in found if one.name == name}) for name in names}
    return [
        Line(
            f"{name}, {duration(alone)} alone",
            [
                (one.workers, one.efficiency)
                for one in found
                if (one.name, one.alone) == (name, alone)
            ],
            names.index(name),
            place,
        )
        for name in names
        for place, alone in enumerate(lengths[name])
    ]


@main.command()
@click.argument("programs", metavar="['NAME(PARAMETER,...)']...", nargs=-1)
@click.option("--others", "with_others", is_flag=True, help="Programs of other papers.")
@max_executions_option
def estimates(programs: tuple[str, ...], with_others: bool, max_executions: int) -> None:
    """What estimates say after 1 %, 5 % and 20 % of a search: of some programs, or of all of POP's
    Table 1."""
    chosen = [instance_called(program) for program in programs]
    if with_others:
        chosen += others()
    elif not programs:
        chosen = [parse(f"{row.benchmark}({row.parameter})") for row in rows("pop-1")]
    found = []
    for instance in chosen:
        known = paper_executions(instance, True) if instance.benchmark.table == "pop-1" else None
        if (known or 0) <= max_executions:
            found.append(row_of(instance, known))
            click.echo(f"{instance}: done", err=True)
    open_console().print(render_estimates(found))
    for line in summary_of_estimates(found):
        click.echo(line)


def instance_called(program: str) -> Instance:
    try:
        return parse(program)
    except ValueError as error:
        raise WrongInput(str(error)) from None


def print_exceptions(console: Console, comparisons: list[Comparison]) -> None:
    """Every row that did not match, with the reason, and how many there are of each kind."""
    for comparison in comparisons:
        if comparison.status != "match":
            style = STYLES[comparison.status]
            name = f"{comparison.row} {comparison.row.setting} {comparison.how}"
            console.print(f"{comparison.status}: {name}: {comparison.reason}", style=style)
    totals = Counter(comparison.status for comparison in comparisons)
    console.print(", ".join(f"{status}: {total}" for status, total in totals.items()))


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
