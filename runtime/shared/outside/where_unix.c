/* SPDX-License-Identifier: Apache-2.0 */
/* Unix sockets: /proc/net/unix does not say which two are connected, the kernel's sock_diag(7) does, in the network
 * namespace of this process. */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/shared/outside/where.h"

static int diag_open(void)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req request;
	} ask = {.head = {.nlmsg_len = sizeof(ask),
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		 .request = {.sdiag_family = AF_UNIX, .udiag_states = ~0u, .udiag_show = UDIAG_SHOW_PEER}};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd >= 0 && send(fd, &ask, sizeof(ask), 0) == (ssize_t)sizeof(ask))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void peer_add(struct where_buffer *b, struct nlmsghdr *m, bool (*is_wanted)(unsigned long inode))
{
	struct unix_diag_msg *socket = NLMSG_DATA(m);
	int left = (int)m->nlmsg_len - (int)NLMSG_LENGTH(sizeof(*socket));
	char line[64];
	uint32_t peer;

	for (struct rtattr *a = (struct rtattr *)(socket + 1); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type != UNIX_DIAG_PEER || RTA_PAYLOAD(a) < sizeof(peer) || !is_wanted(socket->udiag_ino))
			continue;
		memcpy(&peer, RTA_DATA(a), sizeof(peer));
		snprintf(line, sizeof(line), "peer %u %u\n", socket->udiag_ino, peer);
		where_add_text(b, line);
	}
}

void where_unix_peers(struct where_buffer *b, bool (*is_wanted)(unsigned long inode))
{
	static char bytes[32768] __attribute__((aligned(NLMSG_ALIGNTO)));
	int fd = diag_open();
	bool is_last = fd < 0;

	while (!is_last) {
		ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		size_t size = n > 0 ? (size_t)n : 0, at = 0;

		is_last = n <= 0;
		while (at + sizeof(struct nlmsghdr) <= size) {
			struct nlmsghdr *m = (struct nlmsghdr *)(bytes + at);

			if (m->nlmsg_len < sizeof(*m) || m->nlmsg_len > size - at)
				break;
			at += NLMSG_ALIGN(m->nlmsg_len);
			is_last |= m->nlmsg_type == NLMSG_DONE || m->nlmsg_type == NLMSG_ERROR;
			if (!is_last && m->nlmsg_len >= NLMSG_LENGTH(sizeof(struct unix_diag_msg)))
				peer_add(b, m, is_wanted);
		}
	}
	if (fd >= 0)
		close(fd);
}
