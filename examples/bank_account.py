"""Two people withdraw money from one account.

mazurka check examples/bank_account.py::check_then_act    fails: the account is overdrawn
mazurka check examples/bank_account.py::under_a_lock      verified
"""

from mazurka import Atomic, Lock, spawn


class Account:
    def __init__(self, balance: int) -> None:
        self.balance = Atomic(balance)
        self.lock = Lock()

    def withdraw(self, amount: int) -> bool:
        """Take money out if there is enough. Another thread may do the same in between."""
        if self.balance.load() < amount:
            return False
        self.balance.fetch_add(-amount)
        return True

    def withdraw_safely(self, amount: int) -> bool:
        """The lock makes one step of the look at the balance and the withdrawal."""
        with self.lock:
            return self.withdraw(amount)


def check_then_act() -> None:
    account = Account(100)
    alice = spawn(account.withdraw, 70)
    bob = spawn(account.withdraw, 60)
    alice.join()
    bob.join()
    balance = account.balance.load()
    assert balance >= 0, f"the account is overdrawn: {balance}"


def under_a_lock() -> None:
    account = Account(100)
    alice = spawn(account.withdraw_safely, 70)
    bob = spawn(account.withdraw_safely, 60)
    paid = [alice.join(), bob.join()]
    assert paid.count(True) == 1, "one of the two gets money, and only one"
    assert account.balance.load() in (30, 40)
