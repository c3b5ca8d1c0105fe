/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the contents of HOST.RUN.energy files; report/derive/energy/ reads their records. */
#include <stdlib.h>
#include <string.h>

#include "report/read/model.h"

void model_energy(struct model *m, const char *path, const char *name, const struct mapping *file)
{
	struct tf_energy_head head;
	struct energy_file *e;
	char *host;

	if (file->size < sizeof(head) || (memcpy(&head, file->data, sizeof(head)), head.magic != TF_ENERGY_MAGIC)) {
		texts_add(&m->problems, "%s: not an energy file", path);
		return;
	}
	head.boot[sizeof(head.boot) - 1] = 0;
	host = model_file_host(name);
	m->energies = mem_grow(m->energies, m->energy_count, &m->energy_capacity, sizeof(*m->energies));
	e = &m->energies[m->energy_count++];
	*e = (struct energy_file){.machine = model_machine(m, host, head.boot, head.clock),
				  .run = head.run,
				  .size = file->size - sizeof(head)};
	e->bytes = mem_alloc(e->size + 1);
	memcpy(e->bytes, file->data + sizeof(head), e->size);
	free(host);
}
