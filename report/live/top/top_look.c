/* SPDX-License-Identifier: Apache-2.0 */
/* A look that this program takes itself. It becomes a file of the model, as if a launcher had written it. */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "report/live/top/top.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/outside/system_line.h"

enum { PATIENCE_NS = 1000000000 };
static const uint64_t own_request = 1; /* those of `pillion where` are random */

#if defined(__x86_64__)
static const uint32_t own_machine = EM_X86_64;
#elif defined(__aarch64__)
static const uint32_t own_machine = EM_AARCH64;
#else
static const uint32_t own_machine = EM_NONE;
#endif

static void look_error(const struct top_process *p, int error, struct texts *ret)
{
	long scope = system_number("/proc/sys/kernel/yama/ptrace_scope", 0); /* 0: any process of the user */

	if (error == -ESRCH || error == -ENOENT)
		return;
	if (error != -EPERM && error != -EACCES) {
		texts_add(ret, "PID %u: %s", p->pid, strerror(-error));
		return;
	}
	if (scope && geteuid())
		texts_add(ret,
			  "PID %u: its threads cannot be read: kernel.yama.ptrace_scope is %ld, so that only root%s "
			  "may look into it",
			  p->pid, scope, scope == 1 ? " and its ancestors, as of pillion COMMAND," : "");
	else
		texts_add(ret, "PID %u: its threads cannot be read: it is another user's, or protects its memory",
			  p->pid);
}

/* The processes of one run. */
static void look_run(struct model *m, uint64_t run, const struct top_process *list, size_t count, unsigned flags,
		     struct texts *errors)
{
	struct tf_where_begin begin = {own_request, clock_now(), clock_realtime_ns(), 0, TF_WHERE_ASKED};
	/* A sample of a running thread costs it an interrupt. Those of a run have recorded samples. */
	uint64_t patience_ns = run || flags & WHERE_PYTHON_ONLY ? 0 : clock_monotonic_ns() + PATIENCE_NS;

	where_out = (struct where_buffer){0};
	where_record(TF_WHERE_BEGIN, &begin, sizeof(begin), NULL, 0);
	for (size_t i = 0; i < count; i++) {
		size_t used = where_out.used;
		int error = list[i].is_here && list[i].run == run
				    ? where_process_record(list[i].pid, list[i].start, patience_ns, flags)
				    : 0;

		if (error) {
			where_out.used = used;
			look_error(&list[i], error, errors);
		}
	}
	where_record(TF_WHERE_END, &begin, sizeof(begin), NULL, 0);
	mem_append(m->wheres, m->where_count, m->where_capacity,
		   (struct where_file){.run = run, .machine = own_machine,
				       .bytes = (uint8_t *)where_out.bytes,
				       .size = where_out.used});
	where_out = (struct where_buffer){0};
}

uint64_t top_look(struct model *m, const struct top_process *list, size_t count, unsigned flags,
		  struct texts *errors)
{
	static bool has_clock;

	if (!has_clock)
		clock_init();
	has_clock = true;
	for (size_t i = 0; i < count; i++) {
		bool is_first = true;

		for (size_t k = 0; k < i; k++)
			is_first &= list[k].run != list[i].run;
		if (is_first)
			look_run(m, list[i].run, list, count, flags, errors);
	}
	return own_request;
}
