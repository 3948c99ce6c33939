/* Threads as fibers: each has a stack of its own, and switches to others by itself. */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "state.h"

/* The same addresses in every process, so that programs which look at them repeat themselves. */
#define STACKS ((char *)0x600000000000)
enum { GUARD = 4096, OWN_STACK_SIZE = 32 << 10 };

__asm__(
    ".text\n"
    ".globl mz_switch\n"
    ".hidden mz_switch\n"
    ".type mz_switch, @function\n"
    "mz_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n");

/* Makes a step on the thread's own second stack. What the runtime leaves there must not show in
   the program's stack, where it would tell equal states of a loop apart. The registers that calls
   preserve are put on the program's stack. */
__asm__(
    ".globl mz_on_own_stack\n"
    ".hidden mz_on_own_stack\n"
    ".type mz_on_own_stack, @function\n"
    "mz_on_own_stack:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rdi, %rbx\n"
    "  movq mz_pointer_offset(%rip), %rax\n"
    "  movq %rsp, (%rdi,%rax)\n"
    "  movq 8(%rdi,%rax), %rsp\n"
    "  call mz_make_step\n"
    "  movq mz_pointer_offset(%rip), %rcx\n"
    "  movq (%rbx,%rcx), %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n");

__attribute__((visibility("hidden"))) const uint64_t mz_pointer_offset =
    offsetof(struct thread, programs_stack_pointer);

void mz_map_threads(void) {
    size_t all = (size_t)MOST_THREADS * STACK_SIZE;
    char *stacks = mz_map(STACKS, all), *own = mz_map(NULL, MOST_THREADS * OWN_STACK_SIZE);
    if (!stacks || !own) return;
    for (int number = 0; number < MOST_THREADS; number++) {
        struct thread *thread = &mz.threads[number];
        thread->stack = stacks + (size_t)number * STACK_SIZE;
        thread->stack_top = (char *)thread->stack + STACK_SIZE;
        thread->own_stack_top = own + (size_t)(number + 1) * OWN_STACK_SIZE;
        syscall_of(SYS_mprotect, (long)thread->stack, GUARD, PROT_NONE);
    }
    mz.threads[0].parent = NOBODY;
    mz.threads_known = 1;
}

/* The program has code on its stacks, as for functions within functions. */
void mz_make_stacks_executable(void) {
    for (int number = 0; number < MOST_THREADS; number++) {
        long begin = (long)mz.threads[number].stack + GUARD;
        syscall_of(SYS_mprotect, begin, STACK_SIZE - GUARD, PROT_READ | PROT_WRITE | PROT_EXEC);
    }
}

/* The child of a thread that comes in some order, which has the same number in all executions; NULL
   if there are too many. */
struct thread *mz_child(struct thread *parent, int64_t order) {
    while (parent->known_children <= order) {
        if (mz.threads_known == MOST_THREADS) {
            if (mz.unroll) mz.out_of_rounds = 1;
            else mz_refuse("the program has more than %d threads", MOST_THREADS);
            return NULL;
        }
        struct thread *child = &mz.threads[mz.threads_known];
        child->number = mz.threads_known++;
        child->parent = parent->number;
        child->order = parent->known_children;
        parent->children_of[parent->known_children++] = child->number;
    }
    return &mz.threads[parent->children_of[order]];
}

/* A thread begins anew, in another execution. */
void mz_reset_thread(struct thread *thread) {
    thread->is_live = 1;
    thread->is_finished = thread->gave_up = thread->failure = thread->signal = 0;
    thread->failed_at = thread->fault = thread->code = thread->exit_code = 0;
    thread->spins = 0;
    thread->changes = 0;
    thread->polled.since = ~0ull;
    thread->net = 0;
    thread->visits = thread->own_steps = thread->places = 0;
    thread->visits_since = 0;
    thread->children = thread->waits = 0;
    thread->notified = 0;
    thread->caller = 0;
    thread->stores = 0;
    thread->ordering = 0;
    thread->is_polling = thread->writes_range = false;
    thread->standing.kind = MODE_NONE;
    thread->starter = NULL;
    thread->result = NULL;
    thread->endings = NULL;
    thread->is_lookup = false;
    thread->ordering = thread->failing_ordering = 0;
    thread->cleanups = NULL;
    thread->sections = 0;
    thread->is_detached = thread->is_joined = thread->is_freeing = false;
    thread->error_number = 0;
    thread->random = (uint64_t)thread->number + 1;
    thread->handle = 0;
    if (thread->has_keys) mz_fill(thread->keys, 0, sizeof thread->keys);
    thread->has_keys = false;
    mz_reset_heap(thread);
    mz_new_locals(thread);
}

static void begin_fiber(void) {
    struct thread *thread = mz.current;
    thread->result = thread->function(thread->argument);
    mz_finish(thread);
}

static void prepare_fiber(struct thread *thread) {
    /* Nothing of earlier executions. */
    mz_fill((char *)thread->stack_top - mz.filled, (int)mz.filling, (size_t)mz.filled);
    void **top = (void **)((char *)thread->stack_top - 64);
    top[-1] = NULL;  /* where begin_fiber would return to: it never does */
    top[-2] = (void *)begin_fiber;
    thread->stack_pointer = top - 8;
}

/* The thread on whose stack an address is, or NULL. */
struct thread *mz_owner_of_stack(uintptr_t address) {
    uintptr_t offset = address - (uintptr_t)STACKS;
    return offset < (uintptr_t)MOST_THREADS * STACK_SIZE ? &mz.threads[offset / STACK_SIZE] : NULL;
}

/* Some bytes of a thread's stack are accessed by others, in this execution or another one. */
void mz_lend_stack(uintptr_t address, size_t size) {
    struct thread *owner = mz_owner_of_stack(address);
    if (!owner || (owner->lent && address >= owner->lent && address + size <= owner->lent_end)) return;
    mz.has_news = 1;  /* earlier ends of this thread did not count as accesses to it */
    if (!owner->lent || address < owner->lent) owner->lent = address;
    if (address + size > owner->lent_end) owner->lent_end = address + size;
}

/* Let a new thread run up to its first operation. Then whoever has started it goes on. */
void mz_start_fiber(struct thread *thread) {
    struct thread *starter = mz.current;
    void **save = starter ? &starter->stack_pointer : &mz.host_stack_pointer;
    prepare_fiber(thread);
    thread->starter = starter;
    thread->blocked = starter ? starter->blocked : 0;
    thread->is_starting = true;
    mz.current = thread;
    mz_switch(save, thread->stack_pointer);
    mz.current = starter;
}

/* A thread stands before an operation, or has ended: somebody else goes on. */
void mz_to_host(struct thread *thread) {
    struct thread *starter = thread->starter;
    thread->starter = NULL;
    thread->is_starting = false;
    mz.current = NULL;
    mz_switch(&thread->stack_pointer, starter ? starter->stack_pointer : mz.host_stack_pointer);
}

static void run_key_destructors(struct thread *thread) {
    for (int round = 0; round < 4; round++) {
        for (int key = 0; key < MOST_KEYS; key++) {
            void *value = thread->keys[key];
            thread->keys[key] = NULL;
            if (value && mz.key_destructors[key]) mz.key_destructors[key](value);
        }
    }
}

void mz_finish(struct thread *thread) {
    if (thread->endings && !thread->failure) mz_run_thread_endings(thread);
    if (mz.keys_known && !thread->failure) run_key_destructors(thread);
    mz_settle_store(thread);
    bool is_over = thread->failure || (thread->number == 0 && mz.exited);
    if (thread->lent && !is_over) mz_free_range(thread->lent, thread->lent_end - thread->lent, 0);
    mz_settle_store(thread);
    thread->is_finished = 1;
    for (;;) mz_to_host(thread);
}

/* Each thread has its own errno. */
int *__errno_location(void) {
    static int of_nobody STATE;
    return mz.current ? &mz.current->error_number : &of_nobody;
}
