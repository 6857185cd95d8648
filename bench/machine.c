/*
 * How fast this machine is from one window to the next, without PostgreSQL: what a benchmark's figures differ by when nothing else has changed.
 *
 *   machine KIND SECONDS WINDOWS
 *
 * All processors do the same fixed piece of work over and over. Prints how often they did it in each window, all together. KIND:
 *   arithmetic  multiplications of which each needs the one before
 *   cache       loads of which each needs the one before, over 1 MB: more than a core's own cache has, so that they are served by the one that it shares
 *   kernel      system calls and page faults
 *
 *   machine beside
 *
 * Five times a second, beside whatever else runs, one small fixed piece of work: such loads, such system calls and page faults, and reads of a file that is
 * cached. Prints the time (s since 1970) and the processor time that it took (us), until it is ended.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LINE 64
#define RING (1 << 20)
#define PAGES 64
#define PAGE 4096
#define BLOCK 8192
#define BLOCKS 1024

static const char *kind;
static double seconds;
static int windows;
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock. */
static double done;

static double clock_s(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static double now(void)
{
    return clock_s(CLOCK_MONOTONIC);
}

/* Cache lines that point to each other in one cycle through all of them, in an order that nobody guesses. */
static void **ring(void)
{
    size_t n = RING / LINE;
    char *lines = aligned_alloc(PAGE, RING);
    size_t *order = malloc(n * sizeof *order);
    uint64_t x = 88172645463325252u;

    if (!lines || !order)
        exit(1);
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n - 1; i > 0; i--)
    {
        size_t j, other = order[i];

        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        j = x % (i + 1);
        order[i] = order[j];
        order[j] = other;
    }
    for (size_t i = 0; i < n; i++)
        *(void **) (lines + order[i] * LINE) = lines + order[(i + 1) % n] * LINE;
    free(order);
    return (void **) lines;
}

static void ask_kernel(void)
{
    char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED)
        exit(1);
    for (int i = 0; i < PAGES; i++)
    {
        pages[i * PAGE] = 1;
        for (int calls = 0; calls < 4; calls++)
            syscall(SYS_getppid);
    }
    munmap(pages, PAGES * PAGE);
}

/* Its processor time, so that it does not matter for how long others had the processor. */
static void beside(void)
{
    static char block[BLOCK];
    void **at = ring();
    int file = memfd_create("machine", 0);
    uint64_t x = 1;

    for (int i = 0; i < BLOCKS; i++)
        if (write(file, block, BLOCK) != BLOCK)
            exit(1);
    for (;;)
    {
        double began = clock_s(CLOCK_THREAD_CPUTIME_ID);

        for (int i = 0; i < 12000; i++)
            at = *at;
        for (int i = 0; i < 6; i++)
            ask_kernel();
        for (int i = 0; i < 300; i++)
        {
            x = x * 6364136223846793005u + 1442695040888963407u;
            if (pread(file, block, BLOCK, (off_t) (x >> 33) % BLOCKS * BLOCK) != BLOCK)
                exit(1);
        }
        __asm__ volatile("" : "+r"(at));
        printf("%.3f %.1f\n", clock_s(CLOCK_REALTIME), (clock_s(CLOCK_THREAD_CPUTIME_ID) - began) * 1e6);
        fflush(stdout);
        usleep(200000);
    }
}

static void *work(void *unused)
{
    void **at = ring();
    uint64_t x = 1;

    for (int window = 0; window < windows; window++)
    {
        double end;
        uint64_t pieces = 0;

        pthread_barrier_wait(&barrier);
        for (end = now() + seconds; now() < end; pieces++)
        {
            if (!strcmp(kind, "arithmetic"))
                for (int i = 0; i < 20000; i++)
                    x = x * 6364136223846793005u + 1442695040888963407u;
            else if (!strcmp(kind, "cache"))
                for (int i = 0; i < 2000; i++)
                    at = *at;
            else
                ask_kernel();
            /* The compiler must believe that somebody wants to know. */
            __asm__ volatile("" : "+r"(at), "+r"(x));
        }
        pthread_mutex_lock(&lock);
        done += pieces;
        pthread_mutex_unlock(&lock);
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        {
            printf("%.0f\n", done);
            fflush(stdout);
            done = 0;
        }
    }
    return unused;
}

int main(int argc, char **argv)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t *threads = calloc(processors, sizeof *threads);

    if (argc == 2 && !strcmp(argv[1], "beside"))
        beside();
    if (argc != 4 || !threads)
        return 2;
    kind = argv[1];
    seconds = atof(argv[2]);
    windows = atoi(argv[3]);
    pthread_barrier_init(&barrier, NULL, processors);
    for (long i = 0; i < processors; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            return 1;
    for (long i = 0; i < processors; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
