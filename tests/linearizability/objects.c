/* Small random objects, as oracle.py makes them: the arguments say what each thread calls, as the
   name of the call and a letter and two digits for each step. */
#include <pthread.h>
#include <stdatomic.h>

void mazurka_call(const char *format, ...);
void mazurka_return(const char *format, ...);

static atomic_int variables[2];

static int perform(const char *body) {
    int found = 0;
    for (; *body; body += 3) {
        atomic_int *variable = &variables[body[1] - '0'];
        int value = body[2] - '0', expected = 0;
        switch (body[0]) {
            case 'l': found = atomic_load(variable); break;
            case 's': atomic_store(variable, value); break;
            case 'a': found = atomic_fetch_add(variable, value); break;
            case 'e': found = atomic_exchange(variable, value); break;
            case 'c': found = atomic_compare_exchange_strong(variable, &expected, value); break;
            case 'p': atomic_store(variable, found + 1); break;
            default:
                while (atomic_load(variable) != value) {
                }
                found = value;
        }
    }
    return found;
}

static char **of_thread[4];

static void *calls(void *number) {
    for (char **call = of_thread[(long)number]; *call && **call != '/'; call += 2) {
        mazurka_call("%s()", call[0]);
        mazurka_return("%d", perform(call[1]));
    }
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t threads[4];
    long known = 0;
    for (int place = 1; place < count; place++)
        if (arguments[place][0] == '/') of_thread[known++] = &arguments[place + 1];
    for (long number = 0; number < known; number++)
        pthread_create(&threads[number], NULL, calls, (void *)number);
    for (long number = 0; number < known; number++) pthread_join(threads[number], NULL);
    return 0;
}
