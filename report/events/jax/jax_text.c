/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/jax/jax_text.h"

#include <string.h>

#include "report/base/util.h"

static const struct {
	const char *word;
	enum jax_kind kind;
} ours[] = {{"run ", JAX_RUN},	       {"trace ", JAX_TRACE},	       {"lower ", JAX_LOWER},
	    {"compile ", JAX_COMPILE}, {"cache request", JAX_REQUEST}, {"cache hit", JAX_HIT},
	    {"cache write", JAX_WRITE}, {"miss ", JAX_MISS}};

/* The transformations whose name a module's begins with. */
static const char *const transforms[] = {"jit", "pmap", "pjit", "xmap"};

bool jax_text_field(const char *text, const char *key, const char **ret, size_t *ret_length)
{
	const char *at = strchr(text, '#'), *end = strrchr(text, '#');
	size_t length = strlen(key);

	while (at && at < end) {
		at++;
		if (!strncmp(at, key, length) && at[length] == '=') {
			*ret = at + length + 1;
			*ret_length = strcspn(*ret, ",#");
			return true;
		}
		at += strcspn(at, ",#");
	}
	return false;
}

/* "jit(f)" -> "f", "jit_f" -> "f" */
static void strip_transform(struct jax_text *t)
{
	for (size_t i = 0; i < sizeof(transforms) / sizeof(*transforms); i++) {
		size_t length = strlen(transforms[i]);
		bool is_call;

		if (t->length <= length + 1 || strncmp(t->name, transforms[i], length))
			continue;
		is_call = t->name[length] == '(' && t->name[t->length - 1] == ')' && t->length > length + 2;
		if (!is_call && t->name[length] != '_')
			continue;
		t->name += length + 1;
		t->length -= length + 1 + is_call;
		return;
	}
}

const char *jax_text_within(const char *path)
{
	for (size_t i = 0; i < sizeof(transforms) / sizeof(*transforms); i++) {
		size_t length = strlen(transforms[i]);
		const char *end = strstr(path, ")/");

		if (!strncmp(path, transforms[i], length) && path[length] == '(' && end && end[2])
			return end + 2;
	}
	return path;
}

/* "f (train.py:17)" -> "f" */
static size_t run_name_length(const char *full)
{
	size_t length = strlen(full);
	const char *open = strstr(full, " (");

	return open && full[length - 1] == ')' ? (size_t)(open - full) : length;
}

/* "f: x, now f32[4] and before f32[3]" */
static void parse_miss(struct jax_text *ret)
{
	const char *end = strstr(ret->name, ": ");

	ret->length = end ? (size_t)(end - ret->name) : ret->length;
	ret->full = end ? end + 2 : "";
	ret->full_length = strlen(ret->full);
}

static bool parse_ours(const char *text, struct jax_text *ret)
{
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
		size_t length = strlen(ours[i].word);

		if (strncmp(text, ours[i].word, length))
			continue;
		*ret = (struct jax_text){.kind = ours[i].kind, .name = text + length};
		ret->length = ret->kind == JAX_RUN ? run_name_length(ret->name) : strlen(ret->name);
		if (ret->kind == JAX_LOWER || ret->kind == JAX_COMPILE)
			strip_transform(ret);
		ret->full = ret->kind == JAX_RUN ? text + length : ret->name;
		ret->full_length = ret->kind == JAX_RUN ? strlen(ret->full) : ret->length;
		if (ret->kind == JAX_MISS)
			parse_miss(ret);
		return true;
	}
	return false;
}

static bool parse_xla(const char *text, struct jax_text *ret)
{
	*ret = (struct jax_text){0};
	if (text_begins_with(text, "XlaModule:") && jax_text_field(text, "hlo_module", &ret->name, &ret->length))
		ret->kind = JAX_MODULE;
	else if (text_begins_with(text, "Thunk:") && (jax_text_field(text, "hlo_op", &ret->name, &ret->length) ||
						 jax_text_field(text, "name", &ret->name, &ret->length)))
		ret->kind = JAX_OP;
	else if (text_begins_with(text, "XlaCompile") && jax_text_field(text, "module", &ret->name, &ret->length))
		ret->kind = text_begins_with(text, "XlaCompile:") ? JAX_BUILD : JAX_PART;
	ret->full = ret->name;
	ret->full_length = ret->length;
	if (ret->kind == JAX_MODULE || ret->kind == JAX_BUILD || ret->kind == JAX_PART)
		strip_transform(ret);
	return ret->kind != JAX_NONE;
}

bool jax_text_parse(const char *domain, const char *text, struct jax_text *ret)
{
	*ret = (struct jax_text){0};
	return !strcmp(domain, JAX_DOMAIN) ? parse_ours(text, ret)
					   : !strcmp(domain, JAX_XLA_DOMAIN) && parse_xla(text, ret);
}
