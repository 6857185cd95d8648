/*
 * Makes every WAL flush take exactly 1 ms: preloaded into the server alone, it replaces fdatasync(), which is what
 * PostgreSQL calls for WAL on Linux (wal_sync_method = fdatasync). Nothing is written to a disk; data files, which are
 * flushed by fsync(), are left alone.
 *
 * A timer that is asked for 1 ms fires up to some 100 us later. So it is asked for less, and the rest is waited for
 * with the clock in hand; the processor is busy for that rest only, as a driver that polls would be.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/prctl.h>
#include <time.h>

#ifndef FLUSH_NS
#define FLUSH_NS 1000000L
#endif
#define POLL_NS 60000L

static long long now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int fdatasync(int fd)
{
    static int prepared;
    long long end, wake;
    struct timespec t;

    (void) fd;
    /* A read of the clock takes more than 1 us where the clock source is hpet or acpi_pm. */
    if (FLUSH_NS == 0)
        return 0;
    end = now_ns() + FLUSH_NS;
    wake = end - POLL_NS;
    t.tv_sec = wake / 1000000000LL;
    t.tv_nsec = wake % 1000000000LL;
    if (!prepared)
    {
        prctl(PR_SET_TIMERSLACK, 1);
        prepared = 1;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
    while (now_ns() < end)
        ;
    return 0;
}
