/* SPDX-License-Identifier: Apache-2.0 */
/* What a look found is written in parts, so that it needs little memory: it is mapped for the first look, because every
 * process pays for what is not. */
#include "preload/python/annotate_parts.h"

#include <errno.h>
#include <sys/mman.h>

#include "preload/nvtx/nvtx_tool.h"
#include "preload/python/python_api.h"
#include "runtime/recorder/python/pystack.h"
#include "runtime/recorder/record/event.h"
#include "runtime/shared/common/sys.h"

enum { PART = 48, FRAMES = 128 };
/* Without --jax-live: looks are this far apart, and take at most a hundredth of the time. */
enum { MS = 1000, PAUSE = 100 };

bool annotate_jax_live_is_on;
static const struct nvtx_domain *of_domain;
static void *look;
static uint64_t interval, rest, looked; /* rest: from the begin of the last look on, in which none begins */
static uint32_t executables;

static struct look_part {
	struct tf_jax_live head;
	struct tf_jax_buffers items[PART];
	size_t count;
} *part;

static void part_write(void)
{
	event_blob(TF_BLOB_JAX_LIVE, part->head.number, part, sizeof(part->head) + part->count * sizeof(*part->items));
	part->count = 0;
}

static uint32_t text_id(const char *text)
{
	return event_intern(TF_BLOB_STRING, text, nvtx_text_length(text));
}

/* ---- the functions that annotate.py is given ---- */

static __attribute__((cold)) void *jax_live_by(void *self, void *function)
{
	static uint64_t noted;

	part = sys_mmap(NULL, sizeof(*part), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!part)
		nvtx_note_once(&noted, "--jax: no memory for live buffers");
	python.Py_IncRef(function);
	look = function;
	interval = clock_ticks((uint64_t)(process_options.jax_live_ms ?: MS) * 1000000);
	annotate_jax_live_is_on = part && python.PyObject_CallFunction && python.PyErr_Restore;
	return python_none();
}

static bool add_buffers(void *row)
{
	unsigned long long count, bytes;
	struct pystack_frame where[FRAMES];
	const char *array, *devices;
	unsigned depth = 0;
	void *frames;

	if (!python.PyArg_ParseTuple(row, "ssKKO", &array, &devices, &count, &bytes, &frames))
		return false;
	for (; depth < FRAMES && depth < python.PyTuple_Size(frames); depth++) {
		where[depth] = (struct pystack_frame){0};
		if (!python.PyArg_ParseTuple(python.PyTuple_GetItem(frames, depth), "OI", &where[depth].code,
					     &where[depth].offset))
			return false;
	}
	if (part->count == PART)
		part_write();
	part->items[part->count++] = (struct tf_jax_buffers){
		.count = count,
		.bytes = bytes,
		.array = text_id(array),
		.devices = text_id(devices),
		.stack = pystack_intern(where, depth, false),
	};
	return true;
}

static __attribute__((cold)) void *jax_live(void *self, void *rows)
{
	part->head.ticks = clock_now();
	part->head.number++;
	part->count = 0;
	for (long i = 0; i < python.PyTuple_Size(rows); i++)
		if (!add_buffers(python.PyTuple_GetItem(rows, i)))
			return NULL;
	part_write();
	return python_none();
}

static __attribute__((cold)) void *jax_executable(void *self, void *arguments)
{
	unsigned long long bytes[5];
	const char *name;
	unsigned devices;
	struct tf_jax_executable e;

	if (!python.PyArg_ParseTuple(arguments, "sKKKKKI", &name, &bytes[0], &bytes[1], &bytes[2], &bytes[3], &bytes[4],
				     &devices))
		return NULL;
	e = (struct tf_jax_executable){bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], devices, 0};
	if (hook_attached())
		event_blob_of_two(TF_BLOB_JAX_EXECUTABLE, __atomic_add_fetch(&executables, 1, __ATOMIC_RELAXED), &e,
				  sizeof(e), name, nvtx_text_length(name));
	return python_none();
}

static const struct method natives[] = {
	{"jax_live_by", jax_live_by, TAKES_ONE, NULL},
	{"jax_live", jax_live, TAKES_ONE, NULL},
	{"jax_executable", jax_executable, TAKES_TUPLE, NULL},
};

__attribute__((cold)) void annotate_jax_live_offer(void *space, const struct nvtx_domain *domain)
{
	of_domain = domain;
	python_offer(space, natives, sizeof(natives) / sizeof(*natives));
}

/* ---- a look ---- */

/* False: no exception of the program is set. */
static bool restore_exception(void *said)
{
	void *type, *value, *traceback;

	if (!said) {
		if (!python.PyErr_ExceptionMatches(**python.PyExc_Exception))
			return true; /* KeyboardInterrupt, SystemExit */
		python.PyErr_Clear(); /* too deep a recursion, no memory */
		return false;
	}
	if (said == python._Py_NoneStruct || !python.PyArg_ParseTuple(said, "OOO", &type, &value, &traceback)) {
		python.PyErr_Clear();
		return false;
	}
	python.Py_IncRef(type);
	python.Py_IncRef(value);
	python.Py_IncRef(traceback);
	python.PyErr_Restore(type, value, traceback);
	return true;
}

__attribute__((cold, noinline)) bool annotate_jax_live_look(void)
{
	uint64_t now = clock_now();
	int error = errno;
	bool is_raised;
	void *said;

	if (now - looked < (interval > rest ? interval : rest) || !nvtx_wanted(of_domain))
		return true;
	looked = now;
	said = python.PyObject_CallFunction(look, NULL);
	rest = process_options.jax_live_ms ? 0 : PAUSE * (clock_now() - now);
	is_raised = restore_exception(said);
	python.Py_DecRef(said);
	errno = error;
	return !is_raised;
}
