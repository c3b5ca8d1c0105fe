/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the reports about JAX with captures written here. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/answers/summary/summary_parts.h"
#include "report/tables/report.h"
#include "trace_writer.h"

enum { START = 1000, OURS = 1, XLAS = 2 };
enum {
	RUN_F = 1,
	RUN_G,
	RUN_OTHER_G,
	TRACE_F,
	TRACE_G,
	LOWER_F,
	COMPILE_F,
	COMPILE_G,
	MODULE_F,
	MODULE_H,
	FUSION,
	COMMAND_BUFFER,
	BUILD_H,
	PART_H,
	PART_OF_OWN,
	CACHE_REQUEST,
	CACHE_HIT,
	CACHE_WRITE,
	MISS_F,
	SMALL, /* of live buffers */
	LARGE,
	ONE_DEVICE,
	MORE_DEVICES,
};

static const char *const texts[] = {
	NULL,
	"run f (a.py:3)",
	"run g (a.py:9)",
	"run g (b.py:9)",
	"trace f",
	"trace g",
	"lower jit(f)",
	"compile jit(f)",
	"compile jit(g)",
	"XlaModule:#prefix=x,hlo_module=jit_f,program_id=7#",
	"XlaModule:#hlo_module=jit_h,program_id=8#",
	"Thunk:#hlo_op=fusion.1#",
	"Thunk:#name=command_buffer_1#",
	"XlaCompile:#module=jit_h,program_id=8#",
	"XlaCompileGpuAsm:#module=jit_h#",
	"XlaCompileBackend:#module=gemm_fusion_dot,program_id=9#",
	"cache request",
	"cache hit",
	"cache write",
	"miss f: x, now f32[4] and before f32[3]",
	"float32[2]",
	"bfloat16[8,4]",
	"gpu:0",
	"gpu:0-3",
};

static const char *domains[] = {"JAX", "TSL"};
static const char *const kernels[] = {NULL, "fusion_1", "loop_add_fusion", "gemm", "other"};

struct job {
	struct writer w;
	struct writer_thread t, xla, cupti;
	uint16_t function;
	uint32_t launches;
};

static void range(struct writer_thread *t, unsigned domain, uint32_t text, uint64_t from, uint64_t to)
{
	if (from)
		writer_event(t, TF_PUSH, domain, START + from, text);
	if (to)
		writer_event(t, TF_POP, domain, START + to, 0);
}

static void launch(struct job *j, struct writer_thread *host, uint32_t kernel, uint64_t at, uint64_t duration)
{
	uint32_t id = ++j->launches;
	uint64_t arg = tf_arg(TF_ARG_LAUNCH, 0, 1);

	writer_call(host, j->function, START + at + 1, 1, &arg, 1);
	writer_device_calls(&j->cupti, TF_DEVICE_TIME_MONOTONIC,
			    &(struct writer_device_call){host->tid, id, START + at, 1, false}, 1);
	writer_device(&j->cupti, TF_DEVICE_TIME_MONOTONIC,
		      &(struct writer_device_record){kernel, id, START + 5000 + id * 2000, duration, 0}, 1);
}

static void job_begin(struct job *j)
{
	static const struct tf_launch launched = {.kernel = 1, .grid = {1, 1, 1}, .block = {1, 1, 1}};

	*j = (struct job){0};
	writer_init(&j->w, 7, 7, 1, START);
	j->function = writer_function(&j->w, TF_GROUP_CUDA, "cuLaunchKernel");
	writer_thread(&j->w, &j->t, 7, "python", TF_PAGE * 4);
	writer_thread(&j->w, &j->xla, 8, "xla", TF_PAGE * 4);
	writer_thread(&j->w, &j->cupti, 9, "cupti", TF_PAGE * 4);
	for (uint32_t i = 1; i < sizeof(texts) / sizeof(*texts); i++)
		writer_text(&j->t, TF_BLOB_STRING, i, texts[i]);
	writer_text(&j->t, TF_BLOB_DOMAIN, OURS, domains[0]);
	writer_text(&j->t, TF_BLOB_DOMAIN, XLAS, domains[1]);
	writer_device_source(&j->cupti, TF_DEVICE_TIME_MONOTONIC, 130001, "libcupti.so.13");
	for (uint32_t i = 1; i < sizeof(kernels) / sizeof(*kernels); i++) {
		struct tf_device_operation work = {
			.kind = TF_DEVICE_KERNEL, .kernel = i, .grid = {1, 1, 1}, .block = {1, 1, 1}};

		writer_text(&j->cupti, TF_BLOB_KERNEL, i, kernels[i]);
		writer_blob(&j->cupti, TF_BLOB_DEVICE_OPERATION, i, &work, sizeof(work));
	}
	writer_blob(&j->t, TF_BLOB_LAUNCH, 1, &launched, sizeof(launched));
}

/* The first call compiles f, which calls g while it is traced; the second one executes it. */
static void compiled(struct job *j)
{
	range(&j->t, OURS, RUN_F, 100, 0);
	range(&j->t, OURS, TRACE_F, 110, 0);
	range(&j->t, OURS, RUN_G, 120, 0);
	range(&j->t, OURS, TRACE_G, 125, 130);
	range(&j->t, OURS, RUN_G, 0, 140);
	range(&j->t, OURS, TRACE_F, 0, 150);
	range(&j->t, OURS, LOWER_F, 160, 180);
	range(&j->t, OURS, COMPILE_F, 200, 0);
	range(&j->t, XLAS, BUILD_H, 210, 290);
	range(&j->t, OURS, COMPILE_F, 0, 300);
	range(&j->t, OURS, RUN_F, 0, 400);
}

static void executed(struct job *j)
{
	range(&j->t, OURS, RUN_F, 500, 0);
	range(&j->t, XLAS, MODULE_F, 502, 0);
	range(&j->t, XLAS, FUSION, 504, 0);
	launch(j, &j->t, 1, 505, 1000);
	range(&j->t, XLAS, FUSION, 0, 508);
	range(&j->t, XLAS, COMMAND_BUFFER, 510, 0);
	launch(j, &j->t, 2, 511, 300);
	range(&j->t, XLAS, COMMAND_BUFFER, 0, 514);
	launch(j, &j->t, 3, 516, 20);
	range(&j->t, XLAS, MODULE_F, 0, 518);
	range(&j->t, OURS, RUN_F, 0, 520);
	launch(j, &j->t, 4, 600, 7);
	range(&j->xla, XLAS, MODULE_F, 700, 703); /* the only f */
}

static char directory[32];
static struct model model;
static struct report_context context;

static void job_open(void (*write)(struct job *))
{
	char *paths[] = {directory};
	struct err err = {{0}};
	struct job j;

	strcpy(directory, "/tmp/pillion-jax-XXXXXX");
	cr_assert_not_null(mkdtemp(directory));
	capture_create(directory);
	job_begin(&j);
	write(&j);
	writer_end(&j.w, TF_END_EXIT, 0, START + 90000);
	writer_save(&j.w, directory);
	writer_done(&j.w);
	cr_assert_eq(model_open(&model, paths, 1, &err), 0, "%s", err.text);
	context = (struct report_context){.model = &model, .symbols = symbols_new(&model, false)};
}

static void job_close(void)
{
	symbols_free(context.symbols);
	model_done(&model);
	capture_remove(directory);
}

static void check(void (*write)(struct job *), const char *report, bool lacks, const char *wanted)
{
	struct emit emit = {.format = FORMAT_CSV};
	struct table table = {0};
	char *text = NULL;
	size_t size;

	job_open(write);
	report_find(report)->run(&context, &table);
	cr_expect_eq(table.lacks != NULL, lacks, "%s", table.lacks);
	emit.file = open_memstream(&text, &size);
	emit_begin(&emit);
	emit_table(&emit, "x", "x", &table);
	emit_end(&emit);
	fclose(emit.file);
	cr_expect_str_eq(strchr(text, '\n') ? strchr(text, '\n') + 1 : text, wanted, "%s", text);
	free(text);
	table_done(&table);
	job_close();
}

static void check_summary(void (*write)(struct job *), const char *wanted)
{
	struct buffer text = {0};

	job_open(write);
	summary_jax(&context, &text);
	cr_expect_str_eq(buffer_string(&text), wanted);
	buffer_done(&text);
	job_close();
}

static void job_of_two(struct job *j)
{
	compiled(j);
	executed(j);
}

Test(jax, compilation_and_runs_of_each_function)
{
	check(job_of_two, "jax_sum", 0,
	      "96.9,155,35,20,100,1,2,160,80.0,1320,3,f (a.py:3),,\n"
	      "3.1,5,5,0,0,0,0,0,,0,0,g (a.py:9),,\n");
}

Test(jax, operations_by_range_and_by_kernel)
{
	check(job_of_two, "jax_ops_sum", 0,
	      "75.4,1000,1,4,1,fusion.1,jit_f,f (a.py:3),range,,\n"
	      "22.6,300,1,0,0,loop_add_fusion,jit_f,f (a.py:3),command buffer,,\n"
	      "1.5,20,1,0,0,gemm,jit_f,f (a.py:3),kernel,,\n"
	      "0.5,7,1,0,0,(not within a range of JAX or XLA),,,outside,,\n"
	      "0.0,0,0,4,1,command_buffer_1,jit_f,f (a.py:3),range,,\n");
}

/* A fusion with metadata; one without, whose kernel has its name with other characters; a kernel with the name of what
 * is within a fusion; a module in two parts. */
static void job_of_scopes(struct job *j)
{
	executed(j);
	writer_text(&j->t, TF_BLOB_XLA_MODULE, 4,
		    "HloModule jit_f\n"
		    "%fused_computation {\n"
		    "  %gemm, metadata={op_name=\"jit(f)/jit(main)/mlp/mul\" "
		    "source_file=\"/x/a.py\" source_line=7}\n"
		    "  ROOT %add.2, metadata={op_type=\"add\" op_name=\"jit(f)/jit(main)/mlp/add[a=(1,) b=x/y]\" "
		    "source_file=\"/x/a \\\"b\\\".py\" source_line=8}\n"
		    "  %last, metadata={op_name=\"jit(f)/jit(main)/mlp/sub\"}\n");
	writer_text(&j->t, TF_BLOB_XLA_MODULE, 4,
		    "ENTRY %main.9 {\n"
		    "  %loop-add.fusion, calls=%fused_computation\n"
		    "  ROOT %fusion.1, calls=%other, metadata={"
		    "op_name=\"jit(f)/jit(main)/transpose(jvp(a/b))/dot_general\" "
		    "source_file=\"/x/a.py\" source_line=9}\n");
}

Test(jax, operations_have_scopes_and_lines)
{
	check(job_of_scopes, "jax_ops_sum", 0,
	      "75.4,1000,1,4,1,fusion.1,jit_f,f (a.py:3),range,transpose(jvp(a/b))/dot_general,/x/a.py:9\n"
	      "22.6,300,1,0,0,loop_add_fusion,jit_f,f (a.py:3),command buffer,mlp/add,\"/x/a \"\"b\"\".py:8\"\n"
	      "1.5,20,1,0,0,gemm,jit_f,f (a.py:3),kernel,,\n"
	      "0.5,7,1,0,0,(not within a range of JAX or XLA),,,outside,,\n"
	      "0.0,0,0,4,1,command_buffer_1,jit_f,f (a.py:3),range,,\n");
}

/* The whole text of a newer version, with tables of lines; a module of another name; one of the same name that differs
 * in the scope of an operation and in the line of another one; texts that are cut or senseless. */
static void job_of_modules(struct job *j)
{
	executed(j);
	writer_text(&j->t, TF_BLOB_XLA_MODULE, 4,
		    "HloModule jit_f, is_scheduled=true\n\nFileNames\n1 \"/x/a.py\"\n2 \"/x/b.py\"\n\n"
		    "FunctionNames\n1 \"f\"\n\nFileLocations\n"
		    "1 {file_name_id=1 function_name_id=1 line=10 end_line=11 column=23}\n"
		    "2 {file_name_id=2 function_name_id=1 line=20}\n\nStackFrames\n1 {file_location_id=2 "
		    "parent_frame_id=1}\n3 {file_location_id=1 parent_frame_id=1}\n\n\n"
		    "ENTRY %main.9 (w: f32[2]) -> f32[2] {\n"
		    "  %w = f32[2]{0} parameter(0), metadata={op_name=\"w\"}\n"
		    "  %gemm = f32[2]{0} custom-call(%w), metadata={op_name=\"jit(f)/mlp/dot\" stack_frame_id=1}\n"
		    "  %loop_add_fusion = f32[2]{0} add(%w), metadata={op_name=\"jit(f)/mlp/add\" stack_frame_id=3}\n"
		    "  ROOT %fusion.1 = f32[2]{0} sine(%gemm), "
		    "metadata={op_name=\"jit(f)/a/sin\" stack_frame_id=9}\n}\n");
	writer_text(&j->t, TF_BLOB_XLA_MODULE, 5,
		    "HloModule jit_g\nENTRY main {\n  gemm, metadata={op_name=\"jit(g)/other\"}\n");
	writer_text(&j->t, TF_BLOB_XLA_MODULE, 6,
		    "HloModule jit_f\nENTRY main {\n  fusion.1, metadata={op_name=\"jit(f)/b/sin\"}\n"
		    "  loop_add_fusion, metadata={op_name=\"jit(f)/mlp/add\" stack_frame_id=1}\n");
	writer_text(&j->t, TF_BLOB_XLA_MODULE, 7, "  gemm, metadata={op_name=\"jit(f)/x\"}\nHloModule jit_f\n{\n");
	writer_text(&j->t, TF_BLOB_XLA_MODULE, 8, "HloModule jit_f\n%\n ROOT\n1\nFileNames\n1 \"\n {\n, metadata={");
}

Test(jax, modules_of_one_name)
{
	check(job_of_modules, "jax_ops_sum", 0,
	      "75.4,1000,1,4,1,fusion.1,jit_f,f (a.py:3),range,(several),\n"
	      "22.6,300,1,0,0,loop_add_fusion,jit_f,f (a.py:3),command buffer,mlp/add,\n"
	      "1.5,20,1,0,0,gemm,jit_f,f (a.py:3),kernel,mlp/dot,/x/b.py:20\n"
	      "0.5,7,1,0,0,(not within a range of JAX or XLA),,,outside,,\n"
	      "0.0,0,0,4,1,command_buffer_1,jit_f,f (a.py:3),range,,\n");
}

/* XLA alone, without --jax. Its other thread compiles parts of the module, and kernels that it compares. */
static void job_of_xla(struct job *j)
{
	range(&j->t, XLAS, BUILD_H, 100, 0);
	range(&j->t, XLAS, BUILD_H, 120, 150);
	range(&j->t, XLAS, BUILD_H, 0, 180);
	range(&j->xla, XLAS, PART_H, 110, 160);
	range(&j->xla, XLAS, PART_OF_OWN, 165, 175);
	range(&j->t, XLAS, MODULE_H, 200, 0);
	launch(j, &j->t, 3, 201, 9);
	range(&j->t, XLAS, MODULE_H, 0, 205);
	range(&j->t, XLAS, MODULE_H, 300, 302);
}

/* XLA without a range around these. */
static void job_of_parts(struct job *j)
{
	range(&j->t, XLAS, PART_H, 100, 180);
}

Test(jax, parts_without_a_whole_are_the_compilation)
{
	check(job_of_parts, "jax_sum", false, "100.0,80,0,0,80,1,0,0,,0,0,h,,\n");
}

Test(jax, without_our_ranges_there_are_those_of_xla)
{
	check(job_of_xla, "jax_sum", false, "100.0,80,0,0,80,1,2,7,3.5,9,1,h,,\n");
	check(job_of_xla, "jax_ops_sum", false, "100.0,9,1,0,0,gemm,jit_h,h,kernel,,\n");
}

/* Two modules whose names begin alike, of which XLA has built one. */
static void job_of_two_modules(struct job *j)
{
	range(&j->t, XLAS, BUILD_H, 100, 180);
	range(&j->t, XLAS, MODULE_F, 200, 0);
	launch(j, &j->t, 3, 201, 9);
	range(&j->t, XLAS, MODULE_F, 0, 205);
	range(&j->t, XLAS, MODULE_H, 300, 302);
}

Test(jax, modules_whose_names_begin_alike_are_told_apart)
{
	check(job_of_two_modules, "jax_sum", false,
	      "100.0,80,0,0,80,1,1,2,2.0,0,0,h,,\n"
	      "0.0,0,0,0,0,0,1,5,5.0,9,1,f,,\n");
}

/* Two functions have the name g: a phase belongs to the one called around it, and to neither outside of them. */
static void job_of_two_names(struct job *j)
{
	range(&j->t, OURS, RUN_G, 100, 0);
	range(&j->t, OURS, COMPILE_G, 110, 120);
	range(&j->t, OURS, RUN_G, 0, 130);
	range(&j->t, OURS, RUN_OTHER_G, 200, 0);
	range(&j->t, OURS, COMPILE_G, 210, 212);
	range(&j->t, OURS, RUN_OTHER_G, 0, 215);
	range(&j->t, OURS, COMPILE_G, 300, 301);
}

Test(jax, functions_of_one_name)
{
	check(job_of_two_names, "jax_sum", 0,
	      "76.9,10,0,0,10,1,1,20,20.0,0,0,g (a.py:9),,\n"
	      "15.4,2,0,0,2,1,1,13,13.0,0,0,g (b.py:9),,\n"
	      "7.7,1,0,0,1,1,0,0,,0,0,g,,\n");
}

/* f is traced again in its second call, g compiled once. */
static void job_of_a_miss(struct job *j)
{
	for (uint64_t at = 100; at < 300; at += 100) {
		range(&j->t, OURS, RUN_F, at, 0);
		range(&j->t, OURS, TRACE_F, at + 10, at + 20);
		if (at > 100)
			range(&j->t, OURS, MISS_F, at + 21, at + 21);
		range(&j->t, OURS, COMPILE_F, at + 30, at + 50);
		range(&j->t, OURS, RUN_F, 0, at + 60);
	}
}

Test(jax, why_a_function_is_traced_again)
{
	check(job_of_a_miss, "jax_sum", 0,
	      "100.0,60,20,0,40,2,2,60,30.0,0,0,f (a.py:3),,\"x, now f32[4] and before f32[3]\"\n");
}

static void job_of_nothing(struct job *j)
{
	launch(j, &j->t, 1, 100, 1);
}

static void job_on_the_cpu(struct job *j)
{
	range(&j->t, OURS, RUN_F, 100, 110);
}

Test(jax, nothing_to_show)
{
	check(job_of_nothing, "jax_sum", true, "");
	check(job_of_nothing, "jax_ops_sum", true, "");
	check(job_on_the_cpu, "jax_ops_sum", true, "");
}

static void job_that_runs_twice(struct job *j)
{
	job_of_two(j);
	executed(j);
}

static void job_that_compiles(struct job *j)
{
	range(&j->t, OURS, COMPILE_F, 100, 300);
}

Test(jax, the_summary_has_the_function_that_is_compiled_longest)
{
	check_summary(job_of_two, "JAX        f (a.py:3): compiled 1 time, 0.15 us; 2 runs, 1.32 us of the GPU; "
				  "compilation of all 2 functions: 0.16 us\n");
	check_summary(job_that_runs_twice, "JAX        f (a.py:3): compiled 1 time, 0.15 us; 3 runs, 2.64 us of the "
					   "GPU; compilation of all 2 functions: 0.16 us\n");
	check_summary(job_that_compiles, "JAX        f: compiled 1 time, 0.20 us; no run was recorded\n");
	check_summary(job_of_xla, "JAX        h: compiled 1 time, 0.08 us; 2 runs, 0.01 us of the GPU\n");
	check_summary(job_of_two_modules, "JAX        h: compiled 1 time, 0.08 us; 1 run, 0.00 us; "
					  "compilation of all 2 functions: 0.08 us\n");
	check_summary(job_of_nothing, "");
}

Test(jax, a_program_without_jax_has_none)
{
	domains[0] = domains[1] = "other";
	check(job_of_two, "jax_sum", true, "");
	check(job_of_two, "jax_ops_sum", true, "");
}

Test(jax, ranges_of_launches_have_their_parents)
{
	check(job_of_two, "nvtx_gpu_proj_trace", false,
	      "JAX:run f (a.py:3),7000,4020,500,20,PushPop,7,7,3,0,1,8,,:8\n"
	      "\"TSL:XlaModule:#prefix=x,hlo_module=jit_f,program_id=7#\",7000,4020,502,16,PushPop,7,7,3,1,2,9,8,:8:9\n"
	      "TSL:Thunk:#hlo_op=fusion.1#,7000,1000,504,4,PushPop,7,7,1,2,0,10,9,:8:9:10\n"
	      "TSL:Thunk:#name=command_buffer_1#,9000,300,510,4,PushPop,7,7,1,2,0,11,9,:8:9:11\n");
}

/* ---- JAX's persistent cache ---- */

static void in_cache(struct job *j, uint32_t text, uint64_t at)
{
	range(&j->t, OURS, text, at, at);
}

/* f is a miss and is written, then a hit; g is a miss that is not written; what was asked outside of a compilation
 * belongs to no function. */
static void job_of_cache(struct job *j)
{
	range(&j->t, OURS, RUN_F, 100, 0);
	range(&j->t, OURS, COMPILE_F, 110, 0);
	in_cache(j, CACHE_WRITE, 118);
	in_cache(j, CACHE_REQUEST, 119);
	range(&j->t, OURS, COMPILE_F, 0, 120);
	range(&j->t, OURS, RUN_F, 0, 130);
	range(&j->t, OURS, COMPILE_F, 200, 0);
	in_cache(j, CACHE_HIT, 201);
	in_cache(j, CACHE_REQUEST, 202);
	range(&j->t, OURS, COMPILE_F, 0, 203);
	range(&j->t, OURS, COMPILE_G, 300, 0);
	in_cache(j, CACHE_REQUEST, 301);
	range(&j->t, OURS, COMPILE_G, 0, 302);
	in_cache(j, CACHE_REQUEST, 400);
}

Test(jax, hits_and_misses_of_its_cache)
{
	check(job_of_cache, "jax_cache_sum", 0,
	      "1,1,1,2,13,f (a.py:3)\n"
	      "0,1,0,1,2,g\n"
	      "0,1,0,0,0,(not within a compilation)\n");
	check(job_of_two, "jax_cache_sum", true, "");
}

/* ---- memory ---- */

enum { LOOP = 1, FIRST_STACK = 1, SECOND_STACK, LOST_STACK };

static void look(struct job *j, uint32_t number, uint64_t at, const struct tf_jax_buffers *buffers, size_t count)
{
	struct tf_jax_live head = {.ticks = START + at, .number = number};
	char bytes[1024];

	memcpy(bytes, &head, sizeof(head));
	if (count)
		memcpy(bytes + sizeof(head), buffers, count * sizeof(*buffers));
	writer_blob(&j->t, TF_BLOB_JAX_LIVE, number, bytes, sizeof(head) + count * sizeof(*buffers));
}

/* Looks in another order than that of time, one of them in two parts; two stacks that have the same line. */
static void job_of_buffers(struct job *j)
{
	static const struct tf_jax_buffers small = {3, 24, SMALL, ONE_DEVICE, FIRST_STACK, 0},
					   again = {1, 8, SMALL, ONE_DEVICE, SECOND_STACK, 0},
					   large = {2, 512, LARGE, MORE_DEVICES, LOST_STACK, 0},
					   unknown = {1, 100, 9999, ONE_DEVICE, 0, 0};
	const uint32_t code = LOOP;

	writer_python_code(&j->t, LOOP, 7, "/home/a/train.py", "loop");
	writer_python_stack(&j->t, FIRST_STACK, &code, 1);
	writer_python_stack(&j->t, SECOND_STACK, (const uint32_t[]){LOOP, LOOP}, 2);
	look(j, 2, 300, &small, 1);
	look(j, 2, 300, &again, 1);
	look(j, 2, 300, &large, 1);
	look(j, 1, 100, &small, 1);
	look(j, 4, 500, &unknown, 1);
	look(j, 5, 600, NULL, 0);
	look(j, 3, 400, &large, 1);
	writer_blob(&j->t, TF_BLOB_JAX_LIVE, 6, &(uint64_t){700}, sizeof(uint64_t));
}

Test(jax, live_buffers_at_each_look)
{
	check(job_of_buffers, "jax_live_trace", 0,
	      "100,7,node1,,3,0.000024\n"
	      "300,7,node1,,6,0.000544\n"
	      "400,7,node1,,2,0.000512\n"
	      "500,7,node1,,1,0.000100\n"
	      "600,7,node1,,0,0.000000\n");
	check(job_of_nothing, "jax_live_trace", true, "");
}

Test(jax, live_buffers_by_shape_and_line)
{
	check(job_of_buffers, "jax_live_sum", 0,
	      "7,94.1,0.000512,2,300,0.000000,0.000000,0.000000,0.000512,\"bfloat16[8,4]\",gpu:0-3,?\n"
	      "7,5.9,0.000032,4,300,0.000024,0.000000,-0.000024,0.000032,float32[2],gpu:0,loop (/home/a/train.py:7)\n"
	      "7,0.0,0.000000,0,300,0.000000,0.000000,0.000000,0.000100,?,gpu:0,?\n");
	check(job_of_nothing, "jax_live_sum", true, "");
}

static void executable(struct job *j, uint32_t id, struct tf_jax_executable sizes, const char *name)
{
	char bytes[256];

	memcpy(bytes, &sizes, sizeof(sizes));
	memcpy(bytes + sizeof(sizes), name, strlen(name));
	writer_blob(&j->t, TF_BLOB_JAX_EXECUTABLE, id, bytes, sizeof(sizes) + strlen(name));
}

/* Aliased bytes are arguments and outputs; a damaged record may have more of them than there are bytes. */
static void job_of_executables(struct job *j)
{
	executable(j, 1, (struct tf_jax_executable){100, 50, 50, 10, 5, 2, 0}, "jit_f");
	executable(j, 2, (struct tf_jax_executable){1000, 50, 0, 10, 5, 1, 0}, "jit_f");
	executable(j, 3, (struct tf_jax_executable){100, 50, 50, 10, 5, 2, 0}, "jit_f");
	executable(j, 4, (struct tf_jax_executable){1, 1, 9, 1, 1, 1, 0}, "");
	writer_text(&j->t, TF_BLOB_JAX_EXECUTABLE, 5, "short");
}

Test(jax, memory_of_executables)
{
	check(job_of_executables, "jax_exec_sum", 0,
	      "0.001065,0.001000,0.000050,0.000000,0.000010,0.000005,1,1,jit_f\n"
	      "0.000115,0.000100,0.000050,0.000050,0.000010,0.000005,2,2,jit_f\n"
	      "0.000000,0.000001,0.000001,0.000009,0.000001,0.000001,1,1,\n");
	check(job_of_nothing, "jax_exec_sum", true, "");
}
