/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the loaded object that contains an address: by glibc's _dl_find_object (2.35 and newer), which takes no
 * lock; with older versions by dl_iterate_phdr, which takes the loader's lock.
 *
 * Any thread, any signal handler. errno is preserved. */
#ifndef PILLION_OBJECT_H
#define PILLION_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* glibc's struct dl_find_object (dlfcn.h of 2.35), declared here because the C library of the build may be older
 * than that of the target. */
struct object {
	unsigned long long flags;
	void *map_start, *map_end;
	struct link_map *link_map; /* NULL if dl_iterate_phdr found it */
	void *eh_frame_hdr;	   /* NULL: none */
	unsigned long long reserved[7];
};

/* OBJECT_UNKNOWN: the loader's list cannot be searched at this moment. */
enum object_answer { OBJECT_FOUND, OBJECT_NONE, OBJECT_UNKNOWN };

typedef int object_visit(struct dl_phdr_info *info, size_t size, void *data);

/* Sets the address of _dl_find_object; NULL: unavailable. May be called again at any time. */
void object_init(void *dl_find_object);

bool object_has_lookup(void);

enum object_answer object_find(uintptr_t address, struct object *ret);

/* dl_iterate_phdr, protected against handlers of this thread and against fork. False: nothing was visited. */
bool object_each(object_visit *visit, void *data);

/* To be called around fork, in the thread that forks: begin before it; if that returned true, end after it, in both
 * processes, or after its failure. They ensure that the loader's lock is not copied while another thread is in
 * object_each: the wait usually takes microseconds, at most a second or two. After that, or in a child without a begin,
 * object_find returns OBJECT_UNKNOWN. False: _dl_find_object is in use, so there are no searches. */
bool object_fork_begin(void);
void object_fork_end(bool is_child);

#endif
