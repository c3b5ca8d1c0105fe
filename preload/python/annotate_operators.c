/* SPDX-License-Identifier: Apache-2.0 */
/* PyTorch calls the functions here by the Itanium ABI of x86-64: an object that is returned is constructed where the
 * first argument points to. (On AArch64 that is in a register of its own.) What they call may raise an exception of
 * C++, which PyTorch catches; they own nothing then. */
#include "preload/python/annotate_parts.h"

#include <stddef.h>
#include <string.h>

#include "preload/nvtx/nvtx_tool.h"
#include "preload/python/python_api.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/intern_table.h"
#include "runtime/shared/base/text.h"

struct record; /* at::RecordFunction */

/* at::RecordFunctionCallback, of PyTorch 2.0 and later. */
enum { SCOPES = 10 };
struct callback {
	void *(*begin)(void **ret, const struct record *r);
	void (*end)(const struct record *r, void *context);
	double probability;
	bool scopes[SCOPES], needs_inputs, needs_outputs, needs_ids;
};

/* c10::IValue: an argument. The tags are PyTorch's. */
struct value {
	union {
		int64_t number;
		double fraction;
		bool is_true;
		const uint64_t *object; /* of a tensor or a list */
	};
	uint32_t tag;
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
	X(uint64_t, next_number, "_ZN2at15sequence_number4peekEv", (void))

#define DECLARE(type, name, symbol, arguments) type(*name) arguments;
static struct {
	TORCH_FUNCTIONS(DECLARE)
	const void *undefined; /* the tensor that is none */
	const char *const *(*group)(const void *group); /* its name, of either std::string; NULL: not there */
} torch;
#undef DECLARE

static bool has_shapes; /* and arguments are wanted */
static unsigned number_at; /* the offset of the sequence number */
static struct layout {
	unsigned inputs;  /* the offset of the address and number of the arguments */
	unsigned items;	  /* the word of a list that leads to its values, and the next one to their end */
	unsigned type;	  /* the offset of the type of a tensor's elements */
	unsigned sizes;	  /* the word of a tensor that has the number of its sizes, and then up to 5 or their address */
	uint32_t tensor, list, number, truth, fraction, none; /* tags */
} layout;
static struct intern_table shaped; /* hash of name, shapes and arguments -> struct nvtx_string */
enum { TEXTS = 4096 }; /* later ones have no arguments: these may be other ones in each call */
static unsigned texts;
/* The collective of c10d that the thread calls, and the name of its group. What begins within it and ends in any thread
 * is of it. */
static __thread const struct record *collective __attribute__((tls_model("initial-exec")));
static __thread const char *collective_group __attribute__((tls_model("initial-exec")));
/* What gloo runs begins in a thread of its own: address of a tensor -> group of the last collective that it was passed
 * to, a struct nvtx_string. */
static struct intern_table groups;
static struct intern_table pending; /* address of an operator that ends in any thread -> number of its range */

static int64_t word_at(const struct record *r, unsigned offset)
{
	int64_t word;

	memcpy(&word, (const char *)r + offset, sizeof(word));
	return word;
}

/* ---- arguments ---- */

struct values {
	const struct value *items;
	size_t count;
};

static struct values values_of(const struct record *r)
{
	struct values ret;

	memcpy(&ret, (const char *)r + layout.inputs, sizeof(ret));
	return ret;
}

static struct values values_of_list(const struct value *v)
{
	const struct value *items = (const void *)(uintptr_t)v->object[layout.items];

	return (struct values){items, (v->object[layout.items + 1] - (uintptr_t)items) / sizeof(*items)};
}

static uint16_t element_type(const struct value *v)
{
	uint16_t type;

	memcpy(&type, (const char *)v->object + layout.type, sizeof(type));
	return type;
}

static const int64_t *sizes_of(const struct value *v, uint64_t *ret_count)
{
	enum { IN_PLACE = 5, MOST = 64 };
	const uint64_t *at = v->object + layout.sizes;

	*ret_count = v->object == torch.undefined || *at > MOST ? 0 : *at;
	return *ret_count > IN_PLACE ? (const int64_t *)(uintptr_t)at[1] : (const int64_t *)at + 1;
}

/* The group of a collective is its second or third argument, an object of TorchScript whose only slot has the group.
 * The tag of objects has been so many after that of lists (c10's TORCH_FORALL_TAGS; tried with 2.13), and the vector of
 * slots the 11th or 12th word. NULL: the group is not known. */
static const char *group_of(struct values of)
{
	enum { FIRST = 10, LAST = 11, OBJECT_AFTER_LIST = 6 };
	const uint64_t *slots;

	for (size_t i = 1; i < of.count && i < 3; i++)
		for (size_t k = FIRST; k <= LAST && of.items[i].tag == layout.list + OBJECT_AFTER_LIST; k++) {
			const void *const *group, *const *type;

			slots = of.items[i].object + k;
			if (!*slots || *slots % sizeof(uint64_t) || slots[1] - *slots != sizeof(struct value) ||
			    slots[2] < slots[1])
				continue;
			group = (const void *)((const struct value *)(uintptr_t)*slots)->object;
			type = group ? ((const void *const *const *)*group)[-1] : NULL;
			if (type && strcmp(type[1], "N4c10d12ProcessGroupE") == 0)
				return *torch.group(group);
		}
	return NULL;
}

/* Without the arguments it is that of the sizes. */
static uint64_t values_hash(struct values of, bool has_lists, bool has_arguments, uint64_t hash)
{
	uint64_t count, word;

	for (const struct value *v = of.items; of.count--; v++) {
		word = 0;
		if (v->tag == layout.list && has_lists) {
			hash = values_hash(values_of_list(v), false, has_arguments, hash);
		} else if (v->tag == layout.tensor) {
			const int64_t *sizes = sizes_of(v, &count);

			hash += count;
			while (count)
				hash = intern_fold(hash, (uint64_t)sizes[--count]);
			word = element_type(v);
		} else if (v->tag == layout.truth) {
			word = v->is_true;
		} else if (v->tag == layout.number || v->tag == layout.fraction) {
			word = (uint64_t)v->number;
		}
		hash = intern_fold(hash + v->tag, has_arguments ? word : 0);
	}
	return hash ?: 1;
}

/* "[2, 3], []": an argument that is no tensor has none; a list of tensors has one for each. */
static __attribute__((cold)) void add_sizes(struct text *t, const char *first, struct values of, bool has_lists)
{
	struct values inner;
	uint64_t count = 0;

	for (const struct value *v = of.items; of.count--; v++) {
		const int64_t *sizes = v->tag == layout.tensor ? sizes_of(v, &count) : NULL;

		inner = v->tag == layout.list && has_lists ? values_of_list(v) : (struct values){0};
		if (inner.count && inner.items->tag == layout.tensor) {
			add_sizes(t, first, inner, false);
			continue;
		}
		text_add(t, t->at == first ? "[" : ", [");
		for (uint64_t i = 0; sizes && i < count; i++) {
			text_add(t, i ? ", " : "");
			text_signed(t, sizes[i]);
		}
		text_add(t, "]");
	}
}

/* "t6": a tensor of this type; "f4602678819172646912": these bits of a number; "": another kind. */
static __attribute__((cold)) void add_values(struct text *t, struct values of, bool has_lists)
{
	text_add(t, "[");
	for (const struct value *v = of.items; of.count--; v++) {
		bool is_number = v->tag == layout.number || v->tag == layout.fraction;

		text_add(t, v > of.items ? ", " : "");
		if (v->tag == layout.list && has_lists)
			add_values(t, values_of_list(v), false);
		else if (v->tag == layout.truth)
			text_add(t, v->is_true ? "True" : "False");
		if (v->tag == layout.tensor || is_number) {
			text_add(t, v->tag == layout.tensor ? "t" : v->tag == layout.fraction ? "f" : "");
			text_signed(t, is_number ? v->number : element_type(v));
		}
	}
	text_add(t, "]");
}

/* As emit_nvtx writes it: "aten::mm, sizes = [[2, 3], [3, 4]]", with the group of a collective and the arguments. */
static __attribute__((noinline, cold)) struct nvtx_string *shapes_name(const char *name, const char *group,
									struct values v, bool has_arguments)
{
	char bytes[EVENT_TEXT + 1];
	struct text t = text_init(bytes, sizeof(bytes));

	text_add(&t, name);
	text_add(&t, *group ? ", group = " : "");
	text_add(&t, group);
	if (v.count) {
		text_add(&t, ", sizes = [");
		add_sizes(&t, t.at, v, true);
		text_add(&t, "]");
	}
	if (v.count && has_arguments) {
		text_add(&t, ", arguments = ");
		add_values(&t, v, true);
	}
	return nvtx_text_string(bytes, text_length(&t));
}

/* NULL: the operator has neither shapes nor a group. */
static struct nvtx_string *shaped_text(const char *name, const char *group, const struct record *r)
{
	uint64_t of_name = intern_hash(0, name, strlen(name)), key;
	struct values v = values_of(r);
	struct nvtx_string *text;
	bool has_arguments = true;

	if (!v.count && !*group)
		return NULL;
	of_name = intern_hash(of_name, group, strlen(group));
	key = values_hash(v, true, true, of_name);
	text = (struct nvtx_string *)intern_get(&shaped, key);
	if (!text && __atomic_load_n(&texts, __ATOMIC_RELAXED) >= TEXTS) {
		has_arguments = false;
		key = values_hash(v, true, false, of_name);
		text = (struct nvtx_string *)intern_get(&shaped, key);
	}
	if (!text) {
		text = shapes_name(name, group, v, has_arguments);
		intern_set(&shaped, key, (uint64_t)text);
		__atomic_fetch_add(&texts, 1, __ATOMIC_RELAXED);
	}
	return text;
}

static void group_set(struct values of, const struct nvtx_string *group, unsigned depth)
{
	for (const struct value *v = of.items; of.count--; v++)
		if (v->tag == layout.tensor && v->object != torch.undefined)
			intern_set(&groups, (uintptr_t)v->object, (uint64_t)group);
		else if (v->tag == layout.list && depth)
			group_set(values_of_list(v), group, depth - 1);
}

static const char *group_of_tensors(struct values of)
{
	const struct nvtx_string *group = of.count && of.items->tag == layout.tensor
						  ? (void *)intern_get(&groups, (uintptr_t)of.items->object)
						  : NULL;

	return group ? group->text : "";
}

/* Of a collective of c10d, or of what runs for one. "": there is none. */
static const char *group_now(const char *name, const struct record *r, bool is_async)
{
	enum { DEPTH = 2 }; /* of lists of tensors */

	if (strncmp(name, "c10d::", 6) == 0 && torch.group) {
		collective = r;
		collective_group = group_of(values_of(r));
		if (collective_group)
			group_set(values_of(r),
				  nvtx_text_string(collective_group, nvtx_text_length(collective_group)), DEPTH);
	}
	if (collective && collective_group && (collective == r || is_async))
		return collective_group;
	return is_async ? group_of_tensors(values_of(r)) : "";
}

/* ---- what PyTorch calls ---- */

static void *begin(void **ret, const struct record *r)
{
	const char *name = torch.name(r);
	struct nvtx_string *text = NULL;
	bool is_async = torch.is_async(r);
	uint64_t sequence;

	*ret = NULL;
	if (__builtin_expect(nvtx_is_watched, 0) && !is_async)
		nvtx_watch_push(NULL, NVTX_ASCII, name);
	if (nvtx_wanted(NULL) && has_shapes)
		text = shaped_text(name, group_now(name, r, is_async), r);
	if (is_async) {
		intern_set(&pending, (uintptr_t)r,
			   nvtx_start(NULL, &(struct nvtx_attributes){
						    .message_type = text ? NVTX_REGISTERED : NVTX_ASCII,
						    .message = text ? (const void *)text : name}));
	} else if (nvtx_wanted(NULL)) {
		sequence = (uint64_t)word_at(r, number_at) + 1;
		event_instant(TF_PUSH, 0, text ? nvtx_text_registered(text) : nvtx_text(name),
			      (uint64_t[]){tf_arg(TF_ARG_VALUE, 0, sequence)}, 1);
	}
	return ret;
}

/* The program's own depth of ranges does not count those of operators. */
static void end(const struct record *r, void *context)
{
	if (torch.is_async(r)) {
		nvtx_end(NULL, intern_get(&pending, (uintptr_t)r));
		return;
	}
	if (__builtin_expect(collective == r, 0))
		collective = NULL;
	if (nvtx_wanted(NULL))
		event_instant(TF_POP, 0, 0, NULL, 0);
	if (__builtin_expect(nvtx_is_watched, 0))
		nvtx_watch_pop(NULL);
}

/* ---- trial ---- */

enum { WORDS = 64, TURNS = 4 }; /* the object is on the stack of a function that others called, so more can be read */
enum { EMPTY, NEG, DROPOUT, KINDS, HALVES = 96 };
static const struct {
	const char *name;
	size_t arguments;
} kinds[KINDS] = {{"aten::empty", 6}, {"aten::neg", 1}, {"aten::dropout", 3}};
static uint64_t places; /* bit n: the word n was the number of each operator */
static uint64_t inputs; /* likewise the address of its arguments, whose number follows */
static uint64_t ranks; /* likewise of each tensor: 1, and then 3 */
static unsigned __int128 types; /* bit n: 16 bits of each tensor were the type of its elements */
static uint16_t type; /* the current one */
static unsigned seen[KINDS], ends;
static uint64_t trial;

/* Arguments are on the stack. */
static bool are_values(struct values v, size_t count)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), items = (uintptr_t)v.items;

	return v.count == count && items > here && items < here + (1 << 16) && items % sizeof(uint64_t) == 0;
}

/* A list of 3, the type, and a bool that is false, among arguments without a value. */
static void learn_of_empty(const struct value *v)
{
	const struct value *item;

	layout.list = v->tag;
	layout.number = v[1].tag;
	layout.truth = v[4].tag;
	layout.none = v[5].tag;
	type = (uint16_t)v[1].number;
	layout.items = 0;
	for (unsigned i = 1; i < 4 && v->tag != v[1].tag && v->tag != v[5].tag; i++) {
		item = (const void *)(uintptr_t)v->object[i];
		if (v->object[i + 1] - v->object[i] == sizeof(*item) && item->tag == layout.number && item->number == 3)
			layout.items = i;
	}
}

static void learn_of_neg(const struct value *v)
{
	uint16_t half;

	layout.tensor = v->tag;
	for (unsigned i = 0; i < HALVES / 4 - 1; i++)
		if (v->object[i] != 1 || v->object[i + 1] != 3)
			ranks &= ~(1ull << i);
	for (unsigned i = 0; i < HALVES; i++) {
		memcpy(&half, (const char *)v->object + i * sizeof(half), sizeof(half));
		if (half != type)
			types &= ~((unsigned __int128)1 << i);
	}
}

/* A tensor, 0.25, false. */
static void learn_of_dropout(const struct value *v)
{
	layout.fraction = v[1].tag;
	if (v[1].fraction != 0.25 || v[2].tag != layout.truth || v->tag != layout.tensor)
		inputs = 0;
}

static void learn(const struct record *r, unsigned kind)
{
	static void (*const learn_of[KINDS])(const struct value *v) = {learn_of_empty, learn_of_neg, learn_of_dropout};

	for (unsigned i = 0; i < WORDS - 1; i++) {
		layout.inputs = i * sizeof(int64_t);
		if (!are_values(values_of(r), kinds[kind].arguments))
			inputs &= ~(1ull << i);
	}
	layout.inputs = inputs ? (unsigned)__builtin_ctzll(inputs) * 8 : 0;
	if (seen[DROPOUT] && inputs && !(inputs & (inputs - 1))) /* from the second turn on */
		learn_of[kind](values_of(r).items);
}

static void *begin_trial(void **ret, const struct record *r)
{
	const char *name = torch.name(r);
	int64_t wanted = -1;
	unsigned kind = 0;

	*ret = NULL;
	while (kind < KINDS && strcmp(name, kinds[kind].name) != 0)
		kind++;
	if (kind == KINDS)
		return ret;
	if (kind != EMPTY)
		wanted = (int64_t)torch.next_number();
	for (unsigned i = 0; i < WORDS; i++)
		if (word_at(r, i * sizeof(wanted)) != wanted)
			places &= ~(1ull << i);
	if (has_shapes)
		learn(r, kind);
	seen[kind]++;
	return ret;
}

static void end_trial(const struct record *r, void *context)
{
	ends++;
}

static bool trial_begin(void)
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
	torch.undefined = dso_library_symbol("libc10.so", "_ZN3c1019UndefinedTensorImpl10_singletonE");
	torch.group = dso_library_symbol(library, "_ZNK4c10d12ProcessGroup12getGroupNameB5cxx11Ev")
			      ?: dso_library_symbol(library, "_ZNK4c10d12ProcessGroup12getGroupNameEv");
	places = UINT64_MAX;
	inputs = UINT64_MAX >> 1; /* a number follows */
	ranks = UINT64_MAX >> (64 - (HALVES / 4 - 1));
	types = ~(unsigned __int128)0 >> (128 - HALVES);
	trial = torch.add((struct callback){begin_trial, end_trial, 1, {true}, true, false, false});
	return true;
}

static bool is_single(uint64_t bits)
{
	return bits && !(bits & (bits - 1));
}

static bool trial_end(void)
{
	unsigned half = 0;

	torch.remove(trial);
	number_at = places ? (unsigned)__builtin_ctzll(places) * 8 : 0;
	while (half < HALVES && types != (unsigned __int128)1 << half)
		half++;
	layout.type = half * sizeof(uint16_t);
	layout.sizes = ranks ? (unsigned)__builtin_ctzll(ranks) : 0;
	return seen[EMPTY] == TURNS && seen[NEG] == TURNS && seen[DROPOUT] == TURNS && ends == KINDS * TURNS &&
	       is_single(places) &&
	       (!has_shapes || (half < HALVES && layout.items && is_single(inputs) && is_single(ranks)));
}

/* ---- the functions that annotate.py is given ---- */

PYTHON_ANSWER(record_try, trial_begin)
PYTHON_ANSWER(record_settle, trial_end)

static uint64_t last_callback(void)
{
	const struct callbacks *c = torch.callbacks();

	return c->items < c->end ? c->end[-1] : 0;
}

static void *record_begin(void *self, void *unused)
{
	struct callback c = {begin, end, 1, {0}, has_shapes, false, false};

	memset(c.scopes, true, sizeof(c.scopes));
	return python.Py_BuildValue("K", torch.add(c));
}

static void *record_replace(void *self, void *number)
{
	static uint64_t noted;
	uint64_t ours = (uint64_t)(uintptr_t)python.PyLong_AsVoidPtr(number), replaced = last_callback();

	if (ours < replaced) {
		torch.disable(replaced);
		return python.Py_BuildValue("K", ours);
	}
	torch.remove(ours);
	nvtx_note_once(&noted, "--pytorch: emit_nvtx records the operators of a thread, which takes longer");
	return python.Py_BuildValue("i", 0);
}

static void *record_end(void *self, void *number)
{
	uint64_t ours = (uint64_t)(uintptr_t)python.PyLong_AsVoidPtr(number);

	if (ours)
		torch.remove(ours);
	return python_none();
}

/* 0: an interval begins. */
static void *operators_gap(void *self, void *number)
{
	static uint32_t gaps;
	uint32_t ended = (uint32_t)(uintptr_t)python.PyLong_AsVoidPtr(number);
	uint32_t id = ended ?: __atomic_add_fetch(&gaps, 1, __ATOMIC_RELAXED);
	const struct tf_operator_gap gap = {.ticks = clock_now(), .is_end = ended != 0};

	if (hook_attached())
		event_blob(TF_BLOB_OPERATOR_GAP, id, &gap, sizeof(gap));
	return python.Py_BuildValue("I", id);
}

static const struct method natives[] = {
	{"record_try", record_try, TAKES_NOTHING, NULL},
	{"record_settle", record_settle, TAKES_NOTHING, NULL},
	{"record_begin", record_begin, TAKES_NOTHING, NULL},
	{"record_replace", record_replace, TAKES_ONE, NULL},
	{"record_end", record_end, TAKES_ONE, NULL},
	{"operators_gap", operators_gap, TAKES_ONE, NULL},
};

void annotate_operators_offer(void *space)
{
	has_shapes = process_options.pytorch == PYTORCH_SHAPES;
	python_offer(space, natives, sizeof(natives) / sizeof(*natives));
}
