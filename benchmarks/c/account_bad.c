/* A deposit and a withdrawal, and a checker that expects another balance. */
#include "common.h"

int balance = 1, deposited, withdrawn;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void *checker(void *unused) {
    pthread_mutex_lock(&mutex);
    if (deposited && withdrawn) CHECK(balance == -5);
    pthread_mutex_unlock(&mutex);
    return unused;
}

void *deposit(void *unused) {
    pthread_mutex_lock(&mutex);
    balance += 2;
    deposited = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}

void *withdraw(void *unused) {
    pthread_mutex_lock(&mutex);
    balance -= 4;
    withdrawn = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    start(checker, 0);
    start(deposit, 0);
    start(withdraw, 0);
    return 0;
}
