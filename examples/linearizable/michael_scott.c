/* The queue of Michael and Scott in C. With -DBROKEN, a put takes its place with one exchange, and
   links its node only then. in_c.py has the specification. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

void mazurka_call(const char *format, ...);
void mazurka_return(const char *format, ...);

struct node {
    int item;
    _Atomic(struct node *) next;
};

static struct node first;
static _Atomic(struct node *) head = &first, tail = &first;

static void link_node(struct node *node) {
#ifdef BROKEN
    struct node *before = atomic_exchange(&tail, node);
    atomic_store(&before->next, node);
#else
    for (;;) {
        struct node *last = atomic_load(&tail), *next = atomic_load(&last->next);
        if (next) { /* another put has not moved the tail yet: help it */
            atomic_compare_exchange_strong(&tail, &last, next);
        } else if (atomic_compare_exchange_strong(&last->next, &next, node)) {
            atomic_compare_exchange_strong(&tail, &last, node);
            return;
        }
    }
#endif
}

static void put(int item) {
    mazurka_call("put(%d)", item);
    struct node *node = calloc(1, sizeof *node);
    node->item = item;
    link_node(node);
    mazurka_return("None");
}

static void get(void) {
    mazurka_call("get()");
    for (;;) {
        struct node *front = atomic_load(&head), *last = atomic_load(&tail);
        struct node *next = atomic_load(&front->next);
        if (!next) {
            mazurka_return("None");
            return;
        }
        if (front == last) {
            atomic_compare_exchange_strong(&tail, &last, next);
        } else if (atomic_compare_exchange_strong(&head, &front, next)) {
            mazurka_return("%d", next->item);
            return;
        }
    }
}

static void *worker(void *item) {
    put((int)(long)item);
    get();
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long item = 0; item < 2; item++)
        pthread_create(&threads[item], NULL, worker, (void *)(item + 1));
    for (int place = 0; place < 2; place++) pthread_join(threads[place], NULL);
    get(); /* what is left */
    return 0;
}
