/*
 * Preloaded into linux.uml: every third alarm does not come to its handler.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>

static void (*handler)(int, siginfo_t *, void *);

static void lossy(int number, siginfo_t *why, void *where)
{
    static volatile unsigned count;
    if (++count % 3 != 0)
        handler(number, why, where);
}

int sigaction(int number, const struct sigaction *asked, struct sigaction *before)
{
    static int (*machine)(int, const struct sigaction *, struct sigaction *);
    if (machine == NULL)
        *(void **) &machine = dlsym(RTLD_NEXT, "sigaction");

    int is_handled = asked != NULL && asked->sa_handler != SIG_IGN && asked->sa_handler != SIG_DFL;
    if (number != SIGALRM || !is_handled)
        return machine(number, asked, before);

    struct sigaction set = *asked;
    handler = asked->sa_sigaction;
    set.sa_sigaction = lossy;
    return machine(number, &set, before);
}
