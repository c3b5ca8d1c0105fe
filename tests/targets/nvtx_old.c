/* SPDX-License-Identifier: Apache-2.0 */
/* A program with NVTX 2's half of the interface written out: finds its tool as the headers do, offers tables of given
 * sizes, and calls what was put into them. Two such copies, as two libraries would have. No header of NVIDIA's needed.
 * nvtx_old SIZE-OF-CORE SIZE-OF-CORE2: prints the slots that were filled. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*slot)(void);
enum { SLOTS = 16, COPIES = 2 };

struct copy {
	slot functions[2][SLOTS + 1];
	slot *table[2][SLOTS + 1];
};
static struct copy copies[COPIES];
static struct copy *current;
static unsigned sizes[2];

static int module_table(int module, slot ***ret_table, unsigned *ret_size)
{
	int i = module == 1 ? 0 : module == 5 ? 1 : -1;

	if (i < 0 || !sizes[i])
		return 0;
	for (unsigned s = 1; s < sizes[i]; s++)
		current->table[i][s] = &current->functions[i][s];
	current->table[i][sizes[i]] = &current->functions[i][SLOTS]; /* past the end: must stay as it is */
	*ret_table = current->table[i];
	*ret_size = sizes[i];
	return 1;
}

static const void *export_table(uint32_t id)
{
	static const struct {
		size_t size;
		int (*module_table)(int, slot ***, unsigned *);
	} callbacks = {sizeof(callbacks), module_table};

	return id == 1 ? &callbacks : NULL;
}

int main(int argc, char **argv)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *tool = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*initialize)(const void *(*)(uint32_t)) = NULL;

	sizes[0] = argc > 1 ? (unsigned)atoi(argv[1]) : SLOTS;
	sizes[1] = argc > 2 ? (unsigned)atoi(argv[2]) : SLOTS - 1;
	if (sizes[0] > SLOTS || sizes[1] > SLOTS)
		return 2;
	if (tool)
		*(void **)&initialize = dlsym(tool, "InitializeInjectionNvtx2");
	if (!initialize)
		return puts("no tool"), 0;
	for (int c = 0; c < COPIES; c++) {
		current = &copies[c];
		printf("copy %d: %d,", c, initialize(export_table));
		for (int i = 0; i < 2; i++) {
			for (unsigned s = 0; s <= SLOTS; s++) {
				if (current->functions[i][s])
					printf(" %d.%u", i, s);
			}
		}
		putchar('\n');
	}
	for (int c = 0; c < COPIES && sizes[0] > 11; c++) {
		int (*push)(const char *) = (int (*)(const char *))copies[c].functions[0][9];
		int (*pop)(void) = (int (*)(void))copies[c].functions[0][11];

		for (int i = 0; push && pop && i < 3; i++) {
			int pushed = push("old"), popped = pop();

			printf("%d %d ", pushed, popped);
		}
	}
	putchar('\n');
	return 0;
}
