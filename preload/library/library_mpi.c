/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/library/library_mpi.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "preload/hook/caller.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/intern_table.h"
#include "runtime/recorder/record/names.h"
#include "runtime/recorder/record/thread/thread.h"

enum { LIBRARY_MPI_WORLD = 0x44000000, LIBRARY_MPI_SELF = 0x44000001 };

/* ---- the library ---- */

/* One MPI library. Handles are passed as words: MPICH's functions use the lower half. MPI_Count has 64 bits. */
struct mpi {
	int (*type_size)(uintptr_t type, int64_t *ret_bytes);
	int (*comm_size)(uintptr_t communicator, int *ret_ranks);
	int (*comm_rank)(uintptr_t communicator, int *ret_rank);
	int (*comm_is_inter)(uintptr_t communicator, int *ret_is_inter);
	int (*comm_remote_size)(uintptr_t communicator, int *ret_ranks);
	int (*topology)(uintptr_t communicator, int *ret_kind);
	int (*cart_dimensions)(uintptr_t communicator, int *ret_dimensions);
	int (*graph_neighbors)(uintptr_t communicator, int rank, int *ret_neighbors);
	int (*dist_graph_neighbors)(uintptr_t communicator, int *ret_in, int *ret_out, int *ret_is_weighted);
	int (*initialized)(int *ret_flag);
	int (*finalized)(int *ret_flag);
	int (*comm_group)(uintptr_t communicator, uintptr_t *ret_group);
	int (*group_free)(uintptr_t *group);
	int (*group_translate)(uintptr_t group, int count, const int *ranks, uintptr_t of, int *ret_ranks);
	const void *world, *self, *null; /* NULL: not Open MPI */
	/* A program may have copies of these (copy relocations), which are then used by the library, too. */
	const void *world_copy, *self_copy, *null_copy;
};

static const char *const mpi_symbols[] = {
	"PMPI_Type_size_x",      "PMPI_Comm_size",
	"PMPI_Comm_rank",        "PMPI_Comm_test_inter",
	"PMPI_Comm_remote_size", "PMPI_Topo_test",
	"PMPI_Cartdim_get",      "PMPI_Graph_neighbors_count",
	"PMPI_Dist_graph_neighbors_count",
	"PMPI_Initialized",
	"PMPI_Finalized",
	"PMPI_Comm_group",
	"PMPI_Group_free",
	"PMPI_Group_translate_ranks",
};
enum { MPI_FUNCTIONS = sizeof(mpi_symbols) / sizeof(*mpi_symbols) };
_Static_assert(offsetof(struct mpi, world) == MPI_FUNCTIONS * sizeof(void *), "a symbol for each function");

static struct intern_table libraries; /* a function of MPI, or the library's PMPI_Type_size_x -> struct mpi */

/* Other libraries have other handles: those of MPI 5's standard ABI are pointers, also where MPICH implements it. */
static bool is_mpich(const void *type_size)
{
	return dso_beside(type_size, "MPIR_Dup_fn") && !strstr(dso_name(type_size), "mpi_abi");
}

static const struct mpi *find_all(const void *type_size)
{
	struct mpi *m = names_take(sizeof(*m));
	void *functions[MPI_FUNCTIONS];

	if (!m || !dso_all_beside(type_size, mpi_symbols, functions, MPI_FUNCTIONS))
		return NULL;
	for (size_t i = 0; i < MPI_FUNCTIONS; i++) {
		if (!functions[i])
			return NULL;
		((void **)m)[i] = functions[i];
	}
	m->world = dso_beside(type_size, "ompi_mpi_comm_world");
	if (!m->world && !is_mpich(type_size))
		return NULL;
	m->self = dso_beside(type_size, "ompi_mpi_comm_self");
	m->null = dso_beside(type_size, "ompi_mpi_comm_null");
	m->null_copy = m->null ? dso_library_symbol("", "ompi_mpi_comm_null") : NULL;
	m->world_copy = m->world ? dso_library_symbol("", "ompi_mpi_comm_world") : NULL;
	m->self_copy = m->self ? dso_library_symbol("", "ompi_mpi_comm_self") : NULL;
	return m;
}

/* NULL: a library older than MPI 3, or none. */
static const struct mpi *library_of(const struct library_returned *call)
{
	static const struct mpi none;
	uint64_t epoch = __atomic_load_n(&caller_epoch, __ATOMIC_RELAXED), key = (uintptr_t)call->real ^ epoch;
	const struct mpi *m = (const struct mpi *)intern_get(&libraries, key);

	if (__builtin_expect(!m, 0) && call->real) {
		struct thread_guard guard;
		const void *type_size;

		thread_guard_enter(&thread_self, &guard);
		type_size = dso_from(call->real, mpi_symbols[0]);
		m = type_size ? (const struct mpi *)intern_get(&libraries, (uintptr_t)type_size ^ epoch) : NULL;
		if (!m && type_size)
			m = find_all(type_size);
		if (!m)
			m = &none;
		if (type_size)
			intern_set(&libraries, (uintptr_t)type_size ^ epoch, (uint64_t)m);
		intern_set(&libraries, key, (uint64_t)m);
		thread_guard_leave(&thread_self, &guard);
	}
	return m && m->type_size ? m : NULL;
}

/* ---- handles ---- */

/* `symbol` and its copy in the program. */
static bool is_either(uintptr_t handle, const void *symbol, const void *copy)
{
	return handle && (handle == (uintptr_t)symbol || handle == (uintptr_t)copy);
}

void library_mpi_communicator(struct tf_operation *op, const struct library_returned *call, uintptr_t word)
{
	const struct mpi *m = library_of(call);

	if (!m || !m->world)
		word = (uint32_t)word;
	else if (is_either(word, m->world, m->world_copy))
		word = LIBRARY_MPI_WORLD;
	else if (is_either(word, m->self, m->self_copy))
		word = LIBRARY_MPI_SELF;
	library_field(op, TF_FIELD_COMMUNICATOR, (int64_t)word);
	if (word != LIBRARY_MPI_WORLD && word != LIBRARY_MPI_SELF)
		library_append(op, word, TF_ROLE_NONE);
}

/* A hash of the ranks of a communicator in MPI_COMM_WORLD; 0: unknown. No rank communicates for this. */
static uint64_t hash_of_ranks(const struct mpi *m, uintptr_t communicator, int ranks)
{
	enum { STEP = 64 };
	const void *world_in_use = m->world_copy ? m->world_copy : m->world;
	uintptr_t group = 0, world = 0;
	int numbers[STEP], worlds[STEP];
	uint64_t hash = (uint64_t)ranks;
	bool is_known = !m->comm_group(communicator, &group);

	if (is_known && m->comm_group(world_in_use ? (uintptr_t)world_in_use : LIBRARY_MPI_WORLD, &world)) {
		m->group_free(&group);
		return 0;
	}
	for (int first = 0; is_known && first < ranks; first += STEP) {
		int count = ranks - first < STEP ? ranks - first : STEP;

		for (int i = 0; i < count; i++)
			numbers[i] = first + i;
		is_known = !m->group_translate(group, count, numbers, world, worlds);
		hash = intern_hash(hash, worlds, (uint64_t)count * sizeof(*worlds));
	}
	if (group) {
		m->group_free(&group);
		m->group_free(&world);
	}
	return is_known ? hash : 0;
}

/* Programs that use sessions alone do not have it. */
static bool has_world(const struct mpi *m)
{
	int is_initialized = 0, is_finalized = 1;

	return !m->initialized(&is_initialized) && is_initialized && !m->finalized(&is_finalized) && !is_finalized;
}

/* Ranks make communicators of the same ranks in the same order, so the position in this order identifies one. */
static void describe(struct tf_operation *op, const struct mpi *m, uintptr_t communicator)
{
	static struct intern_table counts; /* by hash of the ranks */
	int ranks = 0, rank = 0, is_inter = 1;
	uint64_t hash, count;

	if (!has_world(m) || m->comm_is_inter(communicator, &is_inter) || is_inter ||
	    m->comm_size(communicator, &ranks) || m->comm_rank(communicator, &rank))
		return;
	hash = hash_of_ranks(m, communicator, ranks);
	if (!hash)
		return;
	count = intern_get(&counts, hash) + 1;
	intern_set(&counts, hash, count);
	library_field(op, TF_FIELD_RANKS, ranks);
	library_field(op, TF_FIELD_RANK, rank);
	library_field(op, TF_FIELD_COMMUNICATOR_OF_MPI, (int64_t)intern_fold(hash, count));
}

/* The communicator that a call has stored at `made`; 0: MPI_COMM_NULL. */
static uintptr_t made_by(const struct mpi *m, const void *made)
{
	enum { MPICH_COMM_NULL = 0x04000000 };
	uintptr_t handle = m->world ? *(const uintptr_t *)made : *(const uint32_t *)made;

	return (m->world ? is_either(handle, m->null, m->null_copy) : handle == MPICH_COMM_NULL) ? 0 : handle;
}

/* An intercommunicator has an empty note. */
void library_mpi_note(const struct library_returned *call, const void *made, bool is_later)
{
	const struct mpi *m = library_of(call);
	struct tf_operation op = {0};
	uintptr_t handle = m && made ? made_by(m, made) : 0;

	if (!handle)
		return;
	describe(&op, m, is_later ? call->words[1] : handle);
	library_note_all(handle, &op);
}

/* The handles of MPI_COMM_WORLD. */
static void add_world(struct tf_operation *op, const struct mpi *m)
{
	library_field(op, TF_FIELD_COMMUNICATOR | TF_ROLE_B, m->world ? (int64_t)m->world : LIBRARY_MPI_WORLD);
	if (m->world_copy)
		library_field(op, TF_FIELD_COMMUNICATOR | TF_ROLE_C, (int64_t)m->world_copy);
}

void library_mpi_made(struct tf_operation *op, const struct library_shape *shape, const struct library_returned *call)
{
	bool is_world = shape->key == LIBRARY_KEY_WORLD;
	const void *made = is_world ? NULL : (const void *)call->words[shape->key_position];
	const struct mpi *m = made || is_world ? library_of(call) : NULL;
	uintptr_t handle = m && made ? made_by(m, made) : 0;

	if (m && is_world)
		add_world(op, m);
	if (handle) {
		library_field(op, TF_FIELD_COMMUNICATOR | TF_ROLE_B, (int64_t)handle);
		library_append(op, handle, TF_ROLE_B);
	}
}

unsigned library_mpi_requests(const struct library_returned *call, uint32_t *ret_requests, unsigned most)
{
	const struct mpi *m = call->result ? NULL : library_of(call);
	const char *requests = (const char *)call->words[2];
	int count = (int)call->words[1];
	unsigned n = 0;

	for (int i = 0; m && requests && i < count && n < most; i++)
		ret_requests[n++] = *(const uint32_t *)(requests + (m->world ? 8 : 4) * i);
	return n;
}

static int64_t size_of(const struct mpi *m, uintptr_t type)
{
	int64_t bytes = 0;

	return m->type_size(type, &bytes) == 0 && bytes > 0 ? bytes : 0;
}

int64_t library_mpi_bytes(const struct library_returned *call, uintptr_t type)
{
	const struct mpi *m = call->result ? NULL : library_of(call);

	return m ? size_of(m, type) : 0;
}

/* A handle that a call has freed may become that of another datatype. Nothing else changes a handle's datatype. */
static void forget_types(const uintptr_t *words)
{
	(void)words;
	library_forget();
}
const struct library_body library_mpi_type_free = {.note = forget_types};

/* The status begins with the source, the tag and the error in Open MPI, and has two ints before them in MPICH, whose
 * address for no status is 1. */
int64_t library_mpi_source(const struct library_returned *call, const struct library_part *part)
{
	enum { ANY_SOURCE_OPEN_MPI = -1, ANY_SOURCE_MPICH = -2, ANY_TAG = -1 };
	const struct mpi *m = library_of(call);
	bool is_open_mpi = m && m->world, is_tag = part->how == LIBRARY_SOURCE_TAG;
	int given = (int)call->words[part->position];
	int any = is_tag ? ANY_TAG : is_open_mpi ? ANY_SOURCE_OPEN_MPI : ANY_SOURCE_MPICH;
	const int *status = (const int *)call->words[part->other];

	if (given != any || call->result || !m || (uintptr_t)status <= 1)
		return given;
	return status[(is_open_mpi ? 0 : 2) + is_tag];
}

/* ---- buffers ---- */

/* How many elements there are. COUNT: an int, or a 64-bit integer in wide functions. EACH: a COUNT for each rank. LIST:
 * a list of these. OWN: the element of such a list that is for the calling rank. TYPES: a list of counts beside a list
 * of datatypes. PARTS: a 64-bit integer for each partition. ONE: 1. */
enum how { COUNT, EACH, LIST, OWN, TYPES, PARTS, ONE };

/* Which ranks lists are for. */
enum rank_group { LOCAL, PEERS, NEIGHBORS };

/* Positions of arguments; 0: there is none. If `buffer` is MPI_IN_PLACE, the second count and type are used. */
static const struct layout {
	uint8_t buffer, how, count, type;
	uint8_t in_place_how, in_place_count, in_place_type;
	uint8_t root, communicator, group;
} layouts[] = {
	[LIBRARY_MPI_BCAST] = {0, COUNT, 2, 3, .root = 4},
	[LIBRARY_MPI_GATHER] = {1, COUNT, 2, 3, COUNT, 5, 6, .root = 7},
	[LIBRARY_MPI_GATHERV] = {1, COUNT, 2, 3, OWN, 5, 7, 8, 9, LOCAL},
	[LIBRARY_MPI_SCATTER] = {4, COUNT, 5, 6, COUNT, 2, 3, .root = 7},
	[LIBRARY_MPI_SCATTERV] = {5, COUNT, 6, 7, OWN, 2, 4, 8, 9, LOCAL},
	[LIBRARY_MPI_ALLGATHER] = {1, COUNT, 2, 3, COUNT, 5, 6},
	[LIBRARY_MPI_ALLGATHERV] = {1, COUNT, 2, 3, OWN, 5, 7, 0, 8, LOCAL},
	[LIBRARY_MPI_ALLTOALL] = {1, EACH, 2, 3, EACH, 5, 6, 0, 7, PEERS},
	[LIBRARY_MPI_ALLTOALLV] = {1, LIST, 2, 4, LIST, 6, 8, 0, 9, PEERS},
	[LIBRARY_MPI_ALLTOALLW] = {1, TYPES, 2, 4, TYPES, 6, 8, 0, 9, PEERS},
	[LIBRARY_MPI_REDUCE] = {0, COUNT, 3, 4, .root = 6},
	[LIBRARY_MPI_REDUCE_SCATTER] = {0, LIST, 3, 4, .communicator = 6, .group = LOCAL},
	[LIBRARY_MPI_REDUCE_BLOCK] = {0, EACH, 3, 4, .communicator = 6, .group = LOCAL},
	[LIBRARY_MPI_NEIGHBOR_ALL] = {0, EACH, 2, 3, .communicator = 7, .group = NEIGHBORS},
	[LIBRARY_MPI_NEIGHBOR_ALLV] = {0, LIST, 2, 4, .communicator = 9, .group = NEIGHBORS},
	[LIBRARY_MPI_NEIGHBOR_ALLW] = {0, TYPES, 2, 4, .communicator = 9, .group = NEIGHBORS},
	[LIBRARY_MPI_PARTITIONED] = {0, PARTS, 3, 4},
	[LIBRARY_MPI_FETCH] = {0, ONE, 0, 3},
	[LIBRARY_MPI_COMPARE] = {0, ONE, 0, 4},
};

static uintptr_t argument(const struct library_returned *call, unsigned position)
{
	return call->words[LIBRARY_WORD(position)];
}

static bool is_in_place(uintptr_t buffer)
{
	return buffer == 1 || buffer == UINTPTR_MAX; /* Open MPI, MPICH */
}

static int64_t item_of(const struct library_returned *call, uintptr_t list, int i)
{
	return call->is_wide ? ((const int64_t *)list)[i] : ((const int *)list)[i];
}

/* The number of neighbors that the rank sends to. */
static int neighbors_of(const struct mpi *m, uintptr_t communicator)
{
	bool is_open_mpi = m->world;
	const int cart = is_open_mpi ? 1 : 2, graph = is_open_mpi ? 2 : 1, dist_graph = is_open_mpi ? 4 : 3;
	int kind = 0, count = 0, rank = 0, in, is_weighted;

	if (m->topology(communicator, &kind))
		return 0;
	if (kind == cart)
		return m->cart_dimensions(communicator, &count) ? 0 : 2 * count;
	if (kind == graph)
		return m->comm_rank(communicator, &rank) || m->graph_neighbors(communicator, rank, &count) ? 0 : count;
	return kind != dist_graph || m->dist_graph_neighbors(communicator, &in, &count, &is_weighted) ? 0 : count;
}

static int ranks_of(const struct mpi *m, uintptr_t communicator, enum rank_group group)
{
	int is_inter = 0, count = 0;

	if (group == NEIGHBORS)
		return neighbors_of(m, communicator);
	if (group == PEERS && !m->comm_is_inter(communicator, &is_inter) && is_inter)
		return m->comm_remote_size(communicator, &count) ? 0 : count;
	return m->comm_size(communicator, &count) ? 0 : count;
}

static int64_t sum_of(const struct library_returned *call, uintptr_t list, int count)
{
	int64_t sum = 0;

	for (int i = 0; i < count; i++)
		sum += item_of(call, list, i);
	return sum;
}

static int64_t bytes_of(const struct mpi *m, const struct library_returned *call, uintptr_t list, uintptr_t types,
			int count)
{
	int64_t bytes = 0;

	for (int i = 0; i < count; i++) {
		int64_t items = item_of(call, list, i);

		if (items > 0)
			bytes += items * size_of(m, m->world ? ((const uintptr_t *)types)[i]
							     : ((const unsigned *)types)[i]);
	}
	return bytes;
}

void library_mpi_buffer(struct tf_operation *op, const struct library_returned *call, unsigned buffer)
{
	const struct layout *l = &layouts[buffer];
	const struct mpi *m = call->result ? NULL : library_of(call);
	bool is_second = l->buffer && is_in_place(argument(call, l->buffer));
	unsigned how = is_second ? l->in_place_how : l->how;
	uintptr_t count = l->count ? argument(call, is_second ? l->in_place_count : l->count) : 0;
	uintptr_t type = argument(call, is_second ? l->in_place_type : l->type);
	uintptr_t communicator = l->communicator ? argument(call, l->communicator) : 0;
	int64_t single = call->is_wide ? (int64_t)count : (int)count, number = 0;
	int rank = 0;

	/* In an intercommunicator a negative root means that the rank sends nothing, or is the root. */
	if (!m || (l->root && (int)argument(call, l->root) < 0))
		return;
	switch ((enum how)how) {
	case COUNT:
		number = single;
		break;
	case EACH:
		number = single * ranks_of(m, communicator, l->group);
		break;
	case LIST:
		number = sum_of(call, count, ranks_of(m, communicator, l->group));
		break;
	case OWN:
		number = m->comm_rank(communicator, &rank) ? 0 : item_of(call, count, rank);
		break;
	case TYPES:
		number = bytes_of(m, call, count, type, ranks_of(m, communicator, l->group));
		break;
	case PARTS:
		number = (int64_t)count * (int)argument(call, 2);
		break;
	case ONE:
		number = 1;
		break;
	}
	library_field(op, TF_FIELD_COUNT, number);
	library_field(op, TF_FIELD_ELEMENT, how == TYPES ? 1 : number > 0 ? size_of(m, type) : 0);
}
