/* SPDX-License-Identifier: Apache-2.0 */
/* PyTorch calls the functions here by the Itanium ABI of x86-64: an object that is returned is constructed where the
 * first argument points to. (On AArch64 that is in a register of its own.) What they call may raise an exception of
 * C++, which PyTorch catches; they own nothing then. */
#include "preload/python/annotate_operators.h"

#include <stddef.h>
#include <string.h>

#include "preload/nvtx/nvtx_tool.h"
#include "preload/python/annotate_range.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/intern_table.h"

struct record; /* at::RecordFunction */

/* at::RecordFunctionCallback, of PyTorch 2.0 and later. */
enum { SCOPES = 10 };
struct callback {
	void *(*begin)(void **ret, const struct record *r);
	void (*end)(const struct record *r, void *context);
	double probability;
	bool scopes[SCOPES], needs_inputs, needs_outputs, needs_ids;
};

/* std::vector<int64_t>, and a std::vector of those. */
struct input_sizes {
	int64_t *sizes, *end, *capacity;
};
struct input_list {
	struct input_sizes *items, *end, *capacity;
};

/* std::vector of the calling thread's callbacks, by their numbers. The last member of each is its number. */
struct callbacks {
	const uint64_t *items, *end, *capacity;
};

#define TORCH_FUNCTIONS(X)                                                                                             \
	X(uint64_t, add, "_ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE", (struct callback c))           \
	X(void, remove, "_ZN2at14removeCallbackEm", (uint64_t number))                                                 \
	X(void, disable, "_ZN2at15disableCallbackEm", (uint64_t number))                                               \
	X(const struct callbacks *, callbacks, "_ZN2at24get_record_function_tls_Ev", (void))                           \
	X(const char *, name, "_ZNK2at14RecordFunction4nameEv", (const struct record *r))                              \
	X(bool, is_async, "_ZNK2at14RecordFunction7isAsyncEv", (const struct record *r))                               \
	X(uint64_t, next_number, "_ZN2at15sequence_number4peekEv", (void))                                             \
	X(void, shapes, "_ZN5torch8profiler4impl10inputSizesERKN2at14RecordFunctionEb",                                \
	  (struct input_list * ret, const struct record *r, bool has_lists))

#define DECLARE(type, name, symbol, arguments) type(*name) arguments;
static struct {
	TORCH_FUNCTIONS(DECLARE)
	void (*free)(void *memory);
} torch;
#undef DECLARE

static unsigned number_at; /* the offset of the sequence number */
static struct intern_table shaped; /* hash of name and shapes -> struct nvtx_string */
static struct intern_table pending; /* address of an operator that ends in any thread -> number of its range */

static int64_t word_at(const struct record *r, unsigned offset)
{
	int64_t word;

	memcpy(&word, (const char *)r + offset, sizeof(word));
	return word;
}

/* ---- shapes ---- */

static void shapes_free(struct input_list *s)
{
	for (struct input_sizes *i = s->items; i < s->end; i++)
		if (i->sizes)
			torch.free(i->sizes);
	if (s->items)
		torch.free(s->items);
}

static uint64_t shapes_hash(const struct input_list *s, uint64_t hash)
{
	for (const struct input_sizes *i = s->items; i < s->end; i++) {
		hash = intern_fold(hash, (uint64_t)(i->end - i->sizes));
		for (const int64_t *size = i->sizes; size < i->end; size++)
			hash = intern_fold(hash, (uint64_t)*size);
	}
	return hash ?: 1;
}

static char *append(char *at, const char *end, const char *text)
{
	while (at < end && *text)
		*at++ = *text++;
	return at;
}

static char *append_number(char *at, const char *end, int64_t number)
{
	char digits[24], *first = digits + sizeof(digits) - 1;
	uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;

	*first = '\0';
	do
		*--first = (char)('0' + rest % 10);
	while (rest /= 10);
	if (number < 0)
		*--first = '-';
	return append(at, end, first);
}

/* As emit_nvtx writes it: "aten::mm, sizes = [[2, 3], [3, 4]]". */
static __attribute__((noinline)) struct nvtx_string *shapes_name(const char *name, const struct input_list *s)
{
	char text[EVENT_TEXT], *at = text, *const end = text + sizeof(text);

	at = append(append(at, end, name), end, ", sizes = [");
	for (const struct input_sizes *i = s->items; i < s->end; i++) {
		at = append(at, end, i == s->items ? "[" : ", [");
		for (const int64_t *size = i->sizes; size < i->end; size++)
			at = append_number(size == i->sizes ? at : append(at, end, ", "), end, *size);
		at = append(at, end, "]");
	}
	at = append(at, end, "]");
	return nvtx_text_string(text, (size_t)(at - text));
}

/* NULL: the operator has no shapes. */
static struct nvtx_string *shaped_text(const char *name, const struct record *r)
{
	struct input_list s = {0};
	struct intern_entry *e;
	struct nvtx_string *text = NULL;
	uint32_t number;
	bool is_new;

	torch.shapes(&s, r, true);
	if (s.items < s.end) {
		e = intern_add(&shaped, shapes_hash(&s, intern_hash(0, name, strlen(name))), &number, &is_new);
		text = e ? (struct nvtx_string *)__atomic_load_n(&e->value, __ATOMIC_ACQUIRE) : NULL;
		if (e && !text) {
			text = shapes_name(name, &s);
			__atomic_store_n(&e->value, (uint64_t)text, __ATOMIC_RELEASE);
		}
	}
	shapes_free(&s);
	return text;
}

/* ---- what PyTorch calls ---- */

static void begin(const struct record *r, bool has_shapes)
{
	const char *name = torch.name(r);
	struct nvtx_string *text = NULL;
	uint64_t sequence;

	if (__builtin_expect(nvtx_is_watched, 0) && !torch.is_async(r))
		nvtx_watch_push(NULL, NVTX_ASCII, name);
	if (nvtx_wanted(NULL) && has_shapes)
		text = shaped_text(name, r);
	if (torch.is_async(r)) {
		intern_set(&pending, (uintptr_t)r,
			   annotate_range_start(text ? NVTX_REGISTERED : NVTX_ASCII, text ? (void *)text : name));
	} else if (nvtx_wanted(NULL)) {
		sequence = (uint64_t)word_at(r, number_at) + 1;
		event_instant(TF_PUSH, 0, text ? nvtx_text_registered(text) : nvtx_text(name),
			      (uint64_t[]){tf_arg(TF_ARG_VALUE, 0, sequence)}, 1);
	}
}

static void *begin_plain(void **ret, const struct record *r)
{
	*ret = NULL;
	begin(r, false);
	return ret;
}

static void *begin_with_shapes(void **ret, const struct record *r)
{
	*ret = NULL;
	begin(r, true);
	return ret;
}

/* The program's own depth of ranges does not count those of operators. */
static void end(const struct record *r, void *context)
{
	if (torch.is_async(r)) {
		annotate_range_end(intern_get(&pending, (uintptr_t)r));
		return;
	}
	if (nvtx_wanted(NULL))
		event_instant(TF_POP, 0, 0, NULL, 0);
	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_pop(NULL);
}

/* ---- trial ---- */

enum { WORDS = 64, TURNS = 3 }; /* the object is on the stack of a function that others called, so more can be read */
static uint64_t places; /* bit n: the word n was the number of each operator */
static unsigned seen;
static bool has_shapes_of_trial;
static uint64_t trial;

static void *begin_trial(void **ret, const struct record *r)
{
	const char *name = torch.name(r);
	bool is_neg = !strcmp(name, "aten::neg");
	int64_t wanted = is_neg ? (int64_t)torch.next_number() : -1;
	struct input_list s = {0};

	*ret = NULL;
	if (!is_neg && strcmp(name, "aten::empty") != 0)
		return ret;
	for (unsigned i = 0; i < WORDS; i++)
		if (word_at(r, i * sizeof(wanted)) != wanted)
			places &= ~(1ull << i);
	torch.shapes(&s, r, true);
	if (is_neg)
		has_shapes_of_trial &= s.end - s.items == 1 && s.items->end - s.items->sizes == 1 &&
				       s.items->sizes[0] == 3 && !torch.is_async(r);
	shapes_free(&s);
	seen += is_neg ? 1 : 1 << 8;
	return ret;
}

static void end_trial(const struct record *r, void *context)
{
	seen += 1 << 16;
}

/* What frees the memory that PyTorch has allocated by operator new. NULL: it is not known. AddressSanitizer has its own
 * one, and requires that both are of the same kind; and so may a program that embeds Python. One that replaces malloc,
 * too, as tcmalloc does, frees what it has allocated however it is called. */
static void (*find_delete(void))(void *)
{
	static const char symbol[] = "_ZdlPv";

	if (dso_next("__asan_init") || (dso_before(symbol) && !dso_before("free")))
		return NULL;
	return dso_from((void *)torch.name, symbol);
}

bool annotate_operators_try(void)
{
	static const char library[] = "libtorch_cpu.so";

#ifndef __x86_64__
	return false;
#endif
#define FIND(type, name, symbol, arguments)                                                                            \
	torch.name = dso_library_symbol(library, symbol);                                                              \
	if (!torch.name)                                                                                               \
		return false;
	TORCH_FUNCTIONS(FIND)
#undef FIND
	torch.free = find_delete();
	if (!torch.free)
		return false;
	places = UINT64_MAX;
	seen = 0;
	has_shapes_of_trial = true;
	trial = torch.add((struct callback){begin_trial, end_trial, 1, {true}, true, false, false});
	return true;
}

bool annotate_operators_settle(void)
{
	torch.remove(trial);
	number_at = places ? (unsigned)__builtin_ctzll(places) * 8 : 0;
	return has_shapes_of_trial && seen == (TURNS | TURNS << 8 | (2 * TURNS) << 16) && places &&
	       !(places & (places - 1));
}

static uint64_t last_callback(void)
{
	const struct callbacks *c = torch.callbacks();

	return c->items < c->end ? c->end[-1] : 0;
}

uint64_t annotate_operators_replace(bool has_shapes)
{
	struct callback c = {has_shapes ? begin_with_shapes : begin_plain, end, 1, {0}, has_shapes, false, false};
	uint64_t replaced = last_callback(), ours;

	memset(c.scopes, true, sizeof(c.scopes));
	ours = torch.add(c);
	if (replaced && replaced < ours && last_callback() == ours) {
		torch.disable(replaced);
		return ours;
	}
	torch.remove(ours);
	return 0;
}

void annotate_operators_remove(uint64_t number)
{
	if (number)
		torch.remove(number);
}
