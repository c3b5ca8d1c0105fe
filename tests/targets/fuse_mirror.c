/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_mirror DIRECTORY MOUNTPOINT: a FUSE file system that shows DIRECTORY, without libfuse. Mounts it, prints
 * "mounted" and serves requests one by one until it is unmounted. Exits with 77 if it cannot be mounted here. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE_BYTES = 128 << 10, REQUEST_BYTES = WRITE_BYTES + 4096, NODES = 65536 };

static char *nodes[NODES]; /* paths by node number; NULL: unused */
static size_t node_count = FUSE_ROOT_ID + 1;
static int device;

static void reply(const struct fuse_in_header *in, int error, const void *data, size_t size)
{
	struct fuse_out_header out = {(uint32_t)(sizeof(out) + (error ? 0 : size)), error, in->unique};
	struct iovec parts[] = {{&out, sizeof(out)}, {(void *)data, error ? 0 : size}};

	if (writev(device, parts, 2) < 0 && errno != ENOENT)
		perror("fuse_mirror: reply");
}

static uint64_t node_of(const char *path)
{
	for (size_t i = FUSE_ROOT_ID; i < node_count; i++)
		if (nodes[i] && !strcmp(nodes[i], path))
			return i;
	if (node_count == NODES)
		exit(1);
	nodes[node_count] = strdup(path);
	return node_count++;
}

static void node_rename(const char *from, const char *to)
{
	for (size_t i = FUSE_ROOT_ID; i < node_count; i++) {
		if (nodes[i] && to && !strcmp(nodes[i], to))
			nodes[i] = NULL;
		else if (nodes[i] && !strcmp(nodes[i], from))
			nodes[i] = to ? strdup(to) : NULL;
	}
}

static const char *path_of(uint64_t node)
{
	return node < node_count && nodes[node] ? nodes[node] : "/nonexistent";
}

static const char *child(uint64_t parent, const char *name)
{
	static char paths[2][PATH_MAX];
	static int which;

	which = !which;
	snprintf(paths[which], PATH_MAX, "%.3800s/%.255s", path_of(parent), name);
	return paths[which];
}

static struct fuse_attr attributes(const struct stat *st)
{
	return (struct fuse_attr){
		.ino = st->st_ino, .size = (uint64_t)st->st_size, .blocks = (uint64_t)st->st_blocks,
		.atime = (uint64_t)st->st_atime, .mtime = (uint64_t)st->st_mtime, .ctime = (uint64_t)st->st_ctime,
		.mode = st->st_mode, .nlink = (uint32_t)st->st_nlink, .uid = st->st_uid, .gid = st->st_gid,
		.blksize = 4096,
	};
}

/* Entries and attributes are valid for no time, as on a network file system that others write to. */
static int entry(const char *path, struct fuse_entry_out *ret)
{
	struct stat st;

	if (lstat(path, &st))
		return -errno;
	*ret = (struct fuse_entry_out){.nodeid = node_of(path), .attr = attributes(&st)};
	return 0;
}

static void reply_entry(const struct fuse_in_header *in, int error, const char *path)
{
	struct fuse_entry_out out;

	if (!error)
		error = entry(path, &out);
	reply(in, error, &out, sizeof(out));
}

static void reply_attributes(const struct fuse_in_header *in, int error)
{
	struct fuse_attr_out out = {0};
	struct stat st;

	if (!error && lstat(path_of(in->nodeid), &st))
		error = -errno;
	if (!error)
		out.attr = attributes(&st);
	reply(in, error, &out, sizeof(out));
}

static void set_attributes(const struct fuse_in_header *in, const struct fuse_setattr_in *set)
{
	const char *path = path_of(in->nodeid);
	int rc = 0;

	if (set->valid & FATTR_MODE)
		rc |= chmod(path, set->mode & 07777);
	if (set->valid & FATTR_SIZE)
		rc |= truncate(path, (off_t)set->size);
	reply_attributes(in, rc ? -errno : 0);
}

static void open_file(const struct fuse_in_header *in, int flags)
{
	int fd = open(path_of(in->nodeid), (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND)) | O_CLOEXEC);
	struct fuse_open_out out = {.fh = (uint64_t)fd};

	reply(in, fd < 0 ? -errno : 0, &out, sizeof(out));
}

static void create_file(const struct fuse_in_header *in, const struct fuse_create_in *how)
{
	const char *path = child(in->nodeid, (const char *)(how + 1));
	int fd = open(path, ((int)how->flags & ~O_APPEND) | O_CREAT | O_CLOEXEC, how->mode & 07777);
	struct {
		struct fuse_entry_out entry;
		struct fuse_open_out open;
	} out = {.open.fh = (uint64_t)fd};
	int error = fd < 0 ? -errno : entry(path, &out.entry);

	reply(in, error, &out, sizeof(out));
}

static void read_file(const struct fuse_in_header *in, const struct fuse_read_in *how)
{
	static char bytes[WRITE_BYTES];
	size_t size = how->size < sizeof(bytes) ? how->size : sizeof(bytes);
	ssize_t n = pread((int)how->fh, bytes, size, (off_t)how->offset);

	reply(in, n < 0 ? -errno : 0, bytes, n < 0 ? 0 : (size_t)n);
}

static void write_file(const struct fuse_in_header *in, const struct fuse_write_in *how)
{
	ssize_t n = pwrite((int)how->fh, how + 1, how->size, (off_t)how->offset);
	struct fuse_write_out out = {.size = n < 0 ? 0 : (uint32_t)n};

	reply(in, n < 0 ? -errno : 0, &out, sizeof(out));
}

static void open_directory(const struct fuse_in_header *in)
{
	DIR *d = opendir(path_of(in->nodeid));
	struct fuse_open_out out = {.fh = (uint64_t)(uintptr_t)d};

	reply(in, d ? 0 : -errno, &out, sizeof(out));
}

static void read_directory(const struct fuse_in_header *in, const struct fuse_read_in *how)
{
	DIR *d = (DIR *)(uintptr_t)how->fh;
	static char bytes[65536];
	size_t used = 0;
	struct dirent *e;

	seekdir(d, (long)how->offset);
	while ((e = readdir(d))) {
		size_t length = strlen(e->d_name), size = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + length);
		struct fuse_dirent *out = (struct fuse_dirent *)(bytes + used);

		if (used + size > how->size || used + size > sizeof(bytes))
			break;
		memset(out, 0, size);
		*out = (struct fuse_dirent){e->d_ino, (uint64_t)telldir(d), (uint32_t)length, e->d_type};
		memcpy(out->name, e->d_name, length);
		used += size;
	}
	reply(in, 0, bytes, used);
}

static void rename_entry(const struct fuse_in_header *in, uint64_t to, const char *names)
{
	const char *old = child(in->nodeid, names), *new = child(to, names + strlen(names) + 1);
	int error = rename(old, new) ? -errno : 0;

	if (!error)
		node_rename(old, new);
	reply(in, error, NULL, 0);
}

static void remove_entry(const struct fuse_in_header *in, const char *name, int flags)
{
	const char *path = child(in->nodeid, name);
	int error = unlinkat(AT_FDCWD, path, flags) ? -errno : 0;

	if (!error)
		node_rename(path, NULL);
	reply(in, error, NULL, 0);
}

static void reply_space(const struct fuse_in_header *in)
{
	struct fuse_statfs_out out = {0};
	struct statfs fs;

	if (!statfs(path_of(in->nodeid), &fs))
		out.st = (struct fuse_kstatfs){
			.blocks = fs.f_blocks, .bfree = fs.f_bfree, .bavail = fs.f_bavail, .files = fs.f_files,
			.ffree = fs.f_ffree, .bsize = (uint32_t)fs.f_bsize, .namelen = 255,
			.frsize = (uint32_t)fs.f_bsize,
		};
	reply(in, 0, &out, sizeof(out));
}

static void start(const struct fuse_in_header *in, const struct fuse_init_in *init)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION < init->minor ? FUSE_KERNEL_MINOR_VERSION : init->minor,
		.max_readahead = init->max_readahead, .max_write = WRITE_BYTES, .max_background = 16, .time_gran = 1,
	};

	reply(in, 0, &out, sizeof(out));
}

static void serve(const struct fuse_in_header *in)
{
	const void *argument = in + 1;

	switch (in->opcode) {
	case FUSE_INIT: start(in, argument); break;
	case FUSE_FORGET: case FUSE_BATCH_FORGET: case FUSE_INTERRUPT: break;
	case FUSE_LOOKUP: reply_entry(in, 0, child(in->nodeid, argument)); break;
	case FUSE_GETATTR: reply_attributes(in, 0); break;
	case FUSE_SETATTR: set_attributes(in, argument); break;
	case FUSE_OPEN: open_file(in, (int)((const struct fuse_open_in *)argument)->flags); break;
	case FUSE_CREATE: create_file(in, argument); break;
	case FUSE_READ: read_file(in, argument); break;
	case FUSE_WRITE: write_file(in, argument); break;
	case FUSE_FLUSH: case FUSE_FSYNC: case FUSE_FSYNCDIR: case FUSE_ACCESS: reply(in, 0, NULL, 0); break;
	case FUSE_RELEASE:
		close((int)((const struct fuse_release_in *)argument)->fh);
		reply(in, 0, NULL, 0);
		break;
	case FUSE_MKDIR: {
		const struct fuse_mkdir_in *how = argument;
		const char *path = child(in->nodeid, (const char *)(how + 1));

		reply_entry(in, mkdir(path, how->mode) ? -errno : 0, path);
		break;
	}
	case FUSE_UNLINK: remove_entry(in, argument, 0); break;
	case FUSE_RMDIR: remove_entry(in, argument, AT_REMOVEDIR); break;
	case FUSE_RENAME: {
		const struct fuse_rename_in *how = argument;

		rename_entry(in, how->newdir, (const char *)(how + 1));
		break;
	}
	case FUSE_RENAME2: {
		const struct fuse_rename2_in *how = argument;

		rename_entry(in, how->newdir, (const char *)(how + 1));
		break;
	}
	case FUSE_OPENDIR: open_directory(in); break;
	case FUSE_READDIR: read_directory(in, argument); break;
	case FUSE_RELEASEDIR:
		closedir((DIR *)(uintptr_t)((const struct fuse_release_in *)argument)->fh);
		reply(in, 0, NULL, 0);
		break;
	case FUSE_STATFS: reply_space(in); break;
	default: reply(in, -ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static _Alignas(8) char request[REQUEST_BYTES];
	char options[128];
	ssize_t n;

	if (argc != 3)
		return 2;
	umask(0);
	nodes[FUSE_ROOT_ID] = realpath(argv[1], NULL);
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=%u,group_id=%u", device, getuid(), getgid());
	if (device < 0 || !nodes[FUSE_ROOT_ID] ||
	    mount("fuse_mirror", argv[2], "fuse", MS_NOSUID | MS_NODEV, options)) {
		fprintf(stderr, "fuse_mirror: %s\n", strerror(errno));
		return 77;
	}
	puts("mounted");
	fflush(stdout);
	while ((n = read(device, request, sizeof(request))) > 0 || errno == EINTR || errno == ENOENT)
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			serve((const struct fuse_in_header *)request);
	return 0;
}
