/* Programs that hide their fault: loops that seem to wait, and accesses that seem to be ordered. The
   argument says which one. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define IS(name) (strcmp(which, name) == 0)
static const char *which;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static atomic_int flag, other; int data, sum; char text[32]; int *block; static int *_Atomic shared;
static _Thread_local int tries;
static pthread_key_t key;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static void run(void *(*f)(void *), void *(*g)(void *)) { pthread_t t[2]; pthread_create(&t[0],0,f,(void*)0); pthread_create(&t[1],0,g,(void*)1); pthread_join(t[0],0); pthread_join(t[1],0); }
static void *set(void *u) { flag = 1; return u; }
/* loops with hidden state */
static void *tls_tries(void *u) { while (!flag) if (++tries == 3) { assert(0); } return u; }
static void *key_tries(void *u) { while (!flag) { intptr_t t = (intptr_t)pthread_getspecific(key) + 1; pthread_setspecific(key, (void*)t); assert(t < 3); } return u; }
static void *rand_tries(void *u) { while (!flag) { assert(rand() % 5 != 4); } return u; }
static void *malloc_tries(void *u) { int t = 0; while (!flag) { free(malloc(1)); assert(++t < 4); } return u; }
static void *double_tries(void *u) { double t = 1; while (!flag) { t *= 2; assert(t < 8); } return u; }
static void *locked_tries(void *u) { static int count; for (int ok = 0; !ok;) { pthread_mutex_lock(&m); ok = flag; count++; assert(count < 4); pthread_mutex_unlock(&m); } return u; }
static pthread_mutex_t rec = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static void *depth_tries(void *u) { int held = 0; while (!flag && held < 3) { pthread_mutex_trylock(&rec); held++; } assert(held < 3); return u; }
static void *errno_tries(void *u) { errno = 0; while (!flag) { errno++; assert(errno < 4); } return u; }
/* races */
static void *write_text(void *u) { sprintf(text, "hello"); return u; }
static void *read_text(void *u) { if (strlen(text) > 9) flag = 1; return u; }
static void *grow(void *u) { block = realloc(block, 64); return u; }
static void *look(void *u) { sum = block[0]; return u; }
static void *under_read(void *u) { pthread_rwlock_rdlock(&rw); data++; pthread_rwlock_unlock(&rw); return u; }
static void *w_trylock(void *u) { data = 1; if (pthread_mutex_trylock(&m) == 0) { pthread_mutex_unlock(&m); } return u; }
static void *r_trylock(void *u) { if (pthread_mutex_trylock(&m) == 0) { sum = data; pthread_mutex_unlock(&m); } return u; }
static void *w_lockrel(void *u) { pthread_mutex_lock(&m); data = 1; pthread_mutex_unlock(&m); return u; }
static void *r_lockother(void *u) { pthread_mutex_lock(&n); sum = data; pthread_mutex_unlock(&n); return u; }
static void *pub(void *u) { int *p = malloc(4); *p = 1; atomic_store_explicit(&shared, p, memory_order_relaxed); return u; }
static void *take(void *u) { int *p = atomic_load_explicit(&shared, memory_order_acquire); if (p) sum = *p; return u; }
static void *signal_first(void *u) { data = 1; pthread_cond_signal(&c); return u; }
static void *waits(void *u) { pthread_mutex_lock(&m); if (!flag) { pthread_cond_wait(&c, &m); } sum = data; pthread_mutex_unlock(&m); return u; }
static int *_Atomic lent;
static void *lend(void *u) { int local = 1; lent = &local; flag = 1; other = 1; return u; }
static void *borrow(void *u) { int *p = lent; if (p) sum = *p; return u; }
static void *late_free(void *u) { int *p = shared; if (p && atomic_exchange(&other, 1) == 0) free(p); return u; }
static void *late_use(void *u) { int *p = shared; if (p) { if (atomic_load(&other) == 0) atomic_store((atomic_int *)p, 3); } return u; }
static void *bytes(void *i) { text[(intptr_t)i] = 1; return i; }
struct { int a, b; } pair; static void *wpair(void *u) { pair.a = 1; pair.b = 2; return u; }
static void *rpair(void *u) { __typeof__(pair) x = pair; sum = x.a; return u; }
static char to_here[64], from_here[64];
static void *copy_in_place(void *u) { __builtin_memcpy(to_here, from_here, sizeof to_here); return u; }
static void *set_in_place(void *u) { __builtin_memset(from_here, 1, sizeof from_here); return u; }
int main(int argc, char **argv) { (void)argc; which = argv[1];
 if (IS("tls_tries")) run(tls_tries, set);
 if (IS("key_tries")) { pthread_key_create(&key, 0); run(key_tries, set); }
 if (IS("rand_tries")) run(rand_tries, set);
 if (IS("malloc_tries")) run(malloc_tries, set);
 if (IS("double_tries")) run(double_tries, set);
 if (IS("locked_tries")) run(locked_tries, set);
 if (IS("depth_tries")) run(depth_tries, set);
 if (IS("errno_tries")) run(errno_tries, set);
 if (IS("text")) run(write_text, read_text);
 if (IS("realloc")) { block = malloc(8); block[0] = 1; run(grow, look); }
 if (IS("under_read")) run(under_read, under_read);
 if (IS("trylock")) run(w_trylock, r_trylock);
 if (IS("other lock")) run(w_lockrel, r_lockother);
 if (IS("relaxed publish")) run(pub, take);
 if (IS("signal")) run(signal_first, waits);
 if (IS("lend")) run(lend, borrow);
 if (IS("late free")) { shared = malloc(4); run(late_free, late_use); }
 if (IS("pair")) run(wpair, rpair);
 if (IS("in place")) run(copy_in_place, set_in_place);
 if (IS("ok bytes")) run(bytes, bytes);
 return 0; }
