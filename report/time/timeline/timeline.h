/* SPDX-License-Identifier: Apache-2.0 */
/* The one visitor of events: chrome, perfetto, the page and nsys's tables print what it yields.
 *
 * For each program of a process it visits the calls, marks and samples of each thread, NVTX ranges, device operations,
 * the calls that caused them, and counters. The visitor decides the name, track, times, arguments and flows of each
 * event; a printer knows only its format. A new argument is one row of TIMELINE_ARGUMENTS, with its name in each
 * format.
 *
 * Nothing is stored: an event is valid until the printer returns, and memory grows with the number of names, not of
 * events. Texts have numbers in their program. A printer makes its own form of a text when the text is first needed,
 * and keeps it in the text's slot. docs/decisions/timeline.md has what was tried. */
#pragma once

#include "report/events/cuda/correlate.h"
#include "report/events/cuda/stream_name.h"
#include "report/events/energy/counter.h"
#include "report/events/group.h"
#include "report/events/nvtx/nvtx.h"

/* ---- texts: a text is identified by its kind and its number in the program ---- */

enum timeline_text {
	TEXT_FUNCTION,
	TEXT_STRING,	/* of NVTX */
	TEXT_DOMAIN,	/* of NVTX */
	TEXT_STACK,
	TEXT_KERNEL,	/* of a launch */
	TEXT_SHAPE,	/* of a library call: number of the operation << 8 | group of the function */
	TEXT_ERRNO,	/* of an OS call */
	TEXT_FLAGS,	/* of an OS call: enum tf_flags << 32 | the flags */
	TEXT_OPERATION, /* of a device */
	TEXT_KINDS
};

/* ---- arguments ---- */

enum timeline_type {
	TYPE_NUMBER, /* unsigned */
	TYPE_SIGNED,
	TYPE_HANDLE, /* an address or a handle: hexadecimal where people read it */
	TYPE_TEXT,   /* the number of a text */
	TYPE_COPY,   /* from where to where a call copies; 63: memset */
	TYPE_MEMORY  /* kind of memory of an allocation */
};

/* X(ID, type, kind of text, names in chrome's files, in Perfetto's and in the page, whether it differs from call to
 * call); name NULL: not there. Calls that agree in all but such an argument share a detail of the page. */
#define TIMELINE_ARGUMENTS(X)                                                                            \
	X(STACK, TYPE_TEXT, TEXT_STACK, "stack", "", "stack", false) /* Perfetto has a field for it */   \
	X(FD, TYPE_NUMBER, 0, "fd", "fd", "descriptor", false)                                           \
	X(RESULT, TYPE_SIGNED, 0, "result", "result", "result", true)                                    \
	X(TIMEOUT_US, TYPE_NUMBER, 0, "timeout_us", NULL, NULL, true)                                    \
	X(READY, TYPE_SIGNED, 0, "result", NULL, NULL, true)                                             \
	X(VALUE, TYPE_NUMBER, 0, "value", NULL, "argument", true)                                        \
	X(LAUNCH, TYPE_TEXT, TEXT_KERNEL, "kernel", "kernel", "kernel", false)                           \
	X(COPY, TYPE_COPY, 0, "kind", NULL, "copy", false)                                               \
	X(BYTES, TYPE_NUMBER, 0, "bytes", "bytes", "bytes", true)                                        \
	X(ADDRESS, TYPE_NUMBER, 0, "address", NULL, NULL, true)                                          \
	X(FREED, TYPE_NUMBER, 0, "freed", NULL, NULL, true)                                              \
	X(ALLOCATES, TYPE_MEMORY, 0, NULL, NULL, "allocates", false)                                     \
	X(FREES, TYPE_MEMORY, 0, NULL, NULL, "frees", false)                                             \
	X(STREAM, TYPE_HANDLE, 0, "stream handle", "stream handle", "stream", false)                     \
	X(ERROR, TYPE_NUMBER, 0, "error", "error", "error", false)                                       \
	X(ERRNO, TYPE_TEXT, TEXT_ERRNO, "errno", "errno", "errno", false)                                \
	X(FLAGS, TYPE_TEXT, TEXT_FLAGS, "flags", "flags", "flags", false)                                \
	X(SHAPE, TYPE_TEXT, TEXT_SHAPE, "shape", "shape", "shape", false)                                \
	X(LOCK, TYPE_HANDLE, 0, "lock", "lock", "lock", false)                                           \
	X(HOLDER, TYPE_NUMBER, 0, "holder", "holder", "held by thread", false)                           \
	X(WAKER, TYPE_NUMBER, 0, "waker", "waker", "ended by thread", false)                             \
	X(WOKEN_NS, TYPE_NUMBER, 0, "woken (ns before the end)", "woken (ns before the end)", NULL, true) \
	X(THREADS, TYPE_NUMBER, 0, "threads", "threads", "threads", false)                               \
	X(WAITED_NS, TYPE_NUMBER, 0, "waited (ns, all threads)", "waited (ns, all threads)", NULL, true) \
	X(CPU_NS, TYPE_NUMBER, 0, "CPU time (ns)", "CPU time (ns)", NULL, true)

enum timeline_argument_id {
#define TIMELINE_ID(ID, ...) ARGUMENT_##ID,
	TIMELINE_ARGUMENTS(TIMELINE_ID)
#undef TIMELINE_ID
	ARGUMENT_IDS
};

struct timeline_argument_kind {
	enum timeline_type type;
	enum timeline_text text;
	const char *chrome, *perfetto, *page;
	bool is_value;
};

extern const struct timeline_argument_kind timeline_arguments[ARGUMENT_IDS];

struct timeline_argument {
	uint8_t id; /* enum timeline_argument_id */
	uint64_t value;
};

enum { TIMELINE_ARGUMENTS_MOST = 32 };

/* ---- events ---- */

enum timeline_kind {
	TIMELINE_CALL,
	TIMELINE_SAMPLE,
	TIMELINE_MARK,	  /* `range` has its text and arguments */
	TIMELINE_COUNTER, /* a sample of a counter of NVTX; likewise */
	TIMELINE_RANGE,
	TIMELINE_OPERATION, /* a device operation */
	TIMELINE_ACTIVITY   /* a wait for a device, an allocation on it, or overhead */
};

struct timeline_event {
	enum timeline_kind kind;
	uint32_t name; /* number of the text: TEXT_FUNCTION, TEXT_STRING or TEXT_OPERATION */
	const struct trace_thread *thread; /* NULL: it is on a device */
	/* start_ns in the common time; end_ns of ranges is not rounded twice, as start_ns + duration_ns is */
	uint64_t start_ns, duration_ns, end_ns;
	uint64_t correlation; /* of a call of CUDA and what it made a device do, see correlation_number(); 0: none */
	const struct function *function; /* of a call; NULL: the trace does not have it */
	bool is_cuda;			 /* a call of the runtime or the driver */
	const struct event *event;	 /* of a call, a sample, a mark */
	const struct nvtx_range *range;	 /* start and end of a mark are equal */
	const struct device_record *record; /* of a device */
	const struct tf_device_operation *operation;
	size_t argument_count;
	struct timeline_argument arguments[TIMELINE_ARGUMENTS_MOST];
};

/* From a call to each operation that it made a device do. */
struct timeline_flow {
	const struct trace_thread *thread;
	uint64_t start_ns, duration_ns; /* of the call */
	const struct device_record *records;
	size_t record_count;
};

enum timeline_counter_kind { COUNTER_RESIDENT, COUNTER_HEAP, COUNTER_CUDA };

struct timeline_counter {
	enum timeline_counter_kind kind;
	uint32_t device; /* of COUNTER_CUDA; MEMORY_HOST: none */
	uint8_t memory;	 /* likewise, see memory_kind(); 0: the sum of all kinds */
	uint64_t bytes, ns;
};

/* ---- the visitor ---- */

struct timeline {
	const struct report_context *context;
	const struct model *model;
	/* of the program that is visited */
	const struct image *image;
	const struct clock_map *clock;
	bool is_first;		 /* of its process */
	bool has_device_records;
	struct correlation_ids ids;
	struct nvtx_definitions nvtx;
	struct stream_names streams;
	uint64_t functions[EVENT_IDS]; /* slots of TEXT_FUNCTION */
	struct map slots;	       /* (kind, number) -> slot */
	struct map operations;	       /* number -> place in operation_list */
	struct tf_device_operation *operation_list;
	size_t operation_count, operation_capacity;
	const struct timeline_printer *printer;
	void *context_of_printer;
};

enum timeline_part { PART_END, PART_THREADS, PART_RANGES, PART_OPERATIONS, PART_ACTIVITIES, PART_FLOWS, PART_COUNTERS };

enum { TIMELINE_PARTS = 7 };

struct timeline_printer {
	enum timeline_part parts[TIMELINE_PARTS]; /* what is visited, in this order */
	bool wants_correlations;
	/* Each but `event` may be NULL. */
	void (*begin)(void *printer); /* of a program */
	void (*thread)(void *printer, const struct trace_thread *thread);
	void (*thread_end)(void *printer, const struct trace_thread *thread);
	void (*event)(void *printer, const struct timeline_event *e);
	void (*flow)(void *printer, const struct timeline_flow *f);
	void (*counter)(void *printer, const struct timeline_counter *c);
	void (*part_end)(void *printer, enum timeline_part part);
	void (*end)(void *printer);
	const int *failed; /* not 0: nothing more is visited; NULL: printing cannot fail */
};

/* Visits all programs of the model. *t is what the printer's functions read. */
void timeline_visit(struct timeline *t, const struct report_context *c, const struct timeline_printer *p,
		    void *printer);

/* The printer's own number for a text, 0 until the printer sets it. Borrowed until the next call, for TEXT_FUNCTION
 * until the end of the program. */
uint64_t *timeline_slot(struct timeline *t, enum timeline_text kind, uint64_t number);

/* Appends a text. False: it is not known, or what stands for it was appended. */
bool timeline_text(const struct timeline *t, enum timeline_text kind, uint64_t number, struct buffer *ret);

/* The definition of a launch. False: it is lost. */
bool timeline_launch(const struct timeline *t, uint32_t number, struct tf_launch *ret);

/* The word for the group of a function in Kineto's files. */
const char *timeline_category(const struct function *f);

/* The definition of a device operation; zeros if it is lost. Borrowed until the next call. */
const struct tf_device_operation *timeline_operation(struct timeline *t, uint32_t number);

/* The pid of a process or of something else with an owner above all processes: `wanted`, or if another owner has it,
 * as with processes of two machines, an unused number. */
uint32_t timeline_pid(struct map *owners, uint32_t wanted, uint64_t owner, bool *ret_new);

/* Appends "stream 7 of PROCESS", and "NAME on HOST". */
void timeline_stream_label(const struct timeline *t, const struct tf_device_operation *operation, struct buffer *ret);
void timeline_device_label(const struct timeline *t, uint32_t device, struct buffer *ret);
