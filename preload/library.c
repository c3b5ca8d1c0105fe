/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

#include <string.h>

#include "library_mpi.h"
#include "names.h"
#include "../runtime/table.h"

/* Handle -> its note. A note is overwritten when its handle comes again, for libraries use addresses again; who reads one just
 * then gets some of both, of a handle that no correct program uses at that moment. It outlives a fork, as handles do. */
static struct table notes;

/* Notes are short lists mostly: fields and values follow the head, `room` of them. */
struct note {
	uint32_t count, room;
	struct {
		uint64_t field;
		int64_t value;
	} items[];
};

static struct note *note_of(uintptr_t handle)
{
	return handle ? (struct note *)table_get(&notes, handle) : NULL;
}

/* The note of a handle with room for `count` fields, or NULL. */
static struct note *note_make(uintptr_t handle, unsigned count)
{
	struct note *n = note_of(handle);
	unsigned room = count < 4 ? 4 : count < 10 ? 10 : TF_OPERATION_FIELDS;

	if (!handle || (n && n->room >= count))
		return n;
	n = names_take(sizeof(*n) + room * sizeof(n->items[0]));
	if (!n)
		return NULL;
	n->room = room;
	n->count = 0;
	return table_set(&notes, handle, (uint64_t)n) ? n : NULL;
}

void library_note_all(uintptr_t handle, const struct tf_operation *op)
{
	struct note *n = note_make(handle, op->count);

	if (!n)
		return;
	for (unsigned i = 0; i < op->count; i++) {
		n->items[i].field = op->fields[i];
		n->items[i].value = op->values[i];
	}
	__atomic_store_n(&n->count, op->count, __ATOMIC_RELEASE);
}

void library_note_field(uintptr_t handle, uint8_t field, int64_t value)
{
	struct note *n = note_of(handle);
	struct tf_operation op = {0};

	for (unsigned i = 0; n && i < n->count; i++)
		if (n->items[i].field == field) {
			n->items[i].value = value;
			return;
		}
	library_append(&op, handle, 0);
	library_field(&op, field, value);
	library_note_all(handle, &op);
}

void library_append(struct tf_operation *op, uintptr_t handle, uint8_t role)
{
	const struct note *n = note_of(handle);
	unsigned count = n ? __atomic_load_n(&n->count, __ATOMIC_ACQUIRE) : 0;

	for (unsigned i = 0; i < count; i++)
		library_field(op, (uint8_t)n->items[i].field | role, n->items[i].value);
}

/* ---- shapes ---- */

static void collect_list(struct tf_operation *op, const struct library_part *p, const uintptr_t *words)
{
	int count = (int)words[p->position];
	const void *list = (const void *)words[p->other];

	for (int i = 0; list && i < count && i < 8; i++)
		library_field(op, p->field,
			      p->how == LIBRARY_LIST_WIDE ? ((const int64_t *)list)[i] : (int64_t)((const int *)list)[i]);
}

void library_collect(struct tf_operation *op, const struct library_shape *shape, const uintptr_t *words, bool is_wide)
{
	for (unsigned i = 0; i < shape->count; i++) {
		const struct library_part *p = &shape->parts[i];
		uintptr_t word = words[p->position];

		switch (p->how) {
		case LIBRARY_INT:
			library_field(op, p->field, is_wide ? (int64_t)word : (int64_t)(int)word);
			break;
		case LIBRARY_ENUM:
			library_field(op, p->field, (int)word);
			break;
		case LIBRARY_WIDE:
			library_field(op, p->field, (int64_t)word);
			break;
		case LIBRARY_LIST:
		case LIBRARY_LIST_WIDE:
			collect_list(op, p, words);
			break;
		case LIBRARY_OF:
			library_append(op, word, p->field);
			break;
		case LIBRARY_OF_INT:
			library_append(op, (unsigned)word, p->field);
			break;
		case LIBRARY_BYTES:
			library_field(op, p->field, library_mpi_bytes(word));
			break;
		case LIBRARY_COMMUNICATOR:
			library_field(op, p->field, (int64_t)library_mpi_communicator(word));
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

void library_note(const struct library_shape *shape, const uintptr_t *words)
{
	struct tf_operation op = {0};

	library_collect(&op, shape, words, false);
	library_note_all(key_of(shape, words), &op);
}

/* ---- into the trace ---- */

void library_record(const struct event *e, unsigned function, int result, const struct tf_operation *op)
{
	uint64_t words[2];
	unsigned count = 0;
	uint32_t id = op->count ? event_intern(TF_BLOB_OPERATION, op, sizeof(*op) - sizeof(op->values) + op->count * sizeof(int64_t))
				: 0;

	if (id)
		words[count++] = tf_arg(TF_ARG_OPERATION, 0, id);
	if (result)
		words[count++] = tf_arg(TF_ARG_RESULT, 0, (unsigned)result);
	event_record(e, function, process_cuda_backtrace[CUDA_OTHER], words, count);
}

void library_end(struct event *e, unsigned function, int result, const struct library_shape *shape, const uintptr_t *words, bool is_wide)
{
	struct tf_operation op;

	if (!event_end(e, function, 0))
		return;
	op.count = 0;
	memset(op.fields, 0, sizeof(op.fields));
	library_collect(&op, shape, words, is_wide);
	library_record(e, function, result, &op);
}
