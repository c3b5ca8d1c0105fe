/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls below the threshold have their stacks recorded: docs/decisions/short-call-stacks.md. */
#pragma once

#include "runtime/recorder/record/thread/thread_state.h"

/* Chooses the thread's next one: of each N calls in succession one at random, so that it represents N calls. */
void short_choose(struct thread *t);
