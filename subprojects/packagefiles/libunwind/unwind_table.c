/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/recorder/stack/unwind_table.h by libunwind's reader. libunwind is used as for another process ("remote" in
 * its terms): it then reads every byte through access_mem, which keeps it inside the object, however damaged its tables
 * are. */
#include "dwarf_i.h"
#include "dwarf-eh.h"
#include "libunwind_i.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/recorder/stack/unwind_table.h"

_Static_assert(UNWIND_RA < DWARF_NUM_PRESERVED_REGS && UNWIND_FP < DWARF_NUM_PRESERVED_REGS, "columns of the state");

/* STATES: nested DW_CFA_remember_state; compilers emit one, rarely two. MOST_READS ends a program that a damaged length
 * sends back to its start. */
enum { STATES = 4, MOST_READS = 1 << 18, WORD = sizeof(unw_word_t) };

/* One look-up, on the stack of the thread that makes it: nothing is shared, so nothing is lost or locked when a thread
 * forks, is cancelled, or leaves a signal handler by longjmp. */
struct lookup {
	const struct unwind_object *object;
	uintptr_t address;
	struct unwind_row *row;
	bool is_found;
	unsigned reads, states_used;
	dwarf_cie_info_t cie;
	dwarf_stackable_reg_state_t states[STATES];
};

/* For mempool_alloc, which has no argument of ours. */
static __thread struct lookup *current;

/* libunwind reads words that are aligned: the last one may pass the end of the object, but not of its page. */
static int access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int is_write, void *arg)
{
	struct lookup *l = arg;

	(void)as;
	if (is_write || address < (l->object->start & -(uintptr_t)WORD) || address >= l->object->end ||
	    ++l->reads > MOST_READS)
		return -UNW_EINVAL;
	*value = *(const unw_word_t *)address;
	return 0;
}

static bool read_bytes(unw_addr_space_t as, uintptr_t address, uint8_t *ret, unsigned count, struct lookup *l)
{
	unw_word_t at = address;

	for (unsigned i = 0; i < count; i++)
		if (dwarf_readu8(as, unw_get_accessors_int(as), &at, &ret[i], l) < 0)
			return false;
	return true;
}

/* The last function that begins at or before the address; 0: none. libunwind's own search would read each entry through
 * access_mem, although all of them are known to be inside the object: half the time of a look-up. */
static uintptr_t search_table(const struct lookup *l, uintptr_t table, size_t count)
{
	struct {
		int32_t start, fde; /* from the beginning of .eh_frame_hdr */
	} entry;
	int64_t wanted = (int64_t)(l->address - l->object->eh_frame_hdr);
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		memcpy(&entry, (const char *)table + middle * sizeof(entry), sizeof(entry));
		if (entry.start <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	memcpy(&entry, (const char *)table + (low - 1) * sizeof(entry), sizeof(entry));
	return l->object->eh_frame_hdr + (uintptr_t)(intptr_t)entry.fde;
}

/* The function's entry in .eh_frame; 0: none, or no table that can be searched. */
static uintptr_t find_fde(unw_addr_space_t as, struct lookup *l)
{
	enum { VERSION, FRAME_ENCODING, COUNT_ENCODING, TABLE_ENCODING, HEADER, ENTRY_BYTES = 8 };
	unw_word_t at = l->object->eh_frame_hdr + HEADER, eh_frame, count;
	unw_accessors_t *a = unw_get_accessors_int(as);
	const unw_proc_info_t unused = {0};
	uint8_t header[HEADER];

	if (!l->object->eh_frame_hdr || !read_bytes(as, l->object->eh_frame_hdr, header, HEADER, l))
		return 0;
	if (header[VERSION] != DW_EH_VERSION || header[FRAME_ENCODING] == DW_EH_PE_omit ||
	    header[COUNT_ENCODING] == DW_EH_PE_omit ||
	    header[TABLE_ENCODING] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return 0;
	if (dwarf_read_encoded_pointer(as, a, &at, header[FRAME_ENCODING], &unused, &eh_frame, l) < 0 ||
	    dwarf_read_encoded_pointer(as, a, &at, header[COUNT_ENCODING], &unused, &count, l) < 0)
		return 0;
	if (at >= l->object->end || count > (l->object->end - at) / ENTRY_BYTES)
		return 0;
	return search_table(l, at, count);
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need_unwind_info, void *arg)
{
	unw_word_t fde = find_fde(as, arg);
	int result;

	if (!fde)
		return -UNW_ENOINFO;
	result = dwarf_extract_proc_info_from_fde(as, unw_get_accessors_int(as), &fde, pi, 0, need_unwind_info, 0, arg);
	if (result < 0)
		return result;
	return ip < pi->start_ip || ip >= pi->end_ip ? -UNW_ENOINFO : 0;
}

static struct unw_addr_space space = {.acc = {.find_proc_info = find_proc_info, .access_mem = access_mem}};

unw_accessors_t *unw_get_accessors_int(unw_addr_space_t as)
{
	return &as->acc;
}

static struct unwind_cell cell_of(struct lookup *l, const dwarf_reg_state_t *state, int column)
{
	struct unwind_cell cell = {.how = UNWIND_OTHER};

	switch (state->reg.where[column]) {
	case DWARF_WHERE_SAME:
		cell.how = UNWIND_SAME;
		break;
	case DWARF_WHERE_UNDEF:
		cell.how = UNWIND_UNDEFINED;
		break;
	case DWARF_WHERE_CFAREL:
		cell.how = UNWIND_SAVED;
		cell.offset = (int64_t)state->reg.val[column];
		break;
	case DWARF_WHERE_REG:
		cell.how = column == DWARF_CFA_REG_COLUMN ? UNWIND_REGISTER : UNWIND_OTHER;
		cell.number = state->reg.val[column];
		cell.offset = (int64_t)state->reg.val[DWARF_CFA_OFF_COLUMN];
		break;
	case DWARF_WHERE_EXPR:
		cell.how = UNWIND_EXPRESSION;
		read_bytes(&space, state->reg.val[column], cell.expression, sizeof(cell.expression), l);
		break;
	default:
		break;
	}
	return cell;
}

/* Called for each row of the function; a negative result is the last. */
static int take_row(void *token, void *state, size_t size, unw_word_t start, unw_word_t end)
{
	struct lookup *l = token;
	const dwarf_reg_state_t *registers = state;

	(void)size;
	if (l->address < start || l->address >= end)
		return 0;
	*l->row = (struct unwind_row){
		.cfa = cell_of(l, registers, DWARF_CFA_REG_COLUMN),
		.fp = cell_of(l, registers, UNWIND_FP),
		.ra = cell_of(l, registers, UNWIND_RA),
		.ra_column = registers->ret_addr_column,
		.is_signal_frame = l->cie.signal_frame,
	};
	l->is_found = true;
	return -1;
}

/* The fences: a signal handler that looks up in between leaves `current` as it was. */
bool unwind_table_row(const struct unwind_object *object, uintptr_t address, struct unwind_row *ret)
{
	struct lookup *outer = current, l;
	struct dwarf_cursor cursor;

	l.object = object;
	l.address = address;
	l.row = ret;
	l.is_found = false;
	l.reads = l.states_used = 0;
	memset(&cursor, 0, sizeof(cursor));
	cursor.as = &space;
	cursor.as_arg = &l;
	cursor.ip = address;
	current = &l;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	dwarf_reg_states_iterate(&cursor, take_row, &l);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	current = outer;
	return l.is_found;
}

/* ---- what the reader asks of the parts of libunwind that are not built ---- */

struct mempool dwarf_reg_state_pool;
struct mempool dwarf_cie_info_pool;

/* The states go back last in, first out. */
void *mempool_alloc(struct mempool *pool)
{
	if (pool == &dwarf_cie_info_pool)
		return &current->cie;
	return current->states_used == STATES ? NULL : &current->states[current->states_used++];
}

void mempool_free(struct mempool *pool, void *object)
{
	(void)object;
	if (pool == &dwarf_reg_state_pool)
		current->states_used--;
}

/* No code is registered with libunwind by hand: this copy is hidden. */
int unwi_find_dynamic_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need_unwind_info,
				void *arg)
{
	return -UNW_ENOINFO;
}

void unwi_put_dynamic_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
}

/* The rest serves libunwind's own stepping, which is never entered. */
unw_addr_space_t unw_local_addr_space = &space;
const uint8_t dwarf_to_unw_regnum_map[DWARF_NUM_PRESERVED_REGS];

int dwarf_eval_expr(struct dwarf_cursor *c, unw_word_t stack_value, unw_word_t *address, unw_word_t length,
		    unw_word_t *value, int *is_register)
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
#endif
