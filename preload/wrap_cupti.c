/* SPDX-License-Identifier: Apache-2.0 */
/* A profiler inside the program, as torch.profiler, takes CUPTI's buffers for itself by this call; the last one to make it
 * has them all. Ours does not come through here. */
#include "../runtime/cupti.h"
#include "caller.h"
#include "hook.h"

HOOK_EXPORT int cuptiActivityRegisterCallbacks(void *request, void *complete)
{
	static struct caller_place place;
	void *caller = __builtin_return_address(0);
	int (*real)(void *, void *) = caller_real(&place, HOOK_cuptiActivityRegisterCallbacks, caller);

	cupti_step_aside(caller);
	return real ? real(request, complete) : 15; /* CUPTI_ERROR_NOT_INITIALIZED */
}
