/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a capture while they are opened: for model_files.c and model_share.c. */
#pragma once

#include "report/read/job/model.h"
#include "runtime/shared/spool/spool.h"

struct file {
	char *path;
	const char *name;	  /* within path, or the name in the packed file */
	struct pack_file *packed; /* NULL: in a directory */
	char *over;		  /* the path of the same file in a spool; NULL: there is none */
	spool_is_later *is_later; /* of its pages */
	struct mapping bytes;	  /* of a large trace, until it is read */
	struct trace *trace;	  /* if it is a trace without a problem */
	char *problem;
	bool is_unwritten; /* the problem: its writer was killed when it had just created the file */
	uint64_t size;	   /* only where several processes share the files */
	size_t owner;	   /* the process that reads it */
};

struct files {
	struct file *items;
	size_t count, capacity;
	size_t next; /* index of the next file that no thread has taken */
	size_t self; /* the number of this process */
};

/* Takes ownership of path; name is within it, or stays valid. */
void files_add(struct files *l, char *path, const char *name, struct pack_file *packed);
void files_done(struct files *l);

/* By its name. */
bool file_is_of_capture(const char *name);
bool file_is_trace(const struct file *f);
int file_map(const struct file *f, struct mapping *ret, struct err *err);
void file_problem(struct file *f, int code, const struct err *err);

/* ---- model_share.c: where several processes share the files ---- */

/* All processes get the first one's list of files, and each file an owner. `directory`: NULL for a packed file. */
void files_divide(struct model *m, struct files *l, const char *directory);

/* Each process has read its files. Sends what they contain to the others, and gets the rest. */
void files_exchange(struct model *m, struct files *l);
