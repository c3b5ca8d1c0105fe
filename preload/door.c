/* SPDX-License-Identifier: Apache-2.0 */
#include "door.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

#include "../runtime/file.h"
#include "../runtime/loaded.h"
#include "entry.h"

/* ---- the rows by name ---- */

extern const struct entry_row __start_pillion_entries[] __attribute__((visibility("hidden")));
extern const struct entry_row __stop_pillion_entries[] __attribute__((visibility("hidden")));

/* Suffixes of a driver function's symbol: those of one name make a word of bits. */
static const char *const versions[] = {"", "_v2", "_v3", "_v4"}, *const twins[] = {"", "_ptds", "_ptsz"};
enum { VERSIONS = 4, TWINS = 3, NAME = 96 };

static struct table row_of;  /* hash of a symbol -> its place among the entries + 1 */
static struct table bits_of; /* hash of a driver function's name -> its symbols: 1 << (version * TWINS + twin) */
static bool is_listed;

static const uint16_t since[] = {
#define SINCE(kind, returns, symbol, parameters, arguments, about, record, since) since,
	HOOK_CUDA(SINCE)
#undef SINCE
};

static uint64_t hash(const char *s, size_t length)
{
	return table_hash(0x646f6f72, s, length);
}

static bool ends_with(const char *s, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length > n && !memcmp(s + length - n, end, n);
}

static void list_driver(const char *symbol)
{
	size_t length = strlen(symbol);
	unsigned version = 0, twin = 0;
	struct table_entry *e;
	uint32_t number;
	bool is_new;

	for (unsigned i = 1; i < TWINS; i++)
		if (ends_with(symbol, length, twins[i]))
			twin = i;
	length -= strlen(twins[twin]);
	for (unsigned i = 1; i < VERSIONS; i++)
		if (ends_with(symbol, length, versions[i]))
			version = i;
	length -= strlen(versions[version]);
	e = table_add(&bits_of, hash(symbol, length), &number, &is_new);
	if (e)
		__atomic_fetch_or(&e->value, 1ull << (version * TWINS + twin), __ATOMIC_RELAXED);
}

/* At the first look-up that may concern us, by however many threads at once. */
static void list(void)
{
	for (const struct entry_row *row = __start_pillion_entries; row < __stop_pillion_entries; row++) {
		const struct file_function *f = &file_functions[row->function];

		table_set(&row_of, hash(f->name, strlen(f->name)), (uint64_t)(row - __start_pillion_entries) + 1);
		if (f->group == TF_GROUP_CUDA_DRIVER)
			list_driver(f->name);
	}
	__atomic_store_n(&is_listed, true, __ATOMIC_RELEASE);
}

static const struct entry_row *find_row(const char *symbol)
{
	uint64_t found;

	if (!__atomic_load_n(&is_listed, __ATOMIC_ACQUIRE))
		list();
	found = table_get(&row_of, hash(symbol, strlen(symbol)));
	return found ? &__start_pillion_entries[found - 1] : NULL;
}

/* ---- who asks ---- */

/* By the linker's word, which is good before our constructor, too. */
static bool is_ours(const void *address)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

	return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

enum asker { ASKER_PROGRAM = 1, ASKER_RUNTIME, ASKER_TOOL };

static enum asker classify(const void *caller)
{
	static const struct {
		const char *prefix;
		enum asker asker;
	} kinds[] = {{"libcudart", ASKER_RUNTIME}, {"libcuda.so", ASKER_TOOL},	 {"libcupti", ASKER_TOOL},
		     {"libnvperf", ASKER_TOOL},	   {"libnvidia-", ASKER_TOOL}, {"libcudadebugger", ASKER_TOOL}};
	char path[PATH_MAX];
	const char *name;

	if (is_ours(caller))
		return ASKER_TOOL;
	if (!loaded_path(caller, path, sizeof(path)))
		return ASKER_PROGRAM;
	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)))
			return kinds[i].asker;
	return ASKER_PROGRAM;
}

static enum asker asker_of(const void *caller)
{
	static struct table known;
	uint64_t key = caller_key(0, (uintptr_t)caller), asker = table_get(&known, key);

	if (!asker) {
		asker = classify(caller);
		table_set(&known, key, asker);
	}
	return (enum asker)asker;
}

/* ---- pointers handed out ---- */

/* Read by the trampolines. A slot is written before anybody has its trampoline, and never again. */
struct door_slot {
	void *real, *via;
} door_slots[DOOR_SLOTS] __attribute__((visibility("hidden")));
extern const char door_trampolines[DOOR_SLOTS][16] __attribute__((visibility("hidden")));

static struct table handed; /* hash of row and real function -> slot + 1 */

static void say_full(void)
{
	static bool is_said;
	struct thread_guard guard;

	if (__atomic_exchange_n(&is_said, true, __ATOMIC_RELAXED) || !event_enter())
		return;
	thread_guard_enter(&thread_self, &guard);
	process_note("some CUDA calls are missing: the program has looked up more functions than there is room for");
	thread_guard_leave(&thread_self, &guard);
}

static void *hand(const struct entry_row *row, void *real)
{
	static uint32_t taken;
	struct table_entry *e;
	uint64_t old = 0;
	uint32_t number, slot;
	bool is_new;

	if (!process_gate.groups)
		return real; /* nothing is recorded in this process */
	e = table_add(&handed, table_hash(row->function, &real, sizeof(real)), &number, &is_new);
	if (!e)
		return real;
	old = __atomic_load_n(&e->value, __ATOMIC_ACQUIRE);
	if (old)
		return (void *)door_trampolines[old - 1];
	slot = __atomic_load_n(&taken, __ATOMIC_RELAXED) < DOOR_SLOTS ? __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED) : DOOR_SLOTS;
	if (slot >= DOOR_SLOTS) {
		say_full();
		return real;
	}
	door_slots[slot] = (struct door_slot){real, row->via};
	/* Another thread may have been faster: its pointer is everybody's. */
	if (!__atomic_compare_exchange_n(&e->value, &old, slot + 1ull, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		slot = (uint32_t)old - 1;
	return (void *)door_trampolines[slot];
}

void *door_hand(unsigned function, void *real)
{
	const struct entry_row *row = find_row(file_functions[function].name);

	return row && !is_ours(real) ? hand(row, real) : real;
}

/* ---- the driver's own look-up ---- */

/* Where the driver, there being one in a process, exports the functions of our rows. */
static void *driver_at[HOOK_CUDA_COUNT];

static void *driver_function(unsigned function, const void *lookup)
{
	static bool is_known;

	if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
		const char *names[HOOK_CUDA_COUNT];

		for (unsigned i = 0; i < HOOK_CUDA_COUNT; i++)
			names[i] = file_functions[HOOK_CUDA_FIRST + i].name;
		if (!loaded_all_beside(lookup, names, driver_at, HOOK_CUDA_COUNT))
			loaded_all_beside(loaded_in("libcuda.so", "cuInit"), names, driver_at, HOOK_CUDA_COUNT);
		__atomic_store_n(&is_known, true, __ATOMIC_RELEASE);
	}
	return driver_at[function - HOOK_CUDA_FIRST];
}

struct choice {
	const struct entry_row *row;
	unsigned since;
	bool is_twin;
};

/* Of the rows of a name: the one whose function the driver has given, else, the driver's functions not being those it exports,
 * the newest that the version asked for knows, a twin before a plain one. */
static const struct entry_row *choose(const char *name, int version, uint64_t flags, void *real, const void *lookup)
{
	uint64_t bits = table_get(&bits_of, hash(name, strlen(name)));
	struct choice best = {NULL, 0, false};
	char symbol[NAME];

	for (unsigned i = 0; bits && i < VERSIONS * TWINS; i++) {
		const struct entry_row *row;
		struct choice this;

		if (!(bits & 1ull << i))
			continue;
		stpcpy(stpcpy(stpcpy(symbol, name), versions[i / TWINS]), twins[i % TWINS]);
		row = find_row(symbol);
		if (!row)
			continue;
		if (driver_function((unsigned)row->function, lookup) == real)
			return row;
		this = (struct choice){row, since[row->function - HOOK_CUDA_FIRST], i % TWINS != 0};
		if ((int)this.since > version || (this.is_twin && !(flags & 2)))
			continue;
		if (!best.row || this.is_twin > best.is_twin || (this.is_twin == best.is_twin && this.since > best.since))
			best = this;
	}
	return best.row;
}

static void *replace(const char *name, int version, uint64_t flags, void *real, const void *lookup)
{
	const struct entry_row *row;

	if (strlen(name) > NAME - 16 || is_ours(real))
		return real;
	if (!__atomic_load_n(&is_listed, __ATOMIC_ACQUIRE))
		list();
	row = choose(name, version, flags, real, lookup);
	return row ? hand(row, real) : real;
}

void *door_hand_driver(const char *name, int version, uint64_t flags, void *real, const void *lookup, const void *caller)
{
	static struct table answers; /* runtimes ask hundreds of questions, and several runtimes the same ones */
	uint64_t key, answer;
	int error = errno;

	if (asker_of(caller) != ASKER_PROGRAM)
		return real;
	key = table_hash(caller_key((unsigned)version, (uintptr_t)real) ^ flags << 40, name, strlen(name));
	answer = table_get(&answers, key);
	if (!answer) {
		answer = (uint64_t)replace(name, version, flags, real, lookup);
		table_set(&answers, key, answer);
		errno = error;
	}
	return (void *)answer;
}

/* ---- dlsym ---- */

const char door_no_version[] __attribute__((visibility("hidden"))) = "CUDA";

static void *(*real_dlsym)(void *, const char *);
static void *real_dlvsym;

static void *find_libc(const char *symbol)
{
	void *found = loaded_next_unasked(symbol);

	return found ? found : loaded_next(symbol);
}

/* Not a row of the table: where libdl is a library of its own, it may be loaded after us. */
static bool find_real(void)
{
	if (__atomic_load_n(&real_dlsym, __ATOMIC_ACQUIRE))
		return true;
	__atomic_store_n(&real_dlvsym, find_libc("dlvsym"), __ATOMIC_RELAXED);
	__atomic_store_n(&real_dlsym, (void *(*)(void *, const char *))find_libc("dlsym"), __ATOMIC_RELEASE);
	return real_dlsym;
}

/* Would the name be found without us? Asked of glibc as ourselves, "next" is everything global after us. */
static bool is_reachable(const char *name, const void *caller)
{
	return real_dlsym(RTLD_NEXT, name) || loaded_before(name) || loaded_below(caller, name);
}

/* Our names bear no version, so no question with a version finds them: glibc fails, and words dlerror(), as without us. */
static struct door_answer decline(void)
{
	return (struct door_answer){NULL, real_dlvsym ? real_dlvsym : (void *)real_dlsym};
}

static struct door_answer look_up(const struct entry_row *row, void *handle, const char *name, const void *caller)
{
	struct door_answer go_on = {NULL, (void *)real_dlsym};
	enum asker asker = asker_of(caller);
	void *real;

	if (asker == ASKER_TOOL)
		return go_on;
	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT)
		return is_reachable(name, caller) ? go_on : decline();
	real = real_dlsym(handle, name);
	if (!real)
		return (struct door_answer){NULL, NULL};
	if (is_ours(real)) /* the whole program's handle */
		return is_reachable(name, caller) ? go_on : decline();
	if (asker == ASKER_RUNTIME && file_functions[row->function].group == TF_GROUP_CUDA_DRIVER)
		return (struct door_answer){real, NULL};
	return (struct door_answer){hand(row, real), NULL};
}

/* Letters that all names of our rows begin with. */
static bool may_be_ours(const char *name)
{
	while (*name == '_')
		name++;
	return (name[0] == 'c' && name[1] == 'u') || (name[0] == 'n' && name[1] == 'c');
}

struct door_answer door_dlsym(void *handle, const char *name, const void *caller)
{
	struct door_answer answer = {NULL, NULL};
	const struct entry_row *row;
	int error = errno;

	if (!find_real())
		return answer;
	answer.jump = (void *)real_dlsym;
	if (name && may_be_ours(name)) {
		row = find_row(name);
		if (row)
			answer = look_up(row, handle, name, caller);
		errno = error;
	}
	return answer;
}
