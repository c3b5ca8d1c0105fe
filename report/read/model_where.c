/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the contents of HOST.RUN.where files; report/derive/where/ reads their records. */
#include <string.h>

#include "report/read/model.h"

void model_where(struct model *m, const char *path, const struct mapping *file)
{
	struct tf_where_head head;
	struct where_file *w;

	if (file->size < sizeof(head) || (memcpy(&head, file->data, sizeof(head)), head.magic != TF_WHERE_MAGIC)) {
		texts_add(&m->problems, "%s: not a file of pillion where", path);
		return;
	}
	m->wheres = mem_grow(m->wheres, m->where_count, &m->where_capacity, sizeof(*m->wheres));
	w = &m->wheres[m->where_count++];
	*w = (struct where_file){.run = head.run, .machine = head.machine, .size = file->size - sizeof(head)};
	w->bytes = mem_alloc(w->size + 1);
	memcpy(w->bytes, file->data + sizeof(head), w->size);
}
