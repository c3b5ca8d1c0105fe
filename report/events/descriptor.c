/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/descriptor.h"

#include <stdlib.h>

COMPARATOR(compare_descriptors, struct descriptor,
	   order_of(a->fd, b->fd) ?: order_of(a->from_ticks, b->from_ticks) ?: order_of(a->blob->id, b->blob->id))

void descriptors_init(struct descriptors *d, const struct trace *t)
{
	*d = (struct descriptors){.trace = t};
	for (size_t i = 0; t && i < t->blob_count; i++) {
		struct {
			struct tf_descriptor head;
			char text[sizeof("/dev/pts/")]; /* its begin */
		} of = {0};
		bool is_file;

		if (t->blobs[i].type != TF_BLOB_DESCRIPTOR ||
		    trace_blob(t, &t->blobs[i], &of, sizeof(of) - 1) < sizeof(of.head))
			continue;
		is_file = of.head.kind == TF_DESCRIPTOR_FILE;
		list_add(d, (struct descriptor){
				    of.head.from_ticks, of.head.fd, of.head.kind, of.head.generation,
				    of.head.kind == TF_DESCRIPTOR_OTHER && text_begins_with(of.text, "pipe:"),
				    is_file && text_any(text_begins_with, of.text, "/dev/pts/", "/dev/tty"),
				    &t->blobs[i]});
	}
	if (d->count)
		qsort(d->items, d->count, sizeof(*d->items), compare_descriptors);
}

void descriptors_done(struct descriptors *d)
{
	free(d->items);
	*d = (struct descriptors){0};
}

/* The first description of `fd` after that tick, or of a higher one. */
static size_t descriptors_after(const struct descriptors *d, uint64_t fd, uint64_t ticks)
{
	size_t low = 0, high = d->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct descriptor *m = &d->items[middle];

		if (m->fd < fd || (m->fd == fd && m->from_ticks <= ticks))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct descriptor *descriptors_find(const struct descriptors *d, uint64_t fd, uint64_t ticks)
{
	size_t after = descriptors_after(d, fd, ticks);

	return after && d->items[after - 1].fd == fd ? &d->items[after - 1] : NULL;
}

/* Generations are repeated after 32768 changes, so only the nearest descriptions may be the one. */
const struct descriptor *descriptors_find_generation(const struct descriptors *d, uint64_t fd, uint32_t generation,
						     uint64_t ticks)
{
	size_t after = descriptors_after(d, fd, ticks);

	for (size_t i = after ? after - 1 : 0; i <= after && i < d->count; i++)
		if (d->items[i].fd == fd && d->items[i].generation == generation)
			return &d->items[i];
	return NULL;
}

const struct descriptor *descriptors_find_id(const struct descriptors *d, uint32_t id)
{
	for (size_t i = d->count; i > 0 && d->items[i - 1].fd == TF_NO_DESCRIPTOR; i--)
		if (d->items[i - 1].blob->id == id && d->items[i - 1].kind != TF_DESCRIPTOR_DIRECTORY)
			return &d->items[i - 1];
	return NULL;
}

/* There are 256 at most, after all others. */
const struct descriptor *descriptors_find_directory(const struct descriptors *d, uint32_t number)
{
	enum { DIRECTORIES = 256 };

	for (size_t i = d->count; i > 0 && i + DIRECTORIES > d->count && d->items[i - 1].fd == TF_NO_DESCRIPTOR; i--)
		if (d->items[i - 1].generation == number && d->items[i - 1].kind == TF_DESCRIPTOR_DIRECTORY)
			return &d->items[i - 1];
	return NULL;
}

/* How long the text is up to the NUL, which is read as 0xff, before the own address of a socket. Names of Unix may have
 * any byte. */
static size_t text_end(const struct descriptor *item, const struct buffer *all)
{
	const size_t head = sizeof(struct tf_descriptor);
	const char *end = item->kind == TF_DESCRIPTOR_SOCKET && all->size > head + 5 &&
					  memcmp(all->data + head, "unix ", 5)
				  ? memchr(all->data + head, 0xff, all->size - head)
				  : NULL;

	return end ? (size_t)(end - all->data) : all->size;
}

void descriptors_text(const struct descriptors *d, const struct descriptor *item, struct buffer *ret)
{
	SCOPED(buffer) all = {0};

	trace_text(d->trace, item->blob, &all);
	if (all.size > sizeof(struct tf_descriptor))
		buffer_add(ret, all.data + sizeof(struct tf_descriptor),
			   text_end(item, &all) - sizeof(struct tf_descriptor));
}

void descriptors_own_address(const struct descriptors *d, const struct descriptor *item, struct buffer *ret)
{
	SCOPED(buffer) all = {0};
	size_t end;

	trace_text(d->trace, item->blob, &all);
	end = text_end(item, &all);
	if (end < all.size)
		buffer_add(ret, all.data + end + 1, all.size - end - 1);
}
