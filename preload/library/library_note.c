/* SPDX-License-Identifier: Apache-2.0 */
/* The notes of handles: what calls on a handle have set, which calls that pass the handle record. */
#include "preload/library/library.h"
#include "runtime/recorder/record/intern_table.h"
#include "runtime/recorder/record/names.h"

uint64_t library_epoch;

/* Handle -> its note. A note is overwritten when its handle is made again, because libraries reuse addresses. A
 * concurrent reader may see a mixture of both notes, but no correct program uses the handle at that moment. Notes
 * survive a fork, as handles do. */
static struct intern_table notes;

/* Most notes are short. `room`: the number of items that were allocated. */
struct call_note {
	uint32_t count, room;
	struct {
		uint64_t field;
		int64_t value;
	} items[];
};

static struct call_note *note_of(uintptr_t handle)
{
	return handle ? (struct call_note *)intern_get(&notes, handle) : NULL;
}

/* The note of a handle with room for `count` fields, or NULL. */
static struct call_note *note_make(uintptr_t handle, unsigned count)
{
	struct call_note *n = note_of(handle);
	unsigned room = count < 4 ? 4 : count < 10 ? 10 : TF_OPERATION_FIELDS;

	if (!handle || (n && n->room >= count))
		return n;
	n = names_take(sizeof(*n) + room * sizeof(n->items[0]));
	if (!n)
		return NULL;
	n->room = room;
	n->count = 0;
	return intern_set(&notes, handle, (uint64_t)n) ? n : NULL;
}

static bool is_noted(const struct call_note *n, const struct tf_operation *op)
{
	bool is_same = n && n->count == op->count;

	for (unsigned i = 0; is_same && i < op->count; i++)
		is_same = n->items[i].field == op->fields[i] && n->items[i].value == op->values[i];
	return is_same;
}

void library_note_all(uintptr_t handle, const struct tf_operation *op)
{
	struct call_note *n = note_of(handle);

	if (is_noted(n, op))
		return;
	n = note_make(handle, op->count);
	if (!n)
		return;
	library_forget();
	for (unsigned i = 0; i < op->count; i++) {
		n->items[i].field = op->fields[i];
		n->items[i].value = op->values[i];
	}
	__atomic_store_n(&n->count, op->count, __ATOMIC_RELEASE);
}

void library_note_field(uintptr_t handle, uint8_t field, int64_t value)
{
	struct call_note *n = note_of(handle);
	struct tf_operation op = {0};

	for (unsigned i = 0; n && i < n->count; i++)
		if (n->items[i].field == field) {
			if (n->items[i].value != value) {
				n->items[i].value = value;
				library_forget();
			}
			return;
		}
	library_append(&op, handle, 0);
	library_field(&op, field, value);
	library_note_all(handle, &op);
}

void library_append(struct tf_operation *op, uintptr_t handle, uint8_t role)
{
	const struct call_note *n = note_of(handle);
	unsigned count = n ? __atomic_load_n(&n->count, __ATOMIC_ACQUIRE) : 0;

	for (unsigned i = 0; i < count; i++)
		library_field(op, (uint8_t)n->items[i].field | role, n->items[i].value);
}
