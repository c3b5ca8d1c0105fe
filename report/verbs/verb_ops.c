/* SPDX-License-Identifier: Apache-2.0 */
/* ops: each kernel with its PyTorch operator, as PyProf prints it, of captures or of Nsight Systems' databases. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/tables/ops/ops.h"
#include "report/verbs/verb.h"

enum { DATABASE_SECONDS = 600 }; /* a database may be made to take for ever */

static const uint8_t default_columns[] = {OPS_IDX, OPS_DIR,    OPS_SUB,	   OPS_MOD,
					  OPS_OP,  OPS_KERNEL, OPS_PARAMS, OPS_SIL};

struct ops_output {
	struct work *work;
	const struct table *all; /* with all columns */
	const uint8_t *columns;
	size_t count;
	size_t widths[OPS_COLUMNS]; /* of --width, by place */
	struct buffer text;
};

static bool is_number(const struct ops_output *o, size_t column)
{
	return o->all->columns[column].type != COLUMN_TEXT;
}

static size_t place_of(const struct ops_output *o, size_t row, size_t column)
{
	return row * o->all->column_count + column;
}

/* ---- the tables of pillion ---- */

static void show_table(struct ops_output *o)
{
	SCOPED(table) table = {.keeps_empty = true};

	for (size_t i = 0; i < o->count; i++)
		table_column(&table, o->all->columns[o->columns[i]].title, o->all->columns[o->columns[i]].type);
	for (size_t row = 0; row < table_rows(o->all); row++)
		for (size_t i = 0; i < o->count; i++) {
			size_t at = place_of(o, row, o->columns[i]);

			if (o->all->absent[at])
				table_nothing(&table);
			else if (o->all->columns[o->columns[i]].type == COLUMN_PERCENT)
				table_real(&table, o->all->cells[at].real);
			else if (is_number(o, o->columns[i]))
				table_number(&table, o->all->cells[at].count);
			else
				table_text(&table, o->all->cells[at].text);
		}
	emit_begin(&o->work->emit);
	work_table(o->work, "ops", "PyTorch Operators by Kernel", &table);
	work_remark_source(o->work, REPORT_DEVICE | REPORT_ATTRIBUTED);
	emit_end(&o->work->emit);
}

/* ---- PyProf's layouts ---- */

/* False: the lines are too short. */
static bool divide_width(struct ops_output *o)
{
	size_t least = 0, open = 0;

	for (size_t i = 0; i < o->count; i++) {
		least += o->widths[i] = ops_column_rows[o->columns[i]].width;
		open += !o->widths[i];
	}
	for (size_t i = 0; i < o->count && o->work->line->width >= least; i++)
		if (!o->widths[i])
			o->widths[i] = (o->work->line->width - least) / open;
	if (o->work->line->width < least)
		say("these columns take at least --width=%zu", least);
	return o->work->line->width >= least;
}

static void quote(struct buffer *ret, const char *text)
{
	buffer_text(ret, "\"");
	for (; *text; text++)
		buffer_print(ret, *text == '"' ? "\"\"" : "%c", *text);
	buffer_text(ret, "\"");
}

static void add_cell(struct ops_output *o, size_t i, const char *text, bool is_to_the_right)
{
	int width = (int)o->widths[i];

	if (!o->work->line->width) {
		buffer_text(&o->text, i ? "," : "");
		quote(&o->text, text);
	} else if (is_to_the_right) {
		buffer_print(&o->text, "%*s ", width, text);
	} else {
		buffer_print(&o->text, "%-*.*s ", width, width, text);
	}
}

/* In columns there is room only for the innermost line, without its directories. */
static const char *last_line(const char *trace)
{
	const char *comma = strrchr(trace, ','), *line = comma ? comma + 1 : trace, *slash = strrchr(line, '/');

	return slash ? slash + 1 : line;
}

static void add_row(struct ops_output *o, size_t row)
{
	char number[32];

	for (size_t i = 0; i < o->count; i++) {
		size_t column = o->columns[i], at = place_of(o, row, column);
		const char *text = o->all->cells[at].text;

		if (o->all->columns[column].type == COLUMN_PERCENT) {
			snprintf(number, sizeof(number), "%.1f", o->all->absent[at] ? 0 : o->all->cells[at].real);
			text = number;
		} else if (is_number(o, column)) {
			snprintf(number, sizeof(number), "%" PRIu64, o->all->absent[at] ? 0 : o->all->cells[at].count);
			text = number;
		} else if (column == OPS_TRACE && o->work->line->width) {
			text = last_line(text);
		}
		add_cell(o, i, text, is_number(o, column));
	}
	buffer_text(&o->text, "\n");
}

/* Not cut on a terminal, unlike tables of ours, which say so. */
static void show_layout(struct ops_output *o)
{
	size_t most = o->work->line->top == TOP_DEFAULT ? 0 : o->work->line->top;

	if (o->work->line->width && !divide_width(o)) {
		o->work->status = EXIT_UNUSABLE;
		return;
	}
	for (size_t i = 0; i < o->count; i++)
		add_cell(o, i, o->all->columns[o->columns[i]].title, false);
	buffer_text(&o->text, "\n");
	for (size_t row = 0; row < table_rows(o->all) && (!most || row < most); row++)
		add_row(o, row);
	work_text(o->work, "ops", &o->text);
	buffer_done(&o->text);
}

/* ---- the verb ---- */

static void show(struct work *w, const struct table *all)
{
	const struct command_line *l = w->line;
	struct ops_output o = {.work = w, .all = all, .columns = default_columns, .count = sizeof(default_columns)};

	if (l->column_count) {
		o.columns = l->columns;
		o.count = l->column_count;
	}
	progress_clear();
	if (l->width || l->is_quoted_csv)
		show_layout(&o);
	else
		show_table(&o);
}

static bool is_database(const char *path)
{
	static const char magic[] = "SQLite format 3";
	char head[sizeof(magic)] = "";
	FILE *f = fopen(path, "re");
	bool is_one = f && fread(head, 1, sizeof(head), f) == sizeof(head) && !memcmp(head, magic, sizeof(magic));

	if (f)
		fclose(f);
	return is_one;
}

static int read_databases(const struct command_line *l, struct table *table, struct err *err)
{
	int code = 0;

	(void)table;
	if (l->filter_time || l->filter_nvtx)
		return err_set(err, -EINVAL, "--filter-time and --filter-nvtx are for captures");
	for (size_t i = 0; i < l->capture_count && !code; i++)
#ifdef HAVE_SQLITE
		code = ops_of_database(l->captures[i],
				       l->time_limit == TIME_LIMIT_DEFAULT ? DATABASE_SECONDS : l->time_limit, table,
				       err);
#else
		code = err_set(err, -ENOTSUP, "%s: this build has no sqlite", l->captures[i]);
#endif
	return code;
}

static int run_databases(const struct command_line *l)
{
	SCOPED(table) all = {0};
	static struct work w;
	struct err err;
	int status = work_begin_output(&w, l);

	if (status)
		return status;
	w.context.kernel_name = KERNEL_BASE;
	ops_columns(&all);
	progress_begin("ops", 0);
	if (read_databases(l, &all, &err)) {
		progress_clear();
		say("%s", err.text);
		w.status = EXIT_UNUSABLE;
	} else {
		show(&w, &all);
	}
	return work_end(&w);
}

static int run_captures(const struct command_line *l)
{
	SCOPED(table) all = {0};
	static struct work w;
	int status = work_begin(&w, l);

	if (status)
		return status;
	w.context.kernel_name = KERNEL_BASE;
	ops_columns(&all);
	progress_begin("ops", w.model.trace_bytes);
	ops_of_model(&w.context, &all);
	progress_clear();
	if (!table_rows(&all)) {
		device_none(&w.model, &all);
		say("%s", all.lacks ? all.lacks : "no kernels were launched");
		w.status = EXIT_INCOMPLETE;
	}
	show(&w, &all);
	return work_end(&w);
}

static int run_ops(const struct command_line *l)
{
	size_t databases = array_sum(capture, l->captures, l->capture_count, is_database(*capture));

	if (databases && databases < l->capture_count) {
		say("captures and databases are read one kind at a time");
		return EXIT_UNUSABLE;
	}
	return databases ? run_databases(l) : run_captures(l);
}

static void more_help(struct text *ret)
{
	text_add(ret, "\nEach kernel with its operator, as PyProf prints it. A CAPTURE may be an sqlite\n"
		      "database that Nsight Systems exported (nsys export -t sqlite) of a program with\n"
		      "PyProf's ranges or those of torch.autograd.profiler.emit_nvtx.\n"
		      "\nColumns:\n");
	for (size_t i = 0; i < OPS_COLUMNS; i++)
		verb_help_row("  ", ops_column_rows[i].name, ops_column_rows[i].help, NULL, ret);
	text_add(ret, "\nFLOPs are exact for products of matrices (2MNK), convolutions and attention:\n"
		      "from the arguments of cuBLAS and cuDNN, the sizes of the operators (record with\n"
		      "--pytorch=autograd-shapes-nvtx), or PyProf's ranges. Of the kernels of one\n"
		      "operator the longest has them.\n"
		      "\nExamples:\n"
		      "  pillion ops -c idx,dir,sub,mod,op,kernel,params,sil -w 150 report1.pillion\n"
		      "  pillion ops --csv -c kernel,sil,flops,bytes net.sqlite\n");
}

const struct verb verb_ops = {
	"ops", "[OPTION]... CAPTURE...", "each kernel with its PyTorch operator and FLOPs, as PyProf prints it",
	VERB_OPS, run_ops, more_help,
};
