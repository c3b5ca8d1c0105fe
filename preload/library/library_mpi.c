/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes of datatypes without a call of MPI: predefined handles of MPICH contain them, those of Open MPI are the
 * addresses of symbols. */
#include "preload/library/library_mpi.h"

#include <stdbool.h>
#include <stddef.h>

#include "runtime/common/dso.h"
#include "runtime/record/intern_table.h"
#include "runtime/record/thread.h"

enum { LIBRARY_MPI_WORLD = 0x44000000, LIBRARY_MPI_SELF = 0x44000001 };
enum { MPICH_PREDEFINED = 0x4c, OTHER = 1, OPEN_MPI = 2 };

uint64_t library_epoch;

static struct intern_table bytes_of; /* datatype -> bytes */
static struct intern_table
	communicators;          /* Open MPI's predefined communicators -> MPICH's numbers of them */
static unsigned implementation; /* 0: not yet determined */

static const struct {
	const char *symbol;
	uint8_t bytes;
} open_mpi_types[] = {
	{"ompi_mpi_byte", 1},
	{"ompi_mpi_char", 1},
	{"ompi_mpi_signed_char", 1},
	{"ompi_mpi_unsigned_char", 1},
	{"ompi_mpi_packed", 1},
	{"ompi_mpi_cxx_bool", 1},
	{"ompi_mpi_c_bool", 1},
	{"ompi_mpi_int8_t", 1},
	{"ompi_mpi_uint8_t", 1},
	{"ompi_mpi_short", 2},
	{"ompi_mpi_unsigned_short", 2},
	{"ompi_mpi_int16_t", 2},
	{"ompi_mpi_uint16_t", 2},
	{"ompi_mpi_int", 4},
	{"ompi_mpi_unsigned", 4},
	{"ompi_mpi_int32_t", 4},
	{"ompi_mpi_uint32_t", 4},
	{"ompi_mpi_float", 4},
	{"ompi_mpi_wchar", 4},
	{"ompi_mpi_long", sizeof(long)},
	{"ompi_mpi_unsigned_long", sizeof(long)},
	{"ompi_mpi_long_long_int", 8},
	{"ompi_mpi_unsigned_long_long", 8},
	{"ompi_mpi_int64_t", 8},
	{"ompi_mpi_uint64_t", 8},
	{"ompi_mpi_double", 8},
	{"ompi_mpi_aint", sizeof(ptrdiff_t)},
	{"ompi_mpi_offset", 8},
	{"ompi_mpi_count", 8},
	{"ompi_mpi_c_float_complex", 8},
	{"ompi_mpi_cxx_cplex", 8},
	{"ompi_mpi_2int", 8},
	{"ompi_mpi_float_int", 8},
	{"ompi_mpi_c_double_complex", 16},
	{"ompi_mpi_cxx_dblcplex", 16},
	{"ompi_mpi_long_double", sizeof(long double)},
	/* of Fortran, used by mpi4py and by programs of both languages */
	{"ompi_mpi_character", 1},
	{"ompi_mpi_integer", 4},
	{"ompi_mpi_real", 4},
	{"ompi_mpi_dblprec", 8},
	{"ompi_mpi_logical", 4},
	{"ompi_mpi_cplex", 8},
	{"ompi_mpi_dblcplex", 16},
};

/* A symbol of Open MPI is in its own library or, because of a copy relocation, in the main program. */
static void intern_known(struct intern_table *t, const char *symbol, uint64_t value)
{
	const void *own = dso_library_symbol("libmpi.so", symbol), *copy = dso_library_symbol("", symbol);

	if (own)
		intern_set(t, (uintptr_t)own, value);
	if (copy)
		intern_set(t, (uintptr_t)copy, value);
}

static void determine_implementation(void)
{
	struct thread_guard guard;
	bool is_open_mpi;

	thread_guard_enter(&thread_self, &guard);
	is_open_mpi = dso_library_symbol("libmpi.so", "ompi_mpi_comm_world");
	if (is_open_mpi) {
		intern_known(&communicators, "ompi_mpi_comm_world", LIBRARY_MPI_WORLD);
		intern_known(&communicators, "ompi_mpi_comm_self", LIBRARY_MPI_SELF);
	}
	for (size_t i = 0; is_open_mpi && i < sizeof(open_mpi_types) / sizeof(open_mpi_types[0]); i++)
		intern_known(&bytes_of, open_mpi_types[i].symbol, open_mpi_types[i].bytes);
	__atomic_store_n(&implementation, is_open_mpi ? OPEN_MPI : OTHER, __ATOMIC_RELEASE);
	thread_guard_leave(&thread_self, &guard);
}

static bool is_open_mpi(void)
{
	if (__builtin_expect(!__atomic_load_n(&implementation, __ATOMIC_ACQUIRE), 0))
		determine_implementation();
	return implementation == OPEN_MPI;
}

static uintptr_t handle_of(uintptr_t word)
{
	return is_open_mpi() ? word : (uint32_t)word;
}

uintptr_t library_mpi_communicator(uintptr_t word)
{
	uintptr_t handle = handle_of(word), known = intern_get(&communicators, handle);

	return known ? known : handle;
}

int64_t library_mpi_bytes(uintptr_t type)
{
	type = handle_of(type);
	if (implementation != OPEN_MPI && type >> 24 == MPICH_PREDEFINED)
		return type >> 8 & 0xff;
	return type ? (int64_t)intern_get(&bytes_of, type) : 0;
}

/* MPI is called only here: the type is valid, because MPI has just committed it. */
static void set_type(const uintptr_t *words)
{
	const void *handle = (const void *)words[1];
	uintptr_t type = is_open_mpi() ? *(const uintptr_t *)handle : *(const uint32_t *)handle;
	int (*size_of)(uintptr_t, int *) = dso_library_symbol("libmpi.so", "PMPI_Type_size");
	int bytes = 0;

	if (size_of && size_of(type, &bytes) == 0 && bytes > 0 && intern_get(&bytes_of, type) != (uint64_t)bytes) {
		intern_set(&bytes_of, type, (uint64_t)bytes);
		library_forget();
	}
}
const struct library_body library_set_mpi_type = {.note = set_type};
