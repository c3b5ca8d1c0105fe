/* SPDX-License-Identifier: Apache-2.0 */
/* The process image: its start, its place in the capture, its end. */
#include "runtime/record/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "runtime/common/clock.h"
#include "runtime/device/cupti.h"
#include "runtime/record/event.h"
#include "runtime/record/file.h"
#include "runtime/record/identity.h"
#include "runtime/common/loaded.h"
#include "runtime/stack/module.h"
#include "runtime/record/process_line.h"
#include "runtime/stack/sample.h"
#include "runtime/stack/stack.h"
#include "runtime/common/sys.h"
#include "runtime/common/text.h"
#include "runtime/record/thread.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

struct process process;

HOT static uint32_t always = ~0u;
HOT struct process_gate process_gate = {.groups = ~0u, .recording = &always};
HOT uint64_t process_osrt_threshold, process_osrt_backtrace, process_cuda_backtrace[CUDA_KINDS];
struct options process_options;
struct tf_range_page *process_range;
bool process_is_frozen;

struct process_inherited process_inherited;

static char *const *given_environment;

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

static void say_off(const char *why, const char *capture)
{
	char bytes[480]; /* say_line has room for its own words, too */
	struct text t = text_init(bytes, sizeof(bytes));

	text_add(&t, "recording is off: ");
	text_add(&t, why);
	text_add(&t, capture);
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
		number = table_hash(clock_now(), &process_inherited, 64) ^ (uint64_t)sys_getpid() << 32;
	return number ? number : 1;
}

static bool set_path(void)
{
	struct text t = text_init(process.path, sizeof(process.path));

	text_add(&t, process_inherited.directory);
	text_char(&t, '/');
	text_add(&t, process_inherited.identity.host);
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

	text_add(&t, process_inherited.directory);
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
	int error = sys_mkdir(process_inherited.directory, 0700), fd;
	struct stat st;

	if (error && error != -EEXIST)
		return error;
	if (!error)
		sys_call(SYS_fchmodat, AT_FDCWD, process_inherited.directory, 0700, 0);
	/* One that others may write to, or that is another's, could send our lines anywhere. */
	if (sys_call(SYS_newfstatat, AT_FDCWD, process_inherited.directory, &st, 0) || st.st_uid != geteuid() || (st.st_mode & 022))
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
	struct tf_range_page head = range_head(&process_options, process_inherited.run, clock_kind);

	if (process_options.delay_s > 0 || process_options.duration_s > 0) {
		say_line("--delay and --duration need the launcher; recording all the time");
		return;
	}
	if (process_options.capture_range != CAPTURE_ALL)
		range_make(process_inherited.directory, process_inherited.identity.host, &head);
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
	clock_pair(&process_inherited.loaded);
	identity_read(&process_inherited.identity, environment);
	process_inherited.run = parse_hex(identity_variable(environment, "PILLION_RUN"));
	if (!identity_capture(process_inherited.directory, sizeof(process_inherited.directory), environment, &process_inherited.identity)) {
		say_off("the capture's name is too long", "");
		return false;
	}
	if (!process_inherited.run) {
		int error;

		process_inherited.run = random_number();
		error = make_capture();
		if (error) {
			say_off(error == -ENOSPC ? "the disk is full: "
				: error == -EACCES || error == -EROFS ? "no permission to write the capture "
				: error == -ENOENT ? "no directory to make the capture in: "
						   : "cannot make the capture ",
				process_inherited.directory);
			return false;
		}
		make_range();
	}
	identity_export(environment, process_inherited.directory, process_inherited.run, process_library());
	process_range = range_map(process_inherited.directory, process_inherited.identity.host, process_inherited.run);
	if (process_range)
		process_gate.recording = &process_range->recording;
	set_thresholds();
	module_init();
	process_inherited.is_configured = true;
	return true;
}

/* The line that makes the image known. False: there is no capture to be in. A launcher finds it without this process then;
 * there is no better place to say so. */
static bool is_lasting_line(bool is_fork)
{
	int error = process_line_start(is_fork);

	return !error || error == -EMFILE || error == -ENFILE || error == -EBUSY || error == -ENOMEM || error == -EINTR;
}

static bool start(void)
{
	bool is_fork = process_inherited.is_configured;

	if (!is_fork && !configure())
		return false;
	process.pid = (uint32_t)sys_getpid();
	process.nonce = random_number();
	if (is_fork) {
		process_inherited.parent_nonce = process_inherited.nonce;
		identity_forked(&process_inherited.identity);
		clock_pair(&process_inherited.loaded);
	}
	if (!set_path() || !is_lasting_line(is_fork))
		return false;
	process_inherited.nonce = process.nonce;
	/* Asked for once; the child inherits the wish. Without it a child by clone(2) would write into its parent's trace. */
	if (!is_fork && sys_madvise(&process, sizeof(process), MADV_WIPEONFORK)) {
		say_off("Linux 4.14 or newer is needed, to tell forked children", "");
		return false;
	}
	process_gate.groups = process_options.trace | (process_options.sample ? PROCESS_SAMPLES : 0);
	/* Not in a child: the loader's lock may be held by a thread that is not here any more. What it found is inherited. */
	if (!is_fork) {
		stack_init();
		sample_init();
	}
	__atomic_store_n(&process.generation, ++process_inherited.generations, __ATOMIC_RELEASE);
	return true;
}

bool process_start(void)
{
	bool is_on;

	if (__atomic_load_n(&process.generation, __ATOMIC_ACQUIRE))
		return process_gate.groups;
	sys_lock(&process.starting);
	is_on = process.generation || (process_gate.groups && start());
	if (!is_on)
		process_gate.groups = 0;
	sys_unlock(&process.starting);
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
	h->run = process_inherited.run;
	h->parent_nonce = process_inherited.parent_nonce;
	h->via = process_inherited.parent_nonce ? TF_VIA_FORK : TF_VIA_START;
	h->pid = process.pid;
	h->clock = clock_kind;
	h->clock_hz = clock_hz();
	h->first = process_inherited.loaded;
	clock_pair(&h->last[0]);
	h->osrt_threshold_ns = process_options.osrt_threshold_ns;
	identity_describe(&process_inherited.identity, h);
	h->end_status = process.end_status;
	h->end_ticks = process.end_ticks;
	h->end = process.end;
}

bool process_make_file(void)
{
	int error;

	if (__atomic_load_n(&process.header, __ATOMIC_ACQUIRE))
		return true;
	sys_lock(&process.starting);
	error = file_create();
	sys_unlock(&process.starting);
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
		if (end != TF_END_NONE)
			file_trim();
	} else {
		process_line_end();
	}
	if (process_range && end != TF_END_EXEC)
		range_stop(process_range, process.pid, clock_now());
	thread_guard_leave(&thread_self, &guard);
}

void process_child_ended(int pid, int status)
{
	struct tf_child child = {.pid = (uint32_t)pid, .status = status};

	if (!process.generation || !process_gate.groups)
		return;
	if (process.header && thread_self.generation == process.generation) {
		event_blob(TF_BLOB_CHILD, 0, &child, sizeof(child));
		return;
	}
	/* An exit code is the child's own to tell; a signal is not. */
	if (status & 0x7f)
		process_line_child(pid, status);
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
