/*
 * Preloaded into linux.uml: an alarm that User-Mode Linux 6.1 has lost comes again. How it loses one is not known. Seen once, on a busy
 * machine: the guest was idle, its timer was not armed, and nothing in it that waited for a time went on, for a quarter of an hour; SIGALRM,
 * sent by hand, let it go on.
 *
 * Its timer goes off once for each time that it is armed, which the handler of the alarm does. Here it goes off again and again until it is
 * armed anew. A surplus alarm finds nothing due.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <time.h>

/* It is what an alarm may be late by, too: one that comes just before the guest goes to sleep wakes it the next time only. */
#define AGAIN_AFTER_NS 2000000

int timer_settime(timer_t timer, int flags, const struct itimerspec *asked, struct itimerspec *before)
{
    static int (*next)(timer_t, int, const struct itimerspec *, struct itimerspec *);
    if (next == NULL)
        *(void **) &next = dlsym(RTLD_NEXT, "timer_settime");

    struct itimerspec set = *asked;
    int is_armed = set.it_value.tv_sec != 0 || set.it_value.tv_nsec != 0;
    int is_once = set.it_interval.tv_sec == 0 && set.it_interval.tv_nsec == 0;
    if (is_armed && is_once)
        set.it_interval.tv_nsec = AGAIN_AFTER_NS;
    return next(timer, flags, &set, before);
}
