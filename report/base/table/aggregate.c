/* SPDX-License-Identifier: Apache-2.0 */
/* Exact medians in bounded memory: the first pass counts values in buckets whose width is 1/64 of the value; each
 * further pass subdivides the bucket that holds the median, until it is one value wide or holds few enough values to
 * be stored. */
#include "report/base/table/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEEP = 4096, FIRST_BUCKETS = 58 * 64 + 64, NEXT_BUCKETS = 4096 };

static unsigned int first_bucket(uint64_t value)
{
	unsigned int shift = value < 128 ? 0 : 57 - (unsigned int)__builtin_clzll(value);

	return shift * 64 + (unsigned int)(value >> shift);
}

static uint64_t bucket_low(unsigned int bucket, uint64_t *ret_width)
{
	unsigned int shift = bucket < 128 ? 0 : bucket / 64 - 1;

	*ret_width = (uint64_t)1 << shift;
	return (uint64_t)(bucket - shift * 64) << shift;
}

uint32_t aggregate_row(struct aggregate *s, const char *key, size_t size)
{
	uint32_t row = interner_number(&s->keys, key, size);

	if (row < s->count)
		return row;
	s->rows = mem_grow(s->rows, s->count, &s->capacity, sizeof(*s->rows));
	/* A name that first occurs in a later pass comes from a process that is still running; the next report will
	 * have it. */
	s->rows[s->count++] = (struct aggregate_row){.key = s->keys.items[row].text,
						     .key_size = size,
						     .least = UINT64_MAX,
						     .is_settled = s->pass > 0};
	return row;
}

const uint64_t *aggregate_recall(struct aggregate *s, uint64_t a, uint64_t b)
{
	return map_find_again(&s->cache, a, b);
}

void aggregate_remember(struct aggregate *s, uint64_t a, uint64_t b, uint32_t row)
{
	*map_put(&s->cache, a, b, NULL) = row;
}

void *aggregate_more(struct aggregate *s, uint32_t row, size_t size)
{
	if (!s->rows[row].more)
		s->rows[row].more = mem_alloc(size);
	return s->rows[row].more;
}

static void keep_value(struct aggregate_row *r, uint64_t value)
{
	mem_append(r->values, r->value_count, r->value_capacity, value);
}

static uint64_t *alloc_buckets(bool is_first)
{
	return mem_alloc((is_first ? (size_t)FIRST_BUCKETS : (size_t)NEXT_BUCKETS) * sizeof(uint64_t));
}

/* Too many values to store: count them in buckets instead. */
static void start_buckets(struct aggregate_row *r)
{
	r->buckets = alloc_buckets(true);
	for (size_t i = 0; i < r->value_count; i++)
		r->buckets[first_bucket(r->values[i])]++;
	free(r->values);
	r->values = NULL;
	r->value_count = r->value_capacity = 0;
}

static void add_first(struct aggregate_row *r, uint64_t value)
{
	r->count++;
	r->total += value;
	r->squares += (unsigned __int128)value * value;
	r->least = smaller_of(r->least, value);
	if (value > r->most)
		r->most = value;
}

static void note_first(struct aggregate_row *r, uint64_t value)
{
	if (!r->buckets && r->value_count == KEEP)
		start_buckets(r);
	if (r->buckets)
		r->buckets[first_bucket(value)]++;
	else
		keep_value(r, value);
}

void aggregate_add(struct aggregate *s, uint32_t row, uint64_t value)
{
	struct aggregate_row *r = &s->rows[row];

	if (!s->pass) {
		add_first(r, value);
		if (!s->totals_only)
			note_first(r, value);
		return;
	}
	if (r->is_settled || value < r->low)
		return;
	if (value - r->low >= r->width) {
		r->next = smaller_of(r->next, value);
	} else if (r->buckets) {
		r->buckets[(value - r->low) / r->step]++;
	} else if (!r->is_lower_known) {
		keep_value(r, value);
	}
}

void aggregate_add_total(struct aggregate *s, uint32_t row, uint64_t count, uint64_t total)
{
	s->rows[row].count += count;
	s->rows[row].total += total;
	s->rows[row].is_settled = true;
}

void aggregate_add_sum(struct aggregate *s, uint32_t row, uint64_t count, uint64_t total, uint64_t least, uint64_t most,
		       double squares)
{
	struct aggregate_row *r = &s->rows[row];

	if (s->pass)
		return;
	aggregate_add_total(s, row, count, total);
	r->has_no_median = true;
	r->squares += (unsigned __int128)squares;
	r->least = smaller_of(r->least, least);
	if (most > r->most)
		r->most = most;
}

COMPARATOR(compare_kept_values, uint64_t, *a < *b ? -1 : *a > *b)

static void row_settle_median(struct aggregate_row *r, uint64_t upper)
{
	r->median = r->count % 2 ? (double)r->lower : (double)r->lower / 2 + (double)upper / 2;
	r->is_settled = true;
	free(r->values);
	free(r->buckets);
	r->values = r->buckets = NULL;
	r->value_count = r->value_capacity = 0;
}

/* The middle values among the stored ones; the upper one may be the first value above the range. */
static void settle_kept(struct aggregate_row *r)
{
	uint64_t rank = (r->count - 1) / 2 - r->below, upper = r->count / 2 - r->below;

	if (!r->value_count) { /* a growing file changed between two passes */
		r->lower = r->low;
		row_settle_median(r, r->low);
		return;
	}
	qsort(r->values, r->value_count, sizeof(*r->values), compare_kept_values);
	if (rank >= r->value_count)
		rank = r->value_count - 1;
	r->lower = r->values[rank];
	row_settle_median(r, upper < r->value_count ? r->values[upper] : r->next != UINT64_MAX ? r->next : r->lower);
}

/* Continues with the bucket that holds the lower middle value. True if the median is then known. */
static bool row_narrow_range(struct aggregate_row *r, size_t bucket_count)
{
	uint64_t rank = (r->count - 1) / 2, low = 0, width = 1;
	size_t i = 0;

	while (i + 1 < bucket_count && r->below + r->buckets[i] <= rank)
		r->below += r->buckets[i++];
	r->inside = r->buckets[i];
	if (r->step) {
		low = r->low + i * r->step;
		width = r->step;
	} else {
		low = bucket_low((unsigned int)i, &width);
	}
	r->low = low;
	r->width = width;
	if (width > 1)
		return false;
	r->lower = low;
	r->is_lower_known = true;
	if (r->count / 2 - r->below >= r->inside && r->count % 2 == 0)
		return false; /* the upper middle value is outside the range: one more pass finds it in r->next */
	row_settle_median(r, low);
	return true;
}

static bool end_pass(struct aggregate_row *r, bool is_first)
{
	if (r->is_settled)
		return false;
	if (r->is_lower_known) {
		row_settle_median(r, r->next != UINT64_MAX ? r->next : r->lower);
		return false;
	}
	if (!r->buckets) {
		settle_kept(r);
		return false;
	}
	if (row_narrow_range(r, is_first ? FIRST_BUCKETS : NEXT_BUCKETS))
		return false;
	r->next = UINT64_MAX;
	free(r->buckets);
	r->buckets = NULL;
	if (!r->is_lower_known && r->inside > KEEP) {
		r->step = r->width / NEXT_BUCKETS ? r->width / NEXT_BUCKETS : 1;
		r->buckets = alloc_buckets(false);
	}
	return true;
}

bool aggregate_next_pass(struct aggregate *s)
{
	bool again = false;

	for (size_t i = 0; i < s->count && !s->totals_only; i++)
		if (s->rows[i].count)
			again |= end_pass(&s->rows[i], !s->pass);
	s->pass++;
	return again;
}

/* ---- parts ---- */

/* The same range to search as in the whole. */
static void split_row(const struct aggregate_row *whole, struct aggregate_row *part)
{
	part->is_settled = whole->is_settled;
	part->is_lower_known = whole->is_lower_known;
	part->low = whole->low;
	part->width = whole->width;
	part->step = whole->step;
	part->next = UINT64_MAX;
	part->buckets = whole->buckets ? alloc_buckets(false) : NULL;
}

void aggregate_split(const struct aggregate *s, struct aggregate *part)
{
	part->pass = s->pass;
	part->totals_only = s->totals_only;
	for (size_t i = 0; i < s->count && s->pass; i++) {
		uint32_t row = aggregate_row(part, s->rows[i].key, s->rows[i].key_size);

		split_row(&s->rows[i], &part->rows[row]);
	}
}

static void join_first(struct aggregate_row *whole, const struct aggregate_row *part)
{
	whole->count += part->count;
	whole->total += part->total;
	whole->squares += part->squares;
	whole->report_value += part->report_value;
	whole->is_settled |= part->is_settled;
	whole->has_no_median |= part->has_no_median;
	whole->least = smaller_of(whole->least, part->least);
	if (part->most > whole->most)
		whole->most = part->most;
	if (!whole->buckets && part->buckets)
		start_buckets(whole);
	for (size_t i = 0; i < part->value_count; i++)
		note_first(whole, part->values[i]);
}

static void join_row(struct aggregate_row *whole, struct aggregate_row *part, bool is_first)
{
	if (is_first)
		join_first(whole, part);
	else if (part->next < whole->next)
		whole->next = part->next;
	for (size_t i = 0; i < part->value_count && !is_first; i++)
		keep_value(whole, part->values[i]);
	for (size_t i = 0; i < (is_first ? FIRST_BUCKETS : NEXT_BUCKETS) && part->buckets; i++)
		whole->buckets[i] += part->buckets[i];
	free(part->values);
	free(part->buckets);
	*part = (struct aggregate_row){.key = part->key, .key_size = part->key_size, .least = UINT64_MAX};
}

void aggregate_join(struct aggregate *s, struct aggregate *part)
{
	array_each(struct aggregate_row, r, part->rows, part->count) {
		uint32_t row = aggregate_row(s, r->key, r->key_size);

		join_row(&s->rows[row], r, !s->pass);
	}
}

/* ---- parts in other processes ---- */

static size_t bucket_count(const struct aggregate *s)
{
	return s->pass ? NEXT_BUCKETS : FIRST_BUCKETS;
}

/* Most buckets are empty. */
static void save_buckets(const uint64_t *buckets, size_t count, struct buffer *ret)
{
	size_t used = array_sum(bucket, buckets, count, *bucket > 0);

	buffer_number(ret, used);
	for (size_t i = 0; i < count; i++) {
		if (!buckets[i])
			continue;
		buffer_number(ret, i);
		buffer_number(ret, buckets[i]);
	}
}

void aggregate_save(struct aggregate *part, struct buffer *ret)
{
	buffer_number(ret, part->pass);
	buffer_number(ret, part->count);
	for (size_t i = 0; i < part->count; i++) {
		struct aggregate_row *r = &part->rows[i], plain = *r;

		plain.key = NULL;
		plain.values = NULL;
		plain.value_capacity = 0;
		plain.buckets = NULL;
		buffer_add(ret, &plain, sizeof(plain));
		buffer_array(ret, r->key, r->key_size, 1);
		buffer_array(ret, r->values, r->value_count, sizeof(*r->values));
		buffer_number(ret, r->buckets != NULL);
		if (r->buckets)
			save_buckets(r->buckets, bucket_count(part), ret);
		free(r->values);
		free(r->buckets);
		*r = (struct aggregate_row){.key = r->key, .key_size = r->key_size, .least = UINT64_MAX};
	}
}

static uint64_t *load_buckets(bool is_first, struct bytes *from)
{
	uint64_t *buckets, used;

	if (!bytes_number(from))
		return NULL;
	buckets = alloc_buckets(is_first);
	used = bytes_number(from);
	for (uint64_t i = 0; i < used && !from->is_short; i++) {
		uint64_t place = bytes_number(from), count = bytes_number(from);

		from->is_short |= place >= (is_first ? (size_t)FIRST_BUCKETS : (size_t)NEXT_BUCKETS);
		if (!from->is_short)
			buckets[place] = count;
	}
	return buckets;
}

bool aggregate_load(struct aggregate *part, struct bytes *from)
{
	uint64_t count;

	part->pass = (unsigned int)bytes_number(from);
	count = bytes_number(from);
	for (uint64_t i = 0; i < count && !from->is_short; i++) {
		struct aggregate_row plain, *r;
		const char *key;
		uint32_t row;

		bytes_read(from, &plain, sizeof(plain));
		key = (const char *)bytes_take(from, plain.key_size);
		if (from->is_short)
			break;
		row = aggregate_row(part, key ? key : "", plain.key_size);
		r = &part->rows[row];
		if (r->values || r->buckets || r->count) /* twice the same key */
			return false;
		plain.key = r->key;
		plain.values = bytes_array(from, plain.value_count, sizeof(*plain.values));
		plain.value_capacity = plain.values ? plain.value_count : 0;
		plain.value_count = plain.value_capacity;
		plain.buckets = NULL;
		plain.more = NULL;
		*r = plain;
		r->buckets = load_buckets(!part->pass, from);
	}
	return !from->is_short;
}

static int compare_aggregate_rows(const void *left, const void *right)
{
	const struct aggregate_row *a = left, *b = right;
	size_t size = a->key_size < b->key_size ? a->key_size : b->key_size;
	int order;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	order = memcmp(a->key, b->key, size);
	return order ? order : a->key_size < b->key_size ? -1 : a->key_size > b->key_size;
}

void aggregate_sort(struct aggregate *s)
{
	array_sort(s->rows, s->count, compare_aggregate_rows);
}

double aggregate_deviation(const struct aggregate_row *r)
{
	long double mean, squares;

	if (r->count < 2)
		return 0;
	mean = (long double)r->total / (long double)r->count;
	squares = (long double)r->squares - mean * (long double)r->total;
	return squares > 0 ? (double)sqrtl(squares / (long double)(r->count - 1)) : 0;
}

const char *aggregate_field(const struct aggregate_row *r, size_t i)
{
	return field_of_text(r->key, r->key_size, i);
}

struct row_order {
	const struct aggregate_row *rows;
	int (*compare)(const void *, const void *);
};

static int rows_in_order(size_t a, size_t b, const void *context)
{
	const struct row_order *order = context;

	return order->compare(&order->rows[a], &order->rows[b]);
}

void aggregate_sort_by(struct aggregate *s, int (*compare)(const void *, const void *))
{
	SCOPED_MEMORY size_t *order = places_in_order(s->count, rows_in_order, &(struct row_order){s->rows, compare});
	struct aggregate_row *rows = mem_alloc((s->count + 1) * sizeof(*rows));

	for (size_t i = 0; i < s->count; i++)
		rows[i] = s->rows[order[i]];
	free(s->rows);
	s->rows = rows;
	s->capacity = s->count + 1;
}

void aggregate_done(struct aggregate *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->rows[i].values);
		free(s->rows[i].buckets);
		free(s->rows[i].more);
	}
	free(s->rows);
	interner_done(&s->keys);
	map_done(&s->cache);
	*s = (struct aggregate){0};
}
