/* SPDX-License-Identifier: Apache-2.0 */
/* pack and unpack: captures in one small file, and out of it. */
#include <errno.h>

#include "verb.h"

static int run_pack(const struct command_line *l)
{
	struct texts left_out = {0};
	struct pack_wish wish = {l->captures, l->capture_count, l->output, l->is_forced, l->is_replacing,
				 l->is_replacing ? NULL : &left_out};
	struct buffer path = {0};
	struct err err;
	int code, status;

	if (!l->capture_count || (l->is_replacing && (l->capture_count > 1 || l->output))) {
		say(l->capture_count ? "--replace takes one capture and no -o" : "which capture? See pillion pack --help");
		return EXIT_UNUSABLE;
	}
	progress_begin("packing", 0);
	code = pack_write(&wish, &path, &err);
	progress_clear();
	status = say_all(&left_out);
	texts_done(&left_out);
	if (code)
		say("%s", err.text);
	else if (!l->quiet && (!l->output || l->is_replacing))
		say("wrote %s", path.data);
	buffer_done(&path);
	return code ? EXIT_UNUSABLE : status;
}

static int run_unpack(const struct command_line *l)
{
	struct buffer path = {0};
	struct err err;
	int code;

	if (l->capture_count != 1) {
		say("which packed file? See pillion unpack --help");
		return EXIT_UNUSABLE;
	}
	code = pack_extract(l->captures[0], l->output, &path, &err);
	if (code)
		say("%s", err.text);
	else if (!l->quiet && !l->output)
		say("wrote %s", path.data);
	buffer_done(&path);
	return code == -EBADMSG ? EXIT_INCOMPLETE : code ? EXIT_UNUSABLE : EXIT_DONE;
}

const struct verb verb_pack = {
	"pack", "[OPTION]... CAPTURE...", "one small file of captures, which every verb reads", VERB_PACK, run_pack, NULL,
};

const struct verb verb_unpack = {
	"unpack", "[OPTION]... FILE", "the captures as they were before pack", VERB_UNPACK, run_unpack, NULL,
};
