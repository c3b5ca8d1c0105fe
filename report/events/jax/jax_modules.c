/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/jax/jax_modules.h"

#include <stdlib.h>
#include <string.h>

#include "report/events/jax/jax_text.h"

enum hlo_table { TABLE_NONE, TABLE_FILES, TABLE_LOCATIONS, TABLE_FRAMES };

static const struct {
	const char *title;
	enum hlo_table table;
} titles[] = {{"FileNames", TABLE_FILES},
	      {"FunctionNames", TABLE_NONE},
	      {"FileLocations", TABLE_LOCATIONS},
	      {"StackFrames", TABLE_FRAMES}};

static const char several[] = "(several)";

/* A computation, or an instruction. */
struct hlo_part {
	const char *name;
	struct jax_origin origin; /* of a computation: of its root, or else of the last instruction that has one */
	size_t computation; /* of an instruction: the one that it is in */
	bool is_fused, has_root;
};

struct hlo_parts {
	struct hlo_part *items;
	size_t count, capacity;
};

/* The text that is being read. */
struct hlo_reader {
	struct jax_modules *modules;
	uint64_t module; /* hash of its name */
	enum hlo_table table;
	struct map numbers; /* (table, number) -> number of the text; file << 32 | line; number of the location */
	struct hlo_parts computations, instructions;
	struct map by_name; /* hash of a computation's name -> position + 1 */
};

static uint64_t hash_text(const char *text)
{
	return hash_bytes(text, strlen(text));
}

static const char *text_keep(struct hlo_reader *r, const char *text, size_t size)
{
	struct interner *texts = &r->modules->texts;

	return interner_field(texts, interner_number(texts, text, size), 0);
}

static struct hlo_part *part_add(struct hlo_reader *r, struct hlo_parts *p, const char *name, size_t length)
{
	list_add(p, (struct hlo_part){.name = text_keep(r, name, length), .origin = {"", ""}});
	return &p->items[p->count - 1];
}

/* ---- values in a line ---- */

static const char *after(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? at + strlen(key) : NULL;
}

static uint64_t number_after(const char *line, const char *key)
{
	const char *at = after(line, key);

	return at ? strtoull(at, NULL, 10) : 0;
}

/* Appends what follows `key` up to the closing quote, without its escapes. */
static void quoted_after(const char *line, const char *key, struct buffer *ret)
{
	const char *at = after(line, key);

	for (; at && *at && *at != '"'; at++) {
		if (*at == '\\' && at[1])
			at++;
		buffer_add(ret, at, 1);
	}
}

/* ---- names of operations ---- */

/* The last '/' that is not within brackets; NULL: there is none. */
static const char *last_separator(const char *name)
{
	const char *last = NULL;
	int depth = 0;

	for (; *name; name++) {
		depth += strchr("([{", *name) != NULL;
		depth -= strchr(")]}", *name) != NULL;
		if (*name == '/' && depth <= 0)
			last = name;
	}
	return last;
}

/* "jit(f)/jit(main)/attention/dot_general[precision=None]" -> "attention/dot_general" */
static const char *scope_of(struct hlo_reader *r, const char *name)
{
	static const char main[] = "jit(main)/";
	const char *rest = jax_text_within(name), *last, *parameters;

	if (rest != name && !strncmp(rest, main, sizeof(main) - 1))
		rest += sizeof(main) - 1;
	last = last_separator(rest);
	parameters = strchr(last ? last : rest, '[');
	return text_keep(r, rest, parameters && parameters > rest ? (size_t)(parameters - rest) : strlen(rest));
}

/* Names without '%': older and newer texts differ in it. */
static const char *bare(const char *name)
{
	return name + (*name == '%');
}

/* ---- lines ---- */

static void read_computation(struct hlo_reader *r, const char *line)
{
	const char *name = after(line, "ENTRY ");

	name = bare(name ? name : line);
	*map_put(&r->by_name, hash_text(part_add(r, &r->computations, name, strcspn(name, " "))->name), 0, NULL) =
		r->computations.count;
}

static struct hlo_part *computation_called(struct hlo_reader *r, const char *line)
{
	const char *name = after(line, ", calls=");
	const uint64_t *place = NULL;

	if (name) {
		name = bare(name);
		place = map_find(&r->by_name, hash_bytes(name, strcspn(name, ", ")), 0);
	}
	return place ? &r->computations.items[*place - 1] : NULL;
}

/* Appends "file:line" as the metadata has it, or as the table of frames does. */
static void read_line(const struct hlo_reader *r, const char *metadata, struct buffer *ret)
{
	const uint64_t *frame, *location = NULL, *file = NULL;

	quoted_after(metadata, "source_file=\"", ret);
	if (ret->size) {
		buffer_print(ret, ":%u", (unsigned)number_after(metadata, "source_line="));
		return;
	}
	frame = map_find(&r->numbers, TABLE_FRAMES, number_after(metadata, "stack_frame_id="));
	if (frame)
		location = map_find(&r->numbers, TABLE_LOCATIONS, *frame);
	if (location)
		file = map_find(&r->numbers, TABLE_FILES, *location >> 32);
	if (file)
		buffer_print(ret, "%s:%u", interner_field(&r->modules->texts, *file, 0), (unsigned)*location);
}

/* A fusion that has no metadata has those of what is fused. */
static void read_instruction(struct hlo_reader *r, const char *line)
{
	static const char root[] = "ROOT ";
	const char *name = line + strspn(line, " "), *metadata = strstr(line, ", metadata={");
	struct hlo_part *called = computation_called(r, line), *computation, *i;
	SCOPED(buffer) op_name = {0}, place = {0};
	bool is_root = !strncmp(name, root, sizeof(root) - 1);

	if (!r->computations.count)
		return;
	name = bare(name + (is_root ? sizeof(root) - 1 : 0));
	i = part_add(r, &r->instructions, name, strcspn(name, ", "));
	i->computation = r->computations.count - 1;
	if (metadata) {
		quoted_after(metadata, "op_name=\"", &op_name);
		read_line(r, metadata, &place);
		i->origin.scope = scope_of(r, buffer_string(&op_name));
		i->origin.line = text_keep(r, buffer_string(&place), place.size);
	}
	if (called)
		called->is_fused = true;
	if (called && !*i->origin.scope)
		i->origin = called->origin;
	computation = &r->computations.items[i->computation];
	if (*i->origin.scope && (is_root || !computation->has_root))
		computation->origin = i->origin;
	computation->has_root |= is_root && *i->origin.scope;
}

static void read_entry(struct hlo_reader *r, const char *line)
{
	uint64_t number = strtoull(line, NULL, 10), value = 0;
	SCOPED(buffer) file = {0};

	if (r->table == TABLE_FILES) {
		quoted_after(line, "\"", &file);
		value = interner_text_number(&r->modules->texts, buffer_string(&file));
	} else if (r->table == TABLE_LOCATIONS) {
		value = number_after(line, "{file_name_id=") << 32 | (uint32_t)number_after(line, " line=");
	} else if (r->table == TABLE_FRAMES) {
		value = number_after(line, "{file_location_id=");
	}
	if (r->table)
		*map_put(&r->numbers, r->table, number, NULL) = value;
}

static void read_module_line(struct hlo_reader *r, const char *line)
{
	const char *module = text_begins_with(line, "HloModule ") ? after(line, " ") : NULL;
	size_t length = strlen(line);

	if (*line == ' ')
		read_instruction(r, line);
	else if (length && line[length - 1] == '{')
		read_computation(r, line);
	else if (module)
		r->module = hash_bytes(module, strcspn(module, ","));
	else if (*line >= '0' && *line <= '9')
		read_entry(r, line);
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		if (!strcmp(line, titles[i].title))
			r->table = titles[i].table;
}

/* ---- modules ---- */

static void name_origin(struct jax_modules *m, uint64_t module, const char *name, struct jax_origin origin)
{
	bool is_new;
	uint64_t *place = map_put(&m->by_name, module, hash_text(name), &is_new);
	struct jax_origin *known;

	if (is_new) {
		list_add(m, origin);
		*place = m->count;
		return;
	}
	known = &m->items[*place - 1];
	if (strcmp(known->scope, origin.scope) != 0)
		known->scope = several;
	if (strcmp(known->line, origin.line) != 0)
		known->line = "";
}

static void name_origins(struct hlo_reader *r)
{
	list_each(const struct hlo_part, p, &r->instructions) {
		SCOPED(buffer) other = {0};

		if (r->computations.items[p->computation].is_fused)
			continue;
		name_origin(r->modules, r->module, p->name, p->origin);
		for (const char *c = p->name; *c; c++)
			buffer_add(&other, *c == '.' || *c == '-' ? "_" : c, 1);
		if (strcmp(buffer_string(&other), p->name) != 0)
			name_origin(r->modules, r->module, buffer_string(&other), p->origin);
	}
}

static void module_read(struct jax_modules *m, char *text)
{
	struct hlo_reader r = {.modules = m};

	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		read_module_line(&r, line);
	}
	name_origins(&r);
	map_done(&r.numbers);
	map_done(&r.by_name);
	free(r.computations.items);
	free(r.instructions.items);
}

void jax_modules_make(struct jax_modules *m, const struct trace *t)
{
	SCOPED(buffer) text = {0};
	uint32_t id = 0;

	*m = (struct jax_modules){0};
	blobs_each(b, t, TF_BLOB_XLA_MODULE) {
		if (b->id != id && text.size) {
			module_read(m, text.data);
			buffer_clear(&text);
		}
		id = b->id;
		trace_text(t, b, &text);
	}
	if (text.size)
		module_read(m, text.data);
}

void jax_modules_done(struct jax_modules *m)
{
	free(m->items);
	interner_done(&m->texts);
	map_done(&m->by_name);
	*m = (struct jax_modules){0};
}

const struct jax_origin *jax_modules_find(const struct jax_modules *m, const char *module, const char *name)
{
	const uint64_t *place = map_find(&m->by_name, hash_text(module), hash_text(name));

	return place ? &m->items[*place - 1] : NULL;
}
