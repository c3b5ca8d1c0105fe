/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a HOST.RUN.usage file into the model. */
#include <stdlib.h>
#include <string.h>

#include "report/read/model.h"

/* An incomplete sample at the end is being written, or its writer was killed. */
void model_usage(struct model *m, const char *path, const char *name, const struct mapping *file)
{
	struct tf_usage_head head;
	struct usage_samples *u;
	char *host;

	if (file->size < sizeof(head) || (memcpy(&head, file->data, sizeof(head)), head.magic != TF_USAGE_MAGIC) ||
	    head.sample_bytes < sizeof(struct tf_usage_sample)) {
		texts_add(&m->problems, "%s: not a usage file", path);
		return;
	}
	head.boot[sizeof(head.boot) - 1] = 0;
	host = model_file_host(name);
	m->usages = mem_grow(m->usages, m->usage_count, &m->usage_capacity, sizeof(*m->usages));
	u = &m->usages[m->usage_count++];
	*u = (struct usage_samples){.machine = model_machine(m, host, head.boot, head.clock),
				    .run = head.run,
				    .count = (file->size - sizeof(head)) / head.sample_bytes};
	u->items = mem_alloc((u->count + 1) * sizeof(*u->items));
	for (size_t i = 0; i < u->count; i++)
		memcpy(&u->items[i], file->data + sizeof(head) + i * head.sample_bytes, sizeof(*u->items));
	free(host);
}
