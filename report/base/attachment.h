/* SPDX-License-Identifier: Apache-2.0 */
/* State that a module keeps with an object of another module. The object owns the state and frees it without knowing
 * what it is. */
#pragma once

#include <stddef.h>

/* One static object for each kind of state: its address identifies the kind. */
struct attachment_kind {
	size_t size;
	void (*done)(void *state); /* frees what the state owns; NULL: it owns nothing */
};

/* Few kinds exist, so a list is searched in constant time. */
struct attachments {
	struct attachment *first;
};

/* The state of this kind, or NULL if there is none yet. */
void *attachment_find(const struct attachments *a, const struct attachment_kind *kind);

/* Likewise, created with zeros if there is none yet. Its address does not change. */
void *attachment_get(struct attachments *a, const struct attachment_kind *kind);

void attachments_done(struct attachments *a);
