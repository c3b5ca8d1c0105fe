/* SPDX-License-Identifier: Apache-2.0 */
/* pack and unpack: captures into one small file, and back. */
#include <dirent.h>
#include <errno.h>

#include "report/export/pack/redact.h"
#include "report/verbs/output/envelope.h"
#include "report/verbs/output/keep.h"
#include "report/verbs/verb.h"
#include "runtime/shared/base/object_name.h"

/* Finds the captures like other verbs. */
static int find_all(const struct command_line *l, struct texts *ret, struct err *err)
{
	SCOPED(buffer) path = {0};
	int code = 0;

	for (size_t i = 0; i < l->capture_count && !code; i++) {
		code = model_find(l->captures[i], false, &path, err);
		if (!code)
			texts_add(ret, "%s", path.data);
	}
	return code;
}

/* Parts of object files, from which a packed capture gives no names. */
static bool has_objects(const char *directory)
{
	DIR *d = opendir(directory);
	struct dirent *entry;
	bool has = false;

	while (d && !has && (entry = readdir(d)))
		has = text_ends_with(entry->d_name, OBJECT_ENDING);
	if (d)
		closedir(d);
	return has;
}

static int run_pack(const struct command_line *l)
{
	SCOPED(texts) captures = {0}, left_out = {0};
	struct redactor redactor = {.fd = -1};
	struct pack_wish wish = {.output = l->output, .is_forced = l->is_forced, .is_replacing = l->is_replacing,
				 .left_out = l->is_replacing ? NULL : &left_out,
				 .redactor = l->is_redacting ? &redactor : NULL};
	SCOPED(buffer) path = {0};
	struct err err;
	int code, status;

	if (!l->capture_count || (l->is_replacing && (l->capture_count > 1 || l->output))) {
		say(l->capture_count ? "--replace takes one capture and no -o"
				     : "no CAPTURE given, and none in this directory; see pillion pack --help");
		return EXIT_UNUSABLE;
	}
	if (l->is_redacting && l->is_replacing) {
		say("--redact makes a copy: it takes no --replace");
		return EXIT_UNUSABLE;
	}
	progress_begin("packing", 0);
	code = find_all(l, &captures, &err);
	wish.captures = captures.items;
	wish.count = captures.count;
	for (size_t i = 0; i < captures.count && !code; i++)
		if (l->keeps_symbols || has_objects(captures.items[i]))
			code = keep_symbols(captures.items[i], &err);
	if (!code && l->is_redacting)
		code = redactor_start(&redactor, &err);
	if (!code)
		code = pack_write(&wish, &path, &err);
	redactor_done(&redactor);
	progress_clear();
	status = say_all(&left_out);
	if (code)
		say("%s", err.text);
	else if (envelope_is_open())
		envelope_file(path.data);
	else if (!l->quiet && (!l->output || l->is_replacing))
		say("wrote %s", path.data);
	return code ? EXIT_UNUSABLE : status;
}

static int run_unpack(const struct command_line *l)
{
	SCOPED(buffer) packed = {0}, path = {0};
	struct err err;
	int code;

	if (l->capture_count != 1) {
		say("no FILE given; see pillion unpack --help");
		return EXIT_UNUSABLE;
	}
	code = model_find(l->captures[0], true, &packed, &err);
	if (!code)
		code = pack_extract(packed.data, l->output, &path, &err);
	if (code)
		say("%s", err.text);
	else if (envelope_is_open())
		envelope_file(path.data);
	else if (!l->quiet && !l->output)
		say("wrote %s", path.data);
	return code == -EBADMSG ? EXIT_INCOMPLETE : code ? EXIT_UNUSABLE : EXIT_DONE;
}

const struct verb verb_pack = {
	"pack", "[OPTION]... [CAPTURE]...", "one small file of captures, which every verb reads", VERB_PACK, run_pack,
	NULL,
};

const struct verb verb_unpack = {
	"unpack", "[OPTION]... FILE", "the captures as they were before pack", VERB_UNPACK, run_unpack, NULL,
};
