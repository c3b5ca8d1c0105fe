/* SPDX-License-Identifier: Apache-2.0 */
/* The images in a range file, which have no trace file or lost a part of it. See struct tf_images. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/read/job/model.h"

void model_image_file(struct model *m, const char *path, struct mapping *file)
{
	struct tf_images head;
	struct tf_range_page page;

	if (file->size < TF_IMAGES_FIRST)
		return;
	memcpy(&head, file->data + TF_IMAGES_OFFSET, sizeof(head));
	memcpy(&page, file->data, sizeof(page));
	if (head.magic != TF_IMAGES_MAGIC || page.magic != TF_RANGE_MAGIC ||
	    head.function_bytes > TF_IMAGES_FIRST - TF_IMAGES_OFFSET - sizeof(head)) {
		texts_add(&m->problems, "%s: damaged, the images in it cannot be read", path);
		return;
	}
	mem_append(m->image_files, m->image_file_count, m->image_file_capacity, (struct image_file){
		.path = mem_copy_text(path, strlen(path)),
		.bytes = *file,
		.functions = functions_take(file->data + TF_IMAGES_OFFSET + sizeof(head), head.function_bytes,
					    head.function_count),
		.run = page.run,
		.clock = page.clock,
		.is_ring = page.ended & TF_RANGE_RING,
	});
	*file = (struct mapping){0};
}

void model_image_files_done(struct model *m)
{
	for (size_t i = 0; i < m->image_file_count; i++) {
		free(m->image_files[i].path);
		functions_give(m->image_files[i].functions);
		mapping_close(&m->image_files[i].bytes);
	}
	free(m->image_files);
	texts_done(&m->unwritten);
	map_done(&m->unwritten_nonces);
}

static bool is_image(const struct tf_image *image, const struct tf_chunk *chunk)
{
	return chunk->magic == TF_CHUNK_MAGIC && chunk->nonce == image->nonce && chunk->kind == TF_CHUNK_FIRST &&
	       chunk->size_bytes == TF_IMAGE_CHUNK_BYTES && !chunk->thread && !chunk->sequence;
}

/* An image that its writer had a trace file for, but was killed before it copied the place: both parts as one file. */
static struct trace *join_parts(const struct trace *file, const uint8_t *chunk)
{
	size_t end = (file->bytes.size + TF_PAGE - 1) / TF_PAGE * TF_PAGE;
	uint8_t *bytes = mem_alloc(end + TF_PAGE);
	struct tf_chunk *head = (struct tf_chunk *)(bytes + end);
	struct mapping both = {.data = bytes, .size = end + TF_PAGE};
	struct trace *joined;
	struct err err;

	memcpy(bytes, file->bytes.data, file->bytes.size);
	memcpy(head, chunk, TF_IMAGE_CHUNK_BYTES);
	head->size_bytes = TF_PAGE;
	reader_open_mapping(file->path, &both, 1, &joined, &err);
	return joined;
}

static void join_image(struct image *image, const uint8_t *chunk)
{
	struct trace *joined;

	if (trace_has_first_chunk(image->trace) || image->trace->header.nonce != image->nonce)
		return;
	joined = join_parts(image->trace, chunk);
	if (!joined)
		return;
	reader_close(image->trace);
	image->trace = joined;
}

/* The machine of the parent; if that is unknown, the one that the launcher ran on. */
static size_t image_machine(struct model *m, const struct image_file *f, const struct image *parent)
{
	struct tf_images head;

	if (parent)
		return parent->machine;
	memcpy(&head, f->bytes.data + TF_IMAGES_OFFSET, sizeof(head));
	head.host[sizeof(head.host) - 1] = head.boot[sizeof(head.boot) - 1] = '\0';
	return model_machine(m, head.host, head.boot, f->clock);
}

static char *copy_or_empty(const char *text)
{
	return mem_copy_text(text ? text : "", text ? strlen(text) : 0);
}

static char *copy_items(const char *items)
{
	size_t size = 0;

	while (items && items[size])
		size += strlen(items + size) + 1;
	return mem_copy_text(items ? items : "", size);
}

/* A forked image has no line in the index: it has its parent's command. */
static void inherit(struct image *image, const struct image *parent)
{
	if (image->command)
		return;
	image->executable = copy_or_empty(parent ? parent->executable : NULL);
	image->command = copy_or_empty(parent ? parent->command : NULL);
	image->variables = copy_items(parent ? parent->variables : NULL);
}

static struct trace *open_place(struct model *m, const struct image_file *f, const struct image *image,
				const struct tf_image *place, const uint8_t *chunk)
{
	const struct machine *machine = &m->machines[image->machine];
	struct tf_header header = {
		.nonce = image->nonce,
		.run = image->run,
		.pid = image->pid,
		.clock = f->clock,
		.threads_lost = place->threads_lost,
		.osrt_threshold_ns = place->osrt_threshold_ns,
		.first = {.ticks = image->start_ticks, .realtime_ns = place->start_realtime_ns},
		.function_count = (uint32_t)f->functions->count,
	};

	strncpy(header.host, machine->host, sizeof(header.host) - 1);
	strncpy(header.boot, machine->boot, sizeof(header.boot) - 1);
	return reader_open_chunk(f->path, &header, functions_share(f->functions), chunk, TF_IMAGE_CHUNK_BYTES);
}

static const struct image *find_image(const struct model *m, uint64_t nonce)
{
	const uint64_t *place = nonce ? map_find(&m->by_nonce, nonce, 0) : NULL;

	return place ? &m->images[*place] : NULL;
}

static void describe_image(struct model *m, const struct image_file *f, const struct tf_image *place,
			   struct image *image)
{
	const struct image *parent = find_image(m, place->parent_nonce);

	if (!image->command)
		image->machine = image_machine(m, f, parent);
	inherit(image, parent);
	image->run = f->run;
	image->parent_nonce = place->via == TF_VIA_FORK ? place->parent_nonce : 0;
	image->process_start = place->process_start;
	image->start_is_bound = place->via == TF_VIA_FORK;
	image->pid = place->pid;
	image->parent_pid = place->parent_pid;
	image->via = place->via;
	image->start_ticks = place->start_ticks;
	image->end_ticks = place->end_ticks;
	image->end = place->end <= TF_END_ABORT ? place->end : TF_END_NONE;
	image->end_status = place->end_status;
	image->threads_lost = place->threads_lost;
}

static void add_image(struct model *m, const struct image_file *f, const struct tf_image *place, const uint8_t *chunk)
{
	struct image *image = model_image(m, place->nonce);

	if (image->trace) {
		join_image(image, chunk);
		return;
	}
	describe_image(m, f, place, image);
	image->trace = open_place(m, f, image, place, chunk);
	image->trace->owner = image->nonce % share_count(m->share);
	m->trace_bytes += TF_IMAGE_BYTES;
	m->written_bytes += image->trace->written_bytes;
	model_wait_statuses(m, image->trace, image->machine);
}

/* The image has moved to a trace file. Of a live run, the file may be younger than the list of files that was read. */
static void check_moved(struct model *m, const struct image_file *f, const struct tf_image *place)
{
	const char *name = strrchr(f->path, '/');
	struct image *image;
	SCOPED(buffer) path = {0};

	if (f->is_ring)
		return;
	image = model_image(m, place->nonce);
	if (image->trace)
		return;
	describe_image(m, f, place, image);
	buffer_print(&path, "%.*s%s.%u.%016llx.trace", name ? (int)(name + 1 - f->path) : 0, f->path,
		     m->machines[image->machine].host, image->pid, (unsigned long long)image->nonce);
	image->is_missing = access(path.data, F_OK) != 0;
	if (image->is_missing)
		texts_add(&m->problems, "%s: missing, no report has the events of process %u", path.data, image->pid);
}

/* An image takes its place before it forks, so parents precede their children. */
static void read_images(struct model *m, const struct image_file *f)
{
	uint64_t damaged = 0, at = TF_IMAGES_FIRST;

	for (; at + TF_IMAGE_BYTES <= f->bytes.size; at += TF_IMAGE_BYTES) {
		const uint8_t *bytes = f->bytes.data + at;
		struct tf_image place;
		struct tf_chunk head;

		memcpy(&place, bytes, sizeof(place));
		memcpy(&head, bytes + sizeof(place), sizeof(head));
		if (!place.nonce)
			continue;
		if (!head.magic && head.nonce == place.nonce)
			check_moved(m, f, &place);
		else if (is_image(&place, &head))
			add_image(m, f, &place, bytes + sizeof(place));
		else
			damaged++;
	}
	if (damaged)
		texts_add(&m->problems, "%s: damaged, %llu images cannot be read", f->path,
			  (unsigned long long)damaged);
}

void model_unwritten(struct model *m, uint64_t nonce, const char *problem)
{
	*map_put(&m->unwritten_nonces, m->unwritten.count, 0, NULL) = nonce;
	texts_add(&m->unwritten, "%s", problem);
}

void model_images(struct model *m)
{
	for (size_t i = 0; i < m->image_file_count; i++)
		read_images(m, &m->image_files[i]);
	for (size_t i = 0; i < m->unwritten.count; i++) {
		const struct image *image = find_image(m, *map_find(&m->unwritten_nonces, i, 0));

		if (!image || !image->trace)
			texts_add(&m->problems, "%s", m->unwritten.items[i]);
	}
}
