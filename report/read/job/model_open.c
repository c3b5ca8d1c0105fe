/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the captures of a model, and frees it. */
#include <stdlib.h>

#include "report/read/job/model.h"

int model_open(struct model *m, char *const *paths, size_t count, struct err *err)
{
	return model_open_shared(m, paths, count, NULL, err);
}

int model_open_shared(struct model *m, char *const *paths, size_t count, struct share *share, struct err *err)
{
	bool has_directory = array_find(path, paths, count, model_path_is_directory(*path));

	*m = (struct model){.share = share};
	for (size_t i = 0; i < count && has_directory; i++)
		if (model_path_is_spool(paths[i]))
			texts_add(&m->spools, "%s", paths[i]);
	for (size_t i = 0; i < count; i++) {
		int code = has_directory && model_path_is_spool(paths[i]) ? 0 : model_path(m, paths[i], err);

		if (code)
			return code;
	}
	model_images(m);
	model_link(m);
	return 0;
}

int model_open_bytes(struct model *m, const void *data, size_t size, struct err *err)
{
	struct trace *t;
	int code;

	*m = (struct model){0};
	code = reader_open_bytes(data, size, &t, err);
	if (code)
		return code;
	model_trace(m, t);
	model_link(m);
	return 0;
}

static void run_done(struct run_record *r)
{
	free(r->command);
	free(r->options);
	free(r->version);
	free(r->key);
	free(r->spool);
	free(r->scheduler);
	free(r->job);
	free(r->task);
	free(r->restart);
	free(r->step);
	free(r->oom_group);
	free(r->node);
}

void model_done(struct model *m)
{
	for (size_t i = 0; i < m->machine_count; i++) {
		free(m->machines[i].host);
		free(m->machines[i].boot);
		free(m->machines[i].rough);
		clock_map_done(&m->machines[i].clock);
	}
	for (size_t i = 0; i < m->image_count; i++)
		image_done(&m->images[i]);
	model_image_files_done(m); /* after the traces in them, as is the next one */
	for (size_t i = 0; i < m->pack_count; i++)
		pack_close(m->packs[i]);
	free(m->packs);
	for (size_t i = 0; i < m->bare_count; i++) {
		free(m->bare[i].executable);
		free(m->bare[i].reason);
	}
	for (size_t i = 0; i < m->run_count; i++)
		run_done(&m->runs[i]);
	for (size_t i = 0; i < m->note_count; i++)
		free(m->notes[i].text);
	for (size_t i = 0; i < m->ranges_count; i++) {
		free(m->ranges[i].items);
		free(m->ranges[i].is_cancelled);
	}
	array_free(usage, m->usages, m->usage_count, free(usage->items));
	array_free(one, m->wheres, m->where_count, free(one->bytes));
	array_free(energy, m->energies, m->energy_count, free(energy->bytes));
	attachments_done(&m->attachments);
	map_done(&m->by_nonce);
	map_done(&m->machine_by_name);
	map_done(&m->run_by_id);
	map_done(&m->process_by_pid);
	texts_done(&m->ranks);
	texts_done(&m->problems);
	texts_done(&m->spools);
	map_done(&m->spool_runs);
	free(m->machines);
	free(m->images);
	free(m->processes);
	free(m->bare);
	free(m->runs);
	free(m->notes);
	texts_done(&m->objects);
	texts_done(&m->symbols);
	texts_done(&m->sources);
	texts_done(&m->seen);
	free(m->ranges);
	free(m->wait_statuses);
	*m = (struct model){0};
}
