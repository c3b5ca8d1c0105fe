/* SPDX-License-Identifier: Apache-2.0 */
/* Files are changed by a Python program, report/recipes/redact.py, which learns of this header what the format is. */
#include "report/export/pack/redact.h"

#include <errno.h>
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/base/python.h"
#include "runtime/shared/format/trace_format.h"
#include "runtime/shared/format/trace_notes.h"

extern char **environ;

/* ---- the format ---- */

#define VALUE(name) {#name, 0, name}
#define SIZE(type) {#type, 0, sizeof(struct type)}
#define FIELD(type, member) {#type "." #member, offsetof(struct type, member), sizeof(((struct type *)0)->member)}

static const struct {
	const char *name;
	uint64_t place, value; /* of a field its size */
} layout[] = {
	VALUE(TF_PAGE), VALUE(TF_MAGIC), VALUE(TF_BYTE_ORDER), VALUE(TF_VERSION_MAJOR),
	SIZE(tf_header), FIELD(tf_header, magic), FIELD(tf_header, byte_order), FIELD(tf_header, version_major),
	FIELD(tf_header, nonce), FIELD(tf_header, function_bytes), FIELD(tf_header, host), FIELD(tf_header, boot),
	FIELD(tf_header, executable), FIELD(tf_header, arguments), FIELD(tf_header, variables),

	VALUE(TF_CHUNK_MAGIC), VALUE(TF_CHUNK_THREAD), VALUE(TF_CHUNK_SLOTS), VALUE(TF_CHUNK_FIRST),
	SIZE(tf_chunk), FIELD(tf_chunk, magic), FIELD(tf_chunk, kind), FIELD(tf_chunk, nonce),
	FIELD(tf_chunk, size_bytes), FIELD(tf_chunk, slots), SIZE(tf_thread), FIELD(tf_thread, name),

	VALUE(TF_ARG), VALUE(TF_BLOB), VALUE(TF_DATA), VALUE(TF_SUM), VALUE(TF_RANGES), VALUE(TF_SUM_NUMBERS),
	VALUE(TF_STEPS_NUMBERS), VALUE(TF_RANGES_IS_STEPS),
	VALUE(TF_BLOB_STRING), VALUE(TF_BLOB_DOMAIN), VALUE(TF_BLOB_XLA_MODULE), VALUE(TF_BLOB_THREAD_NAME),
	VALUE(TF_BLOB_NOTE), VALUE(TF_BLOB_PAYLOAD), VALUE(TF_BLOB_HDF5), VALUE(TF_BLOB_LINE_MEMORY),
	VALUE(TF_BLOB_MODULE), SIZE(tf_module), VALUE(TF_BLOB_DESCRIPTOR), SIZE(tf_descriptor),
	VALUE(TF_BLOB_JAX_EXECUTABLE), SIZE(tf_jax_executable), VALUE(TF_BLOB_EXCEPTION), SIZE(tf_exception),
	VALUE(TF_BLOB_DEVICE_SOURCE), SIZE(tf_device_source), VALUE(TF_BLOB_DEVICE_GAP), SIZE(tf_device_gap),
	VALUE(TF_BLOB_PYTHON_CODE), SIZE(tf_python_code), FIELD(tf_python_code, file_bytes),
	VALUE(TF_BLOB_LINE_CODE), SIZE(tf_line_code), FIELD(tf_line_code, file_length),
	VALUE(TF_BLOB_NVTX), SIZE(tf_nvtx), FIELD(tf_nvtx, kind), VALUE(TF_NVTX_FUNCTION),

	VALUE(TF_RANGE_MAGIC), SIZE(tf_range_page), FIELD(tf_range_page, magic),
	VALUE(TF_IMAGES_MAGIC), VALUE(TF_IMAGES_OFFSET), VALUE(TF_IMAGES_FIRST), SIZE(tf_images),
	FIELD(tf_images, magic), FIELD(tf_images, host), FIELD(tf_images, function_bytes),
	VALUE(TF_IMAGE_BYTES), SIZE(tf_image), FIELD(tf_image, nonce),
	VALUE(TF_USAGE_MAGIC), SIZE(tf_usage_head), FIELD(tf_usage_head, magic), FIELD(tf_usage_head, sample_bytes),
	VALUE(TF_USAGE_CPUS), SIZE(tf_usage_sample), FIELD(tf_usage_sample, kind), FIELD(tf_usage_sample, name),
	VALUE(TF_ENERGY_MAGIC), FIELD(tf_energy_head, magic),
};

static void write_layout(struct buffer *ret)
{
#define NOTE_CODE(code) "\"" TF_NOTE_##code "\", "
	buffer_text(ret, "{\"TF_NOTES\": [" TF_NOTES(NOTE_CODE) "\"\"]");
#undef NOTE_CODE
	for (size_t i = 0; i < sizeof(layout) / sizeof(*layout); i++)
		buffer_print(ret, ", \"%s\": [%llu, %llu]", layout[i].name, (unsigned long long)layout[i].place,
			     (unsigned long long)layout[i].value);
	buffer_text(ret, "}");
}

/* ---- the program ---- */

/* A pair of sockets is its standard input and output: to send to a program that has ended raises no signal. */
int redactor_start(struct redactor *r, struct err *err)
{
	char self[PATH_MAX], program[PYTHON_PROGRAM_MAX];
	SCOPED(buffer) format = {0};
	posix_spawn_file_actions_t files;
	int sockets[2], code;

	*r = (struct redactor){.fd = -1};
	if (!python_find("redact.py", self, program))
		return err_set(err, -ENOENT, "its program, recipes/redact.py, is not installed beside %s", self);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return err_set(err, -errno, "%s: %s", program, strerror(errno));
	write_layout(&format);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, sockets[1], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, sockets[1], STDOUT_FILENO);
	code = posix_spawnp(&r->pid, python_name(), &files, NULL,
			    (char *[]){python_name(), "-I", program, format.data, NULL}, environ);
	posix_spawn_file_actions_destroy(&files);
	close(sockets[1]);
	r->fd = sockets[0];
	return code ? err_set(err, -code, "%s: %s", python_name(), strerror(code)) : 0;
}

void redactor_done(struct redactor *r)
{
	if (r->fd >= 0)
		close(r->fd);
	if (r->pid)
		waitpid(r->pid, NULL, 0);
}

/* Sends all bytes, or receives as many. */
static bool move_all(int fd, void *bytes, size_t size, bool is_sent)
{
	for (size_t done = 0; done < size;) {
		char *at = (char *)bytes + done;
		ssize_t n = is_sent ? send(fd, at, size - done, MSG_NOSIGNAL) : recv(fd, at, size - done, 0);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

int redact_file(struct redactor *r, char *name, uint8_t *bytes, size_t size, bool *ret_is_known, struct err *err)
{
	uint64_t sizes[2] = {strlen(name), size};
	uint8_t is_known;

	if (!move_all(r->fd, sizes, sizeof(sizes), true) || !move_all(r->fd, name, sizes[0], true) ||
	    !move_all(r->fd, bytes, size, true) || !move_all(r->fd, &is_known, 1, false) ||
	    !move_all(r->fd, name, sizes[0], false) || (is_known && !move_all(r->fd, bytes, size, false)))
		return err_set(err, -EIO, "%s, which redacts, has failed", python_name());
	*ret_is_known = is_known;
	return 0;
}
