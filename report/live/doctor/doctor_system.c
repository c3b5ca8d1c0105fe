/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel, the C library, what they permit, and limits. Everything is only read, except for one perf event that is
 * opened and closed. */
#include "report/live/doctor/doctor.h"
#include "runtime/shared/outside/system_line.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

enum { SHM_MB = 64, AS_MB = 1024, FILES = 256, PARANOID_MOST = 2 };

/* Whether "MAJOR.MINOR..." is at least that version. */
static bool is_version(const char *text, unsigned major, unsigned minor)
{
	unsigned has_major = 0, has_minor = 0;

	sscanf(text, "%u.%u", &has_major, &has_minor);
	return has_major > major || (has_major == major && has_minor >= minor);
}

static void add_kernel(struct doctor *d)
{
	struct utsname name;
	struct check *c;

	if (uname(&name))
		return;
	c = check_add(d, "kernel", "Linux %s on %s", name.release, name.machine);
	if (!is_version(name.release, 4, 14))
		check_worse(c, CHECK_LIMITED, "4.14 or newer is needed for all of it");
	else if (!is_version(name.release, 5, 9))
		check_worse(c, CHECK_LIMITED, "CPU samples by signals need 5.9: -s cpu samples by perf_event instead");
	if (!strcmp(name.machine, "aarch64"))
		check_worse(c, CHECK_LIMITED, "on aarch64, CPU samples are taken by perf_event alone");
	else if (strcmp(name.machine, "x86_64") != 0)
		check_worse(c, CHECK_MISSING, "pillion records on x86-64 and aarch64");
}

/* The loader that a dynamically linked program names; "": none. */
static void read_interpreter(const char *path, char *ret, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Phdr program;
	Elf64_Ehdr head;

	*ret = 0;
	if (fd < 0 || pread(fd, &head, sizeof(head), 0) != sizeof(head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		head.e_phnum = 0;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		off_t at = (off_t)(head.e_phoff + i * sizeof(program));
		ssize_t n;

		if (pread(fd, &program, sizeof(program), at) != sizeof(program) || program.p_type != PT_INTERP)
			continue;
		n = pread(fd, ret, size - 1, (off_t)program.p_offset);
		ret[n > 0 ? n : 0] = 0;
		break;
	}
	if (fd >= 0)
		close(fd);
}

static void add_glibc(struct doctor *d)
{
	char loader[256];
	struct check *c;

	read_interpreter("/bin/sh", loader, sizeof(loader));
	c = check_add(d, "loader", "%s", *loader ? loader : "/bin/sh is static, or not there");
	if (!*loader || strstr(loader, "ld-musl"))
		check_worse(c, CHECK_LIMITED, "static and musl programs run unrecorded; info lists them");
#ifdef __GLIBC__
	c = check_add(d, "glibc", "%s", gnu_get_libc_version());
	if (!is_version(gnu_get_libc_version(), 2, 17))
		check_worse(c, CHECK_MISSING, "2.17 or newer is needed");
	else if (!is_version(gnu_get_libc_version(), 2, 35))
		check_worse(c, CHECK_LIMITED, "--ld-audit and CPU samples by signals need 2.35; "
					      "-s cpu samples by perf_event instead");
#endif
}

/* Opens a CPU clock of this process, as `-s cpu --sampling-source=perf` does. 0 or the errno. */
static int try_perf_event(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
				       .config = PERF_COUNT_SW_TASK_CLOCK, .sample_period = 1000000,
				       .exclude_kernel = 1, .exclude_hv = 1, .disabled = 1};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static void add_perf_event(struct doctor *d)
{
	char level[32];
	int error = try_perf_event();
	struct check *c;

	system_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level));
	c = check_add(d, "perf_event", "kernel.perf_event_paranoid=%s, %s", *level ? level : "(none)",
		      error ? strerror(error) : "a CPU clock can be opened");
	if (!error)
		return;
	if (*level && atoi(level) > PARANOID_MOST)
		check_worse(c, CHECK_LIMITED, "CPU samples of static programs and Go need sysctl "
					      "kernel.perf_event_paranoid=2");
	else
		check_worse(c, CHECK_LIMITED, "no CPU samples of static programs and Go; in a container, a seccomp "
					      "filter forbids it: permit perf_event_open, or --cap-add=PERFMON");
}

static void add_ptrace(struct doctor *d)
{
	static const char *const meanings[] = {"any process of the user", "descendants only", "administrators only",
					       "nobody"};
	char level[32];
	struct check *c;
	int scope;

	if (!*system_line("/proc/sys/kernel/yama/ptrace_scope", level, sizeof(level))) {
		check_add(d, "ptrace", "not restricted by Yama: pillion where can look into every process of the user");
		return;
	}
	scope = atoi(level);
	c = check_add(d, "ptrace", "kernel.yama.ptrace_scope=%d: %s", scope,
		      scope >= 0 && scope <= 3 ? meanings[scope] : "unknown");
	if (scope == 1)
		buffer_text(&c->found, "; pillion where cannot look into daemons");
	else if (scope > 1 && geteuid())
		check_worse(c, CHECK_LIMITED, "pillion where shows no stacks: sysctl kernel.yama.ptrace_scope=1");
}

static void add_restrictions(struct doctor *d)
{
	char line[256];
	int seccomp = 0, no_new_privileges = 0;
	FILE *file = fopen("/proc/self/status", "re");
	struct check *c;

	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "Seccomp: %d", &seccomp);
		sscanf(line, "NoNewPrivs: %d", &no_new_privileges);
	}
	if (file)
		fclose(file);
	c = check_add(d, "seccomp", "%s", seccomp == 2 ? "a filter is active" : seccomp ? "strict mode" : "none");
	if (seccomp == 2 && try_perf_event() == EPERM)
		check_worse(c, CHECK_LIMITED, "it may be what forbids perf_event_open");
	check_add(d, "no_new_privs", "%s",
		  no_new_privileges ? "set: setuid programs such as sudo run without privileges, and are recorded"
				    : "not set: setuid programs such as sudo run unrecorded");
}

static void add_container(struct doctor *d)
{
	static const char *const variables[] = {"APPTAINER_NAME", "SINGULARITY_NAME", "KUBERNETES_SERVICE_HOST"};
	const char *kind = getenv("container");

	if (!access("/.dockerenv", F_OK))
		kind = "docker";
	else if (!access("/run/.containerenv", F_OK))
		kind = "podman";
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables) && (!kind || !*kind); i++)
		if (getenv(variables[i]))
			kind = i < 2 ? "apptainer" : "kubernetes";
	check_add(d, "container", "%s", kind && *kind ? kind : "none recognised");
}

static void add_preload(struct doctor *d)
{
	const char *value = getenv("LD_PRELOAD"), *audit = getenv("LD_AUDIT");
	struct check *c = check_add(d, "LD_PRELOAD", "%s", value && *value ? value : "not set");

	if (value && (strstr(value, "libpillion.so") || strstr(value, "libpillion-lines.so") ||
		      strstr(value, "libpillion-openmp.so") ||
		      strstr(value, "libpillion-memory.so")))
		check_worse(c, CHECK_LIMITED, "pillion is preloaded here already: this shell is being recorded");
	else if (value && *value)
		buffer_text(&c->found, "; it is kept behind libpillion.so");
	if (audit && *audit)
		buffer_print(&c->found, "; LD_AUDIT is %s", audit);
}

static void add_shm(struct doctor *d)
{
	struct statfs fs;
	struct check *c;
	uint64_t size_mb;

	if (statfs("/dev/shm", &fs)) {
		c = check_add(d, "/dev/shm", "%s", strerror(errno));
		check_worse(c, CHECK_LIMITED, "programs that share memory, such as NCCL and DataLoader, need it");
		return;
	}
	size_mb = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize / 1000000;
	c = check_add(d, "/dev/shm", "%llu MB, %llu MB free", (unsigned long long)size_mb,
		      (unsigned long long)((uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize / 1000000));
	if (size_mb <= SHM_MB + 4)
		check_worse(c, CHECK_LIMITED, "little for NCCL and DataLoader: start the container with --shm-size=1g");
}

static void add_limit(struct check *c, int which, const char *name, uint64_t unit, const char *unit_name,
		      uint64_t least, const char *advice)
{
	struct rlimit limit;

	if (getrlimit(which, &limit))
		return;
	buffer_print(&c->found, "%s%s ", c->found.size ? ", " : "", name);
	if (limit.rlim_cur == RLIM_INFINITY) {
		buffer_text(&c->found, "unlimited");
		return;
	}
	buffer_print(&c->found, "%llu%s", (unsigned long long)(limit.rlim_cur / unit), unit_name);
	if (limit.rlim_cur / unit < least)
		check_worse(c, CHECK_LIMITED, advice);
}

static void add_limits(struct doctor *d)
{
	struct check *c = check_add(d, "ulimit", "%s", "");

	add_limit(c, RLIMIT_AS, "address space", 1 << 20, " MiB", AS_MB,
		  "each process needs some MiB more when it is recorded: ulimit -v unlimited");
	add_limit(c, RLIMIT_FSIZE, "file size", 1 << 20, " MiB", AS_MB,
		  "files of a capture end at this size: ulimit -f unlimited");
	add_limit(c, RLIMIT_NOFILE, "open files", 1, "", FILES, "a process needs up to four more: ulimit -n 1024");
	add_limit(c, RLIMIT_NPROC, "processes", 1, "", FILES, "the launcher needs two: ulimit -u");
}

void doctor_system(struct doctor *d)
{
	add_kernel(d);
	add_glibc(d);
	add_perf_event(d);
	add_ptrace(d);
	add_restrictions(d);
	add_container(d);
	add_preload(d);
	add_shm(d);
	add_limits(d);
}
