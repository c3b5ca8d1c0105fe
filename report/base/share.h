/* SPDX-License-Identifier: Apache-2.0 */
/* One process of several that each read a part of the trace files of a capture, and the messages between them.
 * `pillion recipe stats` starts the processes and carries the messages (docs/decisions/report-in-several-processes.md):
 * each process writes messages to its standard output, and reads those for it from its standard input. All make the
 * same exchanges in the same order. */
#pragma once

#include "report/base/util.h"

struct share; /* NULL where functions take it: there is one process */

/* Part `self` of `count`. Standard output becomes a temporary file; what is printed is the last message of part 0. */
int share_new(size_t self, size_t count, struct share **ret, struct err *err);

size_t share_count(const struct share *r); /* 1 for NULL */
size_t share_self(const struct share *r);  /* 0, the one that prints, for NULL */

/* Each part but the first sends `mine`; in the first one, `take` is called for each of the others, in their order. */
void share_gather(struct share *r, const struct buffer *mine,
		  void (*take)(void *context, size_t from, struct buffer *theirs), void *context);

/* The first part sends *b; the others get it. */
void share_broadcast(struct share *r, struct buffer *b);

/* Why an exchange has failed, NULL if none has. All later ones do nothing. */
const char *share_failure(const struct share *r);

/* Sends what part 0 has printed. -errno if that is not possible. */
int share_end(struct share *r, struct err *err);
