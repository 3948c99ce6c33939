/* Functions that cannot be checked, which many programs have in parts that are not run: they are
   refused where they are called. No header is included: what they are given does not matter. */
#include "state.h"

static void refuse(const char *name) {
    mz_refuse("the program calls %s, which reaches out of it: this cannot be checked", name);
    mz_give_up();
}

/* Called in place of a function of the C library that is not known: unknown_functions.py. */
void mz_refuse_unknown(const char *name) {
    mz_refuse("the program calls %s: Mazurka does not know what that does. If it neither blocks nor "
              "has state that threads share, say so: --opaque %s", name, name);
    mz_give_up();
}

#define REFUSED(name) void name(void) { refuse(#name); }
/* Other processes */
REFUSED(fork) REFUSED(vfork) REFUSED(system) REFUSED(popen) REFUSED(pclose) REFUSED(execl)
REFUSED(execlp) REFUSED(execle) REFUSED(execv) REFUSED(execvp) REFUSED(execve) REFUSED(wait)
REFUSED(waitpid) REFUSED(posix_spawn) REFUSED(posix_spawnp) REFUSED(daemon)
/* The network, and other ways to hear of others */
REFUSED(socket) REFUSED(socketpair) REFUSED(bind) REFUSED(listen) REFUSED(accept) REFUSED(connect)
REFUSED(send) REFUSED(recv) REFUSED(sendto) REFUSED(recvfrom) REFUSED(getaddrinfo)
REFUSED(select) REFUSED(poll) REFUSED(epoll_create1) REFUSED(pipe) REFUSED(pipe2) REFUSED(mkfifo)
REFUSED(shm_open) REFUSED(sem_open) REFUSED(ioctl)
/* Signals from outside */
REFUSED(sigwait) REFUSED(sigsuspend) REFUSED(pause) REFUSED(alarm)
REFUSED(pthread_cancel)
/* Folders, and files beyond their contents */
REFUSED(opendir) REFUSED(readdir) REFUSED(readdir64) REFUSED(fdopendir) REFUSED(scandir) REFUSED(closedir) REFUSED(mkdir) REFUSED(rmdir) REFUSED(chdir)
REFUSED(utime) REFUSED(utimes) REFUSED(utimensat) REFUSED(futimens) REFUSED(chown) REFUSED(lchown)
REFUSED(link) REFUSED(symlink) REFUSED(readlink) REFUSED(realpath)
