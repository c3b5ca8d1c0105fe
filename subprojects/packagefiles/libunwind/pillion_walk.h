/* SPDX-License-Identifier: Apache-2.0 */
/* Between the walker and what it gives to libunwind's parser. */
#ifndef PILLION_WALK_H
#define PILLION_WALK_H

#define UNW_LOCAL_ONLY
#include "dwarf_i.h"
#include "libunwind_i.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "pillion/unwind_pillion.h"

enum { STATES = 4 };	/* nested DW_CFA_remember_state; compilers emit one, rarely two */

/* Memory of one look-up, on the stack of the thread that looks up: nothing is shared, so nothing is
 * lost or locked when a thread forks, is cancelled, or leaves a signal handler by longjmp. */
struct scratch {
	dwarf_cie_info_t cie;
	dwarf_stackable_reg_state_t states[STATES];
	int states_used;
	bool is_unsure;		/* the modules could not be searched just now: remember no answer */
};
extern __thread struct scratch *unw_pillion_scratch;

/* System calls without libc, hence without errno and without the hooks of our own object. */
long unw_pillion_syscall(long number, long a, long b, long c, long d);

#endif
