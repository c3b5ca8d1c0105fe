/* SPDX-License-Identifier: Apache-2.0 */
/* The screen is written as a whole, by a few escape sequences that every terminal has, for a library of terminals would
 * be the largest part of this program. */
#include "report/verbs/output/top_screen.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "report/base/text.h"
#include "report/events/energy/energy.h"
#include "report/verbs/output/colour.h"
#include "report/verbs/verb.h"
#include "runtime/shared/common/clock.h"

enum { ROWS = 24, COLUMNS = 80, FILTER_BYTES = 64, MESSAGE_BYTES = 256, GPUS_SHOWN = 4, SAMPLE_NS = 50000000 };
enum order_key {
	ORDER_CPU,
	ORDER_WAIT,
	ORDER_GPU,
	ORDER_RSS,
	ORDER_DEVICE,
	ORDER_READ,
	ORDER_WRITTEN,
	ORDER_PID,
	ORDER_KEY_COUNT
};

/* Of the last seconds. */
struct view {
	char key;
	const char *table, *head;
	enum column_id text;
};

static struct screen {
	struct termios before;
	size_t rows, columns, used; /* used: rows of this frame */
	struct buffer frame;
	enum order_key sort;
	char filter[FILTER_BYTES];
	char message[MESSAGE_BYTES]; /* shown until the next key */
	bool is_typing, has_quit;
	const struct view *view; /* NULL: the processes */
	struct table table; /* of that view */
	uint64_t table_ns;  /* the round that it is of; 0: none */
	bool has_ranks, has_gpus; /* columns that some process has */
	uint32_t selected, expanded; /* PIDs, 0: none */
	size_t *order, count; /* of the processes that are shown */
} screen;

/* ---- the terminal ---- */

static const char begin[] = "\033[?1049h\033[?25l", end[] = "\033[?25h\033[?1049l";

static void write_all(const char *text, size_t size)
{
	for (ssize_t n; size && (n = write(STDOUT_FILENO, text, size)) > 0; text += n)
		size -= (size_t)n;
}

static void terminal_restore(void)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
	write_all(end, sizeof(end) - 1);
}

static void on_signal(int signal)
{
	terminal_restore();
	_exit(128 + signal);
}

static void terminal_take(void)
{
	struct termios raw;

	tcgetattr(STDIN_FILENO, &screen.before);
	raw = screen.before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	write_all(begin, sizeof(begin) - 1);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGHUP, on_signal);
}

static void size_read(void)
{
	struct winsize size;
	bool is_known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col;

	screen.rows = is_known ? size.ws_row : ROWS;
	screen.columns = is_known ? size.ws_col : COLUMNS;
}

/* ---- a frame ---- */

/* Adds a line if there is room, and empties the buffer. The last line of the screen is that of the keys. */
static void put(struct buffer *line, bool is_head)
{
	if (screen.used + 1 < screen.rows) {
		buffer_text(&screen.frame, is_head && *colour_begin(COLOUR_GOOD) ? "\033[7m" : "");
		text_fit(&screen.frame, buffer_string(line), screen.columns - 1);
		buffer_text(&screen.frame, is_head ? colour_end() : "");
		buffer_text(&screen.frame, "\033[K\r\n");
		screen.used++;
	}
	buffer_clear(line);
}

/* Adds a text as far as there is room: its middle is left out, not that of the line. */
static void add_rest(struct buffer *line, const char *text)
{
	size_t used = text_width(buffer_string(line));

	if (used + 1 < screen.columns)
		text_fit(line, text, screen.columns - 1 - used);
}

static void add_percent(struct buffer *b, double percent)
{
	if (percent < 0)
		buffer_text(b, "     -");
	else
		buffer_print(b, "%6.*f", percent < 1000, percent);
}

/* Five columns: 1023, 1.5M, 12G */
static void add_bytes(struct buffer *b, uint64_t bytes)
{
	static const char units[] = " KMGTPE";
	double value = (double)bytes;
	size_t unit = 0;

	for (; value >= 999.5 && units[unit + 1]; unit++)
		value /= 1024;
	if (bytes == TOP_UNKNOWN)
		buffer_text(b, "     -");
	else
		buffer_print(b, " %4.*f%c", unit && value < 99.95, value, units[unit]);
}

static uint64_t key_of(const struct top_process *p)
{
	uint64_t resident = p->now.at_ns ? p->now.resident_bytes : TOP_UNKNOWN;
	const uint64_t keys[ORDER_KEY_COUNT] = {
		(uint64_t)(p->cpu_percent * 1e3 + 1e3), (uint64_t)(p->wait_percent * 1e3 + 1e3),
		(uint64_t)(p->gpu_percent * 1e3 + 1e3), resident + 1, p->device_bytes + 1, p->read_per_s + 1,
		p->written_per_s + 1, UINT64_MAX - p->pid};

	return keys[screen.sort]; /* what is not known is 0 */
}

static int row_order(size_t a, size_t b, const void *context)
{
	const struct top_process *list = context;

	return order_of(key_of(&list[b]), key_of(&list[a]));
}

static bool is_wanted(const struct top_process *p)
{
	SCOPED(buffer) line = {0};
	bool is = !*screen.filter || strstr(p->command, screen.filter);

	top_line_text(p, &line);
	is |= strstr(buffer_string(&line), screen.filter) != NULL;
	return is;
}

static void rows_choose(const struct top *t)
{
	size_t kept = 0;

	free(screen.order);
	screen.order = places_in_order(t->count, row_order, t->processes);
	for (size_t i = 0; i < t->count; i++)
		if (is_wanted(&t->processes[screen.order[i]]))
			screen.order[kept++] = screen.order[i];
	screen.count = kept;
	screen.has_ranks = screen.has_gpus = false;
	array_each(const struct top_process, p, t->processes, t->count) {
		screen.has_ranks |= *p->rank;
		screen.has_gpus |= p->gpu_percent >= 0 || p->device_bytes != TOP_UNKNOWN;
	}
}

static void draw_head(const struct top *t, struct buffer *line)
{
	time_t now = (time_t)(t->at_ns / 1000000000u);
	struct tm tm;
	char when[16];
	double cpu = array_sum(one, t->processes, t->count, one->cpu_percent > 0 ? one->cpu_percent : 0);

	localtime_r(&now, &tm);
	strftime(when, sizeof(when), "%H:%M:%S", &tm);
	buffer_print(line, "pillion top %s  %zu process%s  CPU %.1f %%", when, t->count, t->count == 1 ? "" : "es",
		     cpu);
	if (t->captures.count == 1) {
		buffer_text(line, "  ");
		add_rest(line, t->captures.items[0]);
	} else if (t->captures.count)
		buffer_print(line, "  %zu captures", t->captures.count);
	put(line, false);
	for (size_t i = 0; i < t->device_count && i < GPUS_SHOWN; i++) {
		const struct tf_energy_sample *s = &t->devices[i].sample;

		buffer_print(line, "GPU %zu", i);
		add_percent(line, s->busy_percent == UINT8_MAX ? -1 : s->busy_percent);
		buffer_text(line, " %  ");
		add_bytes(line, s->memory_bytes);
		buffer_text(line, " of");
		add_bytes(line, t->devices[i].memory_bytes ? t->devices[i].memory_bytes : TOP_UNKNOWN);
		if (s->power_mw != UINT32_MAX)
			buffer_print(line, "  %u W", s->power_mw / 1000);
		if (s->sm_mhz != UINT16_MAX)
			buffer_print(line, "  %u MHz", s->sm_mhz);
		for (int k = 0; k < ENERGY_REASONS; k++)
			if (s->reasons != UINT64_MAX && s->reasons & energy_reasons[k].bit)
				buffer_print(line, "  %s", energy_reasons[k].name);
		put(line, false);
	}
	if (t->problems.count || t->notes.count) {
		buffer_text(line, t->problems.count ? t->problems.items[0] : t->notes.items[0]);
		put(line, false);
	}
}

static void draw_thread(struct top *t, struct where_item *item, struct buffer *line)
{
	const struct where_frame *frame;
	SCOPED(buffer) text = {0};

	if (!item->stack.count)
		where_place_stack(&t->place, item);
	frame = where_item_line(item);
	buffer_print(line, "    %7u %-15s ", item->thread->head.tid, item->thread->name);
	buffer_text(line, item->name ? item->name : item->wait.call ? item->wait.call : "");
	if (item->has_age)
		buffer_print(line, " %.1f s", (double)item->age_ns / 1e9);
	buffer_text(line, "  ");
	if (frame)
		code_line_text(frame->line, &text);
	add_rest(line, buffer_string(&text));
	put(line, false);
}

static void draw_process(struct top *t, const struct top_process *p, struct buffer *line)
{
	SCOPED(buffer) text = {0};

	buffer_print(line, "%c%7u", p->pid == screen.selected ? '>' : ' ', p->pid);
	if (screen.has_ranks)
		buffer_print(line, " %4.4s", *p->rank ? p->rank : "-");
	add_percent(line, p->cpu_percent);
	add_percent(line, p->wait_percent);
	if (screen.has_gpus)
		add_percent(line, p->gpu_percent);
	add_bytes(line, p->now.at_ns ? p->now.resident_bytes : TOP_UNKNOWN);
	if (screen.has_gpus)
		add_bytes(line, p->device_bytes);
	add_bytes(line, p->read_per_s);
	add_bytes(line, p->written_per_s);
	buffer_text(line, " ");
	top_line_text(p, &text);
	add_rest(line, text.size ? text.data : p->command);
	put(line, false);
	if (p->pid != screen.expanded)
		return;
	buffer_text(line, "    ");
	add_rest(line, p->command);
	put(line, false);
	for (size_t i = 0; i < t->place.count; i++)
		if (t->place.items[i].process->head.pid == p->pid && t->place.items[i].process->run == p->run)
			draw_thread(t, &t->place.items[i], line);
}

/* ---- lines, files and kernels of the last seconds ---- */

static bool view_set(char key)
{
	static const struct view views[] = {
		{'l', "lines", "LINE", COL_LINE},
		{'f', "files", "FILE", COL_PATH},
		{'g', "kernels", "KERNEL", COL_NAME},
	};

	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		if (views[i].key != key)
			continue;
		screen.view = screen.view == &views[i] ? NULL : &views[i];
		screen.table_ns = 0;
		return true;
	}
	return false;
}

static void table_read(struct top *t)
{
	if (screen.table_ns == t->at_ns)
		return;
	table_done(&screen.table);
	screen.table = (struct table){0};
	screen.table_ns = t->at_ns;
	for (size_t i = 0; i < TOP_TABLES; i++)
		if (!strcmp(top_tables[i].name, screen.view->table))
			top_table_fill(&top_tables[i], t, &screen.table);
}

static void draw_table(struct top *t, struct buffer *line)
{
	const struct table *table = &screen.table;
	bool has_ns;

	table_read(t);
	has_ns = table_find(table, COL_TOTAL_TIME_NS) < table->column_count;
	buffer_print(line, " TIME%%    TIME %s", screen.view->head);
	put(line, true);
	for (size_t i = 0; i < table_rows(table); i++) {
		const char *name = table_cell(table, i, screen.view->text)->text;

		add_percent(line, table_cell(table, i, COL_TIME_PERCENT)->real);
		if (has_ns)
			buffer_print(line, " %6.2fs ", (double)table_cell(table, i, COL_TOTAL_TIME_NS)->count / 1e9);
		else
			buffer_text(line, "         ");
		add_rest(line, name ? name : "");
		put(line, false);
	}
}

/* So that the selected process is on the screen. */
static size_t first_row(const struct top *t)
{
	size_t room = screen.rows > screen.used + 1 ? screen.rows - screen.used - 1 : 1;

	for (size_t i = room; i < screen.count; i++)
		if (t->processes[screen.order[i]].pid == screen.selected)
			return i - room + 1;
	return 0;
}

static void draw_processes(struct top *t, struct buffer *line)
{
	buffer_print(line, " %7s%s  CPU%% WAIT%%%s   RSS%s  RD/s  WR/s LINE", "PID", screen.has_ranks ? " RANK" : "",
		     screen.has_gpus ? "  GPU%" : "", screen.has_gpus ? "   DEV" : "");
	put(line, true);
	for (size_t i = first_row(t); i < screen.count; i++)
		draw_process(t, &t->processes[screen.order[i]], line);
}

static void draw(struct top *t)
{
	static const char *const names[] = {"CPU%", "WAIT%", "GPU%", "RSS", "DEV", "RD/s", "WR/s", "PID"};
	SCOPED(buffer) line = {0};

	size_read();
	rows_choose(t);
	screen.used = 0;
	buffer_set(&screen.frame, "\033[H");
	draw_head(t, &line);
	if (screen.view)
		draw_table(t, &line);
	else
		draw_processes(t, &line);
	buffer_text(&screen.frame, "\033[J");
	buffer_print(&screen.frame, "\033[%zu;1H", screen.rows);
	if (screen.is_typing)
		buffer_print(&line, "filter: %s_", screen.filter);
	else if (*screen.message)
		text_escape(&line, screen.message, "");
	else
		buffer_print(&line, "q quit  <> sort: %s  / filter%s%s  Enter threads  l lines  f files  g GPU",
			     names[screen.sort], *screen.filter ? ": " : "", screen.filter);
	text_fit(&screen.frame, line.data, screen.columns - 1);
	buffer_text(&screen.frame, "\033[K");
	write_all(screen.frame.data, screen.frame.size);
}

/* ---- recording ---- */

/* Runs `pillion VERB PID` for the run of the selected process, and shows the line that it prints. */
static void verb_run(const struct top *t, const char *verb)
{
	uint32_t pid = screen.selected || !screen.count ? screen.selected : t->processes[screen.order[0]].pid;
	char target[16];
	size_t used = 0;
	int ends[2], null;
	pid_t child;

	snprintf(target, sizeof(target), "%u", pid);
	if (!pid || pipe2(ends, O_CLOEXEC))
		return;
	child = fork();
	if (!child) {
		null = open("/dev/null", O_RDONLY);
		dup2(null, STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		execl("/proc/self/exe", "pillion-report", verb, target, NULL);
		_exit(127);
	}
	close(ends[1]);
	memset(screen.message, 0, sizeof(screen.message));
	for (ssize_t n; used + 1 < MESSAGE_BYTES &&
			(n = read(ends[0], screen.message + used, MESSAGE_BYTES - 1 - used)) > 0;)
		used += (size_t)n;
	close(ends[0]);
	waitpid(child, NULL, 0);
	screen.message[strcspn(screen.message, "\n")] = '\0';
}

/* ---- keys ---- */

static void select_by(const struct top *t, int step)
{
	size_t at = 0;

	while (at < screen.count && t->processes[screen.order[at]].pid != screen.selected)
		at++;
	if (!screen.count)
		return;
	at = at == screen.count ? 0 : step < 0 ? at - (at > 0) : at + (at + 1 < screen.count);
	screen.selected = t->processes[screen.order[at]].pid;
}

static void key_typed(char key)
{
	size_t length = strlen(screen.filter);

	if (key == '\n' || key == '\r' || key == '\033')
		screen.is_typing = false;
	else if ((key == '\b' || key == 127) && length)
		screen.filter[length - 1] = '\0';
	else if (key >= ' ' && key < 127 && length + 1 < FILTER_BYTES)
		screen.filter[length] = key;
}

static void key_pressed(const struct top *t, const char *keys)
{
	*screen.message = '\0';
	if (screen.is_typing)
		key_typed(*keys);
	else if (*keys == 'q')
		screen.has_quit = true;
	else if (view_set(*keys))
		return;
	else if (*keys == '<' || *keys == '>')
		screen.sort = (screen.sort + (*keys == '>' ? 1 : ORDER_KEY_COUNT - 1)) % ORDER_KEY_COUNT;
	else if (*keys == 's' || *keys == 'x' || *keys == 'd')
		verb_run(t, *keys == 's' ? "start" : *keys == 'x' ? "stop" : "dump");
	else if (*keys == '/')
		memset(screen.filter, 0, sizeof(screen.filter)), screen.is_typing = true;
	else if (text_begins_with(keys, "\033[A") || *keys == 'k')
		select_by(t, -1);
	else if (text_begins_with(keys, "\033[B") || *keys == 'j')
		select_by(t, 1);
	else if (*keys == '\n' || *keys == '\r')
		screen.expanded = screen.expanded == screen.selected ? 0 : screen.selected;
}

/* Draws after each key until the interval has passed. */
static void keys_read(struct top *t, double interval_s)
{
	uint64_t until = clock_monotonic_ns() + (uint64_t)(interval_s * 1e9), now;

	while (!screen.has_quit && (now = clock_monotonic_ns()) < until) {
		struct pollfd input = {STDIN_FILENO, POLLIN, 0};
		char keys[64] = "";
		ssize_t n;

		if (t->pid && until - now > SAMPLE_NS)
			now = until - SAMPLE_NS; /* a process that pillion does not sample is sampled here */
		if (poll(&input, 1, (int)((until - now) / 1000000u) + 1) <= 0) {
			if (t->pid)
				top_sample_one(t);
			continue;
		}
		n = read(STDIN_FILENO, keys, sizeof(keys) - 1);
		screen.has_quit = n <= 0;
		for (char *at = keys; at < keys + n && !screen.has_quit; at += *at == '\033' && at[1] == '[' ? 3 : 1)
			key_pressed(t, at);
		draw(t);
	}
}

int top_screen(struct top *t, double interval_s)
{
	struct err err = {""};
	int code = 0;

	terminal_take();
	while (!code && !screen.has_quit) {
		code = top_round(t, true, &err);
		if (code)
			break;
		draw(t);
		keys_read(t, interval_s);
	}
	terminal_restore();
	if (code)
		say("%s", err.text);
	return EXIT_DONE;
}
