/* SPDX-License-Identifier: Apache-2.0 */
/* Computes in code that it copied to memory of no file, as a compiler at run time does. Its argument is the line of
 * /tmp/perf-PID.map for that code, without the address and the size; with a second argument the file is as old as
 * 1970. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CODE_BYTES = 512 };

/* Nothing in it depends on where it lies. */
__attribute__((noinline)) static uint64_t spin(uint64_t n)
{
	uint64_t x = n;

	for (uint64_t i = 0; i < n; i++)
		__asm__ volatile("" : "+r"(x));
	return x;
}

static void write_map(const void *code, const char *name, int is_old)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	puts(path);
	f = fopen(path, "w");
	if (!f)
		return;
	fprintf(f, "%lx %x %s\n", (unsigned long)(uintptr_t)code, CODE_BYTES, name);
	fclose(f);
	if (is_old)
		utimensat(AT_FDCWD, path, (struct timespec[2]){{0, 0}, {0, 0}}, 0);
}

int main(int argc, char **argv)
{
	void *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t (*run)(uint64_t);
	struct timespec cpu = {0};

	if (code == MAP_FAILED)
		return 77;
	memcpy(code, (const void *)(uintptr_t)spin, CODE_BYTES);
	__builtin___clear_cache((char *)code, (char *)code + CODE_BYTES);
	memcpy(&run, &code, sizeof(run));
	if (argc > 1)
		write_map(code, argv[1], argc > 2);
	do {
		run(1000000);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	} while (cpu.tv_sec * 10 + cpu.tv_nsec / 100000000 < 4);
	return 0;
}
