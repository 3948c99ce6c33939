"""mazurka check examples/overdraw.py::overdraw    fails: both withdrawals find enough money"""

from mazurka import Atomic, spawn


def withdraw(balance: Atomic[int], amount: int) -> None:
    if balance.load() >= amount:
        balance.store(balance.load() - amount)


def overdraw() -> None:
    balance = Atomic(100)
    threads = [spawn(withdraw, balance, 70), spawn(withdraw, balance, 70)]
    for thread in threads:
        thread.join()
    assert balance.load() >= 0
