/* SPDX-License-Identifier: Apache-2.0 */
/* The files that were mapped in the images of a job, and which one an address belongs to. */
#pragma once

#include "report/names/symbol_kept.h"
#include "report/names/symbol_map.h"
#include "report/read/job/model.h"

/* A file, shared by all images that map it. Files of one path and different builds are different ones. */
struct module_file {
	char *path;  /* as recorded */
	char *shown; /* what frames have. A relative path is followed by "@" and the build id's first digits, because
		      * the same path may name several files */
	char *called; /* its name without directories, of an executable as it was executed: see modules_called */
	struct symbol_build build;
	struct symbol_file *file; /* valid once is_opened; NULL: it cannot be used */
	int code;		  /* likewise: why, as symbol_file_open returns it */
	const struct kept_module *kept; /* likewise: the names in the capture, if there is no file; NULL: none */
	bool is_opened, is_recorder, is_interpreter;
	/* of code that the image compiled, else NULL; its build id is the image's nonce, its addresses are those in
	 * memory, and map is valid once is_opened */
	const struct image *compiled_by;
	struct symbol_map *map;
};

struct mapped_module {
	uint64_t start, end, bias;
	unsigned unloads;
	size_t file;
};

/* The modules of one image. */
struct module_space {
	struct mapped_module *modules;
	size_t count, capacity;
	struct mapped_module compiled; /* what was compiled at run time, if has_compiled */
	bool has_compiled;
	bool has_interpreter; /* of the build that was recorded */
	bool was_searched;    /* number of candidates for it, in files of any name */
};

struct modules {
	const struct model *model;
	bool opens_files;
	struct module_file *files;
	size_t file_count, file_capacity, opened;
	struct map by_identity; /* hash of the path, of the build -> position in files + 1 */
	struct map by_image;	/* image -> position in spaces + 1 */
	struct module_space *spaces;
	size_t space_count, space_capacity;
	struct kept_symbols kept;
	struct texts problems;
	bool skips_c_library; /* has no lines of it, nor of CPython's interpreter */
};

/* Whether a file is the C library, that of C++, or the loader. */
bool module_is_c_library(const char *module);
/* Whether it is the Python interpreter, by its name. */
bool module_is_interpreter(const char *module);

void modules_init(struct modules *m, const struct model *model, bool opens_files);

void modules_done(struct modules *m);

/* Borrowed until the next call. */
struct module_space *modules_of(struct modules *m, const struct image *image);

/* The module of an address, NULL if there is none. unloads: the value of TF_STACK_UNLOADS of the stack that contains
 * the address. Code that was compiled at run time is in one if its name is known. */
const struct mapped_module *modules_find(struct modules *m, const struct image *image, uint64_t address,
					 unsigned unloads);

/* Opens the file when it is first requested. False: it has no names, as files[file].code tells, nor has the capture. */
bool modules_open(struct modules *m, size_t file);

/* The function whose symbol an address of the file has, NULL: not known. Borrowed. */
const char *modules_name(struct modules *m, size_t file, uint64_t address);

/* The functions at an address as symbol_file_lines returns them; 0: not known. */
size_t modules_lines(struct modules *m, size_t file, uint64_t address, struct symbol_line ret[SYMBOL_LINES]);

/* See symbols_unusable. */
void modules_unusable(struct modules *m, struct texts *ret_changed, struct texts *ret_missing);

/* The name of a file without directories; of an executable as it was executed, not that to which links lead, unless it
 * was executed by several names. Borrowed. */
const char *modules_called(struct modules *m, size_t file);
