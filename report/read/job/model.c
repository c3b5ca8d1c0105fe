/* SPDX-License-Identifier: Apache-2.0 */
/* Adds machines, images and trace files to a model. */
#include "report/read/job/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/read/job/command.h"

static const char *this_boot(void)
{
	static char boot[40];
	FILE *f = boot[0] ? NULL : fopen("/proc/sys/kernel/random/boot_id", "re");

	if (f) {
		if (!fgets(boot, sizeof(boot), f))
			boot[0] = 0;
		fclose(f);
		boot[strcspn(boot, "\n")] = 0;
	}
	return boot;
}

/* The name of a host may contain dots. */
char *model_file_host(const char *name)
{
	const char *kind = strrchr(name, '.'), *run = kind ? memrchr(name, '.', (size_t)(kind - name)) : NULL;

	return mem_copy_text(name, run ? (size_t)(run - name) : strlen(name));
}

size_t model_machine(struct model *m, const char *host, const char *boot, uint32_t clock)
{
	uint64_t by_boot = hash_bytes(boot, strlen(boot)) ^ clock, by_host = hash_bytes(host, strlen(host)), *place;
	struct machine *new;

	while (*(place = map_put(&m->machine_by_name, by_boot, by_host, NULL))) {
		const struct machine *known = &m->machines[*place - 1];

		if (known->clock.source == clock && !strcmp(known->boot, boot) && !strcmp(known->host, host))
			return *place - 1;
		by_host++;
	}
	*place = m->machine_count + 1;
	m->machines = mem_grow(m->machines, m->machine_count, &m->machine_capacity, sizeof(*m->machines));
	new = &m->machines[m->machine_count];
	*new = (struct machine){
		.host = mem_copy_text(host, strlen(host)),
		.boot = mem_copy_text(boot, strlen(boot)),
		.clock.source = clock,
		.is_this = boot[0] && !strcmp(boot, this_boot()),
	};
	return m->machine_count++;
}

struct image *model_image(struct model *m, uint64_t nonce)
{
	bool is_new;
	uint64_t *place = map_put(&m->by_nonce, nonce, 0, &is_new);

	if (!is_new)
		return &m->images[*place];
	*place = m->image_count;
	mem_append(m->images, m->image_count, m->image_capacity, (struct image){.nonce = nonce});
	return &m->images[m->image_count - 1];
}

/* The arguments in the header of a trace, which end with an empty one or are cut. */
static char *header_command(const struct tf_header *h)
{
	char items[sizeof(h->arguments) + 1] = "";
	size_t size = 0;

	memcpy(items, h->arguments, sizeof(h->arguments));
	while (size < sizeof(h->arguments) && items[size])
		size += strlen(items + size) + 1;
	return command_join(items, items + size);
}

size_t model_command_word(const char *command, size_t number, const char **ret)
{
	const char *at = command ? command : "";

	for (;; number--) {
		size_t length = strcspn(at, " ");
		const char *end;

		if (*at == '\'') { /* to a quote that is none of the word */
			at++;
			for (end = at; *end && (*end != '\'' || text_begins_with(end, "'\\''"));)
				end += *end == '\'' ? 4 : 1;
			length = (size_t)(end - at);
		}
		if (!number) {
			*ret = at;
			return length;
		}
		at += length + (at[length] == '\'');
		at += strspn(at, " ");
	}
}

/* The first argument of a Python interpreter that is no option: its script or module. False: it has none. */
static bool python_script(const char *command, const char **ret, size_t *ret_length)
{
	for (size_t i = 1; (*ret_length = model_command_word(command, i, ret)); i++) {
		if (**ret != '-')
			return true;
		if (*ret_length == 2 && (*ret)[1] == 'c')
			return false;
		i += *ret_length == 2 && ((*ret)[1] == 'X' || (*ret)[1] == 'W'); /* their argument follows */
	}
	return false;
}

const char *image_file_name(const struct image *image)
{
	return image->executable && *image->executable ? path_name(image->executable) : "?";
}

void image_program(const struct image *image, char *ret, size_t size)
{
	const char *base = image_file_name(image), *word, *script;
	size_t length = model_command_word(image->command, 0, &word), script_length;

	if (text_begins_with(base, "python") && python_script(image->command, &script, &script_length)) {
		word = script;
		length = script_length;
	}
	if (!length) {
		word = base;
		length = strlen(base);
	}
	for (const char *slash; (slash = memchr(word, '/', length)) && slash + 1 < word + length;) {
		length -= (size_t)(slash + 1 - word);
		word = slash + 1;
	}
	snprintf(ret, size, "%.*s", (int)length, word);
}

static void report_damage(struct model *m, const struct trace *t)
{
	if (t->missing_bytes)
		texts_add(&m->problems, "%s: truncated, %llu bytes are missing", t->path,
			  (unsigned long long)t->missing_bytes);
	if (t->damaged_bytes)
		texts_add(&m->problems, "%s: damaged, %llu bytes belong to no chunk", t->path,
			  (unsigned long long)t->damaged_bytes);
	if (t->broken || t->orphans)
		texts_add(&m->problems, "%s: damaged, %llu records cannot be read", t->path,
			  (unsigned long long)(t->broken + t->orphans));
}

/* `last` has two entries, written alternately: returns the later one that is complete. */
static const struct tf_clock_pair *last_pair(const struct tf_header *h)
{
	return h->last[0].ticks > h->last[1].ticks ? &h->last[0] : &h->last[1];
}

void model_wait_statuses(struct model *m, const struct trace *t, size_t machine)
{
	for (size_t i = 0; i < t->child_count; i++) {
		mem_append(m->wait_statuses, m->wait_status_count, m->wait_status_capacity, (struct wait_status){
			.machine = machine,
			.run = t->header.run,
			.pid = t->children[i].child.pid,
			.parent_pid = t->header.pid,
			.status = t->children[i].child.status,
			.ticks = t->children[i].ticks,
		});
	}
}

/* Takes ownership of the trace. */
void model_trace(struct model *m, struct trace *t)
{
	const struct tf_header *h = &t->header;
	size_t machine = model_machine(m, h->host, h->boot, h->clock);
	struct clock_map *clock = &m->machines[machine].clock;
	struct image *image = model_image(m, h->nonce);

	if (image->trace) {
		texts_add(&m->problems, "%s: the same process image as %s, ignored", t->path, image->trace->path);
		reader_close(t);
		return;
	}
	report_damage(m, t);
	m->has_profile |= h->mode == TF_MODE_PROFILE;
	clock_map_add(clock, &h->first);
	clock_map_add(clock, last_pair(h));
	if (h->clock_hz)
		clock->hz = h->clock_hz;
	*image = (struct image){
		.nonce = h->nonce,
		.run = h->run,
		.parent_nonce = h->parent_nonce,
		.process_start = h->process_start,
		.start_ticks = h->first.ticks,
		.end_ticks = h->end_ticks,
		.machine = machine,
		.trace = t,
		.pid = h->pid,
		.parent_pid = h->parent_pid,
		.via = h->via,
		.end = h->end,
		.end_status = h->end_status,
		.executable = image->executable,
		.command = image->command,
		.variables = image->variables,
		.shorts = image->shorts,
		.short_count = image->short_count,
	};
	if (!image->executable || !image->executable[0])
		mem_replace_text(&image->executable, mem_copy_text(h->executable, strlen(h->executable)));
	if (!image->command || !image->command[0])
		mem_replace_text(&image->command, header_command(h));
	if (!image->variables || !image->variables[0])
		mem_replace_text(&image->variables, mem_copy_text(h->variables, sizeof(h->variables)));
	m->trace_bytes += t->bytes.size;
	m->written_bytes += t->written_bytes;
	model_wait_statuses(m, t, machine);
}

void image_done(struct image *image)
{
	reader_close(image->trace);
	free(image->executable);
	free(image->command);
	free(image->variables);
	array_free(one, image->shorts, image->short_count, free(one->name));
}

uint64_t model_end_ns(const struct model *m)
{
	uint64_t end = m->origin_ns;

	for (size_t i = 0; i < m->process_count; i++)
		end = larger_of(end, m->processes[i].end_ns);
	return end;
}

struct trace_bits model_bits(const struct model *m)
{
	struct trace_bits ret = {0};

	for (size_t i = 0; i < m->image_count; i++) {
		struct trace_bits of = trace_bits(m->images[i].trace);

		ret.kinds |= of.kinds;
		ret.args |= of.args;
		ret.groups |= of.groups;
	}
	return ret;
}
