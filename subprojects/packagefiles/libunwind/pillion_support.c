/* SPDX-License-Identifier: Apache-2.0 */
/* What libunwind's parser asks of the rest of libunwind, which is not built. */
#include "pillion_walk.h"

#include <sys/syscall.h>

/* The members that glibc has had since 2.35 on x86_64 and aarch64. Own declaration, because the C
 * library of the build may be older than the one of the run. */
struct found_object {
	unsigned long long flags;
	void *map_start;
	void *map_end;
	struct link_map *link_map;
	void *eh_frame_hdr;
	unsigned long long reserved[7];
};
typedef int find_object_fn(void *address, struct found_object *result);

struct module {
	uintptr_t address;	/* to be found */
	uintptr_t start, end;	/* of the segment or object around it */
	uintptr_t eh_frame_hdr;	/* 0: none */
};

static _Atomic(find_object_fn *) find_object;

/* Threads inside dl_iterate_phdr, and forks that wait for them to leave. A child that was forked
 * while one was inside must not go there: its copy of the lock may never be released. */
static atomic_int searches;
static atomic_int forks;
static atomic_bool is_search_lost;

__thread struct scratch *unw_pillion_scratch;

static struct unw_accessors no_accessors;
unw_addr_space_t unw_local_addr_space = (unw_addr_space_t)&no_accessors;
struct mempool dwarf_reg_state_pool;
struct mempool dwarf_cie_info_pool;
intrmask_t unwi_full_mask;
const uint8_t dwarf_to_unw_regnum_map[DWARF_NUM_PRESERVED_REGS];

long unw_pillion_syscall(long number, long a, long b, long c, long d)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
		: "rcx", "r11", "memory");
	return result;
#else
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#endif
}

/* Takes the table as it is if it can be searched. libunwind would read the object's file for a
 * missing table, walk to an uncertain end for an unsorted one, and abort for some others. */
static bool has_search_table(uintptr_t eh_frame_hdr)
{
	const unsigned char *header = (const unsigned char *)eh_frame_hdr;

	return header && header[0] == 1 && header[1] != DW_EH_PE_omit && header[2] != DW_EH_PE_omit &&
		header[3] == (DW_EH_PE_datarel | DW_EH_PE_sdata4);
}

static int match_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct module *module = data;
	uintptr_t eh_frame_hdr = 0;
	bool is_inside = false;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_GNU_EH_FRAME) {
			eh_frame_hdr = start;
		} else if (header->p_type == PT_LOAD && module->address - start < header->p_memsz) {
			is_inside = true;
			module->start = start;
			module->end = start + header->p_memsz;
		}
	}
	if (is_inside)
		module->eh_frame_hdr = eh_frame_hdr;
	return is_inside;
}

#undef dl_iterate_phdr

/* Signals are blocked, or a handler that interrupts between the lock and its owner's note would wait
 * for itself. */
static bool iterate_modules(struct module *module)
{
	uint64_t all = ~(uint64_t)0, before;
	bool is_found = false;

	unw_pillion_scratch->is_unsure = true;
	if (atomic_load(&is_search_lost) || atomic_load(&forks) > 0)
		return false;
	unw_pillion_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof all);
	atomic_fetch_add(&searches, 1);
	if (atomic_load(&forks) == 0) {
		is_found = dl_iterate_phdr(match_module, module) > 0;
		unw_pillion_scratch->is_unsure = false;
	}
	atomic_fetch_sub(&searches, 1);
	unw_pillion_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
	return is_found;
}

static bool locate_module(struct module *module)
{
	find_object_fn *find = atomic_load_explicit(&find_object, memory_order_relaxed);
	struct found_object object;

	if (!find)
		return iterate_modules(module);
	if (find((void *)module->address, &object) != 0)
		return false;
	module->start = (uintptr_t)object.map_start;
	module->end = (uintptr_t)object.map_end;
	module->eh_frame_hdr = (uintptr_t)object.eh_frame_hdr;
	return true;
}

/* Stands in for dl_iterate_phdr: calls back for the one module around the address, described by the
 * two headers that libunwind needs. The address is the first member of libunwind's data. */
int unw_pillion_find_module(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	struct module module = {.address = *(const unw_word_t *)data};
	ElfW(Phdr) headers[2] = {{.p_type = PT_LOAD}, {.p_type = PT_GNU_EH_FRAME}};
	struct dl_phdr_info info = {.dlpi_name = "", .dlpi_phdr = headers, .dlpi_phnum = 2};

	if (!locate_module(&module) || !has_search_table(module.eh_frame_hdr))
		return 0;
	headers[0].p_vaddr = module.start;
	headers[0].p_filesz = headers[0].p_memsz = module.end - module.start;
	headers[1].p_vaddr = module.eh_frame_hdr;
	return callback(&info, sizeof info, data);
}

void unw_pillion_init(void *dl_find_object)
{
	atomic_store(&find_object, (find_object_fn *)dl_find_object);
}

enum { LONGEST_WAIT_NS = 1000000000 };

static int64_t now_ns(void)
{
	struct timespec now;

	unw_pillion_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

void unw_pillion_fork_begin(void)
{
	const struct timespec pause = {.tv_nsec = 20000};
	int64_t deadline_ns;

	atomic_fetch_add(&forks, 1);
	if (atomic_load(&searches) == 0)
		return;
	deadline_ns = now_ns() + LONGEST_WAIT_NS;
	do {
		unw_pillion_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0);
	} while (atomic_load(&searches) > 0 && now_ns() < deadline_ns);
}

void unw_pillion_fork_end(bool is_child)
{
	if (is_child) {
		if (atomic_exchange(&searches, 0) > 0)
			atomic_store(&is_search_lost, true);
		atomic_store(&forks, 0);
	} else {
		atomic_fetch_sub(&forks, 1);
	}
}

/* Objects come from the caller's scratch memory, first in, last out. */
void mempool_init(struct mempool *pool, size_t object_size, size_t reserve)
{
}

void *mempool_alloc(struct mempool *pool)
{
	if (pool == &dwarf_cie_info_pool)
		return &unw_pillion_scratch->cie;
	if (unw_pillion_scratch->states_used == STATES)
		return NULL;
	return &unw_pillion_scratch->states[unw_pillion_scratch->states_used++];
}

void mempool_free(struct mempool *pool, void *object)
{
	if (pool == &dwarf_reg_state_pool)
		unw_pillion_scratch->states_used--;
}

unw_accessors_t *unw_get_accessors_int(unw_addr_space_t as)
{
	return &no_accessors;
}

/* No code is registered with libunwind by hand: nobody outside can see this copy. */
int unwi_find_dynamic_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi,
	int need_unwind_info, void *arg)
{
	return -UNW_ENOINFO;
}

void unwi_put_dynamic_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
}

/* The rest is called from libunwind's own stepping only, which is never entered. */
Elf64_Shdr *_Uelf64_find_section(struct elf_image *image, const char *name)
{
	return NULL;
}

void tdep_get_exe_image_path(char *path)
{
	*path = '\0';
}

int dwarf_eval_expr(struct dwarf_cursor *c, unw_word_t stack_value, unw_word_t *address,
	unw_word_t length, unw_word_t *value, int *is_register)
{
	return -UNW_EBADFRAME;
}

int unw_get_reg(unw_cursor_t *cursor, int number, unw_word_t *value)
{
	return -UNW_EBADREG;
}

void tdep_stash_frame(struct dwarf_cursor *c, struct dwarf_reg_state *state)
{
}

#ifdef __x86_64__
void tdep_fetch_frame(struct dwarf_cursor *c, unw_word_t ip, int need_unwind_info)
{
}

int tdep_cache_frame(struct dwarf_cursor *c)
{
	return 0;
}

void tdep_reuse_frame(struct dwarf_cursor *c, int frame)
{
}

void *x86_64_r_uc_addr(ucontext_t *context, int number)
{
	return NULL;
}
#else
void *tdep_uc_addr(unw_tdep_context_t *context, int number)
{
	return NULL;
}
#endif
