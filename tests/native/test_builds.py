"""Programs that a project's own build has made with `mazurka cc`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mazurka
from tests.native.test_doors import run

COUNTER = """
#include <pthread.h>
int balance;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *deposit(void *amount) {
    LOCK(&lock);
    balance += *(int *)amount;
    UNLOCK(&lock);
    return 0;
}
"""
MAIN = """
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
extern int balance;
void *deposit(void *);
int main(int count, char **arguments) {
    pthread_t one, other;
    int five = 5;
    pthread_create(&one, 0, deposit, &five);
    pthread_create(&other, 0, deposit, &five);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(balance == 10);
    printf("%d %s\\n", balance, count > 1 ? arguments[1] : "");
    return 0;
}
"""
MAKEFILE = """
prog: main.o libcounter.a
\t$(CC) $(CFLAGS) main.o -L. -lcounter -lpthread -o $@
libcounter.a: counter.o
\tar rcs $@ $<
"""
LOCKED = ["-DLOCK=pthread_mutex_lock", "-DUNLOCK=pthread_mutex_unlock"]
UNLOCKED = ["-DLOCK(x)=", "-DUNLOCK(x)="]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CC", raising=False)
    (tmp_path / "counter.c").write_text(COUNTER)
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "Makefile").write_text(MAKEFILE)
    return tmp_path


def cc(*arguments: str) -> None:
    command = [sys.executable, "-m", "mazurka", "cc", *arguments]
    subprocess.run(command, check=True)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_a_makefile_builds_what_is_checked(project: Path) -> None:
    environment = {**os.environ, "CC": f"{sys.executable} -m mazurka cc"}
    environment["CFLAGS"] = "-O2 -flto -MMD " + " ".join(LOCKED)
    subprocess.run(["make"], check=True, env=environment, stdout=subprocess.DEVNULL)
    alone = subprocess.run(["./prog", "euros"], check=True, capture_output=True, text=True)
    assert alone.stdout == "10 euros\n"
    assert (project / "main.d").exists()
    found = run("check", "./prog", "--args", "euros", "--outcomes")
    assert found.exit_code == 0, found.output
    assert "2 executions" in found.output
    assert "10 euros" in found.output


def test_a_failure_has_its_lines_and_is_replayed(project: Path) -> None:
    cc("-c", *UNLOCKED, "counter.c")
    cc("main.c", "counter.o", "-o", "prog")
    subprocess.run(["strip", "prog"], check=True)
    found = run("check", "./prog", "--granularity", "access", "--save", "schedule.json")
    assert found.exit_code == 1, found.output
    assert "assertion failed: balance == 10" in found.output
    assert "counter.c:7" in found.output
    again = run("replay", "schedule.json")
    assert again.exit_code == 1, again.output


def test_a_shared_library_of_the_project(project: Path) -> None:
    cc("-shared", "-fPIC", *LOCKED, "counter.c", "-o", "libcounter.so")
    cc("main.c", "./libcounter.so", "-o", "prog")
    result = mazurka.explore(mazurka.c_program("./prog"))
    assert (result.verdict, result.executions) == ("verified", 2)


def test_other_uses_of_the_compiler(project: Path) -> None:
    cc("-E", "main.c", "-o", "main.i")
    assert "deposit" in (project / "main.i").read_text()
    cc("-S", "main.c")
    assert (project / "main.s").exists()
    cc("--version")


def test_programs_that_were_built_without_it(project: Path) -> None:
    subprocess.run(["cc", *LOCKED, "main.c", "counter.c", "-o", "prog"], check=True)
    found = run("check", "./prog")
    assert found.exit_code == 2
    assert 'CC="mazurka cc" make' in found.output
    found = run("check", "main.c", "--", "-DX")
    assert found.exit_code == 2  # deposit is missing
