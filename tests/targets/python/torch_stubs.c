/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for libtorch_cpu.so of a build without CUDA: the table by which PyTorch's profiler reaches NVTX, and a
 * profiler that uses it. TORCH_ORDER=other: a later version might have that table in another order; elsewhere:
 * another library has registered an object of its own. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef void (*slot)(void);
struct stubs {
	const slot *slots;
};

static void fail(void)
{
	abort();
}

static int no(void)
{
	return 0;
}

static const slot absent[2 + 10] = {0, 0, fail, fail, fail, fail, fail, (slot)no, fail, fail, fail, fail};
static struct stubs none = {absent + 2}, *first = &none, *stubs = &none;

static int place(int usual, int other)
{
	const char *order = getenv("TORCH_ORDER");

	return order && !strcmp(order, "other") ? other : usual;
}

struct stubs *_ZN5torch8profiler4impl9cudaStubsEv(void);
struct stubs *_ZN5torch8profiler4impl9cudaStubsEv(void)
{
	return stubs;
}

void _ZN5torch8profiler4impl19registerCUDAMethodsEPNS1_13ProfilerStubsE(struct stubs *s);
void _ZN5torch8profiler4impl19registerCUDAMethodsEPNS1_13ProfilerStubsE(struct stubs *s)
{
	stubs = s;
}

__attribute__((constructor)) static void begin(void)
{
	const char *order = getenv("TORCH_ORDER");

	if (!order || strcmp(order, "elsewhere") != 0)
		return;
	stubs = malloc(sizeof(*stubs));
	if (!stubs)
		abort();
	*stubs = none;
	first = stubs;
}

int torch_is_registered(void);
int torch_is_registered(void)
{
	return stubs != first;
}

int torch_enabled(void);
int torch_enabled(void)
{
	return ((_Bool(*)(struct stubs *))stubs->slots[5])(stubs);
}

void torch_push(const char *text);
void torch_push(const char *text)
{
	((void (*)(struct stubs *, const char *))stubs->slots[place(3, 4)])(stubs, text);
}

void torch_pop(void);
void torch_pop(void)
{
	((void (*)(struct stubs *))stubs->slots[place(4, 3)])(stubs);
}

/* ---- operators for callbacks, as PyTorch 2 has them: the mangled names are those of at::RecordFunction ---- */

struct value {
	union {
		long number;
		double fraction;
		const void *object;
	};
	unsigned tag;
};
enum { NONE, TENSOR, STORAGE, DOUBLE, COMPLEX, INT, BOOL, STRING, LIST };
struct tensor {
	long words[20];
	unsigned short type, more;
	long rest[4];
};
struct list {
	const void *virtual_functions;
	unsigned long references[2];
	struct value *items, *end, *capacity;
};
struct record {
	const void *virtual_functions;
	long words[2];
	const struct value *values;
	unsigned long count;
	long more[4], sequence;
	const char *name;
};
struct callback {
	void *(*begin)(void **ret, const struct record *r);
	void (*end)(const struct record *r, void *context);
	double probability;
	_Bool scopes[10], needs_inputs, needs_outputs, needs_ids;
};
struct entry {
	struct callback callback;
	_Bool is_enabled;
	unsigned long number;
};
static __thread struct entry entries[8];
static __thread struct {
	struct entry *first, *end, *capacity;
} callbacks;
static __thread long next_sequence;
static __thread _Bool ends_before_emit; /* the list was made after the state of emit_nvtx, and is destroyed before it */
static unsigned long numbers;

unsigned long _ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE(struct callback c);
unsigned long _ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE(struct callback c)
{
	if (!callbacks.first)
		callbacks.first = callbacks.end = entries;
	if (callbacks.end == entries + 8)
		abort();
	*callbacks.end = (struct entry){c, 1, __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED)};
	return callbacks.end++->number;
}

static struct entry *find(unsigned long number)
{
	struct entry *e = callbacks.first;

	while (e < callbacks.end && e->number != number)
		e++;
	if (e == callbacks.end)
		abort();
	return e;
}

void _ZN2at14removeCallbackEm(unsigned long number);
void _ZN2at14removeCallbackEm(unsigned long number)
{
	struct entry *e = find(number);

	memmove(e, e + 1, (size_t)(--callbacks.end - e) * sizeof(*e));
}

void _ZN2at15disableCallbackEm(unsigned long number);
void _ZN2at15disableCallbackEm(unsigned long number)
{
	find(number)->is_enabled = 0;
}

void *_ZN2at24get_record_function_tls_Ev(void);
void *_ZN2at24get_record_function_tls_Ev(void)
{
	return &callbacks;
}

const char *_ZNK2at14RecordFunction4nameEv(const struct record *r);
const char *_ZNK2at14RecordFunction4nameEv(const struct record *r)
{
	return r->name;
}

_Bool _ZNK2at14RecordFunction7isAsyncEv(const struct record *r);
_Bool _ZNK2at14RecordFunction7isAsyncEv(const struct record *r)
{
	return 0;
}

long _ZN2at15sequence_number4peekEv(void);
long _ZN2at15sequence_number4peekEv(void)
{
	return next_sequence;
}

static void *emit_begin(void **ret, const struct record *r)
{
	*ret = NULL;
	torch_push("by emit_nvtx");
	return ret;
}

static void emit_end(const struct record *r, void *context)
{
	torch_pop();
}

/* The state of emit_nvtx ends with the thread, and removes its callback: what follows it moves. */
static void end_emit(void *number)
{
	for (struct entry *e = callbacks.first; ends_before_emit && e + 1 < callbacks.end; e++)
		if (e->number == (unsigned long)number)
			abort();
}

static pthread_key_t emit_key;

static void make_key(void)
{
	if (pthread_key_create(&emit_key, end_emit))
		abort();
}

unsigned long torch_emit(void);
unsigned long torch_emit(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	unsigned long number;

	pthread_once(&once, make_key);
	ends_before_emit = !callbacks.first;
	number = _ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE(
		(struct callback){emit_begin, emit_end, 1});
	pthread_setspecific(emit_key, (void *)number);
	return number;
}

/* The type of the tensors of all operators. */
static int type = 6;
void torch_type(int number);
void torch_type(int number)
{
	type = number;
}

/* [[3]] of aten::neg, [[2, 3], [3]] of operators that are not those of a trial. */
static unsigned long set_values(const char *name, struct value *values, struct list *list, struct tensor *tensors)
{
	_Bool is_neg = !strcmp(name, "aten::neg"), is_dropout = !strcmp(name, "aten::dropout");

	if (!strcmp(name, "aten::empty")) {
		values[0] = (struct value){.object = list, .tag = LIST};
		values[1] = (struct value){{type}, INT};
		values[4] = (struct value){.tag = BOOL};
		return 6;
	}
	for (int i = 0; i < 2; i++) {
		tensors[i] = (struct tensor){.words = {6, 7, 4, 5, [10] = 1, 3}, .type = (unsigned short)type};
		values[i] = (struct value){.object = &tensors[i], .tag = TENSOR};
	}
	if (is_dropout) {
		values[1] = (struct value){.fraction = 0.25, .tag = DOUBLE};
		values[2] = (struct value){.tag = BOOL};
	} else if (!is_neg) {
		memcpy(&tensors[0].words[10], (long[]){2, 2, 3}, 3 * sizeof(long));
	}
	return is_neg ? 1 : is_dropout ? 3 : 2;
}

/* sequence -1: none; -2: the one of the next node, as of an operator without a node. */
void torch_run(const char *name, long sequence);
void torch_run(const char *name, long sequence)
{
	struct record r = {.sequence = sequence == -2 ? next_sequence : sequence, .name = name};
	struct tensor tensors[2];
	struct value values[6] = {0}, three = {{3}, INT};
	struct list list = {.references = {1, 1}, .items = &three, .end = &three + 1, .capacity = &three + 1};
	void *context;

	r.count = set_values(name, values, &list, tensors);
	r.values = values;

	if (sequence >= next_sequence)
		next_sequence = sequence + 1;
	for (struct entry *e = callbacks.first; e < callbacks.end; e++)
		if (e->is_enabled)
			e->callback.begin(&context, &r);
	for (struct entry *e = callbacks.first; e < callbacks.end; e++)
		if (e->is_enabled)
			e->callback.end(&r, context);
}
