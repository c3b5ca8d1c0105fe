/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/library/library.h"

#include <string.h>
#include <sys/mman.h>

#include "preload/library/library_mpi.h"
#include "runtime/recorder/record/intern_table.h"
#include "runtime/shared/common/sys.h"

static void collect_list(struct tf_operation *op, const struct library_part *p, const uintptr_t *words)
{
	int count = (int)words[p->position];
	const void *list = (const void *)words[p->other];

	for (int i = 0; list && i < count && i < 8; i++)
		library_field(op, p->field,
			      p->how == LIBRARY_LIST_WIDE ? ((const int64_t *)list)[i]
							  : (int64_t)((const int *)list)[i]);
}

void library_collect(struct tf_operation *op, const struct library_shape *shape, const struct library_returned *call)
{
	for (unsigned i = 0; i < shape->count; i++) {
		const struct library_part *p = &shape->parts[i];
		uintptr_t word = call->words[p->position];

		switch (p->how) {
		case LIBRARY_INT:
			library_field(op, p->field, call->is_wide ? (int64_t)word : (int64_t)(int)word);
			break;
		case LIBRARY_ENUM:
			library_field(op, p->field, (int)word);
			break;
		case LIBRARY_WIDE:
			library_field(op, p->field, (int64_t)word);
			break;
		case LIBRARY_LIST:
		case LIBRARY_LIST_WIDE:
			if (!call->result)
				collect_list(op, p, call->words);
			break;
		case LIBRARY_OF:
			library_append(op, word, p->field);
			break;
		case LIBRARY_OF_INT:
			library_append(op, (unsigned)word, p->field);
			break;
		case LIBRARY_BYTES:
			library_field(op, p->field, library_mpi_bytes(call, word));
			break;
		case LIBRARY_COMMUNICATOR:
			library_mpi_communicator(op, call, word);
			break;
		case LIBRARY_SOURCE:
		case LIBRARY_SOURCE_TAG:
			library_field(op, p->field, library_mpi_source(call, p));
			break;
		case LIBRARY_BUFFER:
			library_mpi_buffer(op, call, p->field);
			break;
		}
	}
}

static uintptr_t key_of(const struct library_shape *shape, const uintptr_t *words)
{
	uintptr_t word = words[shape->key_position];

	switch (shape->key) {
	case LIBRARY_KEY_AT:
		return word;
	case LIBRARY_KEY_OUT:
		return word ? *(const uintptr_t *)word : 0;
	case LIBRARY_KEY_INT:
		return (unsigned)word;
	case LIBRARY_KEY_INT_OUT:
		return word ? *(const unsigned *)word : 0;
	default:
		return 0;
	}
}

void library_note(const struct library_shape *shape, const struct library_returned *call)
{
	struct tf_operation op = {0};

	if (shape->key == LIBRARY_KEY_COMMUNICATOR || shape->key == LIBRARY_KEY_COMMUNICATOR_LATER) {
		library_mpi_note(call, (const void *)call->words[shape->key_position],
				 shape->key == LIBRARY_KEY_COMMUNICATOR_LATER);
		return;
	}
	if (shape->key == LIBRARY_KEY_WORLD)
		return;
	library_collect(&op, shape, call);
	library_note_all(key_of(shape, call->words), &op);
}

/* ---- into the trace ---- */

/* The operation of a call with these arguments, so that the operation of a repeated call need not be assembled again.
 * The two words of an entry may be from different writers; such an entry matches no key. The table is mapped at its
 * first use. */
enum { REMEMBERED = 1024 };
static struct remembered {
	uint64_t check, id; /* check: key ^ id */
} *remembered;

static __attribute__((noinline, cold)) struct remembered *remembered_map(void)
{
	enum { BYTES = REMEMBERED * sizeof(struct remembered) };
	struct remembered *fresh, *other = NULL;

	fresh = sys_mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fresh &&
	    !__atomic_compare_exchange_n(&remembered, &other, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		sys_munmap(fresh, BYTES);
		return other;
	}
	return fresh;
}

/* NULL: there is no memory. */
static inline __attribute__((always_inline)) struct remembered *remembered_at(uint64_t key)
{
	struct remembered *table = __atomic_load_n(&remembered, __ATOMIC_ACQUIRE);

	if (__builtin_expect(!table, 0))
		table = remembered_map();
	return table ? &table[key % REMEMBERED] : NULL;
}

/* The source or the tag of a message is a wildcard: the status of the call has the real one. */
static __attribute__((noinline, cold)) bool has_wildcard(const struct library_shape *shape, const uintptr_t *words)
{
	for (unsigned i = 0; i < shape->count; i++) {
		const struct library_part *p = &shape->parts[i];

		if ((p->how == LIBRARY_SOURCE || p->how == LIBRARY_SOURCE_TAG) && (int)words[p->position] < 0)
			return true;
	}
	return false;
}

/* A hash of everything that determines the operation and its id, which is valid in one turn of a ring. 0: it
 * depends on more than the words and must not be cached. Each word is multiplied separately and rotated by its
 * position, so that the multiplications are independent. */
static inline __attribute__((always_inline)) uint64_t key_of_call(unsigned function, const struct library_shape *shape,
								  const uintptr_t *words, bool is_wide)
{
	const uint64_t many_bits = 0x9fb21c651e98df25ull;
	uint64_t key = process.nonce + (process.defined_in << 12) + ((uint64_t)function << 1 | is_wide) +
		       __atomic_load_n(&library_epoch, __ATOMIC_ACQUIRE) * 0x9e3779b97f4a7c15ull;
	const unsigned wide = is_wide ? LIBRARY_INT : LIBRARY_WIDE; /* from it on all 64 bits are used */
	const struct library_part *p = shape->parts, *end = p + shape->count;
	unsigned how = 0;

	for (; p < end; p++) {
		uint64_t word = words[p->position];

		word = p->how < wide ? (uint32_t)word : word;
		how = p->how > how ? p->how : how;
		key = (key << 11 | key >> 53) ^ word * many_bits;
	}
	if (__builtin_expect(how >= LIBRARY_SOURCE, 0) && (how >= LIBRARY_LIST || has_wildcard(shape, words)))
		return 0;
	key *= many_bits;
	return key ^ key >> 32;
}

uint32_t library_intern(const struct tf_operation *op)
{
	if (!op->count)
		return 0;
	return event_intern(TF_BLOB_OPERATION, op,
			    sizeof(*op) - sizeof(op->values) + op->count * sizeof(op->values[0]));
}

static inline __attribute__((always_inline)) void record(const struct call *e, unsigned function, int result,
							 uint32_t operation, uint32_t request)
{
	uint64_t words[2];
	unsigned count = 0;

	if (operation)
		words[count++] = tf_arg_operation(operation, request);
	else if (request)
		words[count++] = tf_arg(TF_ARG_VALUE, 0, request);
	if (__builtin_expect(result != 0, 0))
		words[count++] = tf_arg(TF_ARG_RESULT, 0, (unsigned)result);
	call_record(e, function, process_cuda_backtrace[CUDA_OTHER], words, count);
}

void library_record(const struct call *e, unsigned function, int result, const struct tf_operation *op)
{
	record(e, function, result, library_intern(op), 0);
}

static __attribute__((noinline)) uint32_t operation_of(const struct library_shape *shape,
						       const struct library_returned *call)
{
	struct tf_operation op;

	op.count = 0;
	memset(op.fields, 0, sizeof(op.fields));
	library_collect(&op, shape, call);
	return library_intern(&op);
}

static inline __attribute__((always_inline)) void end(struct call *e, unsigned function,
						       const struct library_shape *shape,
						       const struct library_returned *call, uint32_t request)
{
	struct remembered *known;
	uint64_t key, id = 0;

	if (!call_end(e, function, 0))
		return;
	key = shape->count ? key_of_call(function, shape, call->words, call->is_wide) : 0;
	known = key ? remembered_at(key) : NULL;
	if (known) {
		id = __atomic_load_n(&known->id, __ATOMIC_RELAXED);
		if (__builtin_expect(!id || (__atomic_load_n(&known->check, __ATOMIC_RELAXED) ^ id) != key, 0)) {
			id = operation_of(shape, call);
			__atomic_store_n(&known->check, key ^ id, __ATOMIC_RELAXED);
			__atomic_store_n(&known->id, id, __ATOMIC_RELAXED);
		}
	} else if (shape->count) {
		id = operation_of(shape, call);
	}
	record(e, function, call->result, (uint32_t)id, request);
}

void library_end(struct call *e, unsigned function, const struct library_shape *shape,
		 const struct library_returned *call)
{
	end(e, function, shape, call, 0);
}

void library_end_later(struct call *e, unsigned function, const struct library_shape *shape,
		       const struct library_returned *call, const uint32_t *request)
{
	end(e, function, shape, call, request && !call->result ? tf_request(*request) : 0);
}

void library_end_maker(struct call *e, unsigned function, const struct library_shape *shape, bool is_made,
		       const struct library_returned *call)
{
	struct tf_operation op = {0};

	if (!call_end(e, function, 0))
		return;
	library_collect(&op, shape, call);
	if (is_made)
		library_mpi_made(&op, shape, call);
	library_record(e, function, call->result, &op);
}

void library_end_start_all(struct call *e, unsigned function, const struct library_returned *call)
{
	struct tf_operation op = {0};
	uint32_t requests[EVENT_ARGS];
	uint64_t words[EVENT_ARGS];
	unsigned n = 0, count;

	if (!call_end(e, function, 0))
		return;
	library_field(&op, TF_FIELD_BATCH, (int)call->words[1]);
	words[n++] = tf_arg(TF_ARG_OPERATION, 0, library_intern(&op));
	if (call->result)
		words[n++] = tf_arg(TF_ARG_RESULT, 0, (unsigned)call->result);
	count = library_mpi_requests(call, requests, EVENT_ARGS - n);
	for (unsigned i = 0; i < count; i++)
		words[n++] = tf_arg(TF_ARG_VALUE, 0, tf_request(requests[i]));
	call_record(e, function, process_cuda_backtrace[CUDA_OTHER], words, n);
}
