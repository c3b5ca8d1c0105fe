/* SPDX-License-Identifier: Apache-2.0 */
/* In place of stack.c where libunwind's source is not at hand: no stacks, and the ledger says how many. */
#include "runtime/stack/stack.h"

void stack_init(void)
{
}

uint32_t stack_take(struct thread *t, uintptr_t frame)
{
	(void)frame;
	t->page->stacks_lost++;
	return 0;
}

uint32_t stack_take_at(struct thread *t, const struct stack_place *place)
{
	(void)place;
	t->page->stacks_lost++;
	return 0;
}

void stack_alternate_seen(void)
{
}

void stack_module_gone(void)
{
}

void stack_fork_begin(void)
{
}

void stack_fork_end(bool is_child)
{
	(void)is_child;
}
