/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/lookup/door.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

#include "runtime/common/loaded.h"
#include "runtime/base/text.h"
#include "preload/lookup/audit.h"
#include "preload/hook/entry.h"

/* ---- the rows by name ---- */

extern const struct entry_row __start_pillion_entries[] __attribute__((visibility("hidden")));
extern const struct entry_row __stop_pillion_entries[] __attribute__((visibility("hidden")));

static struct table row_of; /* hash of a symbol -> its entry */
static bool is_listed;

static uint64_t hash(const char *symbol)
{
	return table_hash(0x646f6f72, symbol, strlen(symbol));
}

/* At the first look-up that may concern us, by however many threads at once. */
static void list(void)
{
	for (const struct entry_row *row = __start_pillion_entries; row < __stop_pillion_entries; row++)
		table_set(&row_of, hash(row->symbol), (uint64_t)row);
	__atomic_store_n(&is_listed, true, __ATOMIC_RELEASE);
}

const struct entry_row *door_row(const char *symbol)
{
	if (!__atomic_load_n(&is_listed, __ATOMIC_ACQUIRE))
		list();
	return (const struct entry_row *)table_get(&row_of, hash(symbol));
}

/* ---- who asks ---- */

/* By the linker's word, which is good before our constructor, too. */
bool door_is_ours(const void *address)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

	return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static enum door_asker classify(const char *path)
{
	static const struct {
		const char *prefix;
		enum door_asker asker;
	} kinds[] = {{"libcudart", DOOR_RUNTIME}, {"libcuda.so", DOOR_TOOL},   {"libcupti", DOOR_TOOL},
		     {"libnvperf", DOOR_TOOL},	  {"libnvidia-", DOOR_TOOL}, {"libcudadebugger", DOOR_TOOL}};
	const char *name = base_name(path);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)))
			return kinds[i].asker;
	return DOOR_PROGRAM;
}

enum door_asker door_asker_of(const void *caller)
{
	static struct table known;
	uint64_t key = caller_key(0, (uintptr_t)caller), asker = table_get(&known, key);
	char path[PATH_MAX];

	if (!asker) {
		asker = DOOR_PROGRAM;
		if (door_is_ours(caller))
			asker = DOOR_TOOL;
		else if (loaded_path(caller, path, sizeof(path)))
			asker = classify(path);
		table_set(&known, key, asker);
	}
	return (enum door_asker)asker;
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

	if (__atomic_exchange_n(&is_said, true, __ATOMIC_RELAXED) || !hook_attached())
		return;
	thread_guard_enter(&thread_self, &guard);
	process_note("some CUDA calls are missing: the program has looked up more functions than there is room for");
	thread_guard_leave(&thread_self, &guard);
}

/* In this process, ever. CUDA's calls are followed whatever is recorded: they move the capture range and start CUPTI. */
static bool is_recorded(unsigned group)
{
	bool is_cuda = group == TF_GROUP_CUDA || group == TF_GROUP_CUDA_DRIVER;

	return process_gate.groups & (is_cuda ? ~0u : 1u << group);
}

void *door_hand(const struct entry_row *row, void *real)
{
	static uint32_t taken;
	struct table_entry *e;
	uint64_t old = 0;
	uint32_t number, slot;
	bool is_new;

	if (!is_recorded(row->group))
		return real;
	e = table_add(&handed, table_hash(row->place, &real, sizeof(real)), &number, &is_new);
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
	enum door_asker asker = door_asker_of(caller);
	void *real;

	if (asker == DOOR_TOOL)
		return go_on;
	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT)
		return is_reachable(name, caller) ? go_on : decline();
	real = real_dlsym(handle, name);
	if (!real)
		return (struct door_answer){NULL, NULL};
	if (door_is_ours(real)) /* the whole program's handle */
		return is_reachable(name, caller) ? go_on : decline();
	if (asker == DOOR_RUNTIME && row->group == TF_GROUP_CUDA_DRIVER)
		return (struct door_answer){real, NULL};
	return (struct door_answer){door_hand(row, real), NULL};
}

/* Letters that all names of our rows begin with. */
static bool may_be_ours(const char *name)
{
	while (*name == '_')
		name++;
	return (name[0] == 'c' && name[1] == 'u') || (name[0] == 'n' && name[1] == 'c') || (name[0] == 'M' && name[1] == 'P');
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
		row = door_row(name);
		if (row)
			answer = look_up(row, handle, name, caller);
		errno = error;
	}
	return answer;
}

/* ---- the loader's bindings, by its auditor ---- */

static bool is_audited;

/* Libc's functions are ours in all its libraries; one of that name in another is not the function that our wrapper would call. */
static bool is_libc(const char *path)
{
	static const char *const names[] = {"libc.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(base_name(path), names[i]))
			return true;
	return false;
}

static bool is_left(const struct entry_row *row, const char *from)
{
	enum door_asker asker = classify(from);

	return asker == DOOR_TOOL || (asker == DOOR_RUNTIME && row->group == TF_GROUP_CUDA_DRIVER);
}

HOOK_EXPORT uintptr_t pillion_bind(const char *name, uintptr_t bound, const char *from, const char *in)
{
	const struct entry_row *row;
	uintptr_t wrapper = 0;
	int error = errno;

	if (!name)
		is_audited = true;
	else if (is_libc(in))
		wrapper = (uintptr_t)loaded_ours_symbol(name);
	else if (may_be_ours(name) && (row = door_row(name)) && !is_left(row, from))
		wrapper = (uintptr_t)door_hand(row, (void *)bound);
	errno = error;
	return wrapper ? wrapper : bound;
}

/* ---- what no door leads to ---- */

static bool is_unseen(const char *symbol)
{
	const struct entry_row *row = may_be_ours(symbol) ? door_row(symbol) : NULL;

	return row && process_gate.groups & 1u << row->group;
}

static void say_unseen(const char *path, const char *symbol)
{
	char bytes[PATH_MAX + 256];
	struct text t = text_init(bytes, sizeof(bytes));

	text_add(&t, "calls of ");
	text_add(&t, symbol);
	text_add(&t, " and its like cannot be seen, bound past us as with RTLD_DEEPBIND: ");
	text_add(&t, path);
	process_note(bytes);
}

/* A forked child leaves it to its parent: another thread may have had the loader's list lock at the fork, and has it there for ever. */
void door_say_unseen(void)
{
	static const char *const libraries[] = {"libcu", "libnccl", "libmpi"};
	struct thread_guard guard;
	bool is_worth_it = false;
	char path[PATH_MAX];

	if (process.generation > 1)
		return;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		is_worth_it |= loaded_library(libraries[i], path, sizeof(path));
	if (!is_worth_it || !process_gate.groups || !hook_attached())
		return;
	thread_guard_enter(&thread_self, &guard);
	if (process_options.ld_audit && !is_audited)
		process_note("--ld-audit had no effect: the loader has not loaded libpillion-audit.so, or is older than glibc 2.35's");
	loaded_past(is_unseen, say_unseen);
	thread_guard_leave(&thread_self, &guard);
}
