"""C++: the same as C, with the standard library on top."""

from pathlib import Path

import mazurka

EVERYTHING = """
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
struct Queue {
    std::mutex mutex;
    std::condition_variable filled;
    std::queue<int> items;
    void put(int item) {
        { std::lock_guard<std::mutex> guard(mutex); items.push(item); }
        filled.notify_one();
    }
    int get() {
        std::unique_lock<std::mutex> guard(mutex);
        filled.wait(guard, [&] { return !items.empty(); });
        int item = items.front();
        items.pop();
        return item;
    }
};
struct Early { Early() : made(new int(7)) {} ~Early() { delete made; } int *made; } early;
struct Thing { int value; Thing() : value(42) {} };
Thing &thing() { static Thing one; return one; }
thread_local std::string name = "none";
std::atomic<int> count{0};
int main() {
    Queue queue;
    auto shared = std::make_shared<int>(3);
    std::thread first([&, shared] {
        name = "first";
        queue.put(1);
        count++;
        assert(thing().value == 42);
    });
    std::thread second([&, shared] {
        try { throw std::runtime_error("x"); } catch (std::exception &) { count++; }
        queue.put(2);
    });
    int sum = queue.get() + queue.get();
    first.join();
    second.join();
    assert(sum == 3 && count == 2 && name == "none" && shared.use_count() == 1 && *early.made == 7);
    std::map<int, std::string> texts;
    texts[3] = "three"; texts[1] = "one"; texts[2] = "two";
    texts.erase(2);
    assert(texts.begin()->second == "one" && texts.size() == 2);
    std::unordered_map<std::string, int> numbers;
    numbers["one"]++; numbers["two"]++; numbers["one"]++;
    assert(numbers["one"] == 2 && numbers.size() == 2);
    std::cout << "sum " << sum << std::endl;
}
"""

FUTURES = """
#include <cassert>
#include <future>
#include <thread>
int main() {
    auto five = std::async(std::launch::async, [] { return 5; });
    std::promise<int> promise;
    auto seven = promise.get_future();
    std::thread thread([&] { promise.set_value(7); });
    assert(five.get() + seven.get() == 12);
    thread.join();
}
"""

RACE = """
#include <cassert>
#include <thread>
struct Account {
    int balance = 0;
    void deposit(int amount) { int had = balance; balance = had + amount; }
};
Account account;
int main() {
    std::thread one([] { account.deposit(5); }), other([] { account.deposit(7); });
    one.join();
    other.join();
    assert(account.balance == 12);
}
"""

TREES = """
#include <cassert>
#include <list>
#include <set>
int main() {
    unsigned seed = 1;
    std::set<unsigned> tree;
    bool is_in[64] = {};
    for (int round = 0; round < 3000; round++) {
        seed = seed * 1103515245u + 12345u;
        unsigned key = seed >> 20 & 63;
        if (seed >> 28 & 1) { tree.insert(key); is_in[key] = true; }
        else { tree.erase(key); is_in[key] = false; }
        auto at = tree.begin();
        for (unsigned wanted = 0; wanted < 64; wanted++)
            if (is_in[wanted]) assert(at != tree.end() && *at++ == wanted);
        assert(at == tree.end());
        for (unsigned wanted = 64; wanted-- > 0;) if (is_in[wanted]) assert(*--at == wanted);
    }
    std::list<int> one{3, 1, 2}, other{5, 4};
    one.sort();
    one.splice(one.begin(), other);
    one.reverse();
    one.swap(other);
    assert(one.empty() && other.size() == 5 && other.front() == 3 && other.back() == 5);
}
"""


def explored(folder: Path, text: str, **options: object) -> mazurka.Result:
    file = folder / "program.cpp"
    file.write_text(text)
    return mazurka.explore(mazurka.c_program(file), **options)  # type: ignore[arg-type]


def test_the_standard_library(tmp_path: Path) -> None:
    result = explored(tmp_path, EVERYTHING, max_executions=20, granularity="sync")
    assert (result.verdict, result.reason) == ("incomplete", "stopped after max_executions=20")
    assert list(result.outcomes) == ["sum 3\n"]


def test_futures(tmp_path: Path) -> None:
    result = explored(tmp_path, FUTURES)
    assert result.verdict == "verified"
    assert result.executions > 2


def test_a_race_has_the_names_of_cpp(tmp_path: Path) -> None:
    result = explored(tmp_path, RACE, granularity="access")
    assert "account.balance == 12" in result.failures[0].message
    assert any("account.balance" in step.action for step in result.failures[0].steps)


def test_trees_and_lists(tmp_path: Path) -> None:
    """Our own functions on nodes do what those of the library do."""
    result = explored(tmp_path, TREES)
    assert (result.verdict, result.executions) == ("verified", 1)
