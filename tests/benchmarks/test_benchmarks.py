"""The papers' programs have the papers' counts, and the runner says so."""

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

import benchmarks.__main__ as command_line
import mazurka
from benchmarks.comparison import Comparison, compare, difference
from benchmarks.jobs import pair
from benchmarks.measure import PATIENCE, Measurement, measure
from benchmarks.paper import PaperRow, rows
from benchmarks.plot import plot
from benchmarks.programs import findable
from benchmarks.registry import BENCHMARKS, parse
from mazurka.scale.programs import find, named

pytestmark = pytest.mark.papers

# Counts of complete executions, the same under GenMC and Nidhugg.
SMALL = {
    "circular-buffer": {"1": 2, "2": 6, "3": 20, "4": 70, "5": 252},
    "fib-bench": {"1": 11, "2": 140, "3": 1698},
    "linuxrwlocks": {"1": 4, "2": 26, "3": 192, "4": 1500},
    "filesystem": {"1": 1, "13": 1, "14": 2, "15": 4, "16": 8, "18": 32},
    "indexer": {"1": 1, "11": 1, "12": 8, "13": 64},
    "lastzero": {"1": 2, "2": 5, "3": 12, "4": 28, "5": 64, "6": 144},
    "exp-mem3": {"1": 2, "2": 4, "3": 12, "4": 48, "5": 240},
    "dispatcher": {"1": 4, "2": 32, "3": 398},
    "poke": {"1": 5, "2": 104, "3": 711},
    "length-param": {"1,2": 1, "2,0": 4, "2,1": 4, "2,4": 4, "2,64": 4, "2,1024": 4, "3,2": 36},
    "sortnet": {"1": 1, "2": 1, "3": 1, "4": 1, "5": 1, "6": 1},
}
LARGE = {
    "circular-buffer": {"7": 3432},
    "fib-bench": {"4": 19605},
    "linuxrwlocks": {"5": 12092},
    "filesystem": {"22": 512},
    "indexer": {"14": 512},
    "lastzero": {"10": 3328},
    "exp-mem3": {"7": 10080},
    "dispatcher": {"4": 6854},
    "poke": {"4": 2636, "5": 7079},
    "length-param": {"2,65536": 4},
}


def flat(counts: dict[str, dict[str, int]]) -> list[tuple[str, int]]:
    return [
        (f"{name}({parameter})", count)
        for name, by_parameter in counts.items()
        for parameter, count in by_parameter.items()
    ]


OPTIMAL = ["optimal", "pop", "trust"]


def run_optimal(name: str, algorithm: str, independent_adds: bool = True) -> Measurement:
    return measure(parse(name), algorithm, None, None, independent_adds)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(command_line.main, arguments)


@pytest.mark.parametrize("algorithm", OPTIMAL)
@pytest.mark.parametrize(("name", "count"), flat(SMALL))
def test_small_programs_have_the_known_counts(name: str, count: int, algorithm: str) -> None:
    measured = run_optimal(name, algorithm)
    assert (measured.complete, measured.blocked, measured.redundant) == (count, 0, 0)
    assert measured.verdict == "verified"


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", OPTIMAL)
@pytest.mark.parametrize(("name", "count"), flat(LARGE))
def test_larger_programs_have_the_known_counts(name: str, count: int, algorithm: str) -> None:
    measured = run_optimal(name, algorithm)
    assert (measured.complete, measured.blocked, measured.redundant) == (count, 0, 0)
    assert measured.verdict == "verified"


@pytest.mark.parametrize("algorithm", OPTIMAL)
@pytest.mark.parametrize("row", rows("awaiting-figures"), ids=lambda row: f"{row} {row.setting}")
def test_figures_have_the_known_counts(row: PaperRow, algorithm: str) -> None:
    measured = run_optimal(str(row), algorithm, bool(row.independent_adds))
    assert difference(row, measured) == ""


LOOPS = [row for row in rows("awaiting-loops") if (row.executions or 0) <= 1000]
LARGER_LOOPS = [row for row in rows("awaiting-loops") if 1000 < (row.executions or 0) <= 10_000]


def run_loops(row: PaperRow, algorithm: str) -> Measurement:
    return measure(
        parse(str(row)),
        algorithm,
        None,
        None,
        bool(row.independent_adds),
        unroll=row.unroll,
        **row.loop_settings,
    )


def setting_of(row: PaperRow) -> str:
    return f"{row} {row.setting} {row.unroll}"


@pytest.mark.parametrize("row", LOOPS, ids=setting_of)
def test_loops_have_the_known_counts(row: PaperRow) -> None:
    assert difference(row, run_loops(row, "pop")) == ""


@pytest.mark.slow
@pytest.mark.parametrize("row", LARGER_LOOPS, ids=setting_of)
def test_larger_loops_have_the_known_counts(row: PaperRow) -> None:
    assert difference(row, run_loops(row, "pop")) == ""


@pytest.mark.parametrize(
    "row", [row for row in LOOPS if (row.executions or 0) <= 50], ids=setting_of
)
def test_loops_have_the_same_counts_with_optimal(row: PaperRow) -> None:
    assert difference(row, run_loops(row, "optimal")) == ""


def test_every_benchmark_of_pop_is_there_with_three_parameters_in_the_paper() -> None:
    names = [row.benchmark for row in rows("pop-1")]
    written = [benchmark.name for benchmark in BENCHMARKS.values() if benchmark.table == "pop-1"]
    assert names == [name for name in written for _ in range(3)]


def test_list_names_every_benchmark() -> None:
    result = invoke("list")
    assert result.exit_code == 0
    for benchmark in BENCHMARKS.values():
        assert benchmark.signature in result.output
        assert benchmark.table in result.output
    assert "(2,1024) (2,8196) (2,65536)" in result.output


def test_run_prints_one_line_of_json() -> None:
    result = invoke("run", "length-param(2,1024)", "--json")
    assert result.exit_code == 0
    assert result.output.count("\n") == 1
    printed = json.loads(result.output)
    assert printed["benchmark"] == "length-param"
    assert printed["parameter"] == "2,1024"
    assert printed["executions"] == printed["complete"] == printed["paper_executions"] == 4
    assert printed["cpu_seconds"] > 0
    assert printed["peak_rss_mb"] > 1
    assert printed["compiled"] in (True, False)


def test_run_prints_a_line_for_people() -> None:
    result = invoke("run", "fib-bench(1)", "--algorithm", "source")
    assert result.exit_code == 0
    assert result.output.startswith("fib-bench(1) source: verified, ")
    assert "11 complete + 0 blocked" in result.output
    assert "paper" not in result.output


def test_run_obeys_its_options() -> None:
    stopped = json.loads(invoke("run", "fib-bench(3)", "--json", "--max-executions", "7").output)
    assert (stopped["executions"], stopped["verdict"]) == (7, "incomplete")
    assert stopped["paper_executions"] is None
    timed = json.loads(invoke("run", "fib-bench(6)", "--json", "--time-limit", "0.1").output)
    assert timed["verdict"] == "incomplete"
    assert timed["paper_executions"] == 2364418
    adds = json.loads(invoke("run", "figure-5", "--json", "--no-independent-adds").output)
    assert (adds["complete"], adds["blocked"], adds["paper_executions"]) == (2, 6, 8)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fib", "no benchmark 'fib'"),
        ("fib-bench", "does not have the parameters of fib-bench(rounds)"),
        ("fib-bench()", "does not have the parameters"),
        ("fib-bench(1,2)", "does not have the parameters"),
        ("fib-bench(1", "not of the form"),
        ("", "not of the form"),
        ("fib-bench(many)", "rounds must be a whole number"),
        ("fib-bench(0)", "out of range: rounds >= 1"),
        ("circular-buffer(11)", "out of range: 1 <= rounds <= 10"),
        ("length-param(2,-1)", "out of range: length >= 0"),
    ],
)
def test_wrong_input_gets_one_line(name: str, message: str) -> None:
    result = invoke("run", name)
    assert result.exit_code == 2
    assert message in result.output
    assert result.output.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("table", "pop-2"),
        ("table", "pop-1", "--max-executions", "0"),
        ("run", "fib-bench(1)", "--algorithm", "best"),
        ("run", "fib-bench(1)", "--time-limit", "0"),
    ],
)
def test_wrong_options_are_refused(arguments: tuple[str, ...]) -> None:
    assert invoke(*arguments).exit_code == 2


def test_table_compares_and_says_what_it_skips() -> None:
    result = invoke("table", "awaiting-1")
    assert result.exit_code == 0
    assert "match: 6" in result.output
    assert "skipped: qspinlock(2) PLP+Await pop: no program for it yet" in result.output


@pytest.mark.slow
def test_table_of_figures_matches() -> None:
    result = invoke("table", "awaiting-figures")
    assert result.exit_code == 0
    assert "match: 14" in result.output


@pytest.mark.slow
def test_table_shows_the_papers_redundant_executions_beside_ours() -> None:
    result = invoke("table", "qpor-small", "--algorithm", "qpor-2", "--max-executions", "2")
    assert result.exit_code == 0
    assert "match: 6" in result.output
    assert "skipped: ssbsimple optimal qpor-2: over the budget of 2 executions" in result.output
    assert result.output.count("redundant") == 2


def row_of(name: str) -> PaperRow:
    return next(row for row in rows("qpor-small") if str(row) == name)


def test_algorithms_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    row = row_of("qpor-figure-1(3)")
    monkeypatch.setattr(command_line, "rows", lambda name: (row,))
    result = invoke("qpor", "qpor-small")
    assert result.exit_code == 0
    assert re.search(r"program +traces +qpor-1 +qpor-2 +qpor-3 +qpor-optimal", result.output)
    assert re.search(r"qpor-figure-1\(3\) +6 +executions +15 +6 +6 +6 +24 +6 +6", result.output)
    assert re.search(r"redundant +9 +0 +0 +0 +18 +0 +0", result.output)
    assert re.search(r"by Nidhugg +0 +15", result.output)
    assert "more redundant executions with a larger k: -" in result.output
    assert "match: 7" in result.output


def test_a_search_with_too_many_redundant_executions_is_ended() -> None:
    comparison = compare(row_of("qpor-figure-1(8)"), "source", 16)
    assert comparison.status == "skipped"
    assert comparison.reason == f"over the budget of {16 * PATIENCE} executions"


def test_table_skips_rows_over_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "compare", lambda row, *_: Comparison(row, "pop", "match"))
    result = invoke("table", "pop-1", "--max-executions", "20000")
    assert result.exit_code == 0
    assert "skipped: fib-bench(5) Optimal pop: over the budget of 20000 executions" in result.output
    assert "skipped: fib-bench(4)" not in result.output


def test_table_fails_when_a_row_differs_or_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for status in ("DIFFERS", "FAILED"):
        comparison = Comparison(rows("pop-1")[0], "pop", status, "a reason")
        monkeypatch.setattr(command_line, "compare", lambda *_, found=comparison: found)
        result = invoke("table", "pop-1", "--max-executions", "4")
        assert result.exit_code == 1
        assert f"{status}: circular-buffer(7) Optimal pop: a reason" in result.output


def test_a_difference_is_named() -> None:
    row = next(row for row in rows("awaiting-figures") if str(row) == "figure-3")
    measured = run_optimal("figure-3", "pop")
    assert difference(row, measured) == ""
    assert difference(row, replace(measured, complete=5)) == "5+0 instead of 4+0"
    assert difference(row, replace(measured, redundant=1)) == "redundant executions: 1"
    assert difference(row, replace(measured, redundant=1, algorithm="source")) == ""
    assert difference(row, replace(measured, verdict="failed")) == "the verdict is failed"


def test_only_what_is_known_is_compared() -> None:
    row = next(row for row in rows("buster-1") if row.benchmark.startswith("read-write-lock"))
    measured = run_optimal(str(row), "pop")
    assert (row.expected_blocked, row.expected_violating) == (None, None)
    assert difference(row, measured) == ""
    assert difference(row, replace(measured, blocked=1)) == ""
    assert difference(row, replace(measured, complete=1, blocked=2)) == "1+2 instead of 220+2"
    assert difference(row, replace(measured, verdict="failed")) == "the verdict is failed"
    known = replace(row, expected_violating=7)
    assert difference(known, measured) == "violating executions: 8 instead of 7"


def test_table_skips_rows_that_turn_out_to_be_over_the_budget() -> None:
    result = invoke("table", "buster-4", "--max-executions", "10")
    assert result.exit_code == 0
    assert "skipped: treiber(3,0) GenMC pop: over the budget of 10 executions" in result.output
    assert "match: 3, skipped: 20" in result.output


def test_run_counts_violations() -> None:
    counted = json.loads(invoke("run", "lazy01-bad-counted", "--json").output)
    assert (counted["complete"], counted["violating"], counted["verdict"]) == (6, 2, "verified")
    checked = json.loads(invoke("run", "lazy01-bad", "--json").output)
    assert (checked["complete"], checked["violating"], checked["verdict"]) == (6, None, "failed")


def test_other_processes_find_the_programs() -> None:
    instance = parse("fib-bench(2)")
    name = named(findable(instance))
    assert (name.module, name.name) == ("benchmarks.programs", "fib-bench(2)")
    assert callable(find(name))
    found = pair(instance, 2, 1)
    assert (
        found.one.executions
        == found.several.executions
        == mazurka.explore(instance.program(), instrument=None).executions
    )


def test_the_trees_of_the_unfolding() -> None:
    run = CliRunner().invoke(command_line.main, ["trees", "Mpat(2)"])
    if mazurka.COMPILED:
        assert run.exit_code == 2
        assert "MAZURKA_PURE=1" in run.output
        return
    assert run.exit_code == 0
    found = {line.split("  ")[1].strip(): line for line in run.output.splitlines() if "  " in line}
    assert "8, 5 of threads" in found["trees"]
    assert "no skips" in run.output


def test_a_plot_has_a_mark_for_each_figure() -> None:
    fib, exp = [row for row in rows("pop-1") if str(row) in ("fib-bench(4)", "exp-mem3(7)")]
    once = measure(parse("fib-bench(1)"), "pop", None, None, False)
    ours = [replace(once, executions=count, cpu_seconds=0.5) for count in (100, 10_000)]
    comparisons = [
        Comparison(row, "pop", "match", "", measured)
        for row, measured in zip((fib, exp), ours, strict=True)
    ]
    skipped = Comparison(fib, "optimal", "skipped")
    drawn = plot("pop-1", [*comparisons, skipped])
    root = ElementTree.fromstring(drawn)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "fib-bench(4)" in texts and "exp-mem3(7)" in texts and "1 ms" in texts
    legend = ["Mazurka, pop", "Optimal, in the paper", "POP, in the paper", "TruSt, in the paper"]
    assert texts[1:5] == legend
    assert drawn.count("<circle") + drawn.count('<rect x="') == 4 + 8
    assert drawn == plot("pop-1", [*comparisons, skipped])


@pytest.mark.parametrize("part", ["::lost_update", "::livelock", "::cancelled_await"])
def test_how_failures_are_minimised(part: str) -> None:
    run = CliRunner().invoke(command_line.main, ["told", part, "--as-markdown"])
    assert run.exit_code == 0, "one has more preemptions than the least bound that finds it"
    page = Path(__file__).parents[2] / "docs" / "failures.md"
    assert set(run.output.splitlines()) <= set(page.read_text().splitlines())


def test_small_edits_keep_what_is_kept_useful() -> None:
    run = CliRunner().invoke(command_line.main, ["edits", "races.py::lost_update"])
    assert run.exit_code == 0
    assert "1 examples, 10 edits: 10 of 10 found in the first execution" in run.output
    (renamed,) = [line for line in run.output.splitlines() if "renamed locals" in line]
    assert renamed.split()[2:] == ["0", "1", "0", "0", "0", "0"]
    unknown = CliRunner().invoke(command_line.main, ["edits", "nothing"])
    assert unknown.exit_code == 2


def test_what_an_event_costs(tmp_path: Path) -> None:
    data = tmp_path / "costs.csv"
    arguments = ["lengths", "lock", "--search", "pop", "--threads", "2", "--length", "100"]
    run = CliRunner().invoke(
        command_line.main, [*arguments, "--length", "200", "--data", str(data)]
    )
    assert run.exit_code == 0
    assert "microseconds for each event" in run.output
    rows = data.read_text().splitlines()
    assert [row.rsplit(",", 1)[0] for row in rows[1:]] == [
        "lock,pop,2,100",
        "lock,pop,2,200",
        '"lock, tried",pop,2,100',
        '"lock, tried",pop,2,200',
    ]
