/* SPDX-License-Identifier: Apache-2.0 */
/* An independent counter of MPI's calls and bytes, to be preloaded or linked: a library of the profiling interface.
 * MPI_Finalize writes "FUNCTION CALLS BYTES" lines to the file $MPI_COUNTER.<rank>. Built with -DSHIFTED, it also
 * defines PMPI_*, which bindings of Fortran call. A call made by another one is not counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int depth;

static long long size_of(MPI_Datatype type)
{
	int size = 0;

	PMPI_Type_size(type, &size);
	return size;
}

static int ranks_of(MPI_Comm communicator)
{
	int ranks;

	PMPI_Comm_size(communicator, &ranks);
	return ranks;
}

static int rank_of(MPI_Comm communicator)
{
	int rank;

	PMPI_Comm_rank(communicator, &rank);
	return rank;
}

#define SUM(counts, communicator)                                                                                      \
	({                                                                                                             \
		long long sum_ = 0;                                                                                    \
		for (int i_ = 0; i_ < ranks_of(communicator); i_++)                                                    \
			sum_ += (counts)[i_];                                                                          \
		sum_;                                                                                                  \
	})
#define SUM_OF_TYPES(counts, types, communicator)                                                                      \
	({                                                                                                             \
		long long sum_ = 0;                                                                                    \
		for (int i_ = 0; i_ < ranks_of(communicator); i_++)                                                    \
			sum_ += (counts)[i_] * size_of((types)[i_]);                                                   \
		sum_;                                                                                                  \
	})
#define IN_PLACE(buffer, second, first) ((buffer) == MPI_IN_PLACE ? (second) : (first))

/* F(name, parameters, arguments, bytes); I and D: the types of counts and displacements. */
#define WITH_COUNTS(F, I, D)                                                                                           \
	F(Send, (const void *b, I n, MPI_Datatype t, int r, int g, MPI_Comm c), (b, n, t, r, g, c), n * size_of(t))    \
	F(Ssend, (const void *b, I n, MPI_Datatype t, int r, int g, MPI_Comm c), (b, n, t, r, g, c), n * size_of(t))   \
	F(Recv, (void *b, I n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Status *s), (b, n, t, r, g, c, s),        \
	  n * size_of(t))                                                                                              \
	F(Isend, (const void *b, I n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request *q),                       \
	  (b, n, t, r, g, c, q), n * size_of(t))                                                                       \
	F(Irecv, (void *b, I n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request *q), (b, n, t, r, g, c, q),      \
	  n * size_of(t))                                                                                              \
	F(Send_init, (const void *b, I n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request *q),                   \
	  (b, n, t, r, g, c, q), n * size_of(t))                                                                       \
	F(Recv_init, (void *b, I n, MPI_Datatype t, int r, int g, MPI_Comm c, MPI_Request *q), (b, n, t, r, g, c, q),  \
	  n * size_of(t))                                                                                              \
	F(Sendrecv,                                                                                                    \
	  (const void *b, I n, MPI_Datatype t, int r, int g, void *b2, I n2, MPI_Datatype t2, int r2, int g2,          \
	   MPI_Comm c, MPI_Status *s),                                                                                 \
	  (b, n, t, r, g, b2, n2, t2, r2, g2, c, s), n * size_of(t))                                                   \
	F(Bcast, (void *b, I n, MPI_Datatype t, int r, MPI_Comm c), (b, n, t, r, c), n * size_of(t))                   \
	F(Reduce, (const void *b, void *b2, I n, MPI_Datatype t, MPI_Op o, int r, MPI_Comm c), (b, b2, n, t, o, r, c), \
	  n * size_of(t))                                                                                              \
	F(Allreduce, (const void *b, void *b2, I n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, b2, n, t, o, c),        \
	  n * size_of(t))                                                                                              \
	F(Iallreduce, (const void *b, void *b2, I n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request *q),            \
	  (b, b2, n, t, o, c, q), n * size_of(t))                                                                      \
	F(Scan, (const void *b, void *b2, I n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (b, b2, n, t, o, c),             \
	  n * size_of(t))                                                                                              \
	F(Reduce_scatter, (const void *b, void *b2, const I *n, MPI_Datatype t, MPI_Op o, MPI_Comm c),                 \
	  (b, b2, n, t, o, c), SUM(n, c) * size_of(t))                                                                 \
	F(Reduce_scatter_block, (const void *b, void *b2, I n, MPI_Datatype t, MPI_Op o, MPI_Comm c),                  \
	  (b, b2, n, t, o, c), n * size_of(t) * ranks_of(c))                                                           \
	F(Gather, (const void *b, I n, MPI_Datatype t, void *b2, I n2, MPI_Datatype t2, int r, MPI_Comm c),            \
	  (b, n, t, b2, n2, t2, r, c), IN_PLACE(b, n2 * size_of(t2), n * size_of(t)))                                  \
	F(Gatherv,                                                                                                     \
	  (const void *b, I n, MPI_Datatype t, void *b2, const I *n2, const D *d2, MPI_Datatype t2, int r,             \
	   MPI_Comm c),                                                                                                \
	  (b, n, t, b2, n2, d2, t2, r, c), IN_PLACE(b, n2[r] * size_of(t2), n * size_of(t)))                           \
	F(Scatter, (const void *b, I n, MPI_Datatype t, void *b2, I n2, MPI_Datatype t2, int r, MPI_Comm c),           \
	  (b, n, t, b2, n2, t2, r, c), IN_PLACE(b2, n * size_of(t), n2 * size_of(t2)))                                 \
	F(Scatterv,                                                                                                    \
	  (const void *b, const I *n, const D *d, MPI_Datatype t, void *b2, I n2, MPI_Datatype t2, int r,              \
	   MPI_Comm c),                                                                                                \
	  (b, n, d, t, b2, n2, t2, r, c), IN_PLACE(b2, n[r] * size_of(t), n2 * size_of(t2)))                           \
	F(Allgather, (const void *b, I n, MPI_Datatype t, void *b2, I n2, MPI_Datatype t2, MPI_Comm c),                \
	  (b, n, t, b2, n2, t2, c), IN_PLACE(b, n2 * size_of(t2), n * size_of(t)))                                     \
	F(Allgatherv,                                                                                                  \
	  (const void *b, I n, MPI_Datatype t, void *b2, const I *n2, const D *d2, MPI_Datatype t2, MPI_Comm c),       \
	  (b, n, t, b2, n2, d2, t2, c), IN_PLACE(b, n2[rank_of(c)] * size_of(t2), n * size_of(t)))                     \
	F(Alltoall, (const void *b, I n, MPI_Datatype t, void *b2, I n2, MPI_Datatype t2, MPI_Comm c),                 \
	  (b, n, t, b2, n2, t2, c), IN_PLACE(b, n2 * size_of(t2), n * size_of(t)) * ranks_of(c))                       \
	F(Alltoallv,                                                                                                   \
	  (const void *b, const I *n, const D *d, MPI_Datatype t, void *b2, const I *n2, const D *d2, MPI_Datatype t2, \
	   MPI_Comm c),                                                                                                \
	  (b, n, d, t, b2, n2, d2, t2, c), IN_PLACE(b, SUM(n2, c) * size_of(t2), SUM(n, c) * size_of(t)))              \
	F(Alltoallw,                                                                                                   \
	  (const void *b, const I *n, const D *d, const MPI_Datatype *t, void *b2, const I *n2, const D *d2,           \
	   const MPI_Datatype *t2, MPI_Comm c),                                                                        \
	  (b, n, d, t, b2, n2, d2, t2, c), IN_PLACE(b, SUM_OF_TYPES(n2, t2, c), SUM_OF_TYPES(n, t, c)))                \
	F(Put,                                                                                                         \
	  (const void *b, I n, MPI_Datatype t, int r, MPI_Aint d, I n2, MPI_Datatype t2, MPI_Win w),                   \
	  (b, n, t, r, d, n2, t2, w), n * size_of(t))                                                                  \
	F(Get, (void *b, I n, MPI_Datatype t, int r, MPI_Aint d, I n2, MPI_Datatype t2, MPI_Win w),                    \
	  (b, n, t, r, d, n2, t2, w), n * size_of(t))                                                                  \
	F(Win_create, (void *b, MPI_Aint n, D u, MPI_Info i, MPI_Comm c, MPI_Win *w), (b, n, u, i, c, w), 0)

#define WITHOUT_COUNTS(F)                                                                                              \
	F(Init, (int *c, char ***v), (c, v), 0)                                                                        \
	F(Init_thread, (int *c, char ***v, int l, int *p), (c, v, l, p), 0)                                            \
	F(Barrier, (MPI_Comm c), (c), 0)                                                                               \
	F(Ibarrier, (MPI_Comm c, MPI_Request *q), (c, q), 0)                                                           \
	F(Start, (MPI_Request *q), (q), 0)                                                                             \
	F(Startall, (int n, MPI_Request *q), (n, q), 0)                                                                \
	F(Wait, (MPI_Request *q, MPI_Status *s), (q, s), 0)                                                            \
	F(Waitall, (int n, MPI_Request *q, MPI_Status *s), (n, q, s), 0)                                               \
	F(Test, (MPI_Request *q, int *f, MPI_Status *s), (q, f, s), 0)                                                 \
	F(Request_free, (MPI_Request *q), (q), 0)                                                                      \
	F(Comm_dup, (MPI_Comm c, MPI_Comm *n), (c, n), 0)                                                              \
	F(Comm_split, (MPI_Comm c, int k, int o, MPI_Comm *n), (c, k, o, n), 0)                                        \
	F(Comm_free, (MPI_Comm *c), (c), 0)                                                                            \
	F(Win_fence, (int a, MPI_Win w), (a, w), 0)                                                                    \
	F(Win_free, (MPI_Win *w), (w), 0)

#define NUMBER(name, ...) NUMBER_##name,
#define NAME(name, ...) {"MPI_" #name, 0, 0},
enum { WITH_COUNTS(NUMBER, , ) WITHOUT_COUNTS(NUMBER) NUMBER_Finalize, NUMBERS };
static struct {
	const char *name;
	long long calls, bytes;
} counts[] = {WITH_COUNTS(NAME, , ) WITHOUT_COUNTS(NAME){"MPI_Finalize", 0, 0}};

#define COUNT(name, call, bytes_)                                                                                      \
	int result;                                                                                                    \
                                                                                                                       \
	depth++;                                                                                                       \
	result = call;                                                                                                 \
	if (!--depth) {                                                                                                \
		counts[NUMBER_##name].calls++;                                                                         \
		counts[NUMBER_##name].bytes += bytes_;                                                                 \
	}                                                                                                              \
	return result;
#define NEXT(symbol) ((__typeof__(&symbol))dlsym(RTLD_NEXT, #symbol))
#ifdef SHIFTED
#define IF_SHIFTED(...) __VA_ARGS__
#else
#define IF_SHIFTED(...)
#endif
#define WRAP_BOTH(name, symbol, parameters, arguments, bytes)                                                          \
	int MPI_##symbol parameters                                                                                    \
	{                                                                                                              \
		COUNT(name, PMPI_##symbol arguments, bytes)                                                            \
	}                                                                                                              \
	IF_SHIFTED(int PMPI_##symbol parameters{COUNT(name, NEXT(PMPI_##symbol) arguments, bytes)})
#define WRAP(name, parameters, arguments, bytes) WRAP_BOTH(name, name, parameters, arguments, bytes)
#define WRAP_LARGE(name, parameters, arguments, bytes) WRAP_BOTH(name, name##_c, parameters, arguments, bytes)
WITH_COUNTS(WRAP, int, int)
#if MPI_VERSION >= 4
WITH_COUNTS(WRAP_LARGE, MPI_Count, MPI_Aint)
#endif
WITHOUT_COUNTS(WRAP)

static void write_counts(void)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s.%d", getenv("MPI_COUNTER") ? getenv("MPI_COUNTER") : "counts",
		 rank_of(MPI_COMM_WORLD));
	counts[NUMBER_Finalize].calls = 1;
	f = fopen(path, "w");
	for (int i = 0; i < NUMBERS; i++)
		if (counts[i].calls)
			fprintf(f, "%s %lld %lld\n", counts[i].name, counts[i].calls, counts[i].bytes);
	fclose(f);
}

int MPI_Finalize(void)
{
	write_counts();
	depth++;
	return PMPI_Finalize();
}
#ifdef SHIFTED
int PMPI_Finalize(void)
{
	if (!depth)
		write_counts();
	depth++;
	return NEXT(PMPI_Finalize)();
}
#endif
