"""Loops that wait. Begin here.

    while not box.ready:
        time.sleep(0.1)

Taken literally, a program with such a loop has infinitely many executions. A round in which nothing
happens is of no consequence, and is not explored. The method is that of "Awaiting for Godot:
Stateless Model Checking that Avoids Executions where Nothing Happens"; docs/loops.md has the rules
and docs/proofs/loops.md says why nothing is missed.

A round is the way from the head of a loop back to it. It is *pure* if neither its thread nor
another one can ever tell that it took place. Two things are done about pure rounds:

- *Partial loop purity elimination*: a thread that has made a pure round is cut at the head. The
  paper inserts an assumption; here it is found out while the program runs whether a round was pure.
- *Awaits*: an operation whose result would make the round pure does not happen, but waits until it
  has another result. Then nothing needs to be cut. With which results that is so, the source tells:
  this is the *forward purity condition* of the operation.

What happens when rewritten code meets a loop:

1. `enter_loop(...)` comes before a `while`: it makes a Loop from what the source tells.
2. `again(loop)` is asked at its head, before the test. It compares what the thread has done and
   what its variables are with its latest visit there: after a pure round it is cut.
3. In the round, the hook of an operation that has a condition gets `may_be_waiting(loop, condition,
   names, takes_time)`. If the round was pure so far, the operation is told to wait, as an await.
4. Threads that wait in loops when nothing else can happen are in a livelock: so are threads that go
   round in a circle, with effects, after which everything is as it was.

The modules, in the order in which to read them. While a program runs:

- rounds.py: a thread in a loop; which rounds are pure, cutting them, circles, bounds (`unroll`)
- waiting.py: from a condition to an operation that waits, and what it waits for
- waiting_hooks.py: the hooks of operations in rewritten code which may wait: variables, containers,
  methods of primitives, calls of functions
- constants.py: what else a condition may depend on, as it does not change meanwhile
- sleeping.py: whether `time.sleep` and the like are what they seem to be; random delays

Before it runs, for the rewriter (python/rewriting), from the syntax tree:

- kinds.py: whether a loop suspends, or does nothing but poll
- liveness.py: the variables that may still be used at the head of a loop; only these must be equal
- sleeping_variables.py: the variables that decide for how long a thread sleeps, and nothing else
- conditions.py: conditions as syntax trees: both, either, surely
- forward_conditions.py: the forward purity conditions of the operations in loops and functions
"""
