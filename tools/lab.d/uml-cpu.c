/*
 * Preloaded into linux.uml: keeps User-Mode Linux on the CPU on which it begins. It is one kernel that traces one process at a time, and
 * each call of the guest is two switches between them: on one CPU no CPU has to be woken for that. bench/README.md has the figures.
 */
#define _GNU_SOURCE
#include <sched.h>

/* If that fails, the guest runs on all CPUs. */
__attribute__((constructor)) static void keep_this_cpu(void)
{
    int cpu = sched_getcpu();
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu >= 0 && cpu < CPU_SETSIZE) {
        CPU_SET(cpu, &set);
        sched_setaffinity(0, sizeof set, &set);
    }
}
