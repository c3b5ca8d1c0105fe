/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that perf samples: their mappings and their threads, as the kernel's records describe them. A process
 * image gets a trace at its first sample. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/launch/perf/perf.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"
#include "runtime/shared/outside/system_line.h"

enum { MAPS_MOST = 65536, COMMAND_BYTES = 1536, COMM_BYTES = 16, STACK_MOST = 256, ELF_BYTES = 65536 };

/* An executable mapping. */
struct perf_mapping {
	uint64_t start, end, offset; /* offset: in the file */
	char *path;
	bool is_defined; /* in the trace, as a module */
};

struct perf_target {
	struct perf_target *next, *previous;
	uint32_t pid, parent_pid;
	uint32_t threads;
	uint64_t begin_ns; /* of the image */
	uint64_t start;	   /* of the process, as in struct tf_header */
	bool has_children;
	char name[COMM_BYTES];
	struct perf_mapping *maps;
	size_t map_count, map_room;
	unsigned unloads; /* mappings of modules in the trace that were replaced */
	struct perf_trace *trace;
	struct perf_events *events; /* NULL: they are inherited */
};

static struct {
	const struct run *run;
	struct perf_target **by_pid, *first;
	uint32_t pid_end;
} all;

void perf_process_init(const struct run *run)
{
	uint32_t most = (uint32_t)system_number("/proc/sys/kernel/pid_max", 1 << 22);

	all.run = run;
	all.by_pid = calloc(most + 1, sizeof(*all.by_pid)); /* zero pages, of which few are touched */
	all.pid_end = all.by_pid ? most + 1 : 0;
}

static struct perf_target *process_find(uint32_t pid)
{
	return pid < all.pid_end ? all.by_pid[pid] : NULL;
}

bool perf_process_is_known(uint32_t pid)
{
	return process_find(pid);
}

/* ---- mappings ---- */

static void maps_clear(struct perf_target *p)
{
	for (size_t i = 0; i < p->map_count; i++)
		free(p->maps[i].path);
	p->map_count = 0;
}

/* Removes what the new mapping covers completely. Of those that it covers in part, a search finds the new one first. */
static void maps_remove_covered(struct perf_target *p, uint64_t start, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->map_count; i++) {
		struct perf_mapping *m = &p->maps[i];

		if (m->start < end && start < m->end)
			p->unloads += m->is_defined;
		if (m->start >= start && m->end <= end)
			free(m->path);
		else
			p->maps[kept++] = *m;
	}
	p->map_count = kept;
}

static void maps_add(struct perf_target *p, uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	struct perf_mapping *more;

	maps_remove_covered(p, start, end);
	if (p->map_count >= MAPS_MOST)
		return;
	if (p->map_count == p->map_room) {
		more = realloc(p->maps, (p->map_room * 2 + 16) * sizeof(*more));
		if (!more)
			return;
		p->maps = more;
		p->map_room = p->map_room * 2 + 16;
	}
	p->maps[p->map_count++] = (struct perf_mapping){start, end, offset, strdup(path), false};
}

static struct perf_mapping *maps_find(const struct perf_target *p, uint64_t address)
{
	for (size_t i = p->map_count; i-- > 0;)
		if (address >= p->maps[i].start && address < p->maps[i].end)
			return &p->maps[i];
	return NULL;
}

static void maps_read(struct perf_target *p)
{
	char path[48], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", p->pid);
	f = fopen(path, "re");
	while (f && getline(&line, &size, f) > 0) {
		unsigned long long start, end, offset;
		char access[5];
		int at = 0;

		if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %n", &start, &end, access, &offset, &at) != 4 ||
		    access[2] != 'x')
			continue;
		line[strcspn(line, "\n")] = '\0';
		maps_add(p, start, end, offset, line[at] ? line + at : "//anon");
	}
	free(line);
	if (f)
		fclose(f);
}

/* ---- modules ---- */

size_t perf_build_id(const uint8_t *at, const uint8_t *end, uint8_t ret[20])
{
	while (end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) note;
		const uint8_t *name = at + sizeof(note), *value;

		memcpy(&note, at, sizeof(note));
		if (note.n_namesz > ELF_BYTES || note.n_descsz > ELF_BYTES)
			return 0;
		value = name + ((note.n_namesz + 3) & ~3u);
		if (value + note.n_descsz > end)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(name, "GNU", 4)) {
			size_t length = note.n_descsz < 20 ? note.n_descsz : 20;

			memcpy(ret, value, length);
			return length;
		}
		at = value + ((note.n_descsz + 3) & ~3u);
	}
	return 0;
}

/* The address that byte 0 of the file's address space has in memory, the build id, and the file. */
static void module_read_file(struct tf_module *module, struct tf_module_file *ret_file, const struct perf_mapping *m)
{
	static uint8_t bytes[ELF_BYTES];
	int fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t size = fd < 0 ? -1 : pread(fd, bytes, sizeof(bytes), 0);
	ElfW(Ehdr) head;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st))
		*ret_file = (struct tf_module_file){(uint64_t)st.st_size,
						    (uint64_t)st.st_mtim.tv_sec * 1000000000u +
							    (uint64_t)st.st_mtim.tv_nsec,
						    st.st_ino};
	if (fd >= 0)
		close(fd);
	if (size < (ssize_t)sizeof(head))
		return;
	memcpy(&head, bytes, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_phentsize != sizeof(ElfW(Phdr)))
		return;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		uint64_t at = head.e_phoff + i * sizeof(ElfW(Phdr));
		ElfW(Phdr) segment;

		if (at > (uint64_t)size || at + sizeof(segment) > (uint64_t)size)
			return;
		memcpy(&segment, bytes + at, sizeof(segment));
		if (segment.p_type == PT_LOAD && m->offset < segment.p_offset + segment.p_filesz &&
		    m->offset + (m->end - m->start) > segment.p_offset)
			module->bias = m->start - m->offset + segment.p_offset - segment.p_vaddr;
		if (segment.p_type == PT_NOTE && segment.p_offset <= (uint64_t)size &&
		    segment.p_filesz <= (uint64_t)size - segment.p_offset && !module->build_id_length)
			module->build_id_length =
				(uint8_t)perf_build_id(bytes + segment.p_offset,
						       bytes + segment.p_offset + segment.p_filesz, module->build_id);
	}
}

/* Anonymous code has no module, as in the recorder's traces. */
static void module_define(struct perf_target *p, struct perf_mapping *m, uint32_t tid, uint64_t time_ns)
{
	struct tf_module module = {.start = m->start, .end = m->end, .bias = m->start, .unloads = (uint16_t)p->unloads};

	struct tf_module_file file = {0};

	if (m->is_defined || !m->path || !strncmp(m->path, "//", 2))
		return;
	m->is_defined = true;
	if (m->path[0] == '/')
		module_read_file(&module, &file, m);
	if (module.build_id_length)
		file.size = 0;
	perf_trace_module(p->trace, tid, time_ns, &module, m->path, &file);
}

/* ---- the command of an image ---- */

/* 0: there is no such file. */
static size_t read_file(uint32_t pid, const char *name, char *ret, size_t size)
{
	char path[48];
	long used;

	*ret = '\0';
	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	used = sys_read_file(path, ret, size);
	return used > 0 ? (size_t)used : 0;
}

/* Field 22 of /proc/PID/stat of a process that may have ended, from the time of its fork. */
static uint64_t start_of_fork(uint64_t time_ns)
{
	uint64_t ns = sys_clock_ns(CLOCK_BOOTTIME) - (clock_monotonic_ns() - time_ns);

	return ns / (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* If the process has ended or executes another program meanwhile, its first mapping has the path, and the name of its
 * thread stands for its arguments. */
static void trace_begin(struct perf_target *p)
{
	char link[32], executable[PATH_MAX] = "", arguments[COMMAND_BYTES];
	const char *first = p->map_count && p->maps[0].path[0] == '/' ? p->maps[0].path : "";
	size_t size = read_file(p->pid, "cmdline", arguments, sizeof(arguments));
	struct perf_image image = {p->pid, p->parent_pid, p->start, p->begin_ns, executable, arguments, 0};
	struct process_stat stat;
	ssize_t length;

	/* The kernel rounds the time of the fork itself, which is a little earlier. */
	if (process_stat_read(p->pid, &stat) && stat.start + 1 >= p->start && stat.start <= p->start + 1)
		image.process_start = p->start = stat.start;

	snprintf(link, sizeof(link), "/proc/%u/exe", p->pid);
	length = readlink(link, executable, sizeof(executable) - 1);
	executable[length < 0 ? 0 : length] = '\0';
	if (!size || (*first && strcmp(first, executable) != 0 && !strchr(first, ' '))) {
		snprintf(executable, sizeof(executable), "%s", first);
		size = (size_t)snprintf(arguments, sizeof(arguments), "%s", p->name);
	}
	image.arguments_size = size;
	p->trace = perf_trace_begin(all.run, &image);
}

/* ---- processes ---- */

static struct perf_target *process_new(uint32_t pid)
{
	struct perf_target *p = pid < all.pid_end ? calloc(1, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	p->pid = pid;
	p->threads = 1;
	all.by_pid[pid] = p;
	p->next = all.first;
	if (p->next)
		p->next->previous = p;
	all.first = p;
	return p;
}

static void image_end(struct perf_target *p, enum tf_end end, uint64_t time_ns)
{
	if (p->trace)
		perf_trace_end(p->trace, end, time_ns);
	p->trace = NULL;
	p->unloads = 0;
	maps_clear(p);
}

static void process_end(struct perf_target *p, uint64_t time_ns)
{
	image_end(p, TF_END_NONE, time_ns);
	if (!p->has_children) /* its children's events are freed with its own */
		perf_ring_close(p->events);
	all.by_pid[p->pid] = NULL;
	if (p->next)
		p->next->previous = p->previous;
	*(p->previous ? &p->previous->next : &all.first) = p->next;
	free(p->maps);
	free(p);
}

void perf_process_add(pid_t pid, struct perf_events *events, bool is_running)
{
	struct perf_target *p = process_new((uint32_t)pid);
	struct process_stat stat;

	if (!p) {
		perf_ring_close(events);
		return;
	}
	p->events = events;
	p->threads = (uint32_t)events->threads;
	p->begin_ns = clock_monotonic_ns();
	if (process_stat_read(p->pid, &stat)) {
		p->start = stat.start;
		p->parent_pid = stat.parent_pid;
	}
	read_file(p->pid, "comm", p->name, sizeof(p->name));
	p->name[strcspn(p->name, "\n")] = '\0';
	if (is_running)
		maps_read(p);
}

static void handle_fork(const struct perf_event_header *record, uint64_t time_ns)
{
	const uint32_t *body = (const uint32_t *)(record + 1); /* pid, ppid, tid, ptid */
	struct perf_target *p = process_find(body[0]), *parent = process_find(body[1]);

	if (body[0] == body[1]) {
		if (p)
			p->threads++;
		return;
	}
	if (p)
		process_end(p, time_ns);
	p = process_new(body[0]);
	if (!p)
		return;
	p->parent_pid = body[1];
	p->begin_ns = time_ns;
	p->start = start_of_fork(time_ns);
	if (!parent)
		return;
	parent->has_children = true;
	memcpy(p->name, parent->name, sizeof(p->name));
	for (size_t i = 0; i < parent->map_count; i++)
		maps_add(p, parent->maps[i].start, parent->maps[i].end, parent->maps[i].offset, parent->maps[i].path);
}

static void handle_exit(const struct perf_event_header *record, uint64_t time_ns)
{
	const uint32_t *body = (const uint32_t *)(record + 1);
	struct perf_target *p = process_find(body[0]);

	if (p && !--p->threads)
		process_end(p, time_ns);
}

static void handle_comm(const struct perf_event_header *record, uint64_t time_ns)
{
	const uint32_t *body = (const uint32_t *)(record + 1); /* pid, tid, the name */
	struct perf_target *p = process_find(body[0]);

	if (!p)
		return;
	if (record->misc & PERF_RECORD_MISC_COMM_EXEC) {
		image_end(p, TF_END_EXEC, time_ns);
		p->begin_ns = time_ns;
		p->threads = 1;
	}
	if (body[0] == body[1])
		snprintf(p->name, sizeof(p->name), "%s", (const char *)(body + 2));
	if (p->trace)
		perf_trace_name(p->trace, body[1], time_ns, (const char *)(body + 2));
}

static void handle_map(const struct perf_event_header *record)
{
	const struct {
		struct perf_event_header head;
		uint32_t pid, tid;
		uint64_t address, length, offset;
		uint8_t file[24];
		uint32_t access, flags;
		char path[];
	} *m = (const void *)record;
	struct perf_target *p = process_find(m->pid);

	if (p && m->access & PROT_EXEC)
		maps_add(p, m->address, m->address + m->length, m->offset, m->path);
}

/* A thread that has ended has the name of the main thread. */
static void name_thread(struct perf_target *p, uint32_t tid, uint64_t time_ns)
{
	char path[32], comm[COMM_BYTES + 1];

	snprintf(path, sizeof(path), "task/%u/comm", tid);
	if (!read_file(p->pid, path, comm, sizeof(comm)))
		snprintf(comm, sizeof(comm), "%s", p->name);
	comm[strcspn(comm, "\n")] = '\0';
	perf_trace_name(p->trace, tid, time_ns, comm);
}

static bool is_recording(const struct run *run, uint64_t ticks)
{
	const struct tf_range_page *page = run->range;
	uint32_t begun = page ? __atomic_load_n(&page->begun, __ATOMIC_ACQUIRE) : 0;

	if (!page)
		return true;
	if (!begun)
		return __atomic_load_n(&page->recording, __ATOMIC_RELAXED);
	for (uint32_t i = begun; i-- > 0;) {
		const struct tf_range *r = &page->ranges[i];

		if (ticks >= r->begin_ticks)
			return !r->end_ticks || ticks < r->end_ticks;
	}
	return false;
}

static void handle_sample(const struct perf_event_header *record)
{
	const struct perf_sample *s = (const void *)record;
	uint64_t stack[STACK_MOST], ticks = perf_trace_ticks(s->time_ns);
	struct perf_target *p = process_find(s->pid);
	size_t count = 1;

	if (!p || !is_recording(all.run, ticks))
		return;
	if (!p->trace)
		trace_begin(p);
	if (!p->trace)
		return;
	if (!perf_trace_has_thread(p->trace, s->tid))
		name_thread(p, s->tid, s->time_ns);
	for (uint64_t i = 0; i < s->count && count < STACK_MOST; i++) {
		uint64_t address = s->chain[i];
		struct perf_mapping *m;

		if (address >= PERF_CONTEXT_MAX)
			continue; /* says that user frames follow */
		m = maps_find(p, address);
		if (!m && count > 1)
			break; /* this function does not keep the frame pointer */
		if (m)
			module_define(p, m, s->tid, s->time_ns);
		/* The report expects return addresses; the innermost one is that of an instruction. */
		stack[count] = address + (count == 1);
		count++;
	}
	stack[0] = TF_STACK_UNLOADS | p->unloads;
	perf_trace_sample(p->trace, s->tid, s->time_ns, s->period_ns, stack + !p->unloads, count - !p->unloads);
}

void perf_process_handle(const struct perf_event_header *record, uint64_t time_ns)
{
	switch (record->type) {
	case PERF_RECORD_FORK:
		handle_fork(record, time_ns);
		break;
	case PERF_RECORD_EXIT:
		handle_exit(record, time_ns);
		break;
	case PERF_RECORD_COMM:
		handle_comm(record, time_ns);
		break;
	case PERF_RECORD_MMAP2:
		handle_map(record);
		break;
	case PERF_RECORD_SAMPLE:
		handle_sample(record);
		break;
	}
}

void perf_process_flush(bool is_last)
{
	for (struct perf_target *p = all.first, *next; p; p = next) {
		next = p->next;
		if (p->trace)
			perf_trace_flush(p->trace);
		if (is_last)
			process_end(p, 0);
	}
}
