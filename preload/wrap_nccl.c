/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's communicators: functions whose unique id comes by value, and one that makes many at once. */
#include "wrap_library.h"

struct unique_id {
	char bytes[128];
};

static void describe(struct tf_operation *op, int rank, int ranks)
{
	*op = (struct tf_operation){0};
	library_field(op, TF_FIELD_RANKS, ranks);
	library_field(op, TF_FIELD_RANK, rank);
}

static void note_communicator(const uintptr_t *communicator, int rank, int ranks)
{
	struct tf_operation op;

	describe(&op, rank, ranks);
	library_note_all(*communicator, &op);
}

static void end_call(struct event *e, unsigned function, int result, const uintptr_t *communicator, int rank, int ranks)
{
	struct tf_operation op;

	if (!event_end(e, function, 0))
		return;
	describe(&op, rank, ranks);
	if (!result)
		library_field(&op, TF_FIELD_COMMUNICATOR, (int64_t)*communicator);
	library_record(e, function, result, &op);
}

LIBRARY_ENTRY(NCCL, ncclCommInitRank, ncclCommInitRank, (uintptr_t * communicator, int ranks, struct unique_id id, int rank),
	      (communicator, ranks, id, rank), end_call(&event_, HOOK_ncclCommInitRank, result, communicator, rank, ranks),
	      note_communicator(communicator, rank, ranks))
LIBRARY_ENTRY(NCCL, ncclCommInitRankConfig, ncclCommInitRankConfig,
	      (uintptr_t * communicator, int ranks, struct unique_id id, int rank, void *config), (communicator, ranks, id, rank, config),
	      end_call(&event_, HOOK_ncclCommInitRankConfig, result, communicator, rank, ranks),
	      note_communicator(communicator, rank, ranks))

static void note_all(const uintptr_t *communicators, int count)
{
	for (int i = 0; i < count; i++)
		note_communicator(&communicators[i], i, count);
}

LIBRARY_ENTRY(NCCL, ncclCommInitAll, ncclCommInitAll, (uintptr_t * communicators, int count, const int *devices),
	      (communicators, count, devices), end_call(&event_, HOOK_ncclCommInitAll, result, communicators, 0, count),
	      note_all(communicators, count))
