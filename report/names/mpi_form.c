/* SPDX-License-Identifier: Apache-2.0 */
#include "report/names/mpi_form.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const struct mpi_form forms[] = {
	{"Send", SEND | RETURNS_EARLY, 4, 5, 6}, {"Ssend", SEND, 4, 5, 6},
	{"Rsend", SEND | RETURNS_EARLY, 4, 5, 6}, {"Bsend", SEND | RETURNS_EARLY, 4, 5, 6},
	{"Recv", RECEIVE, 4, 5, 6}, {"Sendrecv", BOTH, 4, 5, 11, 9, 10},
	{"Sendrecv_replace", BOTH, 4, 5, 8, 6, 7}, {"Probe", PROBE, 1, 2, 3},
	{"Improbe", CONFUSES}, /* before Mprobe, of which it is no nonblocking form: it may find nothing */
	{"Mprobe", RECEIVE, 1, 2, 3}, {"Barrier", FOR_ALL, 0, 0, 1},
	{"Bcast", FOR_SOME, 4, 0, 5}, {"Gather", FOR_SOME, 7, 0, 8},
	{"Gatherv", FOR_SOME, 8, 0, 9}, {"Scatter", FOR_SOME, 7, 0, 8},
	{"Scatterv", FOR_SOME, 8, 0, 9}, {"Reduce", FOR_SOME, 6, 0, 7},
	{"Scan", FOR_SOME, 0, 0, 6}, {"Exscan", FOR_SOME, 0, 0, 6},
	{"Allgather", FOR_ALL, 0, 0, 7}, {"Allgatherv", FOR_ALL, 0, 0, 8},
	{"Alltoall", FOR_ALL, 0, 0, 7}, {"Alltoallv", FOR_ALL, 0, 0, 9},
	{"Alltoallw", FOR_ALL, 0, 0, 9}, {"Allreduce", FOR_ALL, 0, 0, 6},
	{"Reduce_scatter", FOR_ALL, 0, 0, 6}, {"Reduce_scatter_block", FOR_ALL, 0, 0, 6},
	{"Comm_dup", FOR_ALL, 0, 0, 1}, {"Comm_dup_with_info", FOR_ALL, 0, 0, 1},
	{"Comm_split", FOR_ALL, 0, 0, 1}, {"Comm_split_type", FOR_ALL, 0, 0, 1},
	{"Comm_create", FOR_ALL, 0, 0, 1}, {"Cart_create", FOR_ALL, 0, 0, 1},
	{"Cart_sub", FOR_ALL, 0, 0, 1}, {"Graph_create", FOR_ALL, 0, 0, 1},
	{"Dist_graph_create", FOR_ALL, 0, 0, 1}, {"Dist_graph_create_adjacent", FOR_ALL, 0, 0, 1},
	{"Wait", WAIT, 1}, {"Waitall", WAIT, 2},
	{"Waitany", WAIT | RETURNS_EARLY, 2}, {"Waitsome", WAIT | RETURNS_EARLY, 2},
	{"Start", START}, {"Startall", START}, {"Finalize", FINALIZE},
	{"Init", BEGINS}, {"Init_thread", BEGINS}, {"Cancel", CONFUSES}, {"Psend", CONFUSES}, {"Precv", CONFUSES},
};
enum { FORMS = sizeof(forms) / sizeof(*forms), IS_LATER = 64, IS_INIT = 128 };

_Static_assert(FORMS < 63, "places have 6 bits for the form");

uint8_t mpi_form_place(const struct function *f)
{
	const char *name = f->group == TF_GROUP_MPI && text_begins_with(f->name, "MPI_") ? f->name + 4 : "";
	bool is_later = name[0] == 'I' && islower(name[1]);
	size_t length = strlen(name), init = strlen("_init");

	for (size_t i = 0; i < FORMS; i++) {
		size_t same = strlen(forms[i].name);
		bool is_init = same + init == length && !strcmp(name + same, "_init");
		bool strips = is_later && same + 1 == length && !strcasecmp(name + 1, forms[i].name);

		if (strips || ((is_init || same == length) && !strncmp(name, forms[i].name, same)))
			return (uint8_t)(i + 1) | (strips ? IS_LATER : 0) | (is_init ? IS_INIT : 0);
	}
	return 0;
}

const struct mpi_form *mpi_form_at(uint8_t place, unsigned *ret_how)
{
	const struct mpi_form *form = &forms[(place & (IS_LATER - 1)) - 1];

	*ret_how = form->kind | (place & IS_LATER ? LATER : 0) | (place & IS_INIT ? INIT : 0);
	return form;
}
