/* SPDX-License-Identifier: Apache-2.0 */
/* What entry_<architecture>.S calls before and after the real function of a library, and the tables that are generated
 * from the rows. */
#include <string.h>

#include "runtime/shared/common/hot.h"
#include "runtime/shared/common/range.h"
#include "preload/hook/entry.h"
#include "preload/library/frame.h"
#include "preload/library/library.h"
#include "preload/library/library_hdf5.h"
#include "preload/library/library_mpi.h"
#include "preload/library/library_nccl.h"
#include "preload/library/library_set.h"

/* ---- shapes ---- */

#define PART(field_, how_, position_, other_) {field_, how_, LIBRARY_WORD(position_), LIBRARY_WORD(other_)}
#define ENUM(field, position) PART(TF_FIELD_##field, LIBRARY_ENUM, position, 0)
#define ENUM_A(field, position) PART(TF_FIELD_##field | TF_ROLE_A, LIBRARY_ENUM, position, 0)
#define ENUM_B(field, position) PART(TF_FIELD_##field | TF_ROLE_B, LIBRARY_ENUM, position, 0)
#define ENUM_C(field, position) PART(TF_FIELD_##field | TF_ROLE_C, LIBRARY_ENUM, position, 0)
#define INT(field, position) PART(TF_FIELD_##field, LIBRARY_INT, position, 0)
#define INT_A(field, position) PART(TF_FIELD_##field | TF_ROLE_A, LIBRARY_INT, position, 0)
#define INT_B(field, position) PART(TF_FIELD_##field | TF_ROLE_B, LIBRARY_INT, position, 0)
#define INT_C(field, position) PART(TF_FIELD_##field | TF_ROLE_C, LIBRARY_INT, position, 0)
#define WIDE(field, position) PART(TF_FIELD_##field, LIBRARY_WIDE, position, 0)
#define WIDE_A(field, position) PART(TF_FIELD_##field | TF_ROLE_A, LIBRARY_WIDE, position, 0)
#define WIDE_B(field, position) PART(TF_FIELD_##field | TF_ROLE_B, LIBRARY_WIDE, position, 0)
#define WIDE_C(field, position) PART(TF_FIELD_##field | TF_ROLE_C, LIBRARY_WIDE, position, 0)
#define LIST(field, count, address) PART(TF_FIELD_##field, LIBRARY_LIST, count, address)
#define LIST_B(field, count, address) PART(TF_FIELD_##field | TF_ROLE_B, LIBRARY_LIST, count, address)
#define LIST_WIDE(field, count, address) PART(TF_FIELD_##field, LIBRARY_LIST_WIDE, count, address)
#define SOURCE(position, status) PART(TF_FIELD_PEER, LIBRARY_SOURCE, position, status)
#define SOURCE_B(position, status) PART(TF_FIELD_PEER | TF_ROLE_B, LIBRARY_SOURCE, position, status)
#define SOURCE_TAG(position, status) PART(TF_FIELD_TAG, LIBRARY_SOURCE_TAG, position, status)
#define SOURCE_TAG_B(position, status) PART(TF_FIELD_TAG | TF_ROLE_B, LIBRARY_SOURCE_TAG, position, status)
#define BUFFER(name) PART(LIBRARY_MPI_##name, LIBRARY_BUFFER, 1, 0)
#define OF(role, position) PART(TF_ROLE_##role, LIBRARY_OF, position, 0)
#define OF_INT(role, position) PART(TF_ROLE_##role, LIBRARY_OF_INT, position, 0)
#define BYTES(position) PART(TF_FIELD_ELEMENT, LIBRARY_BYTES, position, 0)
#define COMMUNICATOR(position) PART(TF_FIELD_COMMUNICATOR, LIBRARY_COMMUNICATOR, position, 0)
#define KEY_NONE LIBRARY_KEY_NONE, 0
#define KEY_AT(position) LIBRARY_KEY_AT, LIBRARY_WORD(position)
#define KEY_OUT(position) LIBRARY_KEY_OUT, LIBRARY_WORD(position)
#define KEY_COMMUNICATOR(position) LIBRARY_KEY_COMMUNICATOR, LIBRARY_WORD(position)
#define KEY_COMMUNICATOR_LATER(position) LIBRARY_KEY_COMMUNICATOR_LATER, LIBRARY_WORD(position)
#define KEY_WORLD LIBRARY_KEY_WORLD, 0
#define KEY_INT(position) LIBRARY_KEY_INT, LIBRARY_WORD(position)
#define KEY_INT_OUT(position) LIBRARY_KEY_INT_OUT, LIBRARY_WORD(position)

/* Counts the parts of a shape. The list of NOTHING is empty. */
#define PART_COUNT(...) (sizeof((const struct library_part[]){__VA_ARGS__}) / sizeof(struct library_part))
/* Shapes differ in size: rows have offsets. */
#define SHAPE_ROOM(name, key_and_position, ...)                                                                        \
	struct {                                                                                                       \
		uint8_t count, key, key_position;                                                                      \
		struct library_part parts[PART_COUNT(__VA_ARGS__)];                                                    \
	} name;
#define SHAPE(name, key_and_position, ...) {PART_COUNT(__VA_ARGS__), key_and_position, {__VA_ARGS__}},
#define SHAPE_OFFSET(name, ...) SHAPE_##name = offsetof(struct shapes, name),
static const struct shapes {
	SHAPES_LIBRARY(SHAPE_ROOM)
} shapes = {SHAPES_LIBRARY(SHAPE)};
enum { SHAPES_LIBRARY(SHAPE_OFFSET) };
_Static_assert(sizeof(shapes) <= UINT16_MAX, "offsets have 16 bits");

static inline const struct library_shape *shape_at(unsigned offset)
{
	return (const struct library_shape *)((const uint8_t *)&shapes + offset);
}

/* ---- rows ---- */

/* Of the kinds whose `shape` is the name of a struct library_body. */
#define IF_BODY_SET , HOOK_KEEP
#define IF_BODY_OWN , HOOK_KEEP

#define BODY(kind, group, symbol, name, words, body) HOOK_SECOND(IF_BODY_##kind, HOOK_NOT, )(&body,)
#define BODY_NUMBER(kind, group, symbol, name, words, body) HOOK_SECOND(IF_BODY_##kind, HOOK_NOT, )(BODY_##symbol,)
static const struct library_body *const bodies[] = {HOOK_LIBRARY(BODY)};
enum { HOOK_LIBRARY(BODY_NUMBER) };

/* All symbols are in one text, and rows have offsets in it, because addresses would be relocated in each process. */
#define SYMBOL_ROOM(kind, group, symbol, ...) char symbol[sizeof(#symbol)];
#define SYMBOL_TEXT(kind, group, symbol, ...) #symbol,
static const struct symbols {
	HOOK_LIBRARY(SYMBOL_ROOM)
} symbols = {HOOK_LIBRARY(SYMBOL_TEXT)};
_Static_assert(sizeof(symbols) <= UINT16_MAX, "offsets have 16 bits");

enum row_kind {
	CALL,
	INT64_VARIANT,
	PMPI_ALIAS,
	PMPI_INT64_VARIANT,
	CREATES_HANDLE,
	PMPI_CREATES_HANDLE,
	NOTE,
	SET,
	OWN
};
#define IS_NOTED(kind) ((kind) >= CREATES_HANDLE)
#define IS_WIDE(kind) ((kind) == INT64_VARIANT || (kind) == PMPI_INT64_VARIANT)
#define IS_PMPI(kind) ((kind) == PMPI_ALIAS || (kind) == PMPI_INT64_VARIANT || (kind) == PMPI_CREATES_HANDLE)
#define IS_RECORDED(kind) ((kind) != NOTE && (kind) != SET)
#define HAS_BODY(kind) ((kind) == SET || (kind) == OWN)

static const struct function {
	uint16_t symbol; /* offset in symbols */
	uint16_t id;	 /* in the trace, if the kind is recorded */
	uint16_t shape;	 /* its offset in shapes; or the number of the body */
	uint8_t kind, group;
	uint8_t stack;	 /* words on the stack */
	uint8_t request; /* position of the argument with the address of a request, LIBRARY_WORD(n); 0: it has none */
} functions[HOOK_LIBRARY_COUNT] = {
#define ID_NOTE , 0
#define ID_SET , 0
#define SHAPE_OF(symbol, shape) SHAPE_##shape
#define SHAPE_OF_OWN , BODY_OF
#define SHAPE_OF_SET , BODY_OF
#define BODY_OF(symbol, shape) BODY_##symbol
/* LATER(shape) */
#define SHAPE_LATER(shape) SHAPE_##shape
#define IS_LATER_LATER(shape) , 1
#define STACK_WORDS(words) ((words) > LIBRARY_REGISTERS ? (words) - LIBRARY_REGISTERS : 0)
#define FUNCTION(kind, group, symbol, name, words, shape)                                                              \
	{offsetof(struct symbols, symbol), HOOK_SECOND(ID_##kind, HOOK_##name, ),                                      \
	 HOOK_SECOND(SHAPE_OF_##kind, SHAPE_OF, )(symbol, shape), kind, TF_GROUP_##group, STACK_WORDS(words),          \
	 HOOK_SECOND(IS_LATER_##shape, 0, ) ? LIBRARY_WORD(words) : 0},
	HOOK_LIBRARY(FUNCTION)
};

#define NUMBER_OF(symbol) (HOOK_PLACE_##symbol - HOOK_COUNT)
#define ROW(kind, group_, symbol, ...)                                                                                 \
	{.group = 1u << TF_GROUP_##group_, .number = NUMBER_OF(symbol), .always = IS_NOTED(kind) ? 0xffff : 0},
__attribute__((section("pillion_rows"))) struct library_row library_rows[HOOK_LIBRARY_COUNT] = {HOOK_LIBRARY(ROW)};
struct library_row *library_found;

#define FOUND_AT(type, member, offset)                                                                                 \
	_Static_assert(offsetof(struct type, member) == (offset), "the entry finds " #member)
FOUND_AT(library_row, place.real, ROW_REAL);
FOUND_AT(library_row, place.check, ROW_CHECK);
FOUND_AT(library_row, group, ROW_GROUP);
FOUND_AT(library_row, always, ROW_ALWAYS);
FOUND_AT(process_gate, groups, GATE_GROUPS);
FOUND_AT(process_gate, recording, GATE_RECORDING);
FOUND_AT(library_frame, real, FRAME_REAL);
FOUND_AT(library_frame, row, FRAME_ROW);
FOUND_AT(library_frame, words, FRAME_WORDS);
FOUND_AT(library_frame, words[LIBRARY_REGISTERS], FRAME_BYTES);
FOUND_AT(library_frame, results, FRAME_RESULTS);
FOUND_AT(library_frame, vectors, FRAME_VECTORS);
#define AT_START(member, distance)                                                                                     \
	_Static_assert(offsetof(struct library_frame, member) ==                                                       \
			       offsetof(struct library_frame, call.start) + (distance),                                \
		       "the launcher finds " #member)
AT_START(call.frame, TF_START_TO_FRAME);
AT_START(words, TF_START_TO_REGISTERS);
AT_START(stack, TF_START_TO_STACK);
AT_START(frame_pointer, TF_START_TO_FRAME_POINTER);
#ifdef FRAME_INDIRECT
FOUND_AT(library_frame, indirect, FRAME_INDIRECT);
#endif
_Static_assert(sizeof(struct library_row) == 1 << ROW_SHIFT && TF_GROUP_COUNT <= 16, "rows have 16 bits for groups");

const char *library_symbol(unsigned number)
{
	return (const char *)&symbols + functions[number].symbol;
}

/* ---- calls ---- */

enum { PASSED, RECORDED, MISSING };

/* Called instead of a function that no library defines. */
static int missing(void)
{
	return 0;
}

/* Its result: not initialised, or the library's nearest error. */
static const int16_t not_initialised[TF_GROUP_COUNT] = {
	[TF_GROUP_CUBLAS] = 1,	 [TF_GROUP_CUDNN] = 1001,
	[TF_GROUP_CUSPARSE] = 1, [TF_GROUP_CUSOLVER] = 1,
	[TF_GROUP_CUFFT] = 7,	/* CUFFT_SETUP_FAILED */
	[TF_GROUP_NCCL] = 2,	/* ncclSystemError */
	[TF_GROUP_MPI] = 16,	/* MPI_ERR_OTHER in Open MPI */
	[TF_GROUP_HDF5] = -1,
};

static bool is_to_be_noted(const struct library_frame *f, const struct function *function)
{
	return library_has_done(function->group, (int)f->results[0]) && process_gate.groups & f->row->group;
}

/* The ids of MPI's functions. */
#define ONE_RECORDED(kind, ...) LIBRARY_IF_RECORDED(kind, +1)
enum { MPI_FIRST = HOOK_MPI_Init, MPI_COUNT = 0 HOOK_MPI(ONE_RECORDED) };

/* Is the call part of one that is recorded? */
static inline __attribute__((always_inline)) bool is_part(const struct function *function, uintptr_t frame)
{
	return IS_PMPI(function->kind) ? library_is_inside(MPI_FIRST, MPI_COUNT, frame)
					  : library_is_inside(function->id, 1, frame);
}

/* Begins the event of a call that is recorded. */
static inline __attribute__((always_inline)) unsigned begin(struct library_frame *f, const struct function *function)
{
	uintptr_t frame = (uintptr_t)&f->frame_pointer;

	if (IS_RECORDED(function->kind) && process_gate.groups & *process_gate.recording & f->row->group &&
	    !is_part(function, frame)) {
		f->state = RECORDED;
		call_begin_attached(&f->call, function->id, frame);
	}
	return function->stack;
}

/* The first call of a function from a call site, or the first recorded call of a thread. */
static __attribute__((noinline, cold)) unsigned begin_slowly(struct library_frame *f, const struct function *function)
{
	struct library_row *row = f->row;
	unsigned stack = function->stack;

	if (!f->real)
		f->real = caller_recall(&row->place, HOOK_COUNT + row->number, library_symbol(row->number), f->caller);
	if (!f->real) {
		f->real = (void *)missing;
		f->state = MISSING;
		return 0;
	}
	if (hook_attached())
		stack = begin(f, function);
	if (f->state == RECORDED && function->id == HOOK_MPI_Abort && process_range)
		range_await_abort(process_range);
	return stack;
}

unsigned library_begin(struct library_frame *f)
{
	const struct function *function = &functions[f->row->number];

	f->state = PASSED;
	/* The clock's slow path is a function call. Without it the compiler need not save registers. */
	if (__builtin_expect(!f->real || thread_self.generation != process.generation || !clock_is_counter, 0))
		return begin_slowly(f, function);
	return begin(f, function);
}

static inline __attribute__((always_inline)) struct library_returned returned(const struct library_frame *f,
									       const struct function *function)
{
	return (struct library_returned){f->words - 1, f->real, (int)f->results[0], IS_WIDE(function->kind)};
}

static __attribute__((noinline)) void finish_body(struct library_frame *f, const struct function *function)
{
	const struct library_body *body = bodies[function->shape];
	struct library_returned call = returned(f, function);

	if (body->finish && process_gate.groups & f->row->group)
		body->finish(f->state == RECORDED ? &f->call : NULL, function->id, &call, (int64_t)f->results[0]);
	if (body->end && f->state == RECORDED)
		body->end(&f->call, function->id, (int)f->results[0], f->words - 1);
	if (body->note && is_to_be_noted(f, function))
		body->note(f->words - 1);
}

static inline __attribute__((always_inline)) void end(struct library_frame *f, const struct function *function)
{
	struct library_returned call = returned(f, function);
	const struct library_shape *shape = shape_at(function->shape);
	unsigned request = function->request;

	if (__builtin_expect(!request, 1))
		library_end(&f->call, function->id, shape, &call);
	else if (function->shape == SHAPE_MPI_REQUESTS)
		library_end_start_all(&f->call, function->id, &call);
	else
		library_end_later(&f->call, function->id, shape, &call, (const uint32_t *)call.words[request]);
}

static __attribute__((noinline)) void finish_maker(struct library_frame *f, const struct function *function)
{
	const struct library_shape *shape = shape_at(function->shape);
	struct library_returned call = returned(f, function);
	bool is_communicator = shape->key >= LIBRARY_KEY_COMMUNICATOR, is_made = is_to_be_noted(f, function);

	if (is_communicator && is_made)
		library_note(shape, &call);
	if (f->state == RECORDED && is_communicator)
		library_end_maker(&f->call, function->id, shape, is_made, &call);
	else if (f->state == RECORDED)
		end(f, function);
	if (!is_communicator && is_made)
		library_note(shape, &call);
}

/* Called after the real function. `words` has the arguments as the caller passed them: the real function received a
 * copy of those on the stack, which it may overwrite. */
void library_finish(struct library_frame *f)
{
	const struct function *function = &functions[f->row->number];

	if (__builtin_expect(f->state == MISSING, 0))
		f->results[0] = (uintptr_t)not_initialised[function->group];
	else if (__builtin_expect(HAS_BODY(function->kind), 0))
		finish_body(f, function);
	else if (__builtin_expect(IS_NOTED(function->kind), 0))
		finish_maker(f, function);
	else if (f->state == RECORDED)
		end(f, function);
}
