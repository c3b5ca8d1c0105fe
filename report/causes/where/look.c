/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/where/look.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a thread uses from a signal that wakes it to the launcher's look. */
enum { WOKEN_CPU_NS = 200000000 };

#define GROW(p, list, one) \
	((p)->list = mem_grow((p)->list, (p)->one##_count, &(p)->one##_capacity, sizeof(*(p)->list)))

/* ---- texts of /proc ---- */

static void read_maps(struct look_process *p, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		unsigned long long from, to, offset, inode;
		unsigned major, minor;
		char access[5], line[160]; /* the path follows within it, if there is one */
		int at = 0;

		snprintf(line, sizeof(line), "%.*s", (int)(length < 159 ? length : 159), text);
		if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu%n", &from, &to, access, &offset, &major, &minor, &inode,
			   &at) == 7 && at) {
			const char *path = text + at + strspn(text + at, " ");

			if (*path == '/') {
				GROW(p, modules, module);
				p->modules[p->module_count++] = (struct look_module){
					from, to, offset, inode, major << 20 | minor, access[2] == 'x',
					mem_copy_text(path, strcspn(path, "\n"))};
			}
		}
		text += length + (text[length] != 0);
	}
}

void look_read_link(struct look_descriptor *d)
{
	if (sscanf(d->link, "pipe:[%lu]", &d->inode) == 1)
		d->kind = LINK_PIPE;
	else if (sscanf(d->link, "socket:[%lu]", &d->inode) == 1)
		d->kind = LINK_SOCKET;
	else if (text_begins_with(d->link, "anon_inode:[eventfd] id "))
		d->kind = LINK_EVENTFD;
	d->is_outside = strstr(d->link, " outside");
}

static void read_descriptors(struct look_process *p, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		unsigned number;
		char access[4], line[32];
		int at = 0;

		snprintf(line, sizeof(line), "%.*s", (int)(length < 31 ? length : 31), text);
		if (sscanf(line, "%u %3[rw] %n", &number, access, &at) == 2 && at) {
			GROW(p, descriptors, descriptor);
			p->descriptors[p->descriptor_count] = (struct look_descriptor){
				number, strchr(access, 'r'), strchr(access, 'w'),
				mem_copy_text(text + at, length - (size_t)at)};
			look_read_link(&p->descriptors[p->descriptor_count++]);
		}
		text += length + (text[length] != 0);
	}
}

/* ---- records ---- */

static void add_process(struct look *l, const uint8_t *bytes, size_t size)
{
	struct look_process *p;

	if (size < sizeof(p->head))
		return;
	p = mem_new(l->processes, l->count, l->capacity, (struct look_process){0});
	memcpy(&p->head, bytes, sizeof(p->head));
	p->executable = mem_copy_text((const char *)bytes + sizeof(p->head), size - sizeof(p->head));
	p->sockets = mem_copy_text("", 0);
}

static void add_thread(struct look_process *p, const uint8_t *bytes, size_t size)
{
	struct look_thread *t;

	if (size < sizeof(t->head))
		return;
	GROW(p, threads, thread);
	t = &p->threads[p->thread_count++];
	*t = (struct look_thread){0};
	memcpy(&t->head, bytes, sizeof(t->head));
	memcpy(t->name, t->head.name, sizeof(t->head.name));
}

static void add_memory(struct look_process *p, const uint8_t *bytes, size_t size)
{
	struct tf_where_memory head;

	if (size < sizeof(head))
		return;
	memcpy(&head, bytes, sizeof(head));
	GROW(p, memories, memory);
	p->memories[p->memory_count++] =
		(struct look_memory){head.address, size - sizeof(head), bytes + sizeof(head)};
}

static void add_code(struct look_process *p, const uint8_t *bytes, size_t size)
{
	uint32_t id;

	if (size < sizeof(id))
		return;
	memcpy(&id, bytes, sizeof(id));
	GROW(p, codes, code);
	p->codes[p->code_count++] = (struct look_code){id, size - sizeof(id), bytes + sizeof(id)};
}

/* The thread that a record of Python is about; NULL: the look does not have it. */
static struct look_thread *python_thread(struct look_process *p, const uint8_t *bytes, size_t size)
{
	struct tf_where_python head;

	if (size < sizeof(head))
		return NULL;
	memcpy(&head, bytes, sizeof(head));
	return (struct look_thread *)look_thread(p, head.tid);
}

static void add_python(struct look_process *p, const uint8_t *bytes, size_t size)
{
	const size_t head = sizeof(struct tf_where_python);
	struct look_thread *t = python_thread(p, bytes, size);

	if (!t || t->python)
		return;
	t->python_count = (size - head) / sizeof(*t->python);
	t->python = mem_alloc((t->python_count + 1) * sizeof(*t->python));
	memcpy(t->python, bytes + head, t->python_count * sizeof(*t->python));
}

static void add_task(struct look_process *p, const uint8_t *bytes, size_t size)
{
	const struct look_thread *t = python_thread(p, bytes, size);
	struct look_task *task;

	if (!t)
		return;
	GROW(p, tasks, task);
	task = &p->tasks[p->task_count++];
	*task = (struct look_task){.tid = t->head.tid};
	task->count = (size - sizeof(struct tf_where_python)) / sizeof(*task->frames);
	task->frames = mem_alloc((task->count + 1) * sizeof(*task->frames));
	memcpy(task->frames, bytes + sizeof(struct tf_where_python), task->count * sizeof(*task->frames));
}

/* Of the last task. */
static void add_raised(struct look_process *p, const uint8_t *bytes, size_t size)
{
	const struct look_thread *t = python_thread(p, bytes, size);
	const size_t head = sizeof(struct tf_where_python);

	if (t && p->task_count && p->tasks[p->task_count - 1].tid == t->head.tid)
		mem_replace_text(&p->tasks[p->task_count - 1].raised,
				 mem_copy_text((const char *)bytes + head, size - head));
}

static void add_name(struct look_process *p, const uint8_t *bytes, size_t size)
{
	const size_t head = sizeof(struct tf_where_python);
	struct look_thread *t = python_thread(p, bytes, size);

	if (t)
		snprintf(t->name, sizeof(t->name), "%.*s", (int)(size - head), (const char *)bytes + head);
}

static void add_lock(struct look_process *p, const uint8_t *bytes, size_t size)
{
	if (size < sizeof(*p->locks))
		return;
	GROW(p, locks, lock);
	memcpy(&p->locks[p->lock_count++], bytes, sizeof(*p->locks));
}

static void add_arguments(struct look_process *p, const uint8_t *bytes, size_t size)
{
	if (size < sizeof(*p->arguments))
		return;
	GROW(p, arguments, argument);
	memcpy(&p->arguments[p->argument_count++], bytes, sizeof(*p->arguments));
}

static void add_record(struct look *l, uint32_t kind, const uint8_t *bytes, size_t size)
{
	struct look_process *p = l->count ? &l->processes[l->count - 1] : NULL;
	SCOPED_MEMORY char *text = p ? mem_copy_text((const char *)bytes, size) : NULL;

	if (kind == TF_WHERE_PROCESS)
		add_process(l, bytes, size);
	else if (!p)
		return;
	else if (kind == TF_WHERE_MAPS)
		read_maps(p, text);
	else if (kind == TF_WHERE_DESCRIPTORS)
		read_descriptors(p, text);
	else if (kind == TF_WHERE_SOCKETS)
		mem_replace_text(&p->sockets, mem_copy_text(text, strlen(text)));
	else if (kind == TF_WHERE_CHILDREN)
		mem_replace_text(&p->children, mem_copy_text(text, strlen(text)));
	else if (kind == TF_WHERE_PYTHON_NOTE)
		mem_replace_text(&p->python_note, mem_copy_text(text, strlen(text)));
	else if (kind == TF_WHERE_THREAD)
		add_thread(p, bytes, size);
	else if (kind == TF_WHERE_MEMORY)
		add_memory(p, bytes, size);
	else if (kind == TF_WHERE_PYTHON_CODE)
		add_code(p, bytes, size);
	else if (kind == TF_WHERE_PYTHON_STACK)
		add_python(p, bytes, size);
	else if (kind == TF_WHERE_PYTHON_TASK)
		add_task(p, bytes, size);
	else if (kind == TF_WHERE_TASK_RAISED)
		add_raised(p, bytes, size);
	else if (kind == TF_WHERE_PYTHON_LOCK)
		add_lock(p, bytes, size);
	else if (kind == TF_WHERE_PYTHON_NAME)
		add_name(p, bytes, size);
	else if (kind == TF_WHERE_ARGUMENTS)
		add_arguments(p, bytes, size);
}

/* The records of a file, one after the other. */
struct records {
	const uint8_t *bytes;
	size_t size, at;
	struct tf_where_record head;
	const uint8_t *content;
};

static bool next_record(struct records *r)
{
	if (r->size - r->at < sizeof(r->head))
		return false;
	memcpy(&r->head, r->bytes + r->at, sizeof(r->head));
	r->content = r->bytes + r->at + sizeof(r->head);
	if (r->head.size > r->size - r->at - sizeof(r->head))
		return false;
	r->at += sizeof(r->head) + r->head.size + (-r->head.size & 7);
	r->at = r->at < r->size ? r->at : r->size;
	return true;
}

static bool read_begin(const struct records *r, struct tf_where_begin *ret)
{
	if (r->head.size < sizeof(*ret))
		return false;
	memcpy(ret, r->content, sizeof(*ret));
	return true;
}

static bool has_stack(const struct records *r)
{
	struct tf_where_thread t;

	if (r->head.kind != TF_WHERE_THREAD || r->head.size < sizeof(t))
		return false;
	memcpy(&t, r->content, sizeof(t));
	return t.flags & TF_WHERE_HAS_STACK;
}

/* The place of the last BEGIN that answers the request; SIZE_MAX: there is none. If any will do, it is the last one
 * with a stack that was not into a quiet process: a signal may have ended the threads while the launcher looked. */
static size_t find_look(const struct where_file *file, uint64_t request)
{
	struct records r = {file->bytes, file->size};
	size_t found = SIZE_MAX, last = SIZE_MAX, at = 0;
	struct tf_where_begin begin;

	for (; next_record(&r); at = r.at) {
		if (r.head.kind == TF_WHERE_BEGIN)
			last = read_begin(&r, &begin) && begin.reason != TF_WHERE_QUIET &&
					       (!request || begin.request == request)
				       ? at
				       : SIZE_MAX;
		if (last != SIZE_MAX && (request || has_stack(&r)))
			found = last;
	}
	return found;
}

uint64_t look_first_signal(const struct where_file *file)
{
	struct records r = {file->bytes, file->size};
	struct tf_where_begin begin;

	while (next_record(&r))
		if (r.head.kind == TF_WHERE_BEGIN && read_begin(&r, &begin) && begin.signal)
			return begin.ticks;
	return 0;
}

static bool is_this_machine(uint32_t machine)
{
#if defined(__x86_64__)
	return machine == EM_X86_64;
#else
	(void)machine;
	return false; /* where stacks are not unwound */
#endif
}

void look_process_done(struct look_process *p)
{
	array_free(one, p->modules, p->module_count, free(one->path));
	for (size_t k = 0; k < p->descriptor_count; k++)
		free(p->descriptors[k].link);
	array_free(one, p->threads, p->thread_count, free(one->python));
	for (size_t k = 0; k < p->task_count; k++) {
		free(p->tasks[k].frames);
		free(p->tasks[k].raised);
	}
	free(p->tasks);
	free(p->executable);
	free(p->sockets);
	free(p->children);
	free(p->python_note);
	free(p->memories);
	free(p->codes);
	free(p->descriptors);
	free(p->locks);
	free(p->arguments);
}

/* Reads the records of one look, from its BEGIN on. */
static bool read_one(const struct where_file *file, size_t at, struct look *ret)
{
	struct records r = {file->bytes, file->size, at};

	*ret = (struct look){.has_registers = is_this_machine(file->machine)};
	if (at == SIZE_MAX || !next_record(&r) || !read_begin(&r, &ret->begin))
		return false;
	while (next_record(&r) && r.head.kind != TF_WHERE_BEGIN && !ret->is_complete) {
		ret->is_complete = r.head.kind == TF_WHERE_END;
		add_record(ret, r.head.kind, r.content, r.head.size);
	}
	for (size_t i = 0; i < ret->count; i++) {
		ret->processes[i].run = file->run;
		ret->processes[i].ticks = ret->begin.ticks;
		ret->processes[i].realtime_ns = ret->begin.realtime_ns;
		ret->processes[i].is_quiet = ret->begin.reason == TF_WHERE_QUIET;
		ret->processes[i].is_at_signal = ret->begin.signal;
	}
	return true;
}

static struct look_process *find_process(struct look *l, const struct tf_where_process *head)
{
	return array_find(process, l->processes, l->count,
			  process->head.pid == head->pid && process->head.start == head->start);
}

/* Whether a process was, until a signal came and its launcher looked, where an earlier look had found it. A thread
 * that the signal has woken does not wait any more: the earlier look knows what for. */
static bool was_still(const struct look_process *earlier, const struct look_process *at_signal)
{
	if (!earlier->thread_count || at_signal->head.error)
		return false;
	for (size_t i = 0; i < at_signal->thread_count; i++) {
		const struct tf_where_thread *now = &at_signal->threads[i].head;
		const struct look_thread *before = look_thread(earlier, now->tid);

		if (!before || now->cpu_ns - before->head.cpu_ns > WOKEN_CPU_NS)
			return false;
	}
	return true;
}

/* Takes over the processes of a look into quiet processes: of a later one, and of one that holds until a signal. */
static void merge_quiet(struct look *l, struct look *quiet)
{
	for (size_t i = 0; i < quiet->count; i++) {
		struct look_process *p = find_process(l, &quiet->processes[i].head);
		bool is_earlier = p && p->ticks >= quiet->begin.ticks;

		if (p && (!quiet->processes[i].thread_count ||
			  (is_earlier && !(p->is_at_signal && was_still(&quiet->processes[i], p)))))
			continue;
		if (p)
			quiet->processes[i].until_ticks = is_earlier ? p->ticks : p->until_ticks;
		if (p)
			look_process_done(p);
		p = p ?: mem_new(l->processes, l->count, l->capacity, (struct look_process){0});
		*p = quiet->processes[i];
		quiet->processes[i] = (struct look_process){0};
	}
	if (quiet->begin.ticks > l->begin.ticks)
		l->begin = quiet->begin;
}

/* A look that says only that a process has not changed. */
static void confirm(struct look *l, const struct records *r, const struct tf_where_begin *begin)
{
	struct tf_where_process head;
	struct look_process *p;

	if (r->head.size < sizeof(head))
		return;
	memcpy(&head, r->content, sizeof(head));
	p = find_process(l, &head);
	if (p && p->ticks < begin->ticks) {
		p->ticks = begin->ticks;
		p->realtime_ns = begin->realtime_ns;
	}
}

/* Adds what the looks into quiet processes have seen. */
static void read_quiet(const struct where_file *file, struct look *l)
{
	struct records r = {file->bytes, file->size};
	struct tf_where_begin begin = {0};

	for (size_t at = 0; next_record(&r); at = r.at) {
		SCOPED(look) quiet = {0};

		if (r.head.kind == TF_WHERE_BEGIN && (!read_begin(&r, &begin) || begin.reason != TF_WHERE_QUIET))
			begin = (struct tf_where_begin){0};
		if (r.head.kind == TF_WHERE_SAME && begin.ticks)
			confirm(l, &r, &begin);
		if (r.head.kind != TF_WHERE_BEGIN || !begin.ticks)
			continue;
		if (read_one(file, at, &quiet) && quiet.is_complete)
			merge_quiet(l, &quiet);
	}
	l->is_complete |= l->count > 0;
}

/* A signal may have ended a process before its launcher looked: it was where the look before found it until then. */
static void read_signals(const struct where_file *file, struct look *l)
{
	struct records r = {file->bytes, file->size};
	struct tf_where_begin begin;

	while (next_record(&r)) {
		if (r.head.kind != TF_WHERE_BEGIN || !read_begin(&r, &begin) || !begin.signal)
			continue;
		array_each(struct look_process, p, l->processes, l->count)
			if (p->is_quiet && !p->until_ticks && p->ticks < begin.ticks)
				p->until_ticks = begin.ticks;
	}
}

bool look_read(const struct where_file *file, uint64_t request, struct look *ret)
{
	bool has = read_one(file, find_look(file, request), ret);

	if (!request) {
		read_quiet(file, ret);
		read_signals(file, ret);
	}
	return has || ret->count;
}

void look_done(struct look *l)
{
	array_free(process, l->processes, l->count, look_process_done(process));
	*l = (struct look){0};
}

/* ---- searching ---- */

bool look_memory(const struct look_process *p, uint64_t address, void *ret, size_t size)
{
	array_each(const struct look_memory, m, p->memories, p->memory_count) {
		if (address < m->address || address - m->address > m->size || size > m->size - (address - m->address))
			continue;
		memcpy(ret, m->bytes + (address - m->address), size);
		return true;
	}
	return false;
}

const struct look_module *look_module(const struct look_process *p, uint64_t address)
{
	return array_find(module, p->modules, p->module_count, address >= module->start && address < module->end);
}

const struct look_thread *look_thread(const struct look_process *p, uint32_t tid)
{
	return array_find(thread, p->threads, p->thread_count, thread->head.tid == tid);
}

const struct tf_where_arguments *look_arguments(const struct look_process *p, uint32_t tid)
{
	return array_find(arguments, p->arguments, p->argument_count, arguments->tid == tid);
}

const struct look_descriptor *look_descriptor(const struct look_process *p, uint32_t number)
{
	return array_find(descriptor, p->descriptors, p->descriptor_count, descriptor->number == number);
}

const struct look_code *look_code(const struct look_process *p, uint32_t id)
{
	return array_find(code, p->codes, p->code_count, code->id == id);
}
