/* SPDX-License-Identifier: Apache-2.0 */
#include "report/read/operation.h"

#include <inttypes.h>
#include <string.h>

const char *const number_names[NUMBER_TYPES] = {"", "fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"};

bool operation_of(const struct trace *t, const struct event *e, struct tf_operation *ret)
{
	uint64_t arg = e->args_count ? event_arg(e, TF_ARG_OPERATION) : 0;
	const struct blob *b = arg ? trace_definition(t, TF_BLOB_OPERATION, tf_operation_id(arg)) : NULL;
	size_t head = sizeof(*ret) - sizeof(ret->values), size;

	*ret = (struct tf_operation){0};
	size = b ? trace_blob(t, b, ret, sizeof(*ret)) : 0;
	if (size < head || ret->count > TF_OPERATION_FIELDS || size < head + ret->count * sizeof(ret->values[0])) {
		*ret = (struct tf_operation){0};
		return false;
	}
	return true;
}

bool operation_field(const struct tf_operation *op, unsigned int field, int64_t *ret)
{
	for (unsigned int i = 0; i < op->count; i++)
		if (op->fields[i] == field) {
			*ret = op->values[i];
			return true;
		}
	return false;
}

bool operation_object(const struct trace *t, const struct tf_operation *op, struct buffer *ret_file,
		      struct buffer *ret_path)
{
	char text[TF_BLOB_BYTES];
	size_t size, file;
	const struct blob *b;
	int64_t id;

	b = operation_field(op, TF_FIELD_OBJECT, &id) ? trace_definition(t, TF_BLOB_HDF5, (uint32_t)id) : NULL;
	if (!b)
		return false;
	size = trace_blob(t, b, text, sizeof(text));
	file = strnlen(text, size);
	buffer_add(ret_file, text, file);
	if (file < size)
		buffer_add(ret_path, text + file + 1, strnlen(text + file + 1, size - file - 1));
	return true;
}

size_t operation_fields(const struct tf_operation *op, unsigned int field, int64_t *ret, size_t room)
{
	size_t count = 0;

	for (unsigned int i = 0; i < op->count && count < room; i++)
		if (op->fields[i] == field)
			ret[count++] = op->values[i];
	return count;
}

/* ---- as text ---- */

static const char *const field_names[TF_FIELDS] = {
	[TF_FIELD_M] = "m",
	[TF_FIELD_N] = "n",
	[TF_FIELD_K] = "k",
	[TF_FIELD_BATCH] = "batch",
	[TF_FIELD_TRANSPOSE] = "trans",
	[TF_FIELD_LEADING] = "ld",
	[TF_FIELD_STRIDE] = "stride",
	[TF_FIELD_TYPE] = "type",
	[TF_FIELD_COMPUTE] = "compute",
	[TF_FIELD_ALGORITHM] = "algo",
	[TF_FIELD_DIMENSION] = "dim",
	[TF_FIELD_PADDING] = "pad",
	[TF_FIELD_STEP] = "step",
	[TF_FIELD_DILATION] = "dilation",
	[TF_FIELD_GROUPS] = "groups",
	[TF_FIELD_MODE] = "mode",
	[TF_FIELD_DIRECTION] = "direction",
	[TF_FIELD_NONZEROS] = "nnz",
	[TF_FIELD_COUNT] = "count",
	[TF_FIELD_REDUCTION] = "op",
	[TF_FIELD_PEER] = "peer",
	[TF_FIELD_COMMUNICATOR] = "comm",
	[TF_FIELD_RANK] = "rank",
	[TF_FIELD_RANKS] = "ranks",
	[TF_FIELD_ELEMENT] = "element",
	[TF_FIELD_TAG] = "tag",
	[TF_FIELD_ENGINE] = "engine",
	[TF_FIELD_KIND] = "kind",
	[TF_FIELD_COMMUNICATOR_ID] = "id",
	[TF_FIELD_COMMUNICATOR_OF_MPI] = "id",
};

struct named_value {
	int64_t value;
	const char *name;
	unsigned int bytes;
};

/* cudaDataType_t, and from 0x29 the kinds of Fourier transforms; cudnnDataType_t, ncclDataType_t,
 * cublasComputeType_t */
static const struct named_value cuda_types[] = {
	{0, "R_32F", 4},      {1, "R_64F", 8},  {2, "R_16F", 2},  {3, "R_8I", 1},       {4, "C_32F", 8},
	{5, "C_64F", 16},     {6, "C_16F", 4},  {7, "C_8I", 2},   {8, "R_8U", 1},       {9, "C_8U", 2},
	{10, "R_32I", 4},     {11, "C_32I", 8}, {12, "R_32U", 4}, {13, "C_32U", 8},     {14, "R_16BF", 2},
	{15, "C_16BF", 4},    {24, "R_64I", 8}, {26, "R_64U", 8}, {28, "R_8F_E4M3", 1}, {29, "R_8F_E5M2", 1},
	{33, "R_4F_E2M1", 0}, {0x29, "C2C", 0}, {0x2a, "R2C", 0}, {0x2c, "C2R", 0},     {0x69, "Z2Z", 0},
	{0x6a, "D2Z", 0},     {0x6c, "Z2D", 0}, {-1, NULL, 0},
};
static const struct named_value cudnn_types[] = {
	{0, "FLOAT", 4},  {1, "DOUBLE", 8},   {2, "HALF", 2},      {3, "INT8", 1},      {4, "INT32", 4},
	{5, "INT8x4", 4}, {6, "UINT8", 1},    {7, "UINT8x4", 4},   {8, "INT8x32", 32},  {9, "BFLOAT16", 2},
	{10, "INT64", 8}, {11, "BOOLEAN", 1}, {12, "FP8_E4M3", 1}, {13, "FP8_E5M2", 1}, {-1, NULL, 0},
};
static const struct named_value nccl_types[] = {
	{0, "int8", 1},        {1, "uint8", 1},       {2, "int32", 4},   {3, "uint32", 4},  {4, "int64", 8},
	{5, "uint64", 8},      {6, "float16", 2},     {7, "float32", 4}, {8, "float64", 8}, {9, "bfloat16", 2},
	{10, "float8e4m3", 1}, {11, "float8e5m2", 1}, {-1, NULL, 0},
};
static const struct named_value compute_types[] = {
	{64, "16F", 0},          {65, "16F_PEDANTIC", 0},  {68, "32F", 0},           {69, "32F_PEDANTIC", 0},
	{70, "64F", 0},          {71, "64F_PEDANTIC", 0},  {72, "32I", 0},           {73, "32I_PEDANTIC", 0},
	{74, "32F_FAST_16F", 0}, {75, "32F_FAST_16BF", 0}, {77, "32F_FAST_TF32", 0}, {-1, NULL, 0},
};
static const struct named_value nccl_reductions[] = {
	{0, "sum", 0}, {1, "prod", 0}, {2, "max", 0}, {3, "min", 0}, {4, "avg", 0}, {-1, NULL, 0}};
static const struct named_value kinds[] = {
	{1, "convolution", 0}, {2, "engine", 0},           {3, "engine-config", 0},  {5, "plan", 0},
	{10, "conv-fwd", 0},   {11, "conv-bwd-filter", 0}, {12, "conv-bwd-data", 0}, {13, "pointwise", 0},
	{14, "gen-stats", 0},  {15, "graph", 0},           {16, "variant-pack", 0},  {17, "tensor", 0},
	{19, "matmul", 0},     {22, "reduction", 0},       {25, "resample-fwd", 0},  {26, "resample-bwd", 0},
	{27, "concat", 0},     {28, "signal", 0},          {29, "norm-fwd", 0},      {30, "norm-bwd", 0},
	{-1, NULL, 0},
};
static const struct named_value communicators[] = {{0x44000000, "world", 0}, {0x44000001, "self", 0}, {-1, NULL, 0}};
static const struct named_value transposes[] = {{0, "N", 0}, {1, "T", 0}, {2, "C", 0}, {-1, NULL, 0}};

static const struct named_value *find_named(const struct named_value *list, int64_t value)
{
	for (; list->name; list++)
		if (list->value == value)
			return list;
	return NULL;
}

static const struct named_value *types_of(unsigned int group)
{
	return group == TF_GROUP_CUDNN ? cudnn_types : group == TF_GROUP_NCCL ? nccl_types : cuda_types;
}

static void add_named(const struct named_value *list, int64_t value, struct buffer *ret)
{
	const struct named_value *n = find_named(list, value);

	if (n)
		buffer_text(ret, n->name);
	else
		buffer_print(ret, "%" PRId64, value);
}

static void operation_add_value(unsigned int group, unsigned int field, int64_t value, struct buffer *ret)
{
	if (field == TF_FIELD_TYPE)
		add_named(types_of(group), value, ret);
	else if (field == TF_FIELD_TRANSPOSE)
		add_named(transposes, value, ret);
	else if (field == TF_FIELD_COMPUTE)
		add_named(group == TF_GROUP_CUBLAS ? compute_types : types_of(group), value, ret);
	else if (field == TF_FIELD_REDUCTION && group == TF_GROUP_NCCL)
		add_named(nccl_reductions, value, ret);
	else if (field == TF_FIELD_KIND)
		add_named(kinds, value, ret);
	else if (field == TF_FIELD_COMMUNICATOR && group == TF_GROUP_MPI && find_named(communicators, value))
		add_named(communicators, value, ret);
	else if (field == TF_FIELD_COMMUNICATOR || field == TF_FIELD_COMMUNICATOR_ID ||
		 field == TF_FIELD_COMMUNICATOR_OF_MPI)
		buffer_print(ret, "0x%" PRIx64, (uint64_t)value);
	else
		buffer_print(ret, "%" PRId64, value);
}

bool operation_value(const struct tf_operation *op, unsigned int group, unsigned int field, struct buffer *ret)
{
	int64_t found;

	if (!operation_field(op, field, &found))
		return false;
	operation_add_value(group, field & ~(unsigned int)TF_ROLE_MASK, found, ret);
	return true;
}

void operation_text(const struct tf_operation *op, unsigned int group, struct buffer *ret)
{
	bool is_first = true;

	for (unsigned int i = 0; i < op->count; i++) {
		unsigned int field = op->fields[i] & ~(unsigned int)TF_ROLE_MASK,
			     role = (op->fields[i] & TF_ROLE_MASK) >> 5;

		if (!field_names[field])
			continue;
		if (!is_first && i && op->fields[i] == op->fields[i - 1]) {
			buffer_text(ret, field == TF_FIELD_KIND ? "+" : "x");
		} else {
			buffer_print(ret, "%s%s", is_first ? "" : " ", field_names[field]);
			if (role)
				buffer_print(ret, "%c", 'A' + (int)role - 1);
			buffer_text(ret, "=");
		}
		operation_add_value(group, field, op->values[i], ret);
		is_first = false;
	}
}

/* ---- derived values ---- */

static double operation_number(const struct tf_operation *op, unsigned int field, double otherwise)
{
	int64_t found;

	return operation_field(op, field, &found) && found >= 0 ? (double)found : otherwise;
}

/* A complex product consists of four real ones and two additions. */
static double flop_factor(const struct function *f, const struct tf_operation *op)
{
	const struct named_value *n;
	int64_t type;

	if (!operation_field(op, TF_FIELD_TYPE | TF_ROLE_A, &type))
		return f->kind.letter == 'C' || f->kind.letter == 'Z' ? 4 : 1;
	n = find_named(cuda_types, type);
	return n && n->name[0] == 'C' ? 4 : 1;
}

/* cublasLtMatmul: the sizes are those of its layouts. */
static double product_of_layouts(const struct tf_operation *op)
{
	unsigned int out = operation_number(op, TF_FIELD_M | TF_ROLE_D, 0) > 0 ? TF_ROLE_D : TF_ROLE_C;
	double k = operation_number(op, TF_FIELD_TRANSPOSE | TF_ROLE_A, 0) > 0
			   ? operation_number(op, TF_FIELD_M | TF_ROLE_A, 0)
			   : operation_number(op, TF_FIELD_N | TF_ROLE_A, 0);

	return 2 * operation_number(op, TF_FIELD_M | out, 0) * operation_number(op, TF_FIELD_N | out, 0) * k *
	       operation_number(op, TF_FIELD_BATCH | out, 1);
}

/* Of real numbers. */
static double real_flops(const struct function *f, const struct tf_operation *op)
{
	double m = operation_number(op, TF_FIELD_M, 0), n = operation_number(op, TF_FIELD_N, 0),
	       k = operation_number(op, TF_FIELD_K, 0);
	double batch = operation_number(op, TF_FIELD_BATCH, 1),
	       side = operation_number(op, TF_FIELD_MODE, 0) > 0 ? n : m;

	switch (f->kind.match) {
	case BLAS_PRODUCT:
		return 2 * m * n * k * batch;
	case BLAS_LAYOUTS:
		return product_of_layouts(op);
	case BLAS_WITH_VECTOR:
		return 2 * m * n * batch;
	case BLAS_WITH_SQUARE:
		return 2 * m * n * side;
	case BLAS_WITH_TRIANGLE:
		return m * n * side * batch;
	case BLAS_RANK_2K:
		return 2 * n * n * k;
	case BLAS_WITH_TRANSPOSED:
		return n * (n + 1) * k;
	default:
		return 0;
	}
}

double operation_flops(const struct function *f, const struct tf_operation *op)
{
	return f->group == TF_GROUP_CUBLAS ? real_flops(f, op) * flop_factor(f, op) : 0;
}

/* enum kinds: conv-fwd, conv-bwd-filter, conv-bwd-data */
bool operation_is_convolution(const struct function *f, const struct tf_operation *op)
{
	int64_t found[8];
	size_t count = operation_fields(op, TF_FIELD_KIND, found, sizeof(found) / sizeof(*found));

	if (f->kind.match != DNN_DESCRIBED)
		count = 0;
	return f->group == TF_GROUP_CUDNN && (f->kind.match == DNN_CONVOLUTION ||
					      array_find(kind, found, count, *kind >= 10 && *kind <= 12) != NULL);
}

static const struct letter {
	char letter;
	uint8_t bytes, type; /* enum number_type */
} letters[] = {{'H', 2, NUMBER_FP16}, {'S', 4, NUMBER_FP32},  {'C', 8, NUMBER_FP32},
	       {'D', 8, NUMBER_FP64}, {'Z', 16, NUMBER_FP64}, {'\0', 0, NUMBER_UNKNOWN}};

static const struct letter *of_letter(const struct function *f)
{
	const struct letter *ret = letters;

	while (ret->letter && ret->letter != f->kind.letter)
		ret++;
	return ret;
}

unsigned int operation_element(const struct function *f, const struct tf_operation *op)
{
	const struct named_value *n;
	int64_t type;

	if (operation_field(op, TF_FIELD_TYPE | TF_ROLE_A, &type)) {
		n = find_named(types_of(f->group), type);
		return n ? n->bytes : 0;
	}
	return of_letter(f)->bytes;
}

/* By the names in cuda_types and cudnn_types, whose first words decide. */
enum number_type operation_type(const struct function *f, const struct tf_operation *op)
{
	static const struct {
		const char *start;
		enum number_type type;
	} types[] = {
		{"R_32F", NUMBER_FP32}, {"C_32F", NUMBER_FP32}, {"R_64F", NUMBER_FP64},
		{"C_64F", NUMBER_FP64}, {"R_16F", NUMBER_FP16}, {"C_16F", NUMBER_FP16},
		{"R_16BF", NUMBER_BF16}, {"C_16BF", NUMBER_BF16}, {"R_8F", NUMBER_FP8},
		{"R_8I", NUMBER_INT8}, {"R_8U", NUMBER_INT8}, {"FLOAT", NUMBER_FP32},
		{"HALF", NUMBER_FP16}, {"DOUBLE", NUMBER_FP64}, {"BFLOAT16", NUMBER_BF16},
		{"FP8", NUMBER_FP8}, {"INT8", NUMBER_INT8}, {"UINT8", NUMBER_INT8},
	};
	const struct named_value *n = NULL;
	int64_t type;

	if (operation_field(op, TF_FIELD_TYPE | TF_ROLE_A, &type))
		n = find_named(types_of(f->group), type);
	for (size_t i = 0; n && i < sizeof(types) / sizeof(*types); i++)
		if (!strncmp(n->name, types[i].start, strlen(types[i].start)))
			return types[i].type;
	return n ? NUMBER_UNKNOWN : of_letter(f)->type;
}

/* Bits of an element of A; 32-bit types count only if rounding is allowed. */
static unsigned int product_bytes(const struct function *f, const struct tf_operation *op)
{
	int64_t type, compute;
	const struct named_value *n;

	if (operation_field(op, TF_FIELD_TYPE | TF_ROLE_A, &type)) {
		n = find_named(cuda_types, type);
		if (!n || n->name[0] == 'C')
			return 0;
		if (n->bytes != 4)
			return n->bytes;
		return operation_field(op, TF_FIELD_COMPUTE, &compute) &&
				       (compute == 74 || compute == 75 || compute == 77)
			       ? 4
			       : 0;
	}
	return f->kind.letter == 'H' ? 2 : f->kind.letter == 'D' ? 8 : 0;
}

bool operation_product(const struct function *f, const struct tf_operation *op, int64_t ret_sizes[3],
		       unsigned int *ret_multiple)
{
	bool is_lt = f->kind.match == BLAS_LAYOUTS;
	unsigned int out = operation_number(op, TF_FIELD_M | TF_ROLE_D, 0) > 0 ? TF_ROLE_D : TF_ROLE_C, bytes;
	bool is_turned = is_lt && operation_number(op, TF_FIELD_TRANSPOSE | TF_ROLE_A, 0) > 0;

	if (f->group != TF_GROUP_CUBLAS || !(is_lt || f->kind.match == BLAS_PRODUCT))
		return false;
	if (!operation_field(op, is_lt ? TF_FIELD_M | out : TF_FIELD_M, &ret_sizes[0]) ||
	    !operation_field(op, is_lt ? TF_FIELD_N | out : TF_FIELD_N, &ret_sizes[1]) ||
	    !operation_field(op,
			     !is_lt      ? TF_FIELD_K
			     : is_turned ? TF_FIELD_M | TF_ROLE_A
					 : TF_FIELD_N | TF_ROLE_A,
			     &ret_sizes[2]))
		return false;
	bytes = product_bytes(f, op);
	*ret_multiple = bytes && bytes <= 8 ? 16 / bytes : 0;
	return ret_sizes[0] > 0 && ret_sizes[1] > 0 && ret_sizes[2] > 0;
}

double operation_bytes(const struct function *f, const struct tf_operation *op)
{
	double count = operation_number(op, TF_FIELD_COUNT, 0);
	const struct named_value *type;

	if (f->group == TF_GROUP_MPI || f->group == TF_GROUP_HDF5)
		return count * operation_number(op, TF_FIELD_ELEMENT, 0);
	type = find_named(types_of(f->group), (int64_t)operation_number(op, TF_FIELD_TYPE, -2));
	if (f->kind.parallel & PARALLEL_COUNTS_PART)
		count *= operation_number(op, TF_FIELD_RANKS, 1);
	return type ? count * type->bytes : 0;
}
