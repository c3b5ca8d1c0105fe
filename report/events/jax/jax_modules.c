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
	char *name;
	char *scope, *line; /* "": not known. Of a computation: of its root, or else of the last one that has them */
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
	struct map numbers; /* (table, number) -> position in files + 1; file << 32 | line; number of the location */
	struct texts files;
	struct hlo_parts computations, instructions;
	struct map by_name; /* hash of a computation's name -> position + 1 */
};

static uint64_t hash_text(const char *text)
{
	return hash_bytes(text, strlen(text));
}

static struct hlo_part *part_add(struct hlo_parts *p, const char *name, size_t length)
{
	list_add(p, (struct hlo_part){
		.name = mem_copy_text(name, length), .scope = mem_copy_text("", 0), .line = mem_copy_text("", 0)});
	return &p->items[p->count - 1];
}

static void parts_done(struct hlo_parts *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->items[i].name);
		free(p->items[i].scope);
		free(p->items[i].line);
	}
	free(p->items);
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
static char *scope_of(const char *name)
{
	static const char main[] = "jit(main)/";
	const char *rest = jax_text_within(name), *last, *parameters;

	if (rest != name && !strncmp(rest, main, sizeof(main) - 1))
		rest += sizeof(main) - 1;
	last = last_separator(rest);
	parameters = strchr(last ? last : rest, '[');
	return mem_copy_text(rest, parameters && parameters > rest ? (size_t)(parameters - rest) : strlen(rest));
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
	part_add(&r->computations, name, strcspn(name, " "));
	*map_put(&r->by_name, hash_text(r->computations.items[r->computations.count - 1].name), 0, NULL) =
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
		buffer_print(ret, "%s:%u", r->files.items[*file - 1], (unsigned)*location);
}

static void origin_copy(struct hlo_part *to, const struct hlo_part *from)
{
	mem_replace_text(&to->scope, mem_copy_text(from->scope, strlen(from->scope)));
	mem_replace_text(&to->line, mem_copy_text(from->line, strlen(from->line)));
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
	i = part_add(&r->instructions, name, strcspn(name, ", "));
	i->computation = r->computations.count - 1;
	if (metadata) {
		quoted_after(metadata, "op_name=\"", &op_name);
		mem_replace_text(&i->scope, scope_of(buffer_string(&op_name)));
		read_line(r, metadata, &place);
		mem_replace_text(&i->line, mem_copy_text(buffer_string(&place), place.size));
	}
	if (called)
		called->is_fused = true;
	if (called && !*i->scope)
		origin_copy(i, called);
	computation = &r->computations.items[i->computation];
	if (*i->scope && (is_root || !computation->has_root))
		origin_copy(computation, i);
	computation->has_root |= is_root && *i->scope;
}

static void read_entry(struct hlo_reader *r, const char *line)
{
	uint64_t number = strtoull(line, NULL, 10), value = 0;
	struct buffer file = {0};

	if (r->table == TABLE_FILES) {
		quoted_after(line, "\"", &file);
		texts_add(&r->files, "%s", buffer_string(&file));
		buffer_done(&file);
		value = r->files.count;
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
	static const char module[] = "HloModule ";
	size_t length = strlen(line);

	if (*line == ' ')
		read_instruction(r, line);
	else if (length && line[length - 1] == '{')
		read_computation(r, line);
	else if (!strncmp(line, module, sizeof(module) - 1))
		r->module = hash_bytes(line + sizeof(module) - 1, strcspn(line + sizeof(module) - 1, ","));
	else if (*line >= '0' && *line <= '9')
		read_entry(r, line);
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		if (!strcmp(line, titles[i].title))
			r->table = titles[i].table;
}

/* ---- modules ---- */

static void name_origin(struct jax_modules *m, uint64_t module, const char *name, const struct hlo_part *p)
{
	bool is_new;
	uint64_t *place = map_put(&m->by_name, module, hash_text(name), &is_new);
	struct jax_origin *o;

	if (is_new) {
		list_add(m, (struct jax_origin){.scope = mem_copy_text(p->scope, strlen(p->scope)),
						.line = mem_copy_text(p->line, strlen(p->line))});
		*place = m->count;
		return;
	}
	o = &m->items[*place - 1];
	if (strcmp(o->scope, p->scope) != 0)
		mem_replace_text(&o->scope, mem_copy_text(several, sizeof(several) - 1));
	if (strcmp(o->line, p->line) != 0)
		mem_replace_text(&o->line, mem_copy_text("", 0));
}

static void name_origins(struct hlo_reader *r)
{
	list_each(struct hlo_part, p, &r->instructions) {
		bool is_other = false;

		if (r->computations.items[p->computation].is_fused)
			continue;
		name_origin(r->modules, r->module, p->name, p);
		for (char *c = p->name; *c; c++) {
			if (*c != '.' && *c != '-')
				continue;
			*c = '_';
			is_other = true;
		}
		if (is_other)
			name_origin(r->modules, r->module, p->name, p);
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
	texts_done(&r.files);
	parts_done(&r.computations);
	parts_done(&r.instructions);
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
	for (size_t i = 0; i < m->count; i++) {
		free(m->items[i].scope);
		free(m->items[i].line);
	}
	free(m->items);
	map_done(&m->by_name);
	*m = (struct jax_modules){0};
}

const struct jax_origin *jax_modules_find(const struct jax_modules *m, const char *module, const char *name)
{
	const uint64_t *place = map_find(&m->by_name, hash_text(module), hash_text(name));

	return place ? &m->items[*place - 1] : NULL;
}
