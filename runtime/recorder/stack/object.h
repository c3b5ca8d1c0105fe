/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the loaded object that contains an address: by glibc's _dl_find_object (2.35 and newer), which takes no
 * lock; with older versions by loader_try_each().
 *
 * Any thread, any signal handler. errno is preserved. */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* glibc's struct dl_find_object (dlfcn.h of 2.35), declared here because the C library of the build may be older
 * than that of the target. */
struct object {
	unsigned long long flags;
	void *map_start, *map_end;
	struct link_map *link_map; /* NULL if loader_try_each() found it */
	void *eh_frame_hdr;	   /* NULL: none */
	unsigned long long reserved[7];
};

/* OBJECT_UNKNOWN: the loader's list cannot be searched at this moment. */
enum object_answer { OBJECT_FOUND, OBJECT_NONE, OBJECT_UNKNOWN };

/* Sets the address of _dl_find_object; NULL: unavailable. May be called again at any time. */
void object_init(void *dl_find_object);

bool object_has_lookup(void);

enum object_answer object_find(uintptr_t address, struct object *ret);

/* The program headers of an object that was found; NULL: not where they usually are. */
const ElfW(Phdr) *object_headers(const struct object *o, unsigned *ret_count);

/* The dynamic section of an object that was found, and its load bias. NULL: it has none. */
const void *object_dynamic(const struct object *o, uintptr_t *ret_bias);
