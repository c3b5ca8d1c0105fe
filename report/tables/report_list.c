/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tables/report_list.h"

#include <string.h>

#include "report/tables/report.h"

#define ROW(name, alias, title, flags) {#name, alias, title, flags, report_##name},
const struct report report_list[] = {REPORTS(ROW)};
const size_t report_count = sizeof(report_list) / sizeof(*report_list);

bool report_is_in(const struct report *report, const struct model *m)
{
	return !m->has_profile || report->flags & (REPORT_SUMS | REPORT_DUMP);
}

const struct report_topic report_topics[] = {
	{"CPU samples and source lines", {"sample_", "lines", "stacks_"}},
	{"Waiting: calls of the operating system, files, sockets", {"osrt_", "files", "sockets", "hdf5_"}},
	{"GPU and CUDA", {"cuda_", "um_", "roofline", "energy_"}},
	{"Libraries of CUDA, and NCCL", {"blas_", "cudnn_", "cusparse_", "cusolver_", "cufft_", "nccl_"}},
	{"MPI and OpenMP", {"mpi_", "rank_", "pop_", "openmp_"}},
	{"Python, PyTorch, JAX", {"python_", "pytorch_", "jax_"}},
	{"Ranges of NVTX", {"nvtx_"}},
	{"Memory of the host", {"mem_"}},
	{"The run", {NULL}},
};

size_t report_topic(const struct report *r)
{
	for (size_t topic = 0; topic + 1 < REPORT_TOPICS; topic++)
		for (size_t i = 0; report_topics[topic].names[i]; i++)
			if (!strncmp(r->name, report_topics[topic].names[i], strlen(report_topics[topic].names[i])))
				return topic;
	return REPORT_TOPICS - 1;
}

const struct report *report_find(const char *name)
{
	return array_find(r, report_list, report_count,
			  !strcmp(r->name, name) || (r->alias && !strcmp(r->alias, name)));
}
