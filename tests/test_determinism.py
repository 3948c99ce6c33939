"""Counts are the same from run to run, whatever the hash seed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.papers

ROOT = Path(__file__).parent.parent
CHANGING = {"seconds", "cpu_seconds", "peak_rss_mb", "executions_per_cpu_second"}


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "qpor-1", "source"])
@pytest.mark.parametrize("benchmark", ["dispatcher(3)", "lastzero(6)", "figure-5"])
def test_counts_do_not_depend_on_the_hash_seed(benchmark: str, algorithm: str) -> None:
    seen = set()
    for seed in ("0", "1", "4242"):
        output = subprocess.run(
            [
                sys.executable,
                "-m",
                "benchmarks",
                "run",
                benchmark,
                "--algorithm",
                algorithm,
                "--json",
            ],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        counts = {key: value for key, value in json.loads(output).items() if key not in CHANGING}
        seen.add(json.dumps(counts))
    assert len(seen) == 1
