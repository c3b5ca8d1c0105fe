/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's communicators: their sizes, the rank of this process, and an id that is the same in all ranks. */
#include "preload/library/library_nccl.h"

#include "runtime/recorder/record/intern_table.h"

struct unique_id {
	char bytes[128];
};

enum { SHRUNK = 1 << 30 }; /* instead of a color; colors are small numbers */

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

static void end_call(struct call *e, unsigned function, int result, const uintptr_t *communicator, int64_t id, int rank,
		     int ranks)
{
	struct tf_operation op;

	if (!call_end(e, function, 0))
		return;
	describe(&op, id, rank, ranks);
	if (library_has_done(TF_GROUP_NCCL, result))
		library_field(&op, TF_FIELD_COMMUNICATOR, (int64_t)*communicator);
	library_record(e, function, result, &op);
}

/* ncclCommInitRank(communicator, ranks, id, rank) and its ...Config. The id is passed by value, 128 bytes: on
 * x86-64 on the stack; on aarch64 as the address of a copy. */
#if defined(__x86_64__)
static const struct unique_id *id_in(const uintptr_t *words)
{
	return (const struct unique_id *)&words[LIBRARY_WORD(7)];
}

static int rank_in(const uintptr_t *words)
{
	return (int)words[3];
}
#else
static const struct unique_id *id_in(const uintptr_t *words)
{
	return (const struct unique_id *)words[3];
}

static int rank_in(const uintptr_t *words)
{
	return (int)words[4];
}
#endif

static void end_init(struct call *e, unsigned function, int result, const uintptr_t *words)
{
	end_call(e, function, result, (const uintptr_t *)words[1], id_of(id_in(words)), rank_in(words), (int)words[2]);
}

static void note_init(const uintptr_t *words)
{
	note_communicator((const uintptr_t *)words[1], id_of(id_in(words)), rank_in(words), (int)words[2]);
}

const struct library_body library_nccl_init = {end_init, note_init};

/* ncclCommInitRankScalable(communicator, ranks, rank, count, ids, config). All ranks have the same list. A call that
 * failed may have passed no list. */
static int64_t id_of_list(int result, const uintptr_t *words)
{
	bool has_list = library_has_done(TF_GROUP_NCCL, result) && (int)words[4] > 0;

	return has_list ? id_of((const struct unique_id *)words[5]) : 0;
}

static void end_init_scalable(struct call *e, unsigned function, int result, const uintptr_t *words)
{
	int64_t id = id_of_list(result, words);

	end_call(e, function, result, (const uintptr_t *)words[1], id, (int)words[3], (int)words[2]);
}

static void note_init_scalable(const uintptr_t *words)
{
	note_communicator((const uintptr_t *)words[1], id_of_list(0, words), (int)words[3], (int)words[2]);
}

const struct library_body library_nccl_init_scalable = {end_init_scalable, note_init_scalable};

/* ncclCommInitAll(communicators, count, devices). All ranks belong to this process. */
static int64_t id_of_all(int result, const uintptr_t *words)
{
	const uintptr_t *communicators = (const uintptr_t *)words[1];
	int count = (int)words[2];

	return library_has_done(TF_GROUP_NCCL, result) && count > 0
		       ? (int64_t)intern_hash(process.nonce, communicators, (uint64_t)count * sizeof(*communicators))
		       : 0;
}

static void end_init_all(struct call *e, unsigned function, int result, const uintptr_t *words)
{
	end_call(e, function, result, (const uintptr_t *)words[1], id_of_all(result, words), 0, (int)words[2]);
}

static void note_init_all(const uintptr_t *words)
{
	int count = (int)words[2];

	for (int i = 0; i < count; i++)
		note_communicator((const uintptr_t *)words[1] + i, id_of_all(0, words), i, count);
}

const struct library_body library_nccl_init_all = {end_init_all, note_init_all};

/* ---- communicators derived from others ---- */

static int64_t noted(const struct tf_operation *op, uint8_t field)
{
	for (unsigned i = 0; i < op->count; i++)
		if (op->fields[i] == field)
			return op->values[i];
	return 0;
}

/* All ranks derive the same communicators from one, in the same order, so the position in this order identifies a
 * derived communicator on all ranks. Only NCCL knows its size and the rank of this process in it. */
static void note_made_of(uintptr_t parent, unsigned color, const uintptr_t *made)
{
	static struct intern_table counts; /* by parent's id and rank: several ranks may belong to one process */
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

/* ncclCommSplit(parent, color, key, made, config) */
static void end_split(struct call *e, unsigned function, int result, const uintptr_t *words)
{
	end_made_of(e, function, result, words[1], (const uintptr_t *)words[4]);
}

static void note_split(const uintptr_t *words)
{
	note_made_of(words[1], (unsigned)words[2], (const uintptr_t *)words[4]);
}

const struct library_body library_nccl_split = {end_split, note_split};

/* ncclCommShrink(parent, without, count, made, config, flags) */
static void note_shrink(const uintptr_t *words)
{
	note_made_of(words[1], SHRUNK, (const uintptr_t *)words[4]);
}

const struct library_body library_nccl_shrink = {end_split, note_shrink};

/* ncclCommGrow(parent, ranks, id, rank, made, config). New ranks have no parent, and of the others only one has the id:
 * there is no number that all ranks can compute alike. Ranks of the parent pass -1. */
static void describe_grown(struct tf_operation *op, const uintptr_t *words)
{
	*op = (struct tf_operation){0};
	library_field(op, TF_FIELD_RANKS, (int)words[2]);
	if ((int)words[4] >= 0)
		library_field(op, TF_FIELD_RANK, (int)words[4]);
}

static void end_grow(struct call *e, unsigned function, int result, const uintptr_t *words)
{
	const uintptr_t *made = (const uintptr_t *)words[5];
	struct tf_operation op;

	if (!call_end(e, function, 0))
		return;
	describe_grown(&op, words);
	if (library_has_done(TF_GROUP_NCCL, result) && made)
		library_field(&op, TF_FIELD_COMMUNICATOR, (int64_t)*made);
	library_record(e, function, result, &op);
}

static void note_grow(const uintptr_t *words)
{
	const uintptr_t *made = (const uintptr_t *)words[5];
	struct tf_operation op;

	describe_grown(&op, words);
	if (made)
		library_note_all(*made, &op);
}

const struct library_body library_nccl_grow = {end_grow, note_grow};
