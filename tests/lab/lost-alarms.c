/*
 * Preloaded into linux.uml: it loses every tenth alarm, which comes when the timer goes off next, if it does. A library before this one in
 * LD_PRELOAD comes here with what it sets.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <time.h>

int timer_settime(timer_t timer, int flags, const struct itimerspec *asked, struct itimerspec *before)
{
    static int (*machine)(timer_t, int, const struct itimerspec *, struct itimerspec *);
    static unsigned count;
    if (machine == NULL)
        *(void **) &machine = dlsym(RTLD_NEXT, "timer_settime");

    struct itimerspec set = *asked;
    int goes_off = set.it_value.tv_sec != 0 || set.it_value.tv_nsec != 0;
    if (goes_off && ++count % 3 == 0)
        set.it_value = set.it_interval;
    return machine(timer, flags, &set, before);
}
