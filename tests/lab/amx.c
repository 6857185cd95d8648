/*
 * Preloaded into linux.uml: the machine's kernel as it is on a processor whose registers take 11,008 bytes, as those with AMX: it tells so
 * many, and takes nothing less back. User-Mode Linux, which has room for 2,696, panics on it. A library before this one in LD_PRELOAD
 * comes here with its system calls.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define NT_X86_XSTATE 0x202L
#define ROOM 11008

static long machine_ptrace(long request, long pid, long address, void *data)
{
    static long (*machine)(long, ...);
    if (machine == NULL)
        *(void **) &machine = dlsym(RTLD_NEXT, "syscall");

    static char area[1 << 16] __attribute__((aligned(64)));
    struct iovec *given = data, all = {area, sizeof area};
    int reads = request == PTRACE_GETREGSET, writes = request == PTRACE_SETREGSET;
    if (address != NT_X86_XSTATE || !(reads || writes))
        return machine(SYS_ptrace, request, pid, address, data);

    if (writes && given->iov_len != ROOM) {
        errno = EFAULT;
        return -1;
    }
    memset(area, 0, sizeof area);
    if (machine(SYS_ptrace, (long) PTRACE_GETREGSET, pid, address, &all) != 0)
        return -1;
    if (writes) {
        memcpy(area, given->iov_base, all.iov_len);
        return machine(SYS_ptrace, request, pid, address, &all);
    }
    if (given->iov_len > ROOM)
        given->iov_len = ROOM;
    memcpy(given->iov_base, area, given->iov_len);
    return 0;
}

long syscall(long number, ...)
{
    va_list arguments;
    long a[6];
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_ptrace)
        return machine_ptrace(a[0], a[1], a[2], (void *) a[3]);

    static long (*machine)(long, ...);
    if (machine == NULL)
        *(void **) &machine = dlsym(RTLD_NEXT, "syscall");
    return machine(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

long ptrace(enum __ptrace_request request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    long pid = va_arg(arguments, long), address = va_arg(arguments, long);
    void *data = va_arg(arguments, void *);
    va_end(arguments);
    if (request >= PTRACE_PEEKTEXT && request <= PTRACE_PEEKUSER) {
        long word = 0;
        if (machine_ptrace(request, pid, address, &word) < 0)
            return -1;
        errno = 0;
        return word;
    }
    return machine_ptrace(request, pid, address, data);
}
