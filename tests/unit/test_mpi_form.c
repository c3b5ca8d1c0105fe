/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stddef.h>

#include "report/names/mpi_form.h"

static const struct {
	const char *name;
	unsigned how; /* 0: it has no form */
	uint8_t communicator;
} functions[] = {
	{"MPI_Send", SEND | RETURNS_EARLY, 6},
	{"MPI_Issend", SEND | LATER, 6},
	{"MPI_Ssend_init", SEND | INIT, 6},
	{"MPI_Isendrecv_replace", BOTH | LATER, 8},
	{"MPI_Mprobe", RECEIVE, 3},
	{"MPI_Improbe", CONFUSES, 0},
	{"MPI_Iprobe", PROBE | LATER, 3},
	{"MPI_Ireduce", FOR_SOME | LATER, 7},
	{"MPI_Reduce_scatter_block", FOR_ALL, 6},
	{"MPI_Barrier_init", FOR_ALL | INIT, 1},
	{"MPI_Init", BEGINS, 0},
	{"MPI_Init_thread", BEGINS, 0},
	{"MPI_Psend_init", CONFUSES | INIT, 0},
	{"MPI_Intercomm_create", 0, 0},
	{"MPI_Reduce_local", 0, 0},
	{"MPI_Win_fence", 0, 0},
};

Test(mpi_form, knows_each_form_of_a_function)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		const struct function f = {.name = functions[i].name, .group = TF_GROUP_MPI};
		uint8_t place = mpi_form_place(&f);
		unsigned how = 0;

		if (place)
			cr_expect_eq(mpi_form_at(place, &how)->communicator, functions[i].communicator, "%s", f.name);
		cr_expect_eq(how, functions[i].how, "%s: %u", f.name, how);
	}
}

Test(mpi_form, leaves_other_groups_alone)
{
	cr_expect_not(mpi_form_place(&(struct function){.name = "MPI_Send", .group = TF_GROUP_OSRT}));
}
