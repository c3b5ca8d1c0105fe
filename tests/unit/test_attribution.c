/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "report/names/attribution.h"
#include "report/names/symbol_module.h"
#include "opened.h"

Test(attribution, libraries_are_known_by_their_paths)
{
	static const char *const libraries[] = {"/usr/lib/python3.11/queue.py", "/opt/conda/lib64/python3.9/os.py",
						"/v/lib/python3.12/site-packages/torch/nn.py",
						"/usr/lib/python3/dist-packages/six.py",
						"<frozen importlib._bootstrap>",
						"/tmp/torchinductor_u/li/cli56.py", "<eval_with_key>.4",
						"/rustc/0a1b/library/std/src/map.rs", "library/core/src/ops.rs",
						"/home/u/.cargo/registry/src/index-1/serde-1.0/src/de.rs",
						"/usr/lib/go-1.19/src/runtime/asm_amd64.s",
						"/usr/lib/go-1.19/src/runtime/proc.go",
						"/usr/local/go/src/net/http/server.go",
						"/root/go1.22.1/src/sort/sort.go",
						"/usr/src/go/src/fmt/print.go",
						"/home/u/go/pkg/mod/example.com/x@v1.2.0/x.go"},
				 *const users[] = {
					 "/home/u/train.py",       "train.py", "<string>", "/home/u/lib/python/x.py",
					 "/home/site-packages.py", "", "/home/u/job/src/main.rs",
					 "library/core/src/a.c", "/home/u/go/src/example.com/u/job/main.go",
					 "/home/u/job/src/main/main.go", "/home/u/google/src/server/main.go",
					 "/home/u/gopher-job/src/train/x.go", "/home/u/go/src/job/main.go",
					 "/home/u/google/src/net/x.go", "/home/u/go-job/src/net/x.go",
					 "/home/u/go/src/networks/x.go", "/home/u/go/src/net.go"};

	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		cr_assert(attribution_is_library(libraries[i]), "%s", libraries[i]);
	for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++)
		cr_assert_not(attribution_is_library(users[i]), "%s", users[i]);
}

Test(attribution, functions_of_python_are_known_by_file_and_name)
{
	cr_assert(function_is_module("<module>"));
	cr_assert_not(function_is_module("module"));
	cr_assert(function_reports_for_loop("/usr/lib/python3.11/asyncio/base_events.py",
					    "BaseEventLoop.default_exception_handler"));
	cr_assert_not(function_reports_for_loop("/home/u/loop.py", "default_exception_handler"));
	cr_assert(function_awaits_connections("/usr/lib/python3.11/multiprocessing/connection.py", "wait"));
	cr_assert_not(function_awaits_connections("/usr/lib/python3.11/multiprocessing/connection.py",
						  "Connection._recv"));
	cr_assert(function_keeps_stack("/v/site-packages/torch/fx/traceback.py", "format_stack"));
	cr_assert_not(function_keeps_stack("/usr/lib/python3.11/traceback.py", "format_stack"));
}

Test(attribution, the_c_library_is_known_by_its_name)
{
	static const char *const all[] = {"/lib/x86_64-linux-gnu/libc.so.6", "/lib/libc-2.31.so", "/lib/libm-2.31.so",
					  "/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1",
					  "/lib/libc.musl-x86_64.so.1", "libstdc++.so.6", "libpthread.so.0"},
				 *const others[] = {"/home/u/ld-solver", "/home/u/libc-bench", "libcrypt.so.1",
						    "libmpi.so"};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		cr_expect(module_is_c_library(all[i]), "%s", all[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		cr_expect_not(module_is_c_library(others[i]), "%s", others[i]);
}

Test(attribution, functions_and_libraries_of_runtimes_are_known_by_their_names)
{
	static const struct {
		bool (*is_such)(const char *name);
		const char *such, *other;
	} cases[] = {{attribution_is_algebra, "/usr/lib/libopenblas.so.0", "/usr/lib/libm.so.6"},
		     {attribution_is_algebra, "/v/libmkl_core.so.2", "/home/libmkl_/job"},
		     {attribution_is_sqlite, "/v/_sqlite3.cpython-311-x86_64-linux-gnu.so", "/v/my_sqlite3.so"},
		     {function_ends_program, "exit", "_exit"},
		     {function_ends_program, "_Py_Finalize", "_Py_FinalizeEx"},
		     {function_collects_garbage, "gc_collect_main", "my_gc_collect"},
		     {function_awaits_ranks, "c10d::Work::wait(std::chrono::duration)", "Work::wait()"},
		     {function_awaits_ranks, "c10d::PrefixStore::wait(int)", "c10d::PrefixStore::get(int)"},
		     {function_synchronizes, "Stream.synchronize", "Stream.query"},
		     {function_synchronizes, "Event.wait", "Event.record"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_expect(cases[i].is_such(cases[i].such), "%s", cases[i].such);
		cr_expect_not(cases[i].is_such(cases[i].other), "%s", cases[i].other);
	}
}

static struct writer w;
static struct writer_thread t;
static struct model model;

/* A stack of Python frames, the innermost first. */
static struct attribution open_stack(const char *const (*frames)[2], size_t count)
{
	uint32_t codes[8];

	writer_init(&w, 1, 10, 1, 0);
	writer_thread(&w, &t, 10, "main", 4 * TF_PAGE);
	for (uint32_t i = 0; i < count; i++) {
		writer_python_code(&t, i + 1, 5, frames[i][0], frames[i][1]);
		codes[i] = i + 1;
	}
	writer_python_stack(&t, 1, codes, count);
	open_written(&model, &w);
	return (struct attribution){.symbols = symbols_new(&model, false)};
}

static void close_stack(struct attribution *a)
{
	attribution_done(a);
	symbols_free(a->symbols);
	model_done(&model);
	writer_done(&w);
}

/* The line to which it is attributed. */
static void assert_line(const char *const (*frames)[2], size_t count, const char *wanted)
{
	struct attribution a = open_stack(frames, count);
	struct buffer line = {0};

	attribution_text(&a, model.images, 1, "none", &line);
	cr_expect_str_eq(line.data, wanted);
	buffer_done(&line);
	close_stack(&a);
}

static void assert_users(const char *const (*frames)[2], size_t count, size_t wanted)
{
	struct attribution a = open_stack(frames, count);
	const struct symbol_frame *users;

	cr_expect_eq(attribution_users(&a, model.images, 1, &users), wanted);
	close_stack(&a);
}

Test(attribution, what_a_library_gives_to_exec_comes_after_written_code)
{
	static const char *const launcher[][2] = {{"<string>", "launcher"},
						  {"/tmp/torchinductor_u/li/cli56.py", "Runner.call"},
						  {"/v/lib/python3.12/site-packages/torch/nn.py", "_call_impl"},
						  {"/home/u/train.py", "<module>"}},
				 *const command[][2] = {{"/usr/lib/python3.11/json/encoder.py", "encode"},
							{"<string>", "<module>"}},
				 *const library[][2] = {{"/usr/lib/python3.11/threading.py", "wait"},
							{"/usr/lib/python3.11/threading.py", "run"}};

	assert_line(launcher, 4, "<module> (/home/u/train.py:5)");
	assert_line(command, 2, "<module> (<string>:5)");
	assert_line(library, 2, "wait (/usr/lib/python3.11/threading.py:5)");
}

/* A worker that waits is not at the line that has started it; its task has a line. */
Test(attribution, frames_of_the_process_that_forked_this_one_are_none_of_it)
{
#define BEGIN "/usr/lib/python3.11/multiprocessing/process.py", "BaseProcess._bootstrap"
	static const char *const idle[][2] = {{"/usr/lib/python3.11/multiprocessing/queues.py", "SimpleQueue.get"},
					      {BEGIN},
					      {"/home/u/train.py", "<module>"}},
				 *const task[][2] = {{"/usr/lib/python3.11/copy.py", "deepcopy"},
						     {"/home/u/train.py", "load"},
						     {BEGIN},
						     {"/home/u/train.py", "<module>"}};

	assert_line(idle, 3, "SimpleQueue.get (/usr/lib/python3.11/multiprocessing/queues.py:5)");
	assert_line(task, 4, "load (/home/u/train.py:5)");
	assert_users(task, 4, 1);
	assert_users(idle, 3, 0);
}
