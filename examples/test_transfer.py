"""Ordinary code: an account, and a test of it with two threads.

mazurka check examples/test_transfer.py::test_transfer    fails: both find enough money
mazurka check examples/test_transfer.py::test_locked      verified
pytest examples/test_transfer.py                          the same, under pytest
"""

import threading

import mazurka


class Account:
    def __init__(self, balance: int) -> None:
        self.balance = balance
        self.lock = threading.Lock()

    def withdraw(self, amount: int) -> None:
        if self.balance >= amount:
            self.balance -= amount

    def withdraw_locked(self, amount: int) -> None:
        with self.lock:
            self.withdraw(amount)


@mazurka.check
def test_transfer() -> None:
    account = Account(100)
    threads = [threading.Thread(target=account.withdraw, args=(70,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.balance >= 0


@mazurka.check
def test_locked() -> None:
    account = Account(100)
    threads = [threading.Thread(target=account.withdraw_locked, args=(70,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.balance == 30
