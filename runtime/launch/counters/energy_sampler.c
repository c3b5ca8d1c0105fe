/* SPDX-License-Identifier: Apache-2.0 */
/* What runs in the sampler of power, energy and counters. Launchers of one capture on one machine, as the ranks of a
 * job have, divide the sources among them by locks, so that each source is read once; a lock is free again when its
 * process ends. */
#include "runtime/launch/counters/energy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/launch/perf/sample_file.h"
#include "runtime/shared/common/clock.h"

/* COST_SHARE: a round that takes long makes the next one come later, so that sampling uses at most 1/COST_SHARE of a
 * CPU. LOCK_NS: how often free locks are looked for. */
enum { COST_SHARE = 50, LOCK_NS = 1000000000, DESCRIPTORS_MAX = 1024 };
enum { STOP_FD = 3, READY_FD = 4, SETS = 2 };

static struct {
	struct energy_meter sources[ENERGY_SOURCES];
	size_t count;
	bool has_looked; /* for them */
	bool is_ready;	 /* has told the launcher so */
	struct node_counter_set sets[SETS];
	size_t set_count;
	struct sample_file file;
	uint64_t interval_ms, locked_ns;
	uint64_t limit; /* of the file's size, at which the interval doubles */
	uint64_t capture; /* identifies the capture on this machine */
	uint8_t bytes[ENERGY_SOURCES * 512 + SETS * COUNTERS * 192]; /* of one round */
	size_t used;
} sampler = {.file.fd = -1};

/* ---- the process ---- */

static void descriptors_close(void)
{
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, (unsigned)READY_FD + 1, ~0u, 0u))
		return;
#endif
	for (int fd = READY_FD + 1; fd < DESCRIPTORS_MAX; fd++)
		close(fd);
}

/* The process holds open nothing of COMMAND or of the terminal, leaves no core file, and ends with the launcher. */
static void process_isolate(int stop, int ready)
{
	static const struct rlimit none;
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "pillion-energy");
	setrlimit(RLIMIT_CORE, &none);
	for (int fd = 0; fd < STOP_FD; fd++)
		dup2(null, fd);
	dup2(stop, STOP_FD); /* `ready` is above it: it was opened later */
	dup2(ready, READY_FD);
	descriptors_close();
}

/* ---- the file ---- */

static bool file_open(const struct run *run)
{
	struct tf_energy_head head = {.magic = TF_ENERGY_MAGIC, .run = run->id, .clock = clock_kind};
	char name[INDEX_NAME_BYTES];

	memcpy(head.boot, run->boot, sizeof(head.boot));
	index_run_name(name, sizeof(name), run->host, run->id, ".energy");
	return sample_file_open(&sampler.file, run, name, &head, sizeof(head));
}

static void add(const void *bytes, size_t size)
{
	if (sampler.used + size <= sizeof(sampler.bytes)) {
		memcpy(sampler.bytes + sampler.used, bytes, size);
		sampler.used += size;
	}
}

static void record_add(enum tf_energy_kind kind, uint16_t source, size_t size)
{
	add(&(struct tf_energy_record){(uint16_t)kind, source, (uint32_t)((size + 7) & ~(size_t)7)},
	    sizeof(struct tf_energy_record));
}

static void definition_add(enum tf_energy_kind kind, uint16_t source, const void *fixed, size_t size,
			   const char *const texts[3])
{
	static const char zeros[8];
	size_t all = size;

	for (int i = 0; i < 3; i++)
		all += strlen(texts[i]) + 1;
	record_add(kind, source, all);
	add(fixed, size);
	for (int i = 0; i < 3; i++)
		add(texts[i], strlen(texts[i]) + 1);
	add(zeros, -all & 7);
}

static void source_define(struct energy_meter *s)
{
	definition_add(s->kind, s->number, &s->fixed, sizeof(s->fixed), (const char *const[]){s->name, s->id, s->bus});
	s->is_defined = true;
}

static bool flush(void)
{
	size_t size = sampler.used;

	sampler.used = 0;
	return sample_file_add(&sampler.file, sampler.bytes, size);
}

/* The definitions of earlier turns are going to be removed. */
static void definitions_forget(void)
{
	for (size_t i = 0; i < sampler.count; i++)
		sampler.sources[i].is_defined = false;
	for (size_t i = 0; i < sampler.set_count; i++)
		sampler.sets[i].is_defined = false;
}

/* ---- locks ---- */

/* A socket with a name in the abstract namespace, which stays open: no file remains, whatever happens to the process.
 * Where there are no such sockets, everyone has the lock: readings of several samplers do no harm. */
static bool lock_try(const char *id)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "pillion-energy-%u-%llx-%.48s",
			      (unsigned)getuid(), (unsigned long long)sampler.capture, id);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address,
			    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) &&
	    errno == EADDRINUSE) {
		close(fd);
		return false;
	}
	return true;
}

static void locks_take(uint64_t now)
{
	if (sampler.locked_ns && now - sampler.locked_ns < LOCK_NS)
		return;
	sampler.locked_ns = now;
	for (size_t i = 0; i < sampler.count; i++)
		if (!sampler.sources[i].is_mine)
			sampler.sources[i].is_mine = lock_try(sampler.sources[i].id);
	for (size_t i = 0; i < sampler.set_count; i++)
		if (!sampler.sets[i].is_mine)
			sampler.sets[i].is_mine = lock_try(sampler.sets[i].name);
}

/* ---- rounds ---- */

static void source_sample(struct energy_meter *s)
{
	struct tf_energy_sample sample;

	if (!s->is_defined)
		source_define(s);
	memset(&sample, 0xff, sizeof(sample));
	if (s->kind == TF_ENERGY_GPU)
		energy_nvml_read(s, &sample);
	else
		energy_rapl_read(s, &sample);
	record_add(TF_ENERGY_SAMPLE, s->number, sizeof(sample));
	add(&sample, sizeof(sample));
}

static void set_define(struct node_counter_set *set)
{
	set->is_defined = true;
	for (size_t i = 0; i < set->count; i++) {
		const struct node_counter *c = &set->items[i];
		struct tf_energy_counter fixed = {.scale = c->scale, .is_total = c->row->is_total};

		definition_add(TF_ENERGY_COUNTER, set->number, &fixed, sizeof(fixed),
			       (const char *const[]){c->name, c->row->unit, set->name});
	}
}

static void set_find(struct run *run, struct node_counter_set *set)
{
	char text[COUNTER_MISSING_BYTES + 64];

	set->is_found = true;
	if (!strcmp(set->name, "host"))
		counter_find_host("", set);
	else
		counter_find_net("", set);
	if (!*set->missing)
		return;
	snprintf(text, sizeof(text), "counters: %s: this machine does not have %s", set->name, set->missing);
	capture_line_note(run, text);
}

static void set_sample(struct run *run, struct node_counter_set *set)
{
	uint64_t values[COUNTERS], before, ticks;

	if (!set->is_found)
		set_find(run, set);
	if (!set->count)
		return;
	if (!set->is_defined)
		set_define(set);
	before = clock_now();
	counter_read(set, values);
	ticks = before + (clock_now() - before) / 2;
	record_add(TF_ENERGY_VALUES, set->number, sizeof(ticks) + set->count * sizeof(*values));
	add(&ticks, sizeof(ticks));
	add(values, set->count * sizeof(*values));
}

static void sources_find(struct run *run)
{
	char why[256], text[320];
	size_t denied, gpus = energy_nvml_find(sampler.sources, ENERGY_SOURCES, why, sizeof(why));

	/* A machine without a GPU has no NVML, which is no problem unless it was asked for. */
	if (*why && (run->options.energy == ENERGY_TRUE || run->options.counters & OPTION_COUNTER_GPU ||
		     !access("/dev/nvidiactl", F_OK))) {
		snprintf(text, sizeof(text), "energy: GPUs: %s", why);
		capture_line_note(run, text);
	}
	sampler.count = gpus + energy_rapl_find("/sys/class/powercap", sampler.sources + gpus, ENERGY_SOURCES - gpus,
						&denied);
	if (denied && sampler.count == gpus && run->options.energy == ENERGY_TRUE)
		capture_line_note(run, "energy: CPUs: the counters in /sys/class/powercap are readable by root only");
	for (size_t i = 0; i < sampler.count; i++)
		sampler.sources[i].number = (uint16_t)i;
	sampler.has_looked = true;
	sampler.locked_ns = 0;
}

static bool uses_cuda(const struct run *run)
{
	return run->range && __atomic_load_n(&run->range->uses_cuda, __ATOMIC_RELAXED);
}

bool energy_wants_gpus(const struct run *run)
{
	return run->options.counters & OPTION_COUNTER_GPU || run->options.energy == ENERGY_TRUE ||
	       (run->options.energy == ENERGY_AUTO && uses_cuda(run));
}

/* Returns the milliseconds until the next round, -1: the file cannot be written. */
static int round_take(struct run *run)
{
	uint64_t began = clock_monotonic_ns(), ms;

	/* A driver may take seconds, for which COMMAND does not wait. */
	if (sampler.is_ready && !sampler.has_looked && energy_wants_gpus(run))
		sources_find(run);
	locks_take(began);
	if (sample_file_turn(&sampler.file, run))
		definitions_forget();
	for (size_t i = 0; i < sampler.set_count; i++)
		if (sampler.sets[i].is_mine)
			set_sample(run, &sampler.sets[i]);
	for (size_t i = 0; i < sampler.count; i++)
		if (sampler.sources[i].is_mine)
			source_sample(&sampler.sources[i]);
	if (sampler.used && ((sampler.file.fd < 0 && !file_open(run)) || !flush()))
		return -1;
	if (!sampler.is_ready) {
		close(READY_FD);
		sampler.is_ready = true;
		return 0;
	}
	while (!sampler.file.is_ring && sampler.file.added > sampler.limit && sampler.interval_ms < 3600000) {
		sampler.limit += sample_file_step(run);
		sampler.interval_ms *= 2;
	}
	ms = (clock_monotonic_ns() - began) / 1000000u;
	ms = ms * COST_SHARE > sampler.interval_ms ? ms * COST_SHARE
						   : sampler.interval_ms - (ms < sampler.interval_ms ? ms : 0);
	return (int)(ms < 3600000 ? ms : 3600000);
}

static void sets_begin(const struct run *run)
{
	static const struct {
		uint32_t word;
		const char *name;
	} sets[SETS] = {{OPTION_COUNTER_HOST, "host"}, {OPTION_COUNTER_NET, "net"}};

	for (size_t i = 0; i < SETS; i++)
		if (run->options.counters & sets[i].word) {
			sampler.sets[sampler.set_count].name = sets[i].name;
			sampler.sets[sampler.set_count++].number = (uint16_t)(ENERGY_SOURCES + i);
		}
}

void energy_sampler_run(struct run *run, int stop, int ready)
{
	pid_t launcher = getppid();
	struct stat st;
	int ms = 0;

	process_isolate(stop, ready);
	sampler.interval_ms = run->options.energy_interval_ms;
	sampler.limit = sample_file_step(run);
	if (!stat(run->directory, &st))
		sampler.capture = (uint64_t)st.st_ino ^ (uint64_t)st.st_dev << 40;
	sets_begin(run);
	if (!sampler.set_count) {
		close(READY_FD);
		sampler.is_ready = true;
		sources_find(run);
	}
	if ((!sampler.set_count && !sampler.count) || getppid() != launcher)
		_exit(0);
	do
		ms = round_take(run);
	while (ms >= 0 && !poll(&(struct pollfd){STOP_FD, POLLIN, 0}, 1, ms));
	if (ms >= 0)
		ms = round_take(run);
	if (ms < 0)
		capture_line_note(run, sampler.file.fd < 0 ? "energy: its file could not be written"
						      : "energy: sampling ended early: its file could not be written");
	_exit(0);
}
