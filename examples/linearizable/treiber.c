/* Treiber's stack in C. With -DBROKEN, its pop stores the new head without comparing. in_c.py
   has the specification. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

void mazurka_call(const char *format, ...);
void mazurka_return(const char *format, ...);

struct node {
    int item;
    struct node *below;
};

static _Atomic(struct node *) head;

static void push(int item) {
    mazurka_call("push(%d)", item);
    struct node *node = malloc(sizeof *node);
    node->item = item;
    node->below = atomic_load(&head);
    while (!atomic_compare_exchange_strong(&head, &node->below, node)) {
    }
    mazurka_return("None");
}

static void pop(void) {
    mazurka_call("pop()");
    struct node *top = atomic_load(&head);
#ifdef BROKEN
    if (top) atomic_store(&head, top->below);
#else
    while (top && !atomic_compare_exchange_strong(&head, &top, top->below)) {
    }
#endif
    if (top)
        mazurka_return("%d", top->item);
    else
        mazurka_return("None");
}

static void *worker(void *item) {
    push((int)(long)item);
    pop();
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long item = 0; item < 2; item++)
        pthread_create(&threads[item], NULL, worker, (void *)(item + 1));
    for (int place = 0; place < 2; place++) pthread_join(threads[place], NULL);
    pop(); /* what is left */
    return 0;
}
