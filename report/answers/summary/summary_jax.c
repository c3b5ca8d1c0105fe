/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/summary/summary_parts.h"

#include <inttypes.h>

#include "report/answers/rule.h"
#include "report/answers/summary/summary_time.h"
#include "report/base/text.h"
#include "report/events/jax/jax_functions.h"

enum { FUNCTION_WIDTH = 50 };

/* Device time is what counts where there is any: a call returns before the device has finished. */
static void add_runs(struct buffer *b, const struct jax_function *f)
{
	if (!f->runs) {
		buffer_text(b, "no run was recorded");
		return;
	}
	buffer_print(b, "%" PRIu64 " run%s, ", f->runs, f->runs == 1 ? "" : "s");
	rule_time(b, f->device_ns ? f->device_ns : f->run_ns);
	buffer_text(b, f->device_ns ? " of the GPU" : "");
}

void summary_jax(const struct report_context *context, struct buffer *out)
{
	SCOPED(jax_functions) functions = {0};
	const struct jax_function *f;
	uint64_t all;

	jax_functions_make(context, &functions);
	jax_functions_sort(&functions);
	all = array_sum(row, functions.keys.rows, functions.keys.count, jax_compile_ns(row->more));
	if (all) {
		f = functions.keys.rows->more;
		buffer_print(out, "%-*s ", SUMMARY_LABEL, "JAX");
		text_fit(out, aggregate_field(functions.keys.rows, 0), FUNCTION_WIDTH);
		buffer_print(out, ": compiled %" PRIu64 " time%s, ", f->counts[JAX_COMPILE],
			     f->counts[JAX_COMPILE] == 1 ? "" : "s");
		rule_time(out, jax_compile_ns(f));
		if (f->change) {
			buffer_text(out, ", for a change of ");
			text_fit(out, f->change, FUNCTION_WIDTH);
		}
		buffer_text(out, "; ");
		add_runs(out, f);
		if (functions.keys.count > 1) {
			buffer_print(out, "; compilation of all %zu functions: ", functions.keys.count);
			rule_time(out, all);
		}
		buffer_text(out, "\n");
	}
}
