/* SPDX-License-Identifier: Apache-2.0 */
/* What the file descriptors of one image referred to, and when. */
#pragma once

#include "report/base/interner.h"
#include "report/read/reader.h"

/* Of IP. A redacted capture has other digits, so hosts are no numbers. */
struct socket_address {
	uint64_t host; /* the hash of its text, which is the same for IPv4 in a socket of IPv6; 0: none */
	uint32_t port;
	bool is_loopback;
};

enum socket_state { SOCKET_UNNAMED, SOCKET_NAMED, SOCKET_LISTENING, SOCKET_UNCONNECTED };

struct socket_description {
	enum socket_state state;
	struct socket_address peer; /* or the own one if it has no peer */
	struct socket_address own;  /* of a socket that has a peer, if it was recorded */
};

struct descriptor {
	uint64_t from_ticks;
	uint16_t fd, kind;	 /* enum tf_descriptor_kind */
	uint32_t generation;	 /* see struct tf_descriptor */
	uint32_t text;		 /* the number of its description in the image: many are of the same path */
	uint32_t socket;	 /* TF_DESCRIPTOR_SOCKET: the place of its description in `sockets` */
	bool is_pipe, is_timer, is_terminal;
	const struct blob *blob; /* borrowed from the trace */
};

struct descriptors {
	const struct trace *trace;
	struct descriptor *items; /* by fd, then by time */
	size_t count, capacity;
	struct interner texts;
	struct socket_descriptions {
		struct socket_description *items;
		size_t count, capacity;
	} sockets;
};

/* Calls are in order of time, so what is found next is near what was found last. Each reader has its own. */
struct descriptor_search {
	const struct descriptors *of;
	size_t last;
};

/* Made at the first call, and kept with the trace, so that one thread at a time may call it. NULL has none. */
const struct descriptors *descriptors_of(const struct trace *t);

struct descriptor_search descriptor_search(const struct trace *t);

/* What `fd` referred to at that tick; NULL: not recorded. */
const struct descriptor *descriptors_find(struct descriptor_search *s, uint64_t fd, uint64_t ticks);
/* What the descriptor of a call's arguments referred to at its end; NULL: it has none, or it was not recorded. */
const struct descriptor *descriptors_find_call(struct descriptor_search *s, const struct event *e);

/* Likewise for a generation of `fd` that was in use at that tick: it may have been described later. */
const struct descriptor *descriptors_find_generation(struct descriptor_search *s, uint64_t fd, uint32_t generation,
						     uint64_t ticks);

/* --mode=profile: by the id of the description. */
const struct descriptor *descriptors_find_id(const struct descriptors *d, uint32_t id);
/* The directory with this number: TF_DESCRIPTOR_DIRECTORY. */
const struct descriptor *descriptors_find_directory(const struct descriptors *d, uint32_t number);

/* Appends a description: a path, or the peer of a socket. */
void descriptors_text(const struct descriptors *d, const struct descriptor *item, struct buffer *ret);
