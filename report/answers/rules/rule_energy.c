/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_slowed: a GPU ran at lower clocks than it could, because of its power limit, its temperature or its supply. */
#include "report/answers/rule.h"
#include "report/events/energy/energy_share.h"

/* The share of the samples' time above which it is a finding. */
enum { SLOWED_PERCENT = 5 };

/* Mean clock while any of the reasons held, and the highest one of all samples; 0: not known. */
struct clocks {
	double slowed_mhz, best_mhz;
};

static struct clocks clocks_of(const struct energy_source *s)
{
	double sum = 0, ns = 0, best = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct tf_energy_sample *at = &s->points[i].sample;
		double part = i + 1 < s->count ? (double)(s->points[i + 1].ns - s->points[i].ns) : 0;

		if (at->sm_mhz == UINT16_MAX || at->reasons == TF_ENERGY_UNKNOWN)
			continue;
		if (at->reasons & ENERGY_SLOWDOWNS) {
			sum += at->sm_mhz * part;
			ns += part;
		}
		best = at->sm_mhz > best ? at->sm_mhz : best;
	}
	return (struct clocks){ns > 0 ? sum / ns : 0, best};
}

/* The reason that held for most of the time; thermal ones before the hardware's general one, which comes with them. */
static const struct energy_reason *main_reason(const struct energy_source *s, uint64_t *ret_ns)
{
	const struct energy_reason *best = NULL;

	*ret_ns = 0;
	for (size_t i = 0; i < ENERGY_REASONS; i++) {
		uint64_t ns = energy_reasons[i].is_slowdown ? energy_reason_ns(s, energy_reasons[i].bit) : 0;

		if (ns > *ret_ns) {
			*ret_ns = ns;
			best = &energy_reasons[i];
		}
	}
	return best;
}

static void add_slowed(struct rules *r, const struct energy_share *share, struct finding *f)
{
	const struct energy_source *s = share->source;
	uint64_t reason_ns, slowed = energy_reason_ns(s, ENERGY_SLOWDOWNS), all = energy_duration_ns(s);
	const struct energy_reason *reason = main_reason(s, &reason_ns);
	struct clocks clocks = clocks_of(s);
	double percent = all ? 100 * (double)slowed / (double)all : 0, lost = 0;
	SCOPED(buffer) name = {0};
	uint64_t cost;

	if (!reason || percent < SLOWED_PERCENT)
		return;
	if (clocks.slowed_mhz > 0 && clocks.best_mhz > clocks.slowed_mhz)
		lost = 1 - clocks.slowed_mhz / clocks.best_mhz;
	energy_source_name(r->context->model, s, &name);
	rule_row(f);
	table_cells(&f->table, buffer_string(&name), reason->name, slowed, percent, round_to_tenth(clocks.slowed_mhz),
		    round_to_tenth(clocks.best_mhz));
	cost = (uint64_t)((double)share->busy_ns * percent / 100 * lost);
	if (!f->text.size || cost > f->cost_ns) {
		f->cost_ns = cost;
		buffer_set(&f->text, "the clocks of %s were lowered for %.0f %% of the time, most by: %s",
			   buffer_string(&name), percent, reason->name);
		if (lost > 0)
			buffer_print(&f->text, "; to %.0f of %.0f MHz", clocks.slowed_mhz, clocks.best_mhz);
	}
}

/* Whether NVML told of any sample why clocks were lowered. */
static bool tells_reasons(const struct energy_source *s)
{
	return array_find(point, s->points, s->count, point->sample.reasons != TF_ENERGY_UNKNOWN) != NULL;
}

/* Only of GPUs that executed something for the job: others may be slowed by other jobs. */
void rule_gpu_slowed(struct rules *r, struct finding *f)
{
	size_t count = 0, checked = 0;
	const struct energy_share *shares;

	rule_has(f, COL_DEVICE, COL_REASON, COL_TIME_NS, COL_TIME_PERCENT, COL_CLOCK_MHZ, COL_BEST_CLOCK_MHZ);
	if (!r->context->model->energy_count) {
		rule_unchecked(f, "clocks and power of GPUs were not sampled");
		return;
	}
	shares = energy_shares(r->context, &count);
	for (size_t i = 0; shares && i < count; i++) {
		if (!shares[i].intervals || !tells_reasons(shares[i].source))
			continue;
		checked++;
		add_slowed(r, &shares[i], f);
	}
	if (!checked)
		rule_unchecked(f, "no GPU that was sampled executed anything and tells why its clocks are lowered");
}
