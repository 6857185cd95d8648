/*
 * Preloaded into linux.uml: lets User-Mode Linux 6.1 run on processors whose registers take more room than it was compiled for
 * (those with AMX). It reads the registers of its processes with PTRACE_GETREGSET, gets as much as it has room for, and hands that
 * back with PTRACE_SETREGSET, which the machine's kernel refuses unless all of it comes; then "Kernel panic - not syncing: Attempted to
 * kill init! exitcode=0x0000000b". This hands back all of it, with what User-Mode Linux knows laid over what the process has.
 *
 * It is there on every processor, so that each guest of a test shows that it works; where there is room enough it changes nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define NT_X86_XSTATE 0x202L

static long system_ptrace(long request, long pid, void *address, void *data)
{
    return syscall(SYS_ptrace, request, pid, address, data);
}

/* All registers of a process, with this part of them in place of what it has. */
static long set_all(long pid, const struct iovec *part)
{
    static char area[1 << 16] __attribute__((aligned(64)));
    struct iovec all = {area, sizeof area};

    if (system_ptrace(PTRACE_GETREGSET, pid, (void *) NT_X86_XSTATE, &all) != 0)
        return -1;
    if (all.iov_len <= part->iov_len)
        return system_ptrace(PTRACE_SETREGSET, pid, (void *) NT_X86_XSTATE, (void *) part);
    memcpy(area, part->iov_base, part->iov_len);
    return system_ptrace(PTRACE_SETREGSET, pid, (void *) NT_X86_XSTATE, &all);
}

long ptrace(enum __ptrace_request request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    long pid = va_arg(arguments, long);
    void *address = va_arg(arguments, void *);
    void *data = va_arg(arguments, void *);
    va_end(arguments);

    if ((int) request == PTRACE_SETREGSET && (long) address == NT_X86_XSTATE)
        return set_all(pid, data);
    /* The system call stores what these read; the library's function returns it. */
    if (request >= PTRACE_PEEKTEXT && request <= PTRACE_PEEKUSER) {
        long word = 0;
        if (system_ptrace(request, pid, address, &word) < 0)
            return -1;
        errno = 0;
        return word;
    }
    return system_ptrace(request, pid, address, data);
}
