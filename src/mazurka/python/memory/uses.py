"""What tasks of asyncio do to objects that no other thread has. These are no events; but whoever
reads a failure wants to see what one task has changed while another one was at its await."""

from mazurka.python.check import RUNNING
from mazurka.python.memory.shapes import is_memory
from mazurka.python.runtime.journal import MOST_USES, Journal, Use
from mazurka.python.runtime.names import where_now
from mazurka.python.source import users_variable


def note_use(verb: str, thing: object, part: str, value: object, text: str) -> None:
    """In a run that is to be told: a task, if one runs now, reads or writes an attribute of an
    object, or an item (`part` is like `.name` or `['key']`)."""
    runtime = RUNNING.check.runtime
    journal, thread = runtime.journal, runtime.current
    if journal is None or thread is None or journal.uses >= MOST_USES:
        return
    task = journal.task_in(thread.id)
    if task == "":
        return
    use = Use(runtime.position, thread.id, verb, text, *where_now())
    use.task = task
    use.thing = thing
    use.part = part
    users = journal.users.setdefault(use.key(), set())
    users.add(task)
    if part[:1] == "." and is_memory(type(value)):
        journal.holders[id(value)] = thing, part
    if verb == "write" and len(users) > 1:
        journal.contested.add(use.key())
        note_variable(journal, thing)
    journal.remarks.append(use)
    journal.uses += 1


def note_variable(journal: Journal, thing: object) -> str:
    """What people call an object: by a variable of theirs, or as an attribute of another one."""
    found = journal.variables.get(id(thing))
    if found is None:
        found = users_variable(thing) or journal.variable_of_task(thing)
        if found == "" and id(thing) in journal.holders:
            journal.variables[id(thing)] = ""  # should it hold itself
            holder, part = journal.holders[id(thing)]
            found = note_variable(journal, holder) + part
        found = found or type(thing).__name__
        journal.variables[id(thing)] = found
    return found
