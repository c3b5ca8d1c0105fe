/* SPDX-License-Identifier: Apache-2.0 */
/* A handle of HDF5 (hid_t) is a number. The library is asked for the file and the path of the object that it stands for
 * (H5Fget_name, H5Iget_name) once for each handle, and after a transfer for the number of elements and the size of
 * their type. It is asked in the thread of the call, and only after the call has succeeded: the program allows calls
 * then, handles are valid, and no error stack is lost, which each call of the library clears.
 *
 * H5Iget_name searches the whole file for an object that was opened by a reference or an address, or relative to one.
 * Therefore a table has the handles that were opened by a path from a file, and the library is asked for these alone;
 * calls on others are recorded without a name. docs/decisions/hdf5.md has the alternatives. */
#include "preload/library/library_hdf5.h"

#include <errno.h>

#include "preload/hook/caller.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/intern_table.h"
#include "runtime/recorder/record/names.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/common/sys.h"

#define COLD __attribute__((noinline, cold))

/* ---- the library ---- */

struct hdf5 {
	int64_t (*file_name)(int64_t handle, char *ret, size_t size);
	int64_t (*name)(int64_t handle, char *ret, size_t size);
	size_t (*type_size)(int64_t type);
	int64_t (*points)(int64_t space);
	int64_t (*space)(int64_t dataset);
	int (*space_close)(int64_t space);
	void *since_1_10; /* handles have 64 bits */
};

static const char *const symbols[] = {"H5Fget_name",  "H5Iget_name", "H5Tget_size",	  "H5Sget_select_npoints",
				      "H5Dget_space", "H5Sclose",    "H5Fstart_swmr_write"};
enum { SYMBOLS = sizeof(symbols) / sizeof(*symbols) };
_Static_assert(sizeof(struct hdf5) == SYMBOLS * sizeof(void *), "a symbol for each member");

static COLD const struct hdf5 *find(const void *real)
{
	static const struct hdf5 none;
	struct hdf5 *m = names_take(sizeof(*m));
	struct thread_guard guard;

	if (!m)
		return &none;
	thread_guard_enter(&thread_self, &guard);
	if (!dso_all_beside(real, symbols, (void **)m, SYMBOLS))
		*m = none;
	thread_guard_leave(&thread_self, &guard);
	for (unsigned i = 0; i < SYMBOLS; i++)
		if (!((void **)m)[i])
			return &none;
	return m;
}

/* NULL: its handles are not known. A process may have several libraries, with handles of their own. */
static const struct hdf5 *library_of(const struct library_returned *call)
{
	static struct intern_table libraries; /* a function of HDF5 -> struct hdf5 */
	uint64_t key = (uintptr_t)call->real ^ __atomic_load_n(&caller_epoch, __ATOMIC_RELAXED);
	const struct hdf5 *m = (const struct hdf5 *)intern_get(&libraries, key);

	if (__builtin_expect(!m, 0)) {
		m = find(call->real);
		intern_set(&libraries, key, (uint64_t)m);
	}
	return m->name ? m : NULL;
}

/* ---- handles that were opened by a path ---- */

/* The two words of an entry may be from different writers; such an entry matches no key. When a set is full, the handle
 * that was not used for longest makes room: programs open many objects for a short time and few for a long one. The
 * table is mapped at its first use. */
enum { SETS = 512, WAYS = 8 };
static struct handle {
	uint64_t check; /* key ^ object */
	uint64_t object; /* process.defined_in << 32 | id of its TF_BLOB_HDF5; 0: not asked for yet */
	uint64_t used;
} (*handles)[WAYS];

static uint64_t key_of(const struct hdf5 *m, uint64_t handle)
{
	return intern_fold(handle, (uintptr_t)m->name);
}

static COLD void handles_map(void)
{
	enum { BYTES = SETS * sizeof(*handles) };
	void *fresh = sys_mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct handle(*other)[WAYS] = NULL;

	if (fresh && !__atomic_compare_exchange_n(&handles, &other, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		sys_munmap(fresh, BYTES);
}

/* The entry with this key, or else the one that is to be replaced, *ret_object is then UINT64_MAX. NULL: no table. */
static struct handle *handle_of(uint64_t key, uint64_t *ret_object)
{
	struct handle(*table)[WAYS] = __atomic_load_n(&handles, __ATOMIC_ACQUIRE);
	struct handle *set = table ? table[key % SETS] : NULL, *oldest = set;

	*ret_object = UINT64_MAX;
	for (unsigned i = 0; set && i < WAYS; i++) {
		uint64_t object = __atomic_load_n(&set[i].object, __ATOMIC_RELAXED);

		if ((__atomic_load_n(&set[i].check, __ATOMIC_RELAXED) ^ object) == key) {
			*ret_object = object;
			return &set[i];
		}
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	return oldest;
}

static void handle_put(struct handle *h, uint64_t key, uint64_t object)
{
	__atomic_store_n(&h->check, key ^ object, __ATOMIC_RELAXED);
	__atomic_store_n(&h->object, object, __ATOMIC_RELAXED);
}

/* A handle that the program has just got may have been that of another object, before H5close(). */
static void handle_opened(const struct hdf5 *m, uint64_t handle)
{
	uint64_t key = key_of(m, handle), object;
	struct handle *h;

	if (__builtin_expect(!handles, 0))
		handles_map();
	h = handle_of(key, &object);
	if (h) {
		handle_put(h, key, 0);
		__atomic_store_n(&h->used, clock_now(), __ATOMIC_RELAXED);
	}
}

static bool is_known(const struct hdf5 *m, uint64_t handle)
{
	uint64_t object;

	return handle_of(key_of(m, handle), &object) && object != UINT64_MAX;
}

/* ---- objects ---- */

/* Names are cut to this, in a frame of which the call itself had more. */
enum { FILE_BYTES = 512, OBJECT_BYTES = 1024 };

static size_t length_of(int64_t length, size_t room)
{
	return length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
}

static __attribute__((noinline)) uint32_t object_ask(const struct hdf5 *m, int64_t handle)
{
	char text[OBJECT_BYTES];
	size_t at = length_of(m->file_name(handle, text, FILE_BYTES), FILE_BYTES), room;

	text[at++] = 0;
	room = sizeof(text) - at;
	return event_intern(TF_BLOB_HDF5, text, at + length_of(m->name(handle, text + at, room), room));
}

/* Its id in the trace; 0: it is not known. may_ask: the handle is valid. */
static uint32_t object_of(const struct hdf5 *m, uint64_t handle, bool may_ask)
{
	uint64_t key = key_of(m, handle), object, defined_in = __atomic_load_n(&process.defined_in, __ATOMIC_ACQUIRE);
	struct handle *h = handle_of(key, &object);

	if (!h || object == UINT64_MAX)
		return 0;
	__atomic_store_n(&h->used, clock_now(), __ATOMIC_RELAXED);
	if (object && object >> 32 == (uint32_t)defined_in)
		return (uint32_t)object;
	if (!may_ask)
		return 0;
	object = object_ask(m, (int64_t)handle);
	if (object)
		handle_put(h, key, defined_in << 32 | object);
	return (uint32_t)object;
}

/* ---- calls ---- */

/* Writes a call for which call_end() returned true. element: bytes of each of `count`, which is negative if the call
 * transfers none, or it is not known how many. */
static void record(const struct call *e, unsigned function, const struct library_returned *call, uint32_t object,
		   int64_t count, int64_t element)
{
	struct tf_operation op = {0};

	if (object)
		library_field(&op, TF_FIELD_OBJECT, object);
	if (element > 0 && count >= 0) {
		library_field(&op, TF_FIELD_COUNT, count);
		library_field(&op, TF_FIELD_ELEMENT, element);
	}
	library_record(e, function, call->result < 0 ? call->result : 0, &op);
}

/* A call that failed has the object of the first argument. */
static void finish_new(struct call *e, unsigned function, const struct library_returned *call, int64_t value,
		       bool is_file)
{
	bool is_open = call->result >= 0, is_long = e && call_end(e, function, 0);
	const struct hdf5 *m = library_of(call);
	int error = errno;

	if (m && is_open && (is_file || is_known(m, call->words[1])))
		handle_opened(m, (uint64_t)value);
	if (is_long)
		record(e, function, call, m ? object_of(m, is_open ? (uint64_t)value : call->words[1], is_open) : 0, -1,
		       0);
	errno = error;
}

static void finish_file(struct call *e, unsigned function, const struct library_returned *call, int64_t value)
{
	finish_new(e, function, call, value, true);
}

static void finish_open(struct call *e, unsigned function, const struct library_returned *call, int64_t value)
{
	finish_new(e, function, call, value, false);
}

static void finish_with(struct call *e, unsigned function, const struct library_returned *call, bool may_ask,
			int64_t bytes)
{
	const struct hdf5 *m;
	int error = errno;

	if (!e || !call_end(e, function, 0))
		return;
	m = library_of(call);
	record(e, function, call, m ? object_of(m, call->words[1], may_ask && call->result >= 0) : 0, bytes, 1);
	errno = error;
}

static void finish_use(struct call *e, unsigned function, const struct library_returned *call, int64_t value)
{
	(void)value;
	finish_with(e, function, call, true, -1);
}

static void finish_close(struct call *e, unsigned function, const struct library_returned *call, int64_t value)
{
	(void)value;
	finish_with(e, function, call, false, -1);
}

/* H5Dwrite_chunk(dataset, plist, filters, offset, bytes, buffer) */
static void finish_write_chunk(struct call *e, unsigned function, const struct library_returned *call, int64_t value)
{
	(void)value;
	finish_with(e, function, call, true, call->result < 0 ? -1 : (int64_t)call->words[LIBRARY_WORD(5)]);
}

/* H5S_ALL, H5S_BLOCK and H5S_PLIST are no handles. Without a selection in memory it is that of the file, and without
 * one of these it is the whole dataset, whose size only a handle of its own tells. -1: not known. */
static int64_t elements_of(const struct hdf5 *m, int64_t dataset, int64_t memory, int64_t file)
{
	enum { ALL = 0, PLIST = 2 };
	int64_t space = memory > PLIST ? memory : file, count;

	if (space > PLIST)
		return m->points(space);
	if (space != ALL)
		return -1;
	space = m->space(dataset);
	if (space < 0)
		return -1;
	count = m->points(space);
	m->space_close(space);
	return count;
}

/* H5Dread(dataset, type, memory, file, plist, buffer), H5Dwrite */
static void finish_transfer(struct call *e, unsigned function, const struct library_returned *call, int64_t value)
{
	int64_t dataset = (int64_t)call->words[1], count = -1, element = 0;
	const struct hdf5 *m;
	int error = errno;

	(void)value;
	if (!e || !call_end(e, function, 0))
		return;
	m = library_of(call);
	if (m && call->result >= 0) {
		element = (int64_t)m->type_size((int64_t)call->words[2]);
		count = elements_of(m, dataset, (int64_t)call->words[3], (int64_t)call->words[4]);
	}
	record(e, function, call, m ? object_of(m, (uint64_t)dataset, call->result >= 0) : 0, count, element);
	errno = error;
}

const struct library_body library_hdf5_file = {.finish = finish_file};
const struct library_body library_hdf5_open = {.finish = finish_open};
const struct library_body library_hdf5_use = {.finish = finish_use};
const struct library_body library_hdf5_close = {.finish = finish_close};
const struct library_body library_hdf5_transfer = {.finish = finish_transfer};
const struct library_body library_hdf5_write_chunk = {.finish = finish_write_chunk};
