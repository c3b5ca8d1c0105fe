/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/capture.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/identity.h"
#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/profile/profile_range.h"
#include "runtime/shared/base/text.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

int64_t capture_filters = -1;

/* Without a launcher, stderr is the only place for a message. */
static void capture_report(const char *line)
{
	char bytes[512];
	struct text t = text_init(bytes, sizeof(bytes));

	text_add(&t, "pillion: ");
	text_add(&t, line);
	text_char(&t, '\n');
	sys_write(2, bytes, text_length(&t));
}

void capture_report_off(const char *why, const char *capture)
{
	char bytes[480]; /* capture_report needs room for its prefix */
	struct text t = text_init(bytes, sizeof(bytes));

	text_add(&t, "recording is off: ");
	text_add(&t, why);
	text_add(&t, capture);
	capture_report(bytes);
}

uint64_t capture_random_number(void)
{
	uint64_t number = 0;

	if (sys_getrandom(&number, sizeof(number)) != sizeof(number))
		number = intern_hash(clock_now(), &process_inherited, 64) ^ (uint64_t)sys_getpid() << 32;
	return number ? number : 1;
}

/* All launches, copies and memsets have stacks by default, so that each device operation can be attributed to the code
 * that requested it. */
static bool has_all_stacks(enum cuda_kind kind)
{
	uint64_t requested_ns = process_options.cuda_backtrace_ns[kind];

	if (process_options.launch_stacks == LAUNCH_STACKS_AUTO)
		return requested_ns <= OPTION_CUDA_BACKTRACE_NS;
	return kind == CUDA_KERNEL && process_options.launch_stacks == LAUNCH_STACKS_ALL &&
	       requested_ns != OPTION_NEVER;
}

static void capture_set_thresholds(void)
{
	process_osrt_threshold = clock_ticks(process_options.osrt_threshold_ns);
	process_osrt_backtrace = clock_ticks(process_options.osrt_backtrace_ns);
	for (int i = 0; i < CUDA_KINDS; i++)
		process_cuda_backtrace[i] = clock_ticks(process_options.cuda_backtrace_ns[i]);
	process_cuda_backtrace[CUDA_COPY] = has_all_stacks(CUDA_MEMORY) ? 0 : process_cuda_backtrace[CUDA_MEMORY];
	if (has_all_stacks(CUDA_KERNEL))
		process_cuda_backtrace[CUDA_KERNEL] = 0;
	if (process_options.mode == MODE_PROFILE) {
		process_profile_backtrace[0] = process_osrt_backtrace;
		process_profile_backtrace[1] = process_cuda_backtrace[CUDA_OTHER];
		process_osrt_backtrace = 0;
		memset(process_cuda_backtrace, 0, sizeof(process_cuda_backtrace));
	}
}

/* What would be recorded event by event. */
static __attribute__((cold)) void capture_set_profile(struct options *o)
{
	if (o->mode != MODE_PROFILE)
		return;
	event_args_most = -1;
	event_instead = profile_instant;
	o->memory = MEMORY_NONE;
	o->gpu_activity = GPU_ACTIVITY_NONE;
	o->python_calls = o->python_functions = NULL;
	o->jax = o->python_import_time = false;
	o->osrt_short_sampling = o->jax_live_ms = 0;
	o->ring_ns = o->ring_bytes = 0;
}

static uint64_t parse_hex(const char *s)
{
	uint64_t number = 0;

	for (; s && *s; s++)
		number = number << 4 | (uint64_t)(*s <= '9' ? *s - '0' : (*s | 32) - 'a' + 10);
	return number;
}

static int capture_make_file(const char *name, int *ret_fd)
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

/* Without a launcher, the first process creates the capture; later runs with the same path join it. */
static int capture_create(void)
{
	static const char text[] = "format=1\nkey=\n";
	int error = sys_mkdir(process_inherited.directory, 0700), fd;
	struct stat st;

	if (error && error != -EEXIST)
		return error;
	if (!error)
		sys_call(SYS_fchmodat, AT_FDCWD, process_inherited.directory, 0700, 0);
	/* Other users could redirect our lines if they own the directory or may write to it. */
	if (sys_call(SYS_newfstatat, AT_FDCWD, process_inherited.directory, &st, 0) || st.st_uid != geteuid() ||
	    (st.st_mode & 022))
		return -EACCES;
	error = capture_make_file("capture", &fd);
	if (error)
		return error == -EEXIST ? 0 : error;
	error = sys_write(fd, text, sizeof(text) - 1) < 0 ? -ENOSPC : 0;
	sys_close(fd);
	return error;
}

/* Without a launcher, only cudaProfilerStart and Stop move a range: there is no process that runs timers or kills. The
 * file is also made without a range, for short images. */
static void capture_make_range(void)
{
	struct tf_range_page head = range_head(&process_options, process_inherited.run, clock_kind);

	if (process_options.delay_s > 0 || process_options.duration_s > 0) {
		capture_report("--delay and --duration require the launcher; the whole run is recorded");
		return;
	}
	range_make(process_inherited.directory, process_inherited.identity.host, process_inherited.identity.boot,
		   &process_inherited.loaded, &head);
}

static void capture_map_range(void)
{
	if (!process_inherited.run)
		return;
	process_range = range_map(process_inherited.directory, process_inherited.identity.host, process_inherited.run,
				  &process_images);
	if (process_range)
		process_gate.recording = &process_range->recording;
}

/* Takes the clock and the boot from the range file if they are those of this process, which saves reading three files
 * of the kernel. */
static void capture_init_clock(uint64_t hz)
{
	struct identity *id = &process_inherited.identity;

	if (process_images && !strcmp(process_images->host, id->host) &&
	    clock_init_like(&process_images->created, process_range->clock, hz))
		memcpy(id->boot, process_images->boot, sizeof(id->boot));
	else
		clock_init();
	clock_set_hz(hz);
}

/* Without a launcher: a run of its own. */
static bool capture_begin(void)
{
	int error;

	process_inherited.run = capture_random_number();
	error = capture_create();
	if (error) {
		capture_report_off(error == -ENOSPC                      ? "the disk is full: "
				   : error == -EACCES || error == -EROFS ? "no permission to write the capture "
				   : error == -ENOENT                    ? "no directory for the capture: "
									 : "cannot create the capture ",
				   process_inherited.directory);
		return false;
	}
	capture_make_range();
	capture_map_range();
	return true;
}

/* In the first image after an exec: reads the environment and finds the capture. */
__attribute__((cold)) bool capture_find(char *const *environment)
{
	struct identity *id = &process_inherited.identity;
	const char *filters;
	char why[256];

	options_init(&process_options);
	if (!environment || !identity_variable(environment, "PILLION_OUTPUT"))
		return false; /* preloaded, but no recording was requested */
	if (options_from_environment(&process_options, environment, why, sizeof(why)))
		capture_report(why);
	capture_set_profile(&process_options);
	identity_read_host(id);
	process_inherited.run = parse_hex(identity_variable(environment, "PILLION_RUN"));
	if (process_inherited.run && process_options.sampling_source == SAMPLING_PERF)
		process_options.sample = 0; /* the launcher takes the samples */
	if (!identity_capture(process_inherited.directory, sizeof(process_inherited.directory), environment, id)) {
		capture_report_off("the path of the capture is too long", "");
		return false;
	}
	capture_map_range();
	capture_init_clock(identity_number(identity_variable(environment, "PILLION_CLOCK_HZ")));
	clock_pair(&process_inherited.loaded);
	process_inherited.has_block_delays = identity_variable(environment, "PILLION_BLOCK_DELAYS");
	filters = identity_variable(environment, "PILLION_SECCOMP_FILTERS");
	capture_filters = filters ? (int64_t)identity_number(filters) : -1;
	identity_read(id, environment);
	if (!process_inherited.run && !capture_begin())
		return false;
	identity_export(environment, process_inherited.directory, process_inherited.run, process_library());
	capture_set_thresholds();
	process_inherited.is_configured = true;
	return true;
}
