/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of all events, and its relation to the machine's other clocks. No floating-point operation, as in all of
 * the recorder but the times of device events: the program sees their flags, and may have enabled their exceptions. */
#include "runtime/shared/common/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#include "runtime/shared/common/elf_object.h"
#include "runtime/shared/common/sys.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* How far the clocks of two processes of one boot and time namespace may differ: by a constant, and by a part of the
 * time passed, because NTP changes the rate of CLOCK_MONOTONIC. */
enum { SAME_NS = 10000000, SAME_PART = 1000 };

uint32_t clock_kind = TF_CLOCK_MONOTONIC;
HOT __attribute__((aligned(64))) bool clock_is_counter;

static struct tf_clock_pair origin;
static uint64_t known_hz;

/* The offset of CLOCK_MONOTONIC in this time namespace (time_namespaces(7)). It is subtracted, because the clock pairs
 * of all processes of a machine must refer to one clock. */
static uint64_t ahead_ns;
static bool is_namespace_new;

/* The last reading of the counter before the program forbade it. */
static struct tf_clock_pair forbidden;
static bool is_forbidden;

static int (*vdso_gettime)(clockid_t clock, struct timespec *ret);

/* The kernel's own code, mapped into every process. libc's clock_gettime() may be replaced by another preloaded
 * library (libfaketime), and would then return the time that the program should see. */
static void find_vdso(void)
{
	int error = errno; /* getauxval() sets it if there is no vDSO */
	uintptr_t at = getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)at;
	const ElfW(Phdr) *segment = at ? (const ElfW(Phdr) *)(at + head->e_phoff) : NULL;
	struct elf_object vdso = {0};
	uintptr_t dynamic = 0;

	errno = error;
	for (size_t i = 0; at && i < head->e_phnum; i++) {
		if (segment[i].p_type == PT_LOAD && !vdso.base)
			vdso.base = at + segment[i].p_offset - segment[i].p_vaddr;
		else if (segment[i].p_type == PT_DYNAMIC)
			dynamic = segment[i].p_vaddr;
	}
	if (!vdso.base || !dynamic)
		return;
	vdso.dynamic = (const ElfW(Dyn) *)(vdso.base + dynamic);
	elf_object_read(&vdso);
#if defined(__aarch64__)
	vdso_gettime = elf_object_find(&vdso, "__kernel_clock_gettime");
#else
	vdso_gettime = elf_object_find(&vdso, "__vdso_clock_gettime");
#endif
}

static uint64_t kernel_ns(clockid_t clock)
{
	struct timespec t;

	if (is_forbidden || !vdso_gettime || vdso_gettime(clock, &t))
		return sys_clock_ns(clock);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_monotonic_ns(void)
{
	return kernel_ns(CLOCK_MONOTONIC) - ahead_ns;
}

uint64_t clock_realtime_ns(void)
{
	return kernel_ns(CLOCK_REALTIME);
}

/* The file has the offsets of the namespace of future children. A process that has requested a new namespace may itself
 * still be in the previous one, whose offsets cannot be read; those of the parent are kept then. */
static void read_namespace(void)
{
	char text[256], own[64] = "", of_children[64] = "";
	const char *at = text;
	uint64_t seconds = 0, ns = 0;
	bool is_negative;

	if (sys_read_file("/proc/self/timens_offsets", text, sizeof(text)) <= 0 || strncmp(at, "monotonic", 9) != 0)
		return;
	for (at += 9; *at == ' '; at++)
		;
	is_negative = *at == '-';
	for (at += is_negative; *at >= '0' && *at <= '9'; at++)
		seconds = seconds * 10 + (uint64_t)(*at - '0');
	for (; *at == ' '; at++)
		;
	for (; *at >= '0' && *at <= '9'; at++)
		ns = ns * 10 + (uint64_t)(*at - '0');
	if (seconds | ns && (sys_call(SYS_readlinkat, AT_FDCWD, "/proc/self/ns/time", own, sizeof(own) - 1) <= 0 ||
			     sys_call(SYS_readlinkat, AT_FDCWD, "/proc/self/ns/time_for_children", of_children,
				      sizeof(of_children) - 1) <= 0 ||
			     strcmp(own, of_children) != 0))
		return;
	/* -0.25 s is "-1 750000000". */
	ahead_ns = (is_negative ? -seconds : seconds) * 1000000000u + ns;
}

void clock_expect_namespace(void)
{
	is_namespace_new = true;
}

void clock_forked(void)
{
	if (is_namespace_new)
		read_namespace();
}

/* value * numerator / denominator, at most UINT64_MAX. In line GCC would refer to libgcc's __divti3, too. */
__attribute__((noinline)) static uint64_t scaled(uint64_t value, uint64_t numerator, uint64_t denominator)
{
	unsigned __int128 ret = (unsigned __int128)value * numerator / denominator;

	return ret > UINT64_MAX ? UINT64_MAX : (uint64_t)ret;
}

uint64_t clock_now_slowly(void)
{
	uint64_t ns = clock_monotonic_ns();

	if (clock_kind == TF_CLOCK_MONOTONIC)
		return ns;
	if (ns < forbidden.monotonic_ns) /* a seccomp filter: system calls are no longer made */
		return forbidden.ticks;
	return forbidden.ticks + scaled(ns - forbidden.monotonic_ns, known_hz, 1000000000u);
}

void clock_forbid_counter(void)
{
	if (!clock_is_counter)
		return;
	clock_ticks(0); /* measures the rate, if it is not known */
	clock_pair(&forbidden);
	__atomic_store_n(&is_forbidden, true, __ATOMIC_SEQ_CST);
	__atomic_store_n(&clock_is_counter, false, __ATOMIC_SEQ_CST);
}

#if !defined(__aarch64__)
/* The kernel's choice of clock source shows whether the TSCs of all processors agree; the CPU flag alone does not. */
static bool tsc_is_trusted(void)
{
#if defined(__x86_64__)
	static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char source[32];

	return sys_read_file(path, source, sizeof(source)) > 0 && !strncmp(source, "tsc", 3);
#else
	return false;
#endif
}
#endif

bool clock_init_like(const struct tf_clock_pair *other, uint32_t kind, uint64_t hz)
{
	struct tf_clock_pair now;
	uint64_t passed_ns, ticks_ns, error_ns;

	if (kind != TF_CLOCK_TSC || !other->ticks || !hz)
		return false;
	find_vdso();
	clock_kind = kind;
	clock_is_counter = true;
	clock_pair(&now);
	passed_ns = now.monotonic_ns - other->monotonic_ns;
	ticks_ns = scaled(now.ticks - other->ticks, 1000000000u, hz);
	error_ns = passed_ns > ticks_ns ? passed_ns - ticks_ns : ticks_ns - passed_ns;
	if (now.monotonic_ns >= other->monotonic_ns && error_ns < SAME_NS + passed_ns / SAME_PART) {
		origin = now;
		known_hz = hz;
		return true;
	}
	clock_kind = TF_CLOCK_MONOTONIC;
	clock_is_counter = false;
	return false;
}

void clock_init(void)
{
	find_vdso();
	read_namespace();
#if defined(__aarch64__)
	clock_kind = TF_CLOCK_CNTVCT;
	clock_is_counter = true;
#else
	if (tsc_is_trusted()) {
		clock_kind = TF_CLOCK_TSC;
		clock_is_counter = true;
	}
#endif
	clock_pair(&origin);
}

#if !defined(__aarch64__)
/* Leaf 0x15 has the TSC's rate on Intel, leaf 0x40000010 under some hypervisors. */
static uint64_t tsc_hz(void)
{
#if defined(__x86_64__)
	uint32_t a = 0, b = 0, c = 0, d = 0;

	if (__get_cpuid(0x15, &a, &b, &c, &d) && a && b && c)
		return (uint64_t)c * b / a;
	__cpuid(1, a, b, c, d);
	if (c & 1u << 31) {
		__cpuid(0x40000000, a, b, c, d);
		if (a >= 0x40000010) {
			__cpuid(0x40000010, a, b, c, d);
			return (uint64_t)a * 1000;
		}
	}
#endif
	return 0;
}
#endif

uint64_t clock_hz(void)
{
	if (known_hz)
		return known_hz;
#if defined(__aarch64__)
	__asm__("mrs %0, cntfrq_el0" : "=r"(known_hz));
#else
	known_hz = clock_kind == TF_CLOCK_MONOTONIC ? 1000000000u : tsc_hz();
#endif
	return known_hz;
}

void clock_set_hz(uint64_t hz)
{
	if (hz)
		known_hz = hz;
}

void clock_pair(struct tf_clock_pair *ret)
{
	struct tf_clock_pair best = {.error_ticks = UINT64_MAX};

	for (int i = 0; i < 3; i++) {
		uint64_t before = clock_now(), monotonic = clock_monotonic_ns(), real = clock_realtime_ns();
		uint64_t after = clock_now();

		if (after - before < best.error_ticks)
			best = (struct tf_clock_pair){before + (after - before) / 2, monotonic, real, after - before};
	}
	*ret = best;
}

/* If no other source gives the rate, it is measured from clock_init's pair to now, over at least 0.2 ms, so that the
 * errors of the pairs stay below 0.1 %. */
static uint64_t measured_hz(void)
{
	struct tf_clock_pair now;

	do
		clock_pair(&now);
	while (now.monotonic_ns - origin.monotonic_ns < 200000);
	return scaled(now.ticks - origin.ticks, 1000000000u, now.monotonic_ns - origin.monotonic_ns);
}

uint64_t clock_ticks(uint64_t ns)
{
	if (ns == UINT64_MAX)
		return ns;
	if (!clock_hz())
		known_hz = measured_hz();
	return scaled(ns, known_hz, 1000000000u);
}
