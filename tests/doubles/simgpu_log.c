/* SPDX-License-Identifier: Apache-2.0 */
/* The double's log: lines of JSON, each appended when its event occurs, so that the log is complete after SIGKILL too.
 * It uses raw system calls, see simgpu_sys.c. */
#include "simgpu.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char log_path[PATH_MAX];
static unsigned log_state;		/* 0: not yet read, 1: off, 2: on */
static unsigned log_lock;

/* The path is made absolute and %p replaced at first use: the program may change its directory later. */
static void log_open(void)
{
	const char *wanted = getenv("PILLION_SIMGPU_LOG");
	size_t used = 0;

	if (!wanted || !*wanted) {
		__atomic_store_n(&log_state, 1, __ATOMIC_RELEASE);
		return;
	}
	if (*wanted != '/' && syscall(SYS_getcwd, log_path, sizeof(log_path)) > 0) {
		used = strlen(log_path);
		log_path[used++] = '/';
	}
	for (; *wanted && used < sizeof(log_path) - 16; wanted++) {
		if (wanted[0] == '%' && wanted[1] == 'p') {
			used += (size_t)snprintf(log_path + used, 16, "%ld", syscall(SYS_getpid));
			wanted++;
		} else {
			log_path[used++] = *wanted;
		}
	}
	log_path[used] = 0;
	__atomic_store_n(&log_state, 2, __ATOMIC_RELEASE);
}

bool sim_log_is_on(void)
{
	unsigned state = __atomic_load_n(&log_state, __ATOMIC_ACQUIRE);

	if (state == 0) {
		sim_mutex_lock(&log_lock);
		if (log_state == 0)
			log_open();
		sim_mutex_unlock(&log_lock);
		state = log_state;
	}
	return state == 2;
}

void sim_log_fork_child(void)
{
	log_state = 0;
	log_lock = 0;
}

const char *sim_log_text(char *buffer, size_t size, const char *text)
{
	size_t used = 0;

	for (; text && *text && used + 7 < size; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			buffer[used++] = '\\';
		if (c < 0x20)
			used += (size_t)snprintf(buffer + used, 7, "\\u%04x", c);
		else
			buffer[used++] = (char)c;
	}
	buffer[used] = 0;
	return buffer;
}

/* Opened for each line: a program that closes all descriptors would close or reuse one that stays open. */
void sim_log(const char *event, const char *format, ...)
{
	char line[4096];
	int saved = errno;
	int length;
	va_list more;
	long fd;

	if (!sim_log_is_on())
		return;
	length = snprintf(line, sizeof(line), "{\"t\":%llu,\"pid\":%ld,\"tid\":%d,\"ev\":\"%s\"",
			  (unsigned long long)sim_now_ns(), syscall(SYS_getpid), sim_tid(), event);
	va_start(more, format);
	length += vsnprintf(line + length, sizeof(line) - (size_t)length - 3, format, more);
	va_end(more);
	if (length > (int)sizeof(line) - 4)
		length = (int)sizeof(line) - 4;
	line[length++] = '}';
	line[length++] = '\n';
	fd = syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd >= 0) {
		syscall(SYS_write, fd, line, (size_t)length);
		syscall(SYS_close, fd);
	}
	errno = saved;
}

const char *sim_place_name(enum sim_place place)
{
	static const char *const names[] = { "pageable", "pinned", "device", "managed", "pool", "vmm" };

	return names[place];
}

void sim_log_queued(const struct sim_op *op)
{
	const struct sim_work *work = &op->work;
	char name[1024];

	if (!sim_log_is_on())
		return;
	switch (work->kind) {
	case SIM_KERNEL:
		sim_log("launch",
			",\"op\":%llu,\"name\":\"%s\",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared\":%u,"
			"\"cooperative\":%d,\"device\":%d,\"stream\":%u,\"graph\":%u,\"corr\":%u,\"origin\":%llu",
			(unsigned long long)op->id, sim_log_text(name, sizeof(name), work->kernel.function->name),
			work->kernel.grid[0], work->kernel.grid[1], work->kernel.grid[2], work->kernel.block[0],
			work->kernel.block[1], work->kernel.block[2], work->kernel.shared_bytes,
			work->kernel.is_cooperative, op->stream->context->device, op->stream->id, work->graph_id,
			op->correlation, (unsigned long long)work->origin);
		break;
	case SIM_COPY:
		sim_log("memcpy",
			",\"op\":%llu,\"kind\":\"%s\",\"src\":\"%s\",\"dst\":\"%s\",\"bytes\":%zu,\"async\":%d,"
			"\"device\":%d,\"stream\":%u,\"graph\":%u,\"corr\":%u,\"origin\":%llu",
			(unsigned long long)op->id, sim_copy_name(&work->copy), sim_place_name(work->copy.src_place),
			sim_place_name(work->copy.dst_place), sim_copy_bytes(&work->copy), work->copy.is_async,
			op->stream->context->device, op->stream->id, work->graph_id, op->correlation,
			(unsigned long long)work->origin);
		break;
	case SIM_SET:
		sim_log("memset",
			",\"op\":%llu,\"value\":%u,\"bytes\":%zu,\"async\":%d,\"device\":%d,\"stream\":%u,"
			"\"graph\":%u,\"corr\":%u,\"origin\":%llu",
			(unsigned long long)op->id, work->set.value,
			work->set.width * work->set.element_bytes * work->set.height, work->set.is_async,
			op->stream->context->device, op->stream->id, work->graph_id, op->correlation,
			(unsigned long long)work->origin);
		break;
	case SIM_HOST:
		sim_log("host", ",\"op\":%llu,\"stream\":%u,\"graph\":%u,\"corr\":%u", (unsigned long long)op->id,
			op->stream->id, work->graph_id, op->correlation);
		break;
	default:
		break;
	}
}
