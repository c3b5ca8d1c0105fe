/* SPDX-License-Identifier: Apache-2.0 */
/* Counts a run's operations by CUPTI, independently of pillion: a library that the driver loads
 * (CUDA_INJECTION64_PATH), or that LD_PRELOAD with CUPTI_COUNT_NOW starts. At exit it writes to the file CUPTI_COUNT
 * the lines "kernel:NAME count ns", "memcpy count bytes", "memset count bytes" and "dropped count 0".
 * CUPTI_COUNT_LIBRARY names the libcupti to open (default libcupti.so.13). */
#include <cupti.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 1 << 20, NAMES = 4096 };
static struct row {
	char *name;
	unsigned long long count, ns;
} rows[NAMES];
static struct {
	unsigned long long count, bytes;
} copies, sets;
static unsigned long long dropped;
static size_t row_count;
static pid_t owner; /* a forked child reports nothing */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __typeof__(&cuptiActivityGetNextRecord) next_record;
static __typeof__(&cuptiActivityGetNumDroppedRecords) get_dropped;
static __typeof__(&cuptiActivityFlushAll) flush_all;

static void CUPTIAPI on_request(uint8_t **buffer, size_t *size, size_t *limit)
{
	*buffer = aligned_alloc(8, BUFFER);
	*size = *buffer ? BUFFER : 0;
	*limit = 0;
}

static void count_kernel(const char *name, unsigned long long ns)
{
	size_t i;

	for (i = 0; i < row_count && strcmp(rows[i].name, name); i++)
		;
	if (i == NAMES)
		return;
	if (i == row_count)
		rows[row_count++].name = strdup(name);
	rows[i].count++;
	rows[i].ns += ns;
}

static void count(const CUpti_Activity *record)
{
	if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
		const CUpti_ActivityKernel9 *kernel = (const CUpti_ActivityKernel9 *)record;

		count_kernel(kernel->name ? kernel->name : "?", kernel->end - kernel->start);
	} else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
		copies.count++;
		copies.bytes += ((const CUpti_ActivityMemcpy5 *)record)->bytes;
	} else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
		sets.count++;
		sets.bytes += ((const CUpti_ActivityMemset4 *)record)->bytes;
	}
}

static void CUPTIAPI on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
	CUpti_Activity *record = NULL;
	size_t lost = 0;

	(void)size;
	pthread_mutex_lock(&lock);
	while (next_record(buffer, used, &record) == CUPTI_SUCCESS)
		count(record);
	if (get_dropped(context, stream, &lost) == CUPTI_SUCCESS)
		dropped += lost;
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void write_all(void)
{
	const char *path = getenv("CUPTI_COUNT");
	FILE *file;

	if (getpid() != owner)
		return;
	flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	file = path ? fopen(path, "a") : NULL;
	if (!file)
		return;
	for (size_t i = 0; i < row_count; i++)
		fprintf(file, "kernel:%s %llu %llu\n", rows[i].name, rows[i].count, rows[i].ns);
	fprintf(file, "memcpy %llu %llu\nmemset %llu %llu\ndropped %llu 0\n", copies.count, copies.bytes, sets.count,
		sets.bytes, dropped);
	fclose(file);
}

/* Uses the program's libcupti if it has loaded one: two in a process would conflict. */
static void *open_cupti(void)
{
	const char *path = getenv("CUPTI_COUNT_LIBRARY"), *slash;
	void *found;

	if (!path || !*path)
		path = "libcupti.so.13";
	slash = strrchr(path, '/');
	found = dlopen(slash ? slash + 1 : path, RTLD_NOW | RTLD_NOLOAD);
	return found ? found : dlopen(path, RTLD_NOW);
}

int InitializeInjection(void)
{
	static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
						   CUPTI_ACTIVITY_KIND_MEMSET};
	void *cupti = open_cupti();
	__typeof__(&cuptiActivityRegisterCallbacks) register_callbacks;
	__typeof__(&cuptiActivityEnable) enable;

	if (!cupti) {
		fprintf(stderr, "cupti_count: %s\n", dlerror());
		return 0;
	}
	register_callbacks = (__typeof__(register_callbacks))dlsym(cupti, "cuptiActivityRegisterCallbacks");
	enable = (__typeof__(enable))dlsym(cupti, "cuptiActivityEnable");
	next_record = (__typeof__(next_record))dlsym(cupti, "cuptiActivityGetNextRecord");
	get_dropped = (__typeof__(get_dropped))dlsym(cupti, "cuptiActivityGetNumDroppedRecords");
	flush_all = (__typeof__(flush_all))dlsym(cupti, "cuptiActivityFlushAll");
	if (!register_callbacks || !enable || !next_record || !get_dropped || !flush_all ||
	    register_callbacks(on_request, on_complete) != CUPTI_SUCCESS)
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (enable(kinds[i]) != CUPTI_SUCCESS)
			fprintf(stderr, "cupti_count: kind %d cannot be enabled\n", (int)kinds[i]);
	owner = getpid();
	atexit(write_all);
	return 1;
}

__attribute__((constructor)) static void start_now(void)
{
	if (getenv("CUPTI_COUNT_NOW"))
		InitializeInjection();
}
