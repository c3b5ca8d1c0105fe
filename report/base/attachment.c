/* SPDX-License-Identifier: Apache-2.0 */
#include "report/base/attachment.h"

#include <stdlib.h>

#include "report/base/util.h"

struct attachment {
	const struct attachment_kind *kind;
	struct attachment *next;
	void *state;
};

void *attachment_find(const struct attachments *a, const struct attachment_kind *kind)
{
	for (const struct attachment *at = a->first; at; at = at->next)
		if (at->kind == kind)
			return at->state;
	return NULL;
}

void *attachment_get(struct attachments *a, const struct attachment_kind *kind)
{
	void *state = attachment_find(a, kind);
	struct attachment *added;

	if (state)
		return state;
	added = mem_alloc(sizeof(*added));
	*added = (struct attachment){.kind = kind, .next = a->first, .state = mem_alloc(kind->size)};
	a->first = added;
	return added->state;
}

void attachments_done(struct attachments *a)
{
	while (a->first) {
		struct attachment *at = a->first;

		a->first = at->next;
		if (at->kind->done)
			at->kind->done(at->state);
		free(at->state);
		free(at);
	}
}
