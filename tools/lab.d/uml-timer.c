/*
 * Preloaded into linux.uml: an alarm that User-Mode Linux 6.1 has lost comes again. It forgets one that comes while it still works on
 * the one before (unblock_signals() does not enter the timer's handler twice, and takes what is pending for done). Its timer goes off
 * once for each time that it is set, so nothing sets it any more: in the guest no time passes, and it ends when its limit does. Seen once, on
 * a busy machine; SIGALRM by hand let it go on.
 *
 * Here a timer that was to go off once goes off again and again until it is set anew, which the handler does each time. An alarm too many
 * finds nothing that is due.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <time.h>

#define AGAIN_AFTER_NS 20000000

int timer_settime(timer_t timer, int flags, const struct itimerspec *asked, struct itimerspec *before)
{
    static int (*next)(timer_t, int, const struct itimerspec *, struct itimerspec *);
    if (next == NULL)
        *(void **) &next = dlsym(RTLD_NEXT, "timer_settime");

    struct itimerspec set = *asked;
    int goes_off = set.it_value.tv_sec != 0 || set.it_value.tv_nsec != 0;
    int once = set.it_interval.tv_sec == 0 && set.it_interval.tv_nsec == 0;
    if (goes_off && once)
        set.it_interval.tv_nsec = AGAIN_AFTER_NS;
    return next(timer, flags, &set, before);
}
