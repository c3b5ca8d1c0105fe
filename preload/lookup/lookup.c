/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/lookup/lookup.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>

#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/common/sys.h"
#include "runtime/shared/base/text.h"
#include "preload/lookup/audit.h"
#include "preload/lookup/trampoline.h"
#include "preload/hook/entry.h"
#include "preload/library/frame.h"
#include "preload/library/library_lookup.h"

/* ---- rows by name ---- */

extern const struct entry_row __start_pillion_entries[] HIDDEN;
extern const struct entry_row __stop_pillion_entries[] HIDDEN;

static struct intern_table row_of; /* hash of a symbol -> its entry */
static bool has_rows;

static uint64_t symbol_hash(const char *symbol)
{
	return intern_hash(0x646f6f72, symbol, strlen(symbol));
}

/* Called at the first lookup of a name that may be in the table, possibly by several threads at once. */
static void index_rows(void)
{
	struct entry_row *copies = sys_mmap(NULL, HOOK_LIBRARY_COUNT * sizeof(*copies), PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (const struct entry_row *row = __start_pillion_entries; row < __stop_pillion_entries; row++)
		intern_set(&row_of, symbol_hash(function_text(&hook_functions, row->place)), (uint64_t)row);
	for (unsigned i = 0; copies && i < HOOK_LIBRARY_COUNT; i++) {
		copies[i] = library_lookup_row(i);
		intern_set(&row_of, symbol_hash(library_symbol(i)), (uint64_t)&copies[i]);
	}
	__atomic_store_n(&has_rows, true, __ATOMIC_RELEASE);
}

const struct entry_row *lookup_row(const char *symbol)
{
	if (!__atomic_load_n(&has_rows, __ATOMIC_ACQUIRE))
		index_rows();
	return (const struct entry_row *)intern_get(&row_of, symbol_hash(symbol));
}

/* ---- callers ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static enum lookup_caller caller_of_path(const char *path)
{
	static const struct {
		const char *prefix;
		enum lookup_caller caller;
	} kinds[] = {{"libcudart", LOOKUP_BY_RUNTIME}, {"libcuda.so", LOOKUP_BY_TOOL},
		     {"libcupti", LOOKUP_BY_TOOL},     {"libnvperf", LOOKUP_BY_TOOL},
		     {"libnvidia-", LOOKUP_BY_TOOL},   {"libcudadebugger", LOOKUP_BY_TOOL}};
	const char *name = base_name(path);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)))
			return kinds[i].caller;
	return LOOKUP_BY_PROGRAM;
}

enum lookup_caller lookup_caller_of(const void *caller)
{
	static struct intern_table known;
	uint64_t key = caller_key(0, (uintptr_t)caller), kind = intern_get(&known, key);
	char path[PATH_MAX];

	if (!kind) {
		kind = LOOKUP_BY_PROGRAM;
		if (lookup_is_ours(caller))
			kind = LOOKUP_BY_TOOL;
		else if (dso_path(caller, path, sizeof(path)))
			kind = caller_of_path(path);
		intern_set(&known, key, kind);
	}
	return (enum lookup_caller)kind;
}

/* ---- trampolines ---- */

_Static_assert(LIBRARY_TRAMPOLINES == TRAMPOLINES, "lookup_trampoline() counts both kinds");

static struct intern_table slot_of; /* hash of row and real function -> slot + 1 */

static void note_no_trampoline(void)
{
	static bool is_noted;
	struct thread_guard guard;

	if (__atomic_exchange_n(&is_noted, true, __ATOMIC_RELAXED) || !hook_attached())
		return;
	thread_guard_enter(&thread_self, &guard);
	process_note("some CUDA calls are not recorded: the program looked up more functions than there are "
		     "trampolines, or there was no memory for them");
	thread_guard_leave(&thread_self, &guard);
}

/* Whether calls of this group must be intercepted in this process. Those of CUDA always must: they open and close the
 * capture range and initialise CUPTI. */
static bool is_group_used(unsigned group)
{
	bool is_cuda = group == TF_GROUP_CUDA || group == TF_GROUP_CUDA_DRIVER;

	return process_gate.groups & (is_cuda ? ~0u : 1u << group);
}

static void *trampoline_at(const struct entry_row *row, uint32_t slot)
{
	return row->via ? (void *)trampoline_code[slot] : library_trampoline(slot);
}

static bool trampoline_fill(const struct entry_row *row, uint32_t slot, void *real)
{
	if (!row->via)
		return library_trampoline_fill(slot, row->place, real);
	trampoline_slots[slot] = (struct trampoline_slot){real, row->via};
	return true;
}

void *lookup_trampoline(const struct entry_row *row, void *real)
{
	static uint32_t taken_by_cuda, taken_by_libraries;
	uint32_t *taken = row->via ? &taken_by_cuda : &taken_by_libraries;
	struct intern_entry *e;
	uint64_t old = 0;
	uint32_t number, slot;
	bool is_new;

	if (!is_group_used(row->group))
		return real;
	e = intern_add(&slot_of, intern_hash(row->place, &real, sizeof(real)), &number, &is_new);
	if (!e)
		return real;
	old = __atomic_load_n(&e->value, __ATOMIC_ACQUIRE);
	if (old)
		return trampoline_at(row, (uint32_t)old - 1);
	slot = TRAMPOLINES;
	if (__atomic_load_n(taken, __ATOMIC_RELAXED) < TRAMPOLINES)
		slot = __atomic_fetch_add(taken, 1, __ATOMIC_RELAXED);
	if (slot >= TRAMPOLINES || !trampoline_fill(row, slot, real)) {
		note_no_trampoline();
		return real;
	}
	/* If another thread has stored its trampoline first, all use that one. */
	if (!__atomic_compare_exchange_n(&e->value, &old, slot + 1ull, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		slot = (uint32_t)old - 1;
	return trampoline_at(row, slot);
}

/* ---- dlsym ---- */

const char lookup_no_version[] __attribute__((visibility("hidden"))) = "CUDA";

static void *(*real_dlsym)(void *, const char *);
static void *real_dlvsym;

static void *find_in_libc(const char *symbol)
{
	void *found = dso_next_unlocked(symbol);

	return found ? found : dso_next(symbol);
}

/* Not rows of the hook table: where libdl is a separate library, it may be loaded after us. */
static bool find_real_dlsym(void)
{
	if (__atomic_load_n(&real_dlsym, __ATOMIC_ACQUIRE))
		return true;
	__atomic_store_n(&real_dlvsym, find_in_libc("dlvsym"), __ATOMIC_RELAXED);
	__atomic_store_n(&real_dlsym, (void *(*)(void *, const char *))find_in_libc("dlsym"), __ATOMIC_RELEASE);
	return real_dlsym;
}

/* Whether the name would be found without us. For our own object RTLD_NEXT means all global objects after it. */
static bool is_reachable(const char *name, const void *caller)
{
	return real_dlsym(RTLD_NEXT, name) || dso_before(name) || dso_below(caller, name);
}

/* Fails as without us: our symbols have no version, so a lookup with a version does not find them, and glibc sets
 * dlerror(). */
static struct lookup_result not_found(void)
{
	return (struct lookup_result){NULL, real_dlvsym ? real_dlvsym : (void *)real_dlsym};
}

/* Whether the program has opened our object by its path, as the Python package does where there is no CUDA runtime. The
 * handles of glibc are link maps. */
static bool is_own_handle(const void *handle)
{
	extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

	return ((const struct link_map *)handle)->l_ld == _DYNAMIC;
}

static struct lookup_result look_up_row(const struct entry_row *row, void *handle, const char *name, const void *caller)
{
	struct lookup_result unchanged = {NULL, (void *)real_dlsym};
	enum lookup_caller kind = lookup_caller_of(caller);
	void *real;

	if (kind == LOOKUP_BY_TOOL)
		return unchanged;
	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT)
		return is_reachable(name, caller) ? unchanged : not_found();
	real = real_dlsym(handle, name);
	if (!real)
		return (struct lookup_result){NULL, NULL};
	if (lookup_is_ours(real) && is_own_handle(handle))
		return unchanged;
	if (lookup_is_ours(real)) /* `handle` is the whole program's */
		return is_reachable(name, caller) ? unchanged : not_found();
	if (kind == LOOKUP_BY_RUNTIME && row->group == TF_GROUP_CUDA_DRIVER)
		return (struct lookup_result){real, NULL};
	return (struct lookup_result){lookup_trampoline(row, real), NULL};
}

/* A fast check: the names of all rows begin with one of these, after any underscores. */
static bool may_be_ours(const char *name)
{
	static const char *const prefixes[] = {"cu", "nccl", "nvtx", "MPI_", "H5"};

	while (*name == '_')
		name++;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (*prefixes[i] == *name && *name && !strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

struct lookup_result lookup_dlsym(void *handle, const char *name, const void *caller)
{
	struct lookup_result answer = {NULL, NULL};
	const struct entry_row *row;
	int error = errno;

	if (!find_real_dlsym())
		return answer;
	answer.jump = (void *)real_dlsym;
	if (name && may_be_ours(name)) {
		row = lookup_row(name);
		if (row)
			answer = look_up_row(row, handle, name, caller);
		errno = error;
	} else if (name && !strncmp(name, "PyInit_", 7)) {
		lookup_clear_weak(handle);
		errno = error;
	}
	return answer;
}

/* ---- bindings, reported by the loader's auditor ---- */

static bool is_audited;

/* A function in another library with the name of one of libc's is not the function that our wrapper would call. */
static bool is_libc(const char *path)
{
	static const char *const names[] = {"libc.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(base_name(path), names[i]))
			return true;
	return false;
}

static bool is_left_unchanged(const struct entry_row *row, const char *from)
{
	enum lookup_caller kind = caller_of_path(from);

	return kind == LOOKUP_BY_TOOL || (kind == LOOKUP_BY_RUNTIME && row->group == TF_GROUP_CUDA_DRIVER);
}

HOOK_EXPORT uintptr_t pillion_bind(const char *name, uintptr_t bound, const char *from, const char *in)
{
	const struct entry_row *row;
	uintptr_t wrapper = 0;
	int error = errno;

	if (!name)
		is_audited = true;
	else if (is_libc(in))
		wrapper = (uintptr_t)dso_own_symbol(name);
	else if (may_be_ours(name) && (row = lookup_row(name)) && !is_left_unchanged(row, from))
		wrapper = (uintptr_t)lookup_trampoline(row, (void *)bound);
	errno = error;
	return wrapper ? wrapper : bound;
}

/* ---- calls that cannot be seen ---- */

static bool is_recorded_symbol(const char *symbol)
{
	const struct entry_row *row = may_be_ours(symbol) ? lookup_row(symbol) : NULL;

	return row && process_gate.groups & 1u << row->group;
}

static void note_unseen(const char *path, const char *symbol)
{
	char bytes[PATH_MAX + 256];
	struct text t = text_init(bytes, sizeof(bytes));

	text_add(&t, "calls of ");
	text_add(&t, symbol);
	text_add(&t, " and similar functions are not recorded: the loader has bound them directly (RTLD_DEEPBIND) in ");
	text_add(&t, path);
	process_note(bytes);
}

/* Does nothing in a forked child: if another thread held the loader's list lock at the fork, it is never released
 * there. */
void lookup_note_unseen(void)
{
#define LIBRARY(number, NAME, word, ...) "lib" #word,
	static const char *const libraries[] = {TF_GROUPS(LIBRARY, )};
#undef LIBRARY
	struct thread_guard guard;

	if (process.generation > 1 || !dso_has_library(libraries, sizeof(libraries) / sizeof(*libraries)) ||
	    !process_gate.groups || !hook_attached())
		return;
	thread_guard_enter(&thread_self, &guard);
	if (process_options.ld_audit && !is_audited)
		process_note("--ld-audit had no effect: the loader has not loaded libpillion-audit.so, or is older "
			     "than glibc 2.35's");
	dso_bound_past_us(is_recorded_symbol, note_unseen);
	thread_guard_leave(&thread_self, &guard);
}
