/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the exported page and checks its contents. tests/e2e/export_html.sh tests it in a browser. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "report/page/export_html.h"
#include "golden.h"

struct page {
	char directory[64], path[64];
	char *text;
	size_t size;
	struct err err;
};

static char *read_whole(const char *path, size_t *ret_size)
{
	FILE *f = fopen(path, "re");
	struct buffer b = {0};
	char piece[4096];
	size_t size;

	cr_assert_not_null(f);
	while ((size = fread(piece, 1, sizeof(piece), f)))
		buffer_add(&b, piece, size);
	fclose(f);
	*ret_size = b.size;
	return b.data;
}

static void make_page(struct page *p, void (*capture)(const char *directory))
{
	char *paths[] = {p->directory};
	struct model model;
	struct report_context context = {.model = &model};
	struct export x = {.context = &context};

	*p = (struct page){.directory = "/tmp/pillion-html-XXXXXX", .path = "/tmp/pillion-page-XXXXXX"};
	cr_assert_not_null(mkdtemp(p->directory));
	close(mkstemp(p->path));
	capture(p->directory);
	cr_assert_eq(model_open(&model, paths, 1, &p->err), 0, "%s", p->err.text);
	context.symbols = symbols_new(&model, true);
	cr_assert_eq(export_write(&x, export_find("html"), p->path, true, &p->err), 0, "%s", p->err.text);
	p->text = read_whole(p->path, &p->size);
	symbols_free(context.symbols);
	model_done(&model);
	capture_remove(p->directory);
	unlink(p->path);
}

static unsigned int digit(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c == '=' ? digits : strchr(digits, c);

	cr_assert(c && at, "%c is no base64", c);
	return (unsigned int)(at - digits);
}

/* Returns the NUL-terminated contents of a data element. */
static char *unpack(const char *text, const char *id, size_t *ret_size)
{
	struct buffer head = {0}, packed = {0}, whole = {0};
	z_stream z = {0};
	const char *at, *end;
	char piece[4096];
	int code = Z_OK;

	buffer_print(&head, "<script type=\"text/plain\" id=\"%s\">", id);
	at = strstr(text, head.data);
	cr_assert_not_null(at, "no %s", id);
	at += head.size;
	end = strstr(at, "</script>");
	cr_assert(end && (end - at) % 4 == 0);
	for (; at < end; at += 4) {
		uint32_t three = digit(at[0]) << 18 | digit(at[1]) << 12 | digit(at[2]) << 6 | digit(at[3]);
		unsigned char bytes[] = {(unsigned char)(three >> 16), (unsigned char)(three >> 8),
					 (unsigned char)three};

		buffer_add(&packed, bytes, at[2] == '=' ? 1 : at[3] == '=' ? 2 : 3);
	}
	cr_assert_eq(inflateInit2(&z, -15), Z_OK);
	z.next_in = (unsigned char *)packed.data;
	z.avail_in = (unsigned int)packed.size;
	while (code == Z_OK) {
		z.next_out = (unsigned char *)piece;
		z.avail_out = sizeof(piece);
		code = inflate(&z, Z_NO_FLUSH);
		buffer_add(&whole, piece, sizeof(piece) - z.avail_out);
	}
	cr_assert_eq(code, Z_STREAM_END);
	cr_assert_eq(z.avail_in, 0);
	inflateEnd(&z);
	buffer_done(&head);
	buffer_done(&packed);
	*ret_size = whole.size;
	return whole.data;
}

static uint64_t number(const unsigned char **at)
{
	uint64_t value = 0;

	for (int shift = 0;; shift += 7) {
		value |= (uint64_t)(**at & 127) << shift;
		if (*(*at)++ < 128)
			return value;
	}
}

/* The number of the first track of a kind. */
static uint64_t track_of(const char *text, const char *kind)
{
	size_t size;
	char *model = unpack(text, "model", &size);
	const char *at = strstr(model, "\"tracks\":["), *wanted;
	struct buffer head = {0};
	uint64_t number = 0;

	cr_assert_not_null(at);
	buffer_print(&head, "{\"kind\":\"%s\"", kind);
	wanted = strstr(at, head.data);
	cr_assert_not_null(wanted, "no track of %s", kind);
	while ((at = strstr(at + 1, "{\"kind\":")) && at < wanted)
		number++;
	buffer_done(&head);
	free(model);
	return number;
}

/* Reads all blocks; returns the number of their events, those of the critical path aside, and the sum of the
 * durations. */
static uint64_t count_events(const char *text, uint64_t *ret_total_ns)
{
	size_t size;
	uint64_t path = track_of(text, "path");
	char *bytes = unpack(text, "events", &size);
	const unsigned char *at = (unsigned char *)bytes, *end = at + size;
	uint64_t events = 0;

	*ret_total_ns = 0;
	while (at < end) {
		uint64_t used, count, track = number(&at);

		used = number(&at);
		count = number(&at);
		cr_assert(count && count <= HTML_BLOCK_EVENTS && used < 1u << HTML_COLUMNS);
		events += track == path ? 0 : count;
		for (int column = 0; column < HTML_COLUMNS; column++)
			for (uint64_t i = 0; used & 1u << column && i < count; i++) {
				uint64_t value = number(&at);

				*ret_total_ns += column == HTML_DURATION && track != path ? value : 0;
			}
	}
	cr_assert_eq(at, end);
	free(bytes);
	return events;
}

/* Of the model the part that begins with that key, up to the next key that is given. */
static void print_part(FILE *out, const char *model, const char *key, const char *next)
{
	const char *from = strstr(model, key), *until = from ? strstr(from, next) : NULL;

	cr_assert_not_null(until, "%s", key);
	for (; from < until; from++)
		fputs(*from == '{' ? "\n{" : (char[]){*from, 0}, out);
	fputs("\n", out);
}

/* The tracks, then each block: "track count", and a line for each column that it has. */
static char *page_text(const char *text)
{
	size_t size, size_of_events;
	char *model = unpack(text, "model", &size), *bytes = unpack(text, "events", &size_of_events), *ret = NULL;
	const unsigned char *at = (unsigned char *)bytes, *end = at + size_of_events;
	FILE *out = open_memstream(&ret, &size);

	print_part(out, model, "\"tracks\":[", "]");
	while (at < end) {
		uint64_t track = number(&at), used = number(&at), count = number(&at);

		fprintf(out, "%" PRIu64 " %" PRIu64 "\n", track, count);
		for (int column = 0; column < HTML_COLUMNS; column++) {
			for (uint64_t i = 0; used & 1u << column && i < count; i++)
				fprintf(out, i ? " %" PRIu64 : "  %" PRIu64, number(&at));
			fputs(used & 1u << column ? "\n" : "", out);
		}
	}
	fclose(out);
	free(model);
	free(bytes);
	return ret;
}

static size_t times(const char *text, const char *part)
{
	size_t count = 0;

	for (const char *at = text; (at = strstr(at, part)); at++)
		count++;
	return count;
}

Test(export_html, is_one_whole_page_that_asks_for_nothing)
{
	struct page p;

	make_page(&p, capture_example);
	cr_expect_eq(strncmp(p.text, "<!doctype html>", 15), 0);
	cr_expect_str_eq(p.text + p.size - 8, "</html>\n");
	cr_expect_eq(times(p.text, "<script"), 3, "events, model, the code");
	cr_expect_eq(times(p.text, "default-src 'none'; script-src 'sha256-"), 1);
	cr_expect_null(strstr(p.text, "http://"));
	cr_expect_null(strstr(p.text, "https://"));
	cr_expect_null(strstr(p.text, "innerHTML"));
	cr_expect_null(strstr(p.text, "@SCRIPT"));
	free(p.text);
}

Test(export_html, holds_every_event_of_the_example)
{
	struct page p;
	uint64_t total;
	size_t size;
	char *model;

	make_page(&p, capture_example);
	/* CUDA calls, OS calls, the one in progress, ranges, a mark, device records, links; a wait and CUPTI's
	 * overhead; the beginning and the end of five threads' accounts of time; a sample of resident memory and six
	 * points of the allocations in use, and the 0 of each at the end of the process; three steps. */
	cr_expect_eq(count_events(p.text, &total), 8 + 8 + 1 + 5 + 1 + 9 + 7 + 2 + 10 + 1 + 6 + 2 + 3);
	model = unpack(p.text, "model", &size);
	cr_expect_not_null(strstr(model, "\"vecAdd(float const*, float const*, float*, int)\""));
	cr_expect_not_null(strstr(model, "\"batch \xef\xbf\xbd\\\\x1b[31m\""), "names are safe before they get there");
	cr_expect_not_null(strstr(model, "\"state\":\"still in this call when it was last recorded\""));
	cr_expect_not_null(
		strstr(model, "\"grid\":\"128 × 1 × 1\",\"block\":\"256 × 1 × 1\",\"registers per thread\":\"32\""));
	cr_expect_not_null(strstr(model, "{\"name\":\"processes\",\"title\":\"Processes\",\"rows\":3,\"info\":false"));
	cr_expect_not_null(strstr(model, "\"leftOut\":[]"));
	cr_expect_not_null(strstr(model, "\"wait for a context\""));
	cr_expect_not_null(strstr(model, "\"buffer delivery\""));
	free(model);
	free(p.text);
}

/* Another launcher has sampled the main thread of the job at 100 and 200 ms. */
static void capture_usage(const char *directory)
{
	static const struct {
		struct tf_usage_head head;
		struct tf_usage_sample samples[2];
	} file = {{.magic = TF_USAGE_MAGIC, .run = 0x78, .clock = 1, .sample_bytes = sizeof(file.samples[0]),
		   .boot = WRITER_BOOT},
		  {{.kind = TF_USAGE_THREAD, .pid = 200, .tid = 200, .process_start = 1200,
		    .ticks = 1100000000, .cpu_ns = 30000000, .delay_ns = 10000000},
		   {.kind = TF_USAGE_THREAD, .pid = 200, .tid = 200, .process_start = 1200,
		    .ticks = 1200000000, .cpu_ns = 50000000, .delay_ns = 10000000}}};

	capture_together(directory);
	capture_file(directory, "node1.78.usage", &file, sizeof(file));
}

Test(export_html, is_as_it_was)
{
	struct page p;

	make_page(&p, capture_usage);
	golden_compare("export_html.together.txt", page_text(p.text));
	free(p.text);
}

Test(export_html, keeps_markup_in_names_as_text)
{
	struct page p;
	size_t size;
	char *model;

	make_page(&p, capture_hostile);
	cr_expect_null(strstr(p.text, "<img"));
	cr_expect_null(strstr(p.text, "alert(2)</script>"));
	cr_expect_not_null(strstr(p.text, "<title>'&lt;img src=x onerror=alert(1)&gt; &quot;&amp;"));
	cr_expect_eq(times(p.text, "<script"), 3);
	cr_expect_eq(times(p.text, "</script>"), 3);
	model = unpack(p.text, "model", &size);
	cr_expect_not_null(strstr(model, "\"" WRITER_HOSTILE "\""));
	free(model);
	free(p.text);
}

/* The starts and durations of the events of a track, which fit in one block; returns their number. */
static size_t times_of(const char *text, uint64_t wanted, int64_t (*ret)[2], size_t most)
{
	size_t size, found = 0;
	char *bytes = unpack(text, "events", &size);
	const unsigned char *at = (unsigned char *)bytes, *end = at + size;

	while (at < end) {
		uint64_t track = number(&at), used = number(&at), count = number(&at);
		int64_t start = 0;

		for (int column = 0; column < HTML_COLUMNS; column++)
			for (uint64_t i = 0; used & 1u << column && i < count; i++) {
				uint64_t value = number(&at);

				start += column == HTML_START ? (int64_t)(value >> 1) ^ -(int64_t)(value & 1) : 0;
				if (track == wanted && i < most && (column == HTML_START || column == HTML_DURATION))
					ret[i][column == HTML_DURATION] = column == HTML_START ? start : (int64_t)value;
			}
		found += track == wanted ? count : 0;
	}
	free(bytes);
	return found;
}

enum { US = 1000, TRAINING_BEGIN = 1000000 };

/* Ranges of PyTorch: milliseconds after the begin, text. */
struct training_range {
	unsigned int start, end;
	const char *text;
};

static void capture_training(const char *directory, const struct training_range *ranges, size_t count)
{
	struct writer w;
	struct writer_thread t;

	capture_create(directory);
	writer_init(&w, 0xf00d, 4000, 1, TRAINING_BEGIN);
	writer_command(&w, "/usr/bin/python3", "python3\0train.py", 16);
	writer_thread(&w, &t, 4000, "main", 64 * TF_PAGE);
	for (size_t i = 0; i < count; i++) {
		writer_text(&t, TF_BLOB_STRING, (uint32_t)i + 1, ranges[i].text);
		writer_event(&t, TF_PUSH, 0, TRAINING_BEGIN + ranges[i].start * 1000 * US, (uint32_t)i + 1);
		writer_event(&t, TF_POP, 0, TRAINING_BEGIN + ranges[i].end * 1000 * US, 0);
	}
	writer_end(&w, TF_END_EXIT, 0, TRAINING_BEGIN + 2000u * 1000 * US);
	writer_save(&w, directory);
	writer_done(&w);
}

static const struct training_range training[] = {
	{10, 40, "aten::uniform_"}, /* the model is set up */
	{500, 520, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"},
	{530, 535, "aten::addmm, seq = 1"},
	{536, 540, "aten::relu, seq = 2"},
	{541, 545, "autograd::engine::evaluate_function: ReluBackward0, seq = 2"},
	{546, 547, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"},
	{548, 560, "autograd::engine::evaluate_function: AddmmBackward0, seq = 1"},
	{561, 570, "Optimizer.step#SGD.step"},
	{900, 910, "aten::addmm, seq = 3"}, /* after a pause */
};

static void make_training(const char *directory)
{
	capture_training(directory, training, sizeof(training) / sizeof(*training));
}

static void make_training_without_loader(const char *directory)
{
	capture_training(directory, training + 2, 6);
}

static void make_inference(const char *directory)
{
	capture_training(directory, training, 1);
}

static void expect_phases(void (*capture)(const char *directory), const unsigned int (*wanted)[2], size_t count)
{
	struct page p;
	int64_t times[16][2] = {{0}};

	make_page(&p, capture);
	cr_assert_eq(times_of(p.text, track_of(p.text, "phases"), times, 16), count);
	for (size_t i = 0; i < count; i++) {
		cr_expect_eq((times[i][0] - times[0][0]) / (1000 * US), wanted[i][0] - wanted[0][0]);
		cr_expect_eq(times[i][1] / (1000 * US), wanted[i][1] - wanted[i][0]);
	}
	free(p.text);
}

Test(export_html, has_what_training_does_as_bars_without_the_set_up)
{
	static const unsigned int bars[][2] = {{500, 520}, {530, 540}, {541, 560}, {561, 570}, {900, 910}};
	struct page p;

	expect_phases(make_training, bars, 5);
	expect_phases(make_training_without_loader, bars + 1, 3);
	make_page(&p, make_inference);
	size_t size;
	char *model = unpack(p.text, "model", &size);

	cr_expect_null(strstr(model, "\"kind\":\"phases\""), "operators alone are no training");
	free(model);
	free(p.text);
}

static void make_large(const char *directory)
{
	capture_large(directory, 100000, 2, 1);
}

Test(export_html, leaves_out_the_shortest_where_there_are_too_many)
{
	struct page whole, part;
	uint64_t all, kept, all_ns, kept_ns;
	size_t size;
	char *model;

	make_page(&whole, make_large);
	html_event_limit = 20000;
	make_page(&part, make_large);
	all = count_events(whole.text, &all_ns);
	kept = count_events(part.text, &kept_ns);
	cr_expect_eq(all, 100000);
	cr_expect(kept <= 20000 && kept > 10000, "%ju", (uintmax_t)kept);
	cr_expect(kept_ns * 10 > all_ns * 2, "they are the longest");
	model = unpack(part.text, "model", &size);
	cr_expect_not_null(strstr(model, " of 100000 events: calls and device operations shorter than "));
	free(model);
	free(whole.text);
	free(part.text);
}

Test(html_json, a_table_is_its_columns_one_after_the_other)
{
	struct html html = {0};
	struct html_json json = {.html = &html};
	struct table table = {0};

	table_has(&table, COL_PID, COL_CALLS, COL_TIME_PERCENT);
	for (uint64_t i = 1; i <= 3; i++) {
		table_number(&table, i);
		table_cells(&table, cell_if(i != 2, 10 * i));
		table_real(&table, 0.04 + (double)i / 10);
	}
	html_json_table(&json, "t", "A \"T\"", true, &table);
	cr_expect_str_eq(json.text.data,
			 "{\"name\":\"t\",\"title\":\"A \\\"T\\\"\",\"rows\":3,\"info\":true,\"columns\":["
			 "{\"title\":\"PID\",\"type\":\"id\"},{\"title\":\"Calls\",\"type\":\"count\"},"
			 "{\"title\":\"Time (%)\",\"type\":\"percent\"}],"
			 "\"cells\":[[1,2,3],[10,null,30],[0.1,0.2,0.3]]}");
	buffer_done(&json.text);
	table_done(&table);
}

Test(html_pack, gives_back_what_went_in)
{
	static const size_t sizes[] = {0, 1, 2, 3, 4, 1000, 48 * 1024, 300001};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		char path[] = "/tmp/pillion-pack-XXXXXX", *text, *back;
		struct buffer bytes = {0};
		struct sink sink;
		struct page_pack *pack;
		struct err err;
		uint64_t seed = 42;
		size_t size;
		int fd = mkstemp(path);

		for (size_t k = 0; k < sizes[i]; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			buffer_add(&bytes, (char[]){(char)(seed >> 56)}, 1);
		}
		cr_assert_eq(sink_open(&sink, fd, false, &err), 0);
		pack = pack_begin(&sink, "x", PACK_FAST);
		cr_assert_not_null(pack);
		for (size_t k = 0; k < sizes[i]; k += 7777)
			pack_add(pack, bytes.data + k, sizes[i] - k < 7777 ? sizes[i] - k : 7777);
		pack_end(pack);
		cr_assert_eq(sink_close(&sink), 0);
		text = read_whole(path, &size);
		back = unpack(text, "x", &size);
		cr_expect_eq(size, sizes[i]);
		cr_expect(!size || !memcmp(back, bytes.data, size));
		free(text);
		free(back);
		buffer_done(&bytes);
		close(fd);
		unlink(path);
	}
}
