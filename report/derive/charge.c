/* SPDX-License-Identifier: Apache-2.0 */
#include "charge.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

enum { STACK_FRAMES = TF_BLOB_BYTES / sizeof(uint64_t), FEW = 6 };

bool charge_is_library(const char *path)
{
	static const char *const marks[] = {"/lib/python", "/lib64/python"};

	if (!strncmp(path, "<frozen", strlen("<frozen")) || strstr(path, "/site-packages/") || strstr(path, "/dist-packages/"))
		return true;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		const char *found = strstr(path, marks[i]);

		if (found && isdigit((unsigned char)found[strlen(marks[i])]))
			return true;
	}
	return false;
}

static bool is_system_module(const char *module)
{
	static const char *const places[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
	const char *base = strrchr(module, '/');

	base = base ? base + 1 : module;
	if (!strncmp(base, "python3", strlen("python3")) || !strncmp(base, "libpython3", strlen("libpython3")))
		return true;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!strncmp(module, places[i], strlen(places[i])))
			return true;
	return charge_is_library(module);
}

static bool is_users_python(struct charge *c, struct symbol_frame *f)
{
	struct frame parts;
	bool is_users;

	symbols_name(c->symbols, f);
	frame_split(f->text, &parts);
	is_users = parts.file && !charge_is_library(parts.file);
	frame_done(&parts);
	return is_users;
}

static bool is_users(struct charge *c, struct symbol_frame *f)
{
	uint64_t *known = map_put(&c->users, f->place, 0, NULL);
	uint32_t line;

	if (!*known && f->is_python)
		*known = 1 + is_users_python(c, f);
	else if (!*known)
		*known = 1 + (!is_system_module(f->module) && symbols_source(c->symbols, f, &line));
	return *known > 1;
}

/* Python frames from the innermost on, until one is the user's: of most stacks that takes a few of many. */
static size_t find_python(struct charge *c, const struct image *image, uint32_t stack, size_t *ret_at)
{
	size_t count = 0, at = 0, sizes[] = {FEW, STACK_FRAMES};

	for (size_t i = 0; i < 2 && at == count; i++) {
		count = symbols_python(c->symbols, image, stack, c->frames, sizes[i]);
		while (at < count && !is_users(c, &c->frames[at]))
			at++;
		if (count < sizes[i])
			break;
	}
	*ret_at = at;
	return count;
}

static size_t find_native(struct charge *c, const struct image *image, uint32_t stack, size_t *ret_at)
{
	size_t count = symbols_native(c->symbols, image, stack, c->frames, STACK_FRAMES);

	for (*ret_at = 0; *ret_at < count && !is_users(c, &c->frames[*ret_at]);)
		++*ret_at;
	return count;
}

static bool innermost(struct charge *c, const struct image *image, uint32_t stack, struct symbol_frame *ret, bool *ret_is_users)
{
	size_t count = symbols_frames(c->symbols, image, stack, c->frames, STACK_FRAMES), at = 0;

	while (at < count && (c->frames[at].is_interpreter || c->frames[at].place == SYMBOL_NO_PLACE))
		at++;
	if (at == count)
		return false;
	*ret = c->frames[at];
	*ret_is_users = is_users(c, ret);
	return true;
}

bool charge_stack(struct charge *c, const struct image *image, uint32_t stack, struct symbol_frame *ret, bool *ret_is_users)
{
	size_t count, at;

	*ret_is_users = false;
	if (!stack)
		return false;
	if (!c->frames)
		c->frames = mem_alloc(STACK_FRAMES * sizeof(*c->frames));
	if (c->is_innermost)
		return innermost(c, image, stack, ret, ret_is_users);
	count = find_python(c, image, stack, &at) ?: find_native(c, image, stack, &at);
	*ret_is_users = at < count;
	if (count)
		*ret = c->frames[at < count ? at : 0];
	return count;
}

void charge_done(struct charge *c)
{
	free(c->frames);
	map_done(&c->users);
	c->frames = NULL;
}
