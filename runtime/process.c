/* SPDX-License-Identifier: Apache-2.0 */
/* The process image: its start, its place in the capture, its end. */
#include "process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "clock.h"
#include "cupti.h"
#include "event.h"
#include "file.h"
#include "identity.h"
#include "index.h"
#include "loaded.h"
#include "module.h"
#include "sample.h"
#include "stack.h"
#include "sys.h"
#include "text.h"
#include "thread.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

struct process process;

static const uint32_t always = ~0u;
struct process_gate process_gate = {.groups = ~0u, .recording = &always};
uint64_t process_osrt_threshold, process_osrt_backtrace, process_cuda_backtrace[CUDA_KINDS];
struct options process_options;
struct tf_range_page *process_range;
bool process_is_frozen;

/* What a forked child inherits. */
static struct {
	bool is_configured;
	uint64_t generations, nonce, parent_nonce, run;
	struct identity identity; /* of the image that configured itself; pids are taken anew */
	struct tf_clock_pair loaded;
	char directory[PROCESS_NAME_BYTES];
} inherited;

static char *const *given_environment;

/* ---- the index ---- */

/* One line at a time: the buffer is shared. A line more or less must never hold up the target, so the lock is given up on
 * after a while. A forked child's is open: it lies in `process`. */

static bool line_begin(struct index_line *line, const char *name)
{
	for (int i = 0; __atomic_exchange_n(&process.line_lock, 1, __ATOMIC_ACQUIRE); i++) {
		if (i > 1000)
			return false;
		sys_wait(i);
	}
	index_begin(line, process.line, sizeof(process.line), name);
	return true;
}

static int line_end(struct index_line *line)
{
	char name[INDEX_NAME_BYTES];
	int error = -EPERM;

	index_name(name, sizeof(name), inherited.identity.host, inherited.identity.boot);
	if (!process_is_frozen)
		error = index_append(line, inherited.directory, name);
	__atomic_store_n(&process.line_lock, 0, __ATOMIC_RELEASE);
	return error;
}

static void add_clocks(struct index_line *line, const struct tf_clock_pair *pair)
{
	index_number(line, "realtime_ns", pair->realtime_ns);
	index_number(line, "ticks", pair->ticks);
	index_number(line, "clock", clock_kind);
}

static int write_process_line(bool is_fork)
{
	const struct identity *id = &inherited.identity;
	struct index_line line;
	struct tf_clock_pair now;

	clock_pair(&now);
	if (!line_begin(&line, "process"))
		return -EBUSY;
	index_hex(&line, "nonce", process.nonce);
	index_number(&line, "pid", process.pid);
	index_number(&line, "ppid", id->parent_pid);
	index_number(&line, "start", id->start);
	index_hex(&line, "run", inherited.run);
	index_text(&line, "via", is_fork ? "fork" : "start");
	index_hex(&line, "parent", inherited.parent_nonce);
	add_clocks(&line, &now);
	index_text(&line, "host", id->host);
	index_text(&line, "boot", id->boot);
	index_text(&line, "exe", id->executable);
	index_field(&line, "args", id->arguments, id->arguments_size);
	index_field(&line, "vars", id->variables, id->variables_size);
	return line_end(&line);
}

static void tell(const char *kind, const char *text)
{
	struct index_line line;

	if (process_is_frozen || !line_begin(&line, kind))
		return;
	index_hex(&line, "nonce", process.nonce);
	index_number(&line, "pid", process.pid);
	index_text(&line, "text", text);
	line_end(&line);
}

void process_note(const char *text)
{
	tell("note", text);
}

void process_seen(const char *range)
{
	tell("seen", range);
}

void process_bare(const char *executable, const char *reason)
{
	struct index_line line;

	if (process_is_frozen || !inherited.is_configured || !line_begin(&line, "bare"))
		return;
	index_number(&line, "pid", process.pid);
	index_text(&line, "exe", executable);
	index_text(&line, "reason", reason);
	line_end(&line);
}

/* ---- failure ---- */

/* Without a launcher nobody else would tell. */
static void say_line(const char *line)
{
	char bytes[512];
	struct text t = text_init(bytes, sizeof(bytes));

	text_add(&t, "pillion: ");
	text_add(&t, line);
	text_char(&t, '\n');
	sys_write(2, bytes, text_length(&t));
}

static void say(const char *why)
{
	char bytes[512];
	struct text t = text_init(bytes, sizeof(bytes));

	text_add(&t, "recording is off: ");
	text_add(&t, why);
	say_line(bytes);
}

void process_fail(const char *why)
{
	if (__atomic_exchange_n(&process_gate.groups, 0, __ATOMIC_RELAXED))
		process_note(why);
}

/* ---- start ---- */

static uint64_t random_number(void)
{
	uint64_t number = 0;

	if (sys_getrandom(&number, sizeof(number)) != sizeof(number))
		number = table_hash(clock_now(), &inherited, 64) ^ (uint64_t)sys_getpid() << 32;
	return number ? number : 1;
}

static bool set_path(void)
{
	struct text t = text_init(process.path, sizeof(process.path));

	text_add(&t, inherited.directory);
	text_char(&t, '/');
	text_add(&t, inherited.identity.host);
	text_char(&t, '.');
	text_number(&t, process.pid);
	text_char(&t, '.');
	text_hex(&t, process.nonce, 16);
	text_add(&t, ".trace");
	return !t.cut;
}

/* So that each kernel can be charged to who launched it. */
static bool has_stacks_of_all_launches(void)
{
	uint64_t asked_ns = process_options.cuda_backtrace_ns[CUDA_KERNEL];

	if (process_options.launch_stacks == LAUNCH_STACKS_AUTO)
		return asked_ns <= OPTION_CUDA_BACKTRACE_NS;
	return process_options.launch_stacks == LAUNCH_STACKS_ALL && asked_ns != OPTION_NEVER;
}

static void set_thresholds(void)
{
	process_osrt_threshold = clock_ticks(process_options.osrt_threshold_ns);
	process_osrt_backtrace = clock_ticks(process_options.osrt_backtrace_ns);
	for (int i = 0; i < CUDA_KINDS; i++)
		process_cuda_backtrace[i] = clock_ticks(process_options.cuda_backtrace_ns[i]);
	if (has_stacks_of_all_launches())
		process_cuda_backtrace[CUDA_KERNEL] = 0;
}

static uint64_t parse_hex(const char *s)
{
	uint64_t number = 0;

	for (; s && *s; s++)
		number = number << 4 | (uint64_t)(*s <= '9' ? *s - '0' : (*s | 32) - 'a' + 10);
	return number;
}

static int make_file(const char *name, int *ret_fd)
{
	char path[PROCESS_NAME_BYTES];
	struct text t = text_init(path, sizeof(path));

	text_add(&t, inherited.directory);
	text_char(&t, '/');
	text_add(&t, name);
	*ret_fd = sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*ret_fd >= 0)
		sys_fchmod(*ret_fd, 0600);
	return *ret_fd < 0 ? *ret_fd : 0;
}

/* Without a launcher the first process makes the capture; later runs into the same one join it. */
static int make_capture(void)
{
	static const char text[] = "format=1\nkey=\n";
	int error = sys_mkdir(inherited.directory, 0700), fd;
	struct stat st;

	if (error && error != -EEXIST)
		return error;
	if (!error)
		sys_call(SYS_fchmodat, AT_FDCWD, inherited.directory, 0700, 0);
	/* One that others may write to, or that is another's, could send our lines anywhere. */
	if (sys_call(SYS_newfstatat, AT_FDCWD, inherited.directory, &st, 0) || st.st_uid != geteuid() || (st.st_mode & 022))
		return -EACCES;
	error = make_file("capture", &fd);
	if (error)
		return error == -EEXIST ? 0 : error;
	error = sys_write(fd, text, sizeof(text) - 1) < 0 ? -ENOSPC : 0;
	sys_close(fd);
	return error;
}

/* Without a launcher only cudaProfilerStart and Stop move a range: what needs a timer or a kill is not done. */
static void make_range(void)
{
	struct tf_range_page head = range_head(&process_options, inherited.run, clock_kind);

	if (process_options.delay_s > 0 || process_options.duration_s > 0) {
		say_line("--delay and --duration need the launcher; recording all the time");
		return;
	}
	if (process_options.capture_range != CAPTURE_ALL)
		range_make(inherited.directory, inherited.identity.host, &head);
}

/* The first image after an exec: reads the environment, finds the capture. */
static bool configure(void)
{
	char *const *environment = given_environment ? given_environment : environ;
	char why[256];

	options_init(&process_options);
	if (!environment || !identity_variable(environment, "PILLION_OUTPUT"))
		return false; /* preloaded, but nobody asked for a recording */
	if (options_from_environment(&process_options, environment, why, sizeof(why)))
		say_line(why);
	clock_init();
	clock_set_hz(identity_number(identity_variable(environment, "PILLION_CLOCK_HZ")));
	clock_pair(&inherited.loaded);
	identity_read(&inherited.identity, environment);
	inherited.run = parse_hex(identity_variable(environment, "PILLION_RUN"));
	if (!identity_capture(inherited.directory, sizeof(inherited.directory), environment, &inherited.identity)) {
		say("the capture's name is too long");
		return false;
	}
	if (!inherited.run) {
		int error;

		inherited.run = random_number();
		error = make_capture();
		if (error) {
			say(error == -ENOSPC ? "the disk is full" : error == -EACCES || error == -EROFS ? "the capture cannot be written" : "the capture cannot be made");
			return false;
		}
		make_range();
	}
	identity_export(environment, inherited.directory, inherited.run, process_library());
	process_range = range_map(inherited.directory, inherited.identity.host, inherited.run);
	if (process_range)
		process_gate.recording = &process_range->recording;
	set_thresholds();
	module_init();
	inherited.is_configured = true;
	return true;
}

/* The line that makes the image known. False: there is no capture to be in. A launcher finds it without this process then;
 * there is no better place to say so. */
static bool is_lasting_line(bool is_fork)
{
	int error = write_process_line(is_fork);

	return !error || error == -EMFILE || error == -ENFILE || error == -EBUSY || error == -ENOMEM || error == -EINTR;
}

static bool start(void)
{
	bool is_fork = inherited.is_configured;

	if (!is_fork && !configure())
		return false;
	process.pid = (uint32_t)sys_getpid();
	process.nonce = random_number();
	if (is_fork) {
		inherited.parent_nonce = inherited.nonce;
		identity_forked(&inherited.identity);
		clock_pair(&inherited.loaded);
	}
	if (!set_path() || !is_lasting_line(is_fork))
		return false;
	inherited.nonce = process.nonce;
	/* Asked for once; the child inherits the wish. Without it a child by clone(2) would write into its parent's trace. */
	if (!is_fork && sys_madvise(&process, sizeof(process), MADV_WIPEONFORK)) {
		say("Linux 4.14 or newer is needed, to tell forked children");
		return false;
	}
	process_gate.groups = process_options.trace | (process_options.sample ? PROCESS_SAMPLES : 0);
	/* Not in a child: the loader's lock may be held by a thread that is not here any more. What it found is inherited. */
	if (!is_fork) {
		stack_init();
		sample_init();
	}
	__atomic_store_n(&process.generation, ++inherited.generations, __ATOMIC_RELEASE);
	return true;
}

static void lock(void)
{
	for (int i = 0; __atomic_exchange_n(&process.starting, 1, __ATOMIC_ACQUIRE); i++)
		sys_wait(i);
}

static void unlock(void)
{
	__atomic_store_n(&process.starting, 0, __ATOMIC_RELEASE);
}

bool process_start(void)
{
	bool is_on;

	if (__atomic_load_n(&process.generation, __ATOMIC_ACQUIRE))
		return process_gate.groups;
	lock();
	is_on = process.generation || (process_gate.groups && start());
	if (!is_on)
		process_gate.groups = 0;
	unlock();
	return is_on;
}

void process_set_arguments(int argc, char **argv, char **environment)
{
	given_environment = environment;
	identity_set_arguments(argc, argv);
}

bool process_is_borrowed(void)
{
	return process.generation && !sys_is_silent && (uint32_t)sys_getpid() != process.pid;
}

/* ---- the file's head ---- */

void process_describe(struct tf_header *h)
{
	h->byte_order = TF_BYTE_ORDER;
	h->version_major = TF_VERSION_MAJOR;
	h->version_minor = TF_VERSION_MINOR;
	h->nonce = process.nonce;
	h->run = inherited.run;
	h->parent_nonce = inherited.parent_nonce;
	h->via = inherited.parent_nonce ? TF_VIA_FORK : TF_VIA_START;
	h->pid = process.pid;
	h->clock = clock_kind;
	h->clock_hz = clock_hz();
	h->first = inherited.loaded;
	clock_pair(&h->last[0]);
	h->osrt_threshold_ns = process_options.osrt_threshold_ns;
	identity_describe(&inherited.identity, h);
	h->end_status = process.end_status;
	h->end_ticks = process.end_ticks;
	h->end = process.end;
}

bool process_make_file(void)
{
	int error;

	if (__atomic_load_n(&process.header, __ATOMIC_ACQUIRE))
		return true;
	lock();
	error = file_create();
	unlock();
	if (error && error != -EMFILE && error != -ENFILE && error != -ENOMEM && error != -EINTR)
		process_fail(error == -ENOSPC || error == -EDQUOT ? "no room for the trace file" : "the trace file cannot be made");
	return !error;
}

void process_take_clocks(void)
{
	struct tf_header *h = __atomic_load_n(&process.header, __ATOMIC_ACQUIRE);

	/* One at a time, or two threads write the same pair. */
	if (!h || __atomic_exchange_n(&process.takes_clocks, true, __ATOMIC_ACQUIRE))
		return;
	clock_pair(&h->last[process.pair++ & 1]);
	__atomic_store_n(&process.takes_clocks, false, __ATOMIC_RELEASE);
}

/* ---- the end ---- */

static void add_short(struct index_line *line)
{
	const struct tf_thread *page = (const struct tf_thread *)process.main_page;
	/* Not on the stack: a handler may run exec on a small one. */
	char *bytes = process.line_counts, *names = process.line_names;
	struct text counts = text_init(bytes, sizeof(process.line_counts)), functions = text_init(names, sizeof(process.line_names));

	for (uint32_t i = 0; i < page->counter_count; i++) {
		const struct tf_counter *c = &page->counters[i];

		if (!c->calls)
			continue;
		if (text_length(&counts)) {
			text_char(&counts, ',');
			text_char(&functions, ',');
		}
		text_number(&counts, i);
		text_char(&counts, ':');
		text_number(&counts, c->calls);
		text_char(&counts, ':');
		text_number(&counts, c->ticks);
		text_number(&functions, i);
		text_char(&functions, ':');
		text_add(&functions, file_functions[i].name);
	}
	index_text(line, "short", bytes);
	index_text(line, "functions", names);
}

static void write_end_line(void)
{
	static const char *const kinds[] = {"none", "exit", "exec", "abort"};
	struct index_line line;
	struct tf_clock_pair now;

	clock_pair(&now);
	if (process_is_frozen || !line_begin(&line, "end"))
		return;
	index_hex(&line, "nonce", process.nonce);
	index_number(&line, "pid", process.pid);
	index_text(&line, "kind", kinds[process.end]);
	index_signed(&line, "status", process.end_status);
	add_clocks(&line, &now);
	index_number(&line, "recorded", 0);
	add_short(&line);
	line_end(&line);
}

void process_end(unsigned end, int status)
{
	struct thread_guard guard;

	if (!process.generation || process_is_borrowed())
		return;
	if (end == TF_END_EXIT || end == TF_END_EXEC)
		cupti_flush();
	thread_guard_enter(&thread_self, &guard);
	process.end_ticks = clock_now();
	process.end_status = status;
	process.end = end;
	if (thread_self.page && end == TF_END_EXIT)
		thread_refresh_name(&thread_self);
	if (process.header) {
		if (thread_self.page)
			thread_settle(&thread_self);
		process.header->end_status = status;
		process.header->end_ticks = process.end_ticks;
		__atomic_store_n(&process.header->end, end, __ATOMIC_RELEASE);
		process_take_clocks();
	} else {
		write_end_line();
	}
	if (process_range && end != TF_END_EXEC)
		range_stop(process_range, process.pid, clock_now());
	thread_guard_leave(&thread_self, &guard);
}

void process_child_ended(int pid, int status)
{
	struct tf_child child = {.pid = (uint32_t)pid, .status = status};
	struct index_line line;

	if (!process.generation || !process_gate.groups)
		return;
	if (process.header && thread_self.generation == process.generation) {
		event_blob(TF_BLOB_CHILD, 0, &child, sizeof(child));
		return;
	}
	/* An exit code is the child's own to tell; a signal is not. */
	if ((status & 0x7f) == 0 || process_is_frozen || !line_begin(&line, "child"))
		return;
	index_number(&line, "pid", (uint64_t)pid);
	index_signed(&line, "status", status);
	line_end(&line);
}

void process_freeze(bool silent)
{
	struct thread *t = &thread_self;

	if (process.generation && !process_is_frozen && t->generation == process.generation) {
		thread_reserve(t);
		process_note(silent ? "a seccomp filter: what no longer fits the trace is lost, children are not recorded"
				    : "chroot, setuid or unshare: children are not recorded");
	}
	process_is_frozen = true;
	if (!silent)
		return;
	sample_stop();
	__atomic_store_n(&process.is_closing, true, __ATOMIC_SEQ_CST);
	for (int i = 0; __atomic_load_n(&process.guarded, __ATOMIC_SEQ_CST) && i < 500; i++)
		sys_wait(i);
	sys_is_silent = true;
}

const char *process_library(void)
{
	static char path[PROCESS_NAME_BYTES];

	if (!path[0])
		loaded_path((const void *)process_library, path, sizeof(path));
	return path;
}

char *const *process_environment(void)
{
	return identity_exported();
}
