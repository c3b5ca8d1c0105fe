/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's communicators: how large they are, which rank this is, and by what all of their ranks know them. Functions whose unique
 * id comes by value, or by its address; one that makes many at once; those that make one of another. */
#include "runtime/record/intern_table.h"
#include "preload/library/wrap_library.h"

struct unique_id {
	char bytes[128];
};

enum { SHRUNK = 1 << 30 }; /* in place of a color, which are small numbers */

static int64_t id_of(const struct unique_id *id)
{
	return (int64_t)intern_hash(0, id, sizeof(*id));
}

static void describe(struct tf_operation *op, int64_t id, int rank, int ranks)
{
	*op = (struct tf_operation){0};
	library_field(op, TF_FIELD_RANKS, ranks);
	library_field(op, TF_FIELD_RANK, rank);
	library_field(op, TF_FIELD_COMMUNICATOR_ID, id);
}

static void note_communicator(const uintptr_t *communicator, int64_t id, int rank, int ranks)
{
	struct tf_operation op;

	describe(&op, id, rank, ranks);
	library_note_all(*communicator, &op);
}

static void end_call(struct call *e, unsigned function, int result, const uintptr_t *communicator, int64_t id, int rank, int ranks)
{
	struct tf_operation op;

	if (!call_end(e, function, 0))
		return;
	describe(&op, id, rank, ranks);
	if (library_has_done(TF_GROUP_NCCL, result))
		library_field(&op, TF_FIELD_COMMUNICATOR, (int64_t)*communicator);
	library_record(e, function, result, &op);
}

LIBRARY_ENTRY(NCCL, ncclCommInitRank, ncclCommInitRank, (uintptr_t * communicator, int ranks, struct unique_id id, int rank),
	      (communicator, ranks, id, rank), end_call(&event_, HOOK_ncclCommInitRank, result, communicator, id_of(&id), rank, ranks),
	      note_communicator(communicator, id_of(&id), rank, ranks))
LIBRARY_ENTRY(NCCL, ncclCommInitRankConfig, ncclCommInitRankConfig,
	      (uintptr_t * communicator, int ranks, struct unique_id id, int rank, void *config), (communicator, ranks, id, rank, config),
	      end_call(&event_, HOOK_ncclCommInitRankConfig, result, communicator, id_of(&id), rank, ranks),
	      note_communicator(communicator, id_of(&id), rank, ranks))

/* All ranks have the same list. A call that failed may have none. */
static int64_t id_of_list(int result, int count, const struct unique_id *ids)
{
	return library_has_done(TF_GROUP_NCCL, result) && count > 0 ? id_of(ids) : 0;
}

LIBRARY_ENTRY(NCCL, ncclCommInitRankScalable, ncclCommInitRankScalable,
	      (uintptr_t * communicator, int ranks, int rank, int count, const struct unique_id *ids, void *config),
	      (communicator, ranks, rank, count, ids, config),
	      end_call(&event_, HOOK_ncclCommInitRankScalable, result, communicator, id_of_list(result, count, ids), rank, ranks),
	      note_communicator(communicator, id_of_list(result, count, ids), rank, ranks))

/* All of them are this process's. */
static int64_t id_of_all(int result, const uintptr_t *communicators, int count)
{
	return library_has_done(TF_GROUP_NCCL, result) && count > 0
		       ? (int64_t)intern_hash(process.nonce, communicators, (uint64_t)count * sizeof(*communicators))
		       : 0;
}

static void note_all(const uintptr_t *communicators, int count)
{
	for (int i = 0; i < count; i++)
		note_communicator(&communicators[i], id_of_all(0, communicators, count), i, count);
}

LIBRARY_ENTRY(NCCL, ncclCommInitAll, ncclCommInitAll, (uintptr_t * communicators, int count, const int *devices),
	      (communicators, count, devices),
	      end_call(&event_, HOOK_ncclCommInitAll, result, communicators, id_of_all(result, communicators, count), 0, count),
	      note_all(communicators, count))

/* ---- one of another ---- */

static int64_t noted(const struct tf_operation *op, uint8_t field)
{
	for (unsigned i = 0; i < op->count; i++)
		if (op->fields[i] == field)
			return op->values[i];
	return 0;
}

/* Every rank makes the same ones of a communicator, in the same order: so which of them it is tells it from the others, on all
 * ranks alike. How large it is, and which rank this is in it, only NCCL knows. */
static void note_made_of(uintptr_t parent, unsigned color, const uintptr_t *made)
{
	static struct intern_table counts; /* by parent's id and rank: several ranks may be of one process */
	struct tf_operation of = {0}, op = {0};
	uint64_t id, key, count;

	library_append(&of, parent, TF_ROLE_NONE);
	id = (uint64_t)noted(&of, TF_FIELD_COMMUNICATOR_ID);
	key = intern_fold(id, (uint64_t)noted(&of, TF_FIELD_RANK));
	if (id && key) {
		count = intern_get(&counts, key) + 1;
		intern_set(&counts, key, count);
		library_field(&op, TF_FIELD_COMMUNICATOR_ID, (int64_t)intern_fold(id, count << 32 | color));
	}
	if (made)
		library_note_all(*made, &op);
}

static void end_made_of(struct call *e, unsigned function, int result, uintptr_t parent, const uintptr_t *made)
{
	struct tf_operation op = {0};

	if (!call_end(e, function, 0))
		return;
	library_append(&op, parent, TF_ROLE_NONE);
	if (library_has_done(TF_GROUP_NCCL, result) && made)
		library_field(&op, TF_FIELD_COMMUNICATOR, (int64_t)*made);
	library_record(e, function, result, &op);
}

LIBRARY_ENTRY(NCCL, ncclCommSplit, ncclCommSplit, (uintptr_t parent, int color, int key, uintptr_t *made, void *config),
	      (parent, color, key, made, config), end_made_of(&event_, HOOK_ncclCommSplit, result, parent, made),
	      note_made_of(parent, (unsigned)color, made))
LIBRARY_ENTRY(NCCL, ncclCommShrink, ncclCommShrink,
	      (uintptr_t parent, const int *without, int count, uintptr_t *made, void *config, int flags),
	      (parent, without, count, made, config, flags), end_made_of(&event_, HOOK_ncclCommShrink, result, parent, made),
	      note_made_of(parent, SHRUNK, made))
