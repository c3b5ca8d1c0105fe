/* SPDX-License-Identifier: Apache-2.0 */
#include "report/names/attribution.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/names/launch_stub.h"
#include "report/names/python.h"
#include "report/names/symbol_file.h"
#include "report/names/symbol_module.h"

enum { STACK_FRAMES = TF_BLOB_BYTES / sizeof(uint64_t), POLLING_FRAMES = 8 };

/* Python that no person wrote: of torch.compile (in /tmp/torchinductor_USER/) and torch.fx, attrs, NumPy. */
static bool is_of_generator(const char *path)
{
	return text_any(text_begins_with, path, "<eval_with_key>", "<attrs generated", "<__array_function__") ||
	       strstr(path, "/torchinductor_");
}

/* Of Rust: the standard library by the names that its build has given to its files, and packages. */
static bool is_of_rust(const char *path)
{
	return (text_ends_with(path, ".rs") && text_any(text_begins_with, path, "/rustc/", "/rust/deps/",
							"library/std/src/", "library/core/src/",
							"library/alloc/src/")) ||
	       text_any(text_has, path, "/lib/rustlib/src/rust/", "/.cargo/registry/", "/.cargo/git/");
}

/* Whether the first `size` bytes name a directory in which Go is installed: go, go-1.19 or go1.22.1. */
static bool is_goroot(const char *name, size_t size)
{
	if (size < strlen("go") || memcmp(name, "go", strlen("go")) != 0)
		return false;
	name += strlen("go"), size -= strlen("go");
	if (size > 1 && *name == '-')
		name++, size--;
	return strspn(name, "0123456789.") >= size;
}

/* The first part of the path of each package of Go's own. */
static bool is_go_package(const char *name, size_t size)
{
	static const char *const names[] = {
		"archive", "bufio", "bytes", "compress", "container", "context", "crypto", "database", "debug",
		"embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html",
		"image", "index", "internal", "io", "iter", "log", "maps", "math", "mime",
		"net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices", "sort",
		"strconv", "strings", "structs", "sync", "syscall", "testing", "text", "time", "unicode",
		"unique", "unsafe", "vendor", "weak"};

	return array_find(one, names, sizeof(names) / sizeof(*names),
			  strlen(*one) == size && !memcmp(*one, name, size)) != NULL;
}

/* Of Go: packages are kept in "pkg/mod"; those of its own are in GOROOT/src, "/usr/lib/go-1.19/src/net/http/server.go".
 * A person's are in GOPATH/src, which may be named alike: "/home/u/go/src/job/main.go". */
static bool is_of_go(const char *path)
{
	if (!text_ends_with(path, ".go") && !text_ends_with(path, ".s"))
		return false;
	if (strstr(path, "/pkg/mod/"))
		return true;
	for (const char *end = strstr(path, "/src/"); end; end = strstr(end + 1, "/src/")) {
		const char *root = end, *package = end + strlen("/src/"), *slash = strchr(package, '/');

		while (root > path && root[-1] != '/')
			root--;
		if (slash && is_goroot(root, (size_t)(end - root)) && is_go_package(package, (size_t)(slash - package)))
			return true;
	}
	return false;
}

bool attribution_is_library(const char *path)
{
	static const char *const marks[] = {"/lib/python", "/lib64/python"};

	if (text_any(text_begins_with, path, "<frozen", "node:") || is_of_generator(path) ||
	    text_any(text_has, path, "/site-packages/", "/dist-packages/", "/node_modules/") || is_of_rust(path) ||
	    is_of_go(path))
		return true;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		const char *found = strstr(path, marks[i]);

		if (found && isdigit((unsigned char)found[strlen(marks[i])]))
			return true;
	}
	return false;
}

bool attribution_is_generated(const char *file)
{
	return *file == '<' && !text_any(text_begins_with, file, "<stdin", "<ipython");
}

bool attribution_is_import(const char *file, const char *function)
{
	const char *dot = strrchr(function, '.'), *name = dot ? dot + 1 : function;

	return text_begins_with(file, "<frozen importlib") &&
	       text_any(text_is, name, "_find_and_load", "_find_and_load_unlocked", "_load_unlocked",
			"_handle_fromlist", "_gcd_import", "exec_module", "load_module");
}

bool attribution_begins_process(const char *file, const char *function)
{
	return text_any(text_ends_with, file, "/multiprocessing/process.py", "/multiprocess/process.py",
			"/billiard/process.py") &&
	       text_ends_with(function, "_bootstrap");
}

static void find_import(void *context, const char *file, const char *function)
{
	bool *has = context;

	*has |= attribution_is_import(file, function);
}

bool attribution_has_import(const struct image *image, uint32_t stack)
{
	bool has = false;

	python_frames(image->trace, stack, &has, find_import);
	return has;
}

bool attribution_is_system(const char *module)
{
	return text_any(text_begins_with, path_name(module), "python3", "libpython3") ||
	       text_any(text_begins_with, module, "/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/") ||
	       attribution_is_library(module);
}

bool attribution_is_systems_program(const struct image *image)
{
	return image->executable &&
	       text_any(text_begins_with, image->executable, "/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/");
}

bool attribution_is_python_program(const struct image *image)
{
	return image->executable && text_begins_with(path_name(image->executable), "python");
}

bool attribution_is_openmp(const char *module)
{
	return text_any(text_begins_with, path_name(module), "libgomp", "libiomp", "libomp");
}

bool attribution_is_algebra(const char *module)
{
	return text_any(text_begins_with, path_name(module), "libopenblas", "libscipy_openblas", "libblas.so",
			"libblas64.so", "libcblas", "libflexiblas", "libblis", "libmkl_", "libatlas", "libtatlas",
			"libsatlas", "liblapack");
}

bool attribution_is_sqlite(const char *module)
{
	return text_any(text_begins_with, path_name(module), "libsqlite3", "_sqlite3");
}

bool attribution_uses_module(const struct image *image, bool (*is_such)(const char *path))
{
	const struct trace *t = image->trace;

	blobs_each(b, t, TF_BLOB_MODULE) {
		char bytes[TF_BLOB_BYTES + 1];
		size_t size = trace_blob(t, b, bytes, TF_BLOB_BYTES);

		bytes[size] = 0;
		if (size > sizeof(struct tf_module) && is_such(bytes + sizeof(struct tf_module)))
			return true;
	}
	return false;
}

bool attribution_is_mpi(const char *module)
{
	return text_any(text_begins_with, path_name(module), "libmpi", "libopen-pal", "libopen-rte", "libprrte",
			"libpmix", "libpmpi", "libucp", "libuct", "libucs", "libpsm", "libfabric");
}

bool attribution_is_of_mpi(struct symbols *s, const struct image *image, uint32_t stack)
{
	struct symbol_frame frames[POLLING_FRAMES];
	size_t count = stack ? symbols_native(s, image, stack, frames, POLLING_FRAMES) : 0;

	return array_find(frame, frames, count, attribution_is_mpi(frame->module)) != NULL;
}

bool attribution_is_of_openmp(struct symbols *s, const struct image *image, uint32_t stack)
{
	struct symbol_frame frame;

	/* What OpenMP calls is the program's work. */
	return stack && symbols_native(s, image, stack, &frame, 1) && attribution_is_openmp(frame.module);
}

bool attribution_is_below_openmp(struct symbols *s, const struct image *image, uint32_t stack)
{
	SCOPED_MEMORY struct symbol_frame *frames = mem_alloc(STACK_FRAMES * sizeof(*frames));
	size_t count = stack ? symbols_native(s, image, stack, frames, STACK_FRAMES) : 0;

	return array_find(frame, frames, count, attribution_is_openmp(frame->module)) != NULL;
}

bool attribution_polls(struct symbols *s, const struct image *image, uint32_t stack)
{
	return attribution_is_of_openmp(s, image, stack) || attribution_is_of_mpi(s, image, stack);
}

bool attribution_is_interpreter(struct symbols *s, const struct image *image, uint32_t stack)
{
	struct symbol_frame frame;

	return stack && symbols_native(s, image, stack, &frame, 1) && module_is_interpreter(frame.module);
}

/* Whether the interpreter's loop calls this function for an operator, as far as names tell: others are what Python code
 * calls, such as builtin_sorted. */
static bool is_operator(const char *function)
{
	if (text_any(text_begins_with, function, "Py", "_Py"))
		return !strcasestr(function, "call"); /* PyObject_Vectorcall */
	return text_any(text_has, function, "dealloc", "next", "x_add", "x_sub", "insertdict");
}

bool attribution_runs_python(struct symbols *s, const struct image *image, uint32_t stack)
{
	SCOPED_MEMORY struct symbol_frame *frames = mem_alloc(STACK_FRAMES * sizeof(*frames));
	size_t count = symbols_ends_in_interpreter(s, image, stack)
			       ? symbols_native(s, image, stack, frames, STACK_FRAMES)
			       : 0;
	const char *called = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *name;

		if (strcmp(frames[i].module, frames[0].module) != 0)
			return false;
		while (symbols_inlined_in(s, &frames[i]))
			;
		name = symbols_function(s, &frames[i]);
		if (name && symbol_is_evaluation(name))
			return !called || is_operator(called);
		called = name ? name : "";
	}
	return count; /* the stack was not walked up to the loop */
}

/* The text of `python -c` and what a library gives to exec(), as Triton its launchers, both are "<string>". */
static enum python_rank rank_of_function(const char *file, const char *function)
{
	if (attribution_is_library(file))
		return attribution_begins_process(file, function) ? PYTHON_BEGINS : PYTHON_UNWANTED;
	return attribution_is_generated(file) ? PYTHON_FALLBACK : PYTHON_WANTED;
}

static enum python_rank rank_without_generated(const char *file, const char *function)
{
	enum python_rank rank = rank_of_function(file, function);

	return rank == PYTHON_FALLBACK ? PYTHON_UNWANTED : rank;
}

bool attribution_is_worker(const struct image *image)
{
	const char *option = image->command ? strstr(image->command, " -c ") : NULL;

	return option && strstr(option, " multiprocessing.");
}

bool attribution_is_header(const char *file)
{
	return (text_begins_with(file, "/usr/") && strstr(file, "/include/")) || strstr(file, "/include/c++/") ||
	       (strstr(file, "/targets/") && strstr(file, "-linux/include/")) || /* of nvcc, wherever it is */
	       attribution_is_library(file);
}

/* How a frame is attributed, in ascending order. NO_LINE: native code without source lines, outside of the system;
 * PROGRAM: such code in the executable of the user's program. BEGINS: see attribution_begins_process. */
enum standing { NOT_KNOWN, BEGINS, STUB, SYSTEM, NO_LINE, PROGRAM, HEADER, USERS };

static enum standing standing_of_python(struct attribution *c, struct symbol_frame *f)
{
	symbols_name(c->symbols, f);
	if (!f->line->file)
		return SYSTEM;
	return attribution_begins_process(f->line->file, f->line->function) ? BEGINS
	       : attribution_is_library(f->line->file)			    ? SYSTEM
										    : USERS;
}

/* Code that was compiled at run time: a function in a script, unless it is of the virtual machine itself. */
static enum standing standing_of_compiled(struct attribution *c, struct symbol_frame *f)
{
	symbols_name(c->symbols, f);
	return f->line->file && !text_begins_with(f->line->file, "node:") &&
			       !attribution_is_library(f->line->file)
		       ? USERS
		       : NO_LINE;
}

static enum standing standing_of_native(struct attribution *c, const struct image *image, struct symbol_frame *f)
{
	uint32_t line;
	const char *file;

	if (!*f->module)
		return standing_of_compiled(c, f);
	if (attribution_is_system(f->module))
		return SYSTEM;
	file = symbols_source(c->symbols, f, &line);
	if (launch_stub_is(symbols_function(c->symbols, f), file))
		return STUB;
	if (file)
		return attribution_is_header(file) ? HEADER : USERS;
	return image->executable && !strcmp(f->module, image->executable) && !attribution_is_systems_program(image)
		       ? PROGRAM
		       : NO_LINE;
}

static enum standing standing_of(struct attribution *c, const struct image *image, struct symbol_frame *f)
{
	uint64_t *known = map_put(&c->users, f->place, 0, NULL);

	if (!*known)
		*known = f->is_python ? standing_of_python(c, f) : standing_of_native(c, image, f);
	return (enum standing)*known;
}

/* Likewise of a frame around those that `stub` knows: what launches a kernel is neither the stub nor the kernel. */
static enum standing standing_around(struct attribution *c, const struct image *image, struct launch_stub *stub,
				     struct symbol_frame *f)
{
	enum standing standing = standing_of(c, image, f);

	if (standing == STUB)
		launch_stub_enter(stub, symbols_function(c->symbols, f));
	else if (stub->base.size && !f->is_python && launch_stub_is_kernel(stub, symbols_function(c->symbols, f)))
		return STUB;
	return standing;
}

/* The program's entry point, which is in the stacks of functions that libraries registered with atexit(). */
static bool is_entry(struct attribution *c, struct symbol_frame *f)
{
	symbols_name(c->symbols, f);
	return !strcmp(f->line->function, "_start") && !f->line->file;
}

/* The innermost frame of a script, where a program of the system executes one: its own lines around it are not the
 * user's. `count`: of c->frames. NULL: none. */
static const struct symbol_frame *find_compiled(struct attribution *c, const struct image *image, size_t count)
{
	if (!attribution_is_systems_program(image))
		return NULL;
	return array_find(frame, c->frames, count,
			  !frame->is_python && !frame->is_interpreter && !*frame->module &&
			  standing_of(c, image, frame) == USERS);
}

/* The innermost frame of the user's own sources, with the functions that are inlined; else of a header; else of the
 * program, whose function then stands for the line. */
static bool find_native(struct attribution *c, const struct image *image, uint32_t stack, struct symbol_frame *ret,
			bool *ret_is_users)
{
	size_t count = symbols_native(c->symbols, image, stack, c->frames, STACK_FRAMES);
	enum standing best = NOT_KNOWN, now = NOT_KNOWN;
	const struct symbol_frame *compiled = find_compiled(c, image, count);
	SCOPED(launch_stub) stub = {0};

	if (compiled) {
		*ret = *compiled;
		*ret_is_users = true;
		return true;
	}
	for (size_t i = 0; i < count && now != USERS; i++) {
		struct symbol_frame f = c->frames[i];

		do {
			now = standing_around(c, image, &stub, &f);
			if (best <= STUB || now == STUB ||
			    (now > best && !(now == PROGRAM && i + 1 == count && is_entry(c, &f)))) {
				*ret = f;
				best = now;
			}
		} while (now != USERS && now != SYSTEM && symbols_inlined_in(c->symbols, &f));
	}
	*ret_is_users = best >= PROGRAM;
	/* Likewise what has no name. */
	if (count && !*c->frames[0].module &&
	    (best < USERS || (*ret->module && attribution_is_systems_program(image)))) {
		*ret = c->frames[0];
		*ret_is_users = true;
	}
	return count;
}

static bool find_innermost(struct attribution *c, const struct image *image, uint32_t stack, struct symbol_frame *ret,
			   bool *ret_is_users)
{
	size_t count = symbols_frames(c->symbols, image, stack, c->frames, STACK_FRAMES), at = 0;

	while (at < count && (c->frames[at].is_interpreter || c->frames[at].place == SYMBOL_NO_PLACE))
		at++;
	if (at == count)
		return false;
	*ret = c->frames[at];
	*ret_is_users = standing_of(c, image, ret) >= PROGRAM;
	return true;
}

bool attribution_stack(struct attribution *c, const struct image *image, uint32_t stack, struct symbol_frame *ret,
		       bool *ret_is_users)
{
	enum python_rank rank;

	*ret_is_users = false;
	if (!stack)
		return false;
	if (!c->frames)
		c->frames = mem_alloc(STACK_FRAMES * sizeof(*c->frames));
	if (c->is_innermost)
		return find_innermost(c, image, stack, ret, ret_is_users);
	if (!symbols_python(c->symbols, image, stack,
			    attribution_is_worker(image) ? rank_without_generated : rank_of_function, ret, &rank))
		return find_native(c, image, stack, ret, ret_is_users);
	*ret_is_users = rank > PYTHON_UNWANTED;
	return true;
}

static struct symbol_frame frame_of(struct attribution *c, const struct image *image, uint32_t stack)
{
	struct symbol_frame frame;
	bool is_users;

	if (!attribution_stack(c, image, stack, &frame, &is_users))
		return (struct symbol_frame){0};
	symbols_name(c->symbols, &frame);
	return frame;
}

const struct code_line *attribution_line(struct attribution *c, const struct image *image, uint32_t stack)
{
	return frame_of(c, image, stack).line;
}

const struct code_line *attribution_exact(struct attribution *c, const struct image *image, uint32_t stack)
{
	return frame_of(c, image, stack).exact;
}

void attribution_text(struct attribution *c, const struct image *image, uint32_t stack, const char *none,
		      struct buffer *ret)
{
	const struct code_line *line = attribution_line(c, image, stack);

	if (line)
		code_line_text(line, ret);
	else
		buffer_text(ret, none);
}

size_t attribution_users(struct attribution *c, const struct image *image, uint32_t stack,
			 const struct symbol_frame **ret)
{
	SCOPED(launch_stub) stub = {0};
	size_t count, users = 0, known = 0;
	bool is_script, is_systems = attribution_is_systems_program(image);

	if (!c->frames)
		c->frames = mem_alloc(STACK_FRAMES * sizeof(*c->frames));
	count = stack ? symbols_frames(c->symbols, image, stack, c->frames, STACK_FRAMES) : 0;
	is_script = find_compiled(c, image, count) != NULL;
	array_each(struct symbol_frame, f, c->frames, count) {
		enum standing standing;

		if (f->is_interpreter || f->place == SYMBOL_NO_PLACE || (is_script && *f->module) ||
		    (is_systems && !strcmp(f->module, image->executable)))
			continue;
		standing = standing_around(c, image, &stub, f);
		if (standing == BEGINS)
			break;
		if (standing == USERS && !known++)
			users = 0; /* without lines are then what the language has around them */
		if (standing == USERS || (standing == PROGRAM && !known && !is_entry(c, f)))
			c->frames[users++] = *f;
	}
	*ret = c->frames;
	return users;
}

void attribution_done(struct attribution *c)
{
	free(c->frames);
	map_done(&c->users);
	c->frames = NULL;
}

void attribution_modules(struct attribution *c, const struct image *image, uint32_t stack, struct buffer *ret)
{
	static const char forward[] = ".forward";
	enum { FRAMES = 512 };
	SCOPED_MEMORY struct symbol_frame *frames = mem_alloc(FRAMES * sizeof(*frames));
	size_t count = symbols_frames(c->symbols, image, stack, frames, FRAMES), before = ret->size;

	while (count--) {
		const char *name;
		size_t length;

		if (!frames[count].is_python)
			continue;
		symbols_name(c->symbols, &frames[count]);
		name = frames[count].line->function;
		length = strlen(name) - strlen(forward);
		if (strlen(name) > strlen(forward) && !strcmp(name + length, forward))
			buffer_print(ret, "%s%.*s", ret->size > before ? "." : "", (int)length, name);
	}
}

bool function_ends_program(const char *name)
{
	return text_any(text_is, name, "__run_exit_handlers", "exit", "Py_FinalizeEx", "_Py_Finalize");
}

bool function_collects_garbage(const char *name)
{
	return text_any(text_begins_with, name, "gc_collect", "_PyGC_Collect", "_Py_RunGC", "deduce_unreachable",
			"subtract_refs", "visit_reachable", "visit_decref", "move_unreachable");
}

bool function_awaits_ranks(const char *name)
{
	return text_begins_with(name, "c10d::") && text_any(text_has, name, "Work::wait(", "::monitoredBarrier(",
							     "Store::wait(", "::finalize_backward(");
}

bool function_is_module(const char *name)
{
	return !strcmp(name, "<module>");
}

bool function_reports_for_loop(const char *file, const char *name)
{
	return text_ends_with(file, "/asyncio/base_events.py") && text_ends_with(name, "default_exception_handler");
}

bool function_awaits_connections(const char *file, const char *name)
{
	return text_ends_with(file, "/multiprocessing/connection.py") && !strcmp(name, "wait");
}

bool function_keeps_stack(const char *file, const char *name)
{
	return text_ends_with(file, "/torch/fx/traceback.py") && !strcmp(name, "format_stack");
}

bool function_synchronizes(const char *name)
{
	return text_any(text_has, name, "synchronize", "wait");
}
