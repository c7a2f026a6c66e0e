// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "load/attach.h"
#include "util/affinity.h"
#include "util/clock.h"

struct vw_attach {
	pid_t child;
	int sock; /* -1: nothing more will come */
	unsigned int n;
	int link_fds[VW_ATTACH_MAX]; /* -1: none */
	int state[VW_ATTACH_MAX];
};

/* What the child says of a program; the link travels beside it. */
struct answer {
	uint32_t index;
	int32_t err;
};

static int send_answer(int sock, const struct answer *answer, int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = (void *)answer, .iov_len = sizeof(*answer) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg;

	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = control.buf;
		msg.msg_controllen = sizeof(control.buf);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	}
	return sendmsg(sock, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/*
 * The whole life of the child: system calls only, as the parent may have threads.  It keeps only
 * what it needs: a child that hangs must hold no other hook.
 */
static void attach_all(int sock, const int *prog_fds, unsigned int n)
{
	struct answer answer;
	unsigned int i;
	int fd;

	for (i = 0; i < n; i++) {
		fd = bpf_raw_tracepoint_open(NULL, prog_fds[i]);
		answer.index = i;
		answer.err = fd < 0 ? -errno : 0;
		if (send_answer(sock, &answer, fd))
			break; /* the parent is gone */
		if (fd >= 0)
			close(fd);
	}
}

static bool is_kept(int fd, int sock, const int *prog_fds, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (prog_fds[i] == fd)
			return true;
	return fd == sock || fd <= STDERR_FILENO;
}

int vw_attach_start(const int *prog_fds, unsigned int n, struct vw_attach **ret)
{
	struct vw_attach *a = calloc(1, sizeof(*a));
	int socks[2], fd, err;
	unsigned int i;

	if (!a || n > VW_ATTACH_MAX) {
		free(a);
		return a ? -EINVAL : -ENOMEM;
	}
	a->n = n;
	for (i = 0; i < n; i++)
		a->link_fds[i] = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks)) {
		err = -errno;
		free(a);
		return err;
	}
	a->child = fork();
	if (!a->child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (fd = 3; fd < 256; fd++)
			if (!is_kept(fd, socks[1], prog_fds, n))
				close(fd);
		attach_all(socks[1], prog_fds, n);
		_exit(0);
	}
	err = a->child < 0 ? -errno : 0;
	if (!err)
		vw_affinity_bring_here(a->child);
	close(socks[1]);
	a->sock = socks[0];
	if (err) {
		close(a->sock);
		free(a);
		return err;
	}
	*ret = a;
	return 0;
}

/* One answer of the child.  False at its end. */
static bool take_answer(struct vw_attach *a)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct answer answer;
	struct iovec iov = { .iov_base = &answer, .iov_len = sizeof(answer) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.buf,
			      .msg_controllen = sizeof(control.buf) };
	struct cmsghdr *cmsg;
	int fd = -1;

	if (recvmsg(a->sock, &msg, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(answer))
		return false;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (cmsg && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(cmsg), sizeof(int));
	if (answer.index >= a->n || (answer.err == 0) != (fd >= 0)) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	a->link_fds[answer.index] = fd;
	a->state[answer.index] = answer.err ? answer.err : 1;
	return true;
}

static void finish(struct vw_attach *a)
{
	unsigned int i;

	close(a->sock);
	a->sock = -1;
	/* The child has said all it will; it exits at once. */
	waitpid(a->child, NULL, 0);
	for (i = 0; i < a->n; i++)
		if (!a->state[i])
			a->state[i] = -EIO;
}

bool vw_attach_poll(struct vw_attach *a, uint64_t wait_ns)
{
	struct pollfd pfd = { .fd = a->sock, .events = POLLIN };
	uint64_t end = vw_clock_now() + wait_ns, now;
	int left;

	while (a->sock >= 0) {
		now = vw_clock_now();
		left = now < end ? (int)((end - now) / 1000000) + 1 : 0;
		if (poll(&pfd, 1, wait_ns ? left : 0) <= 0)
			return false;
		if (!take_answer(a))
			finish(a);
	}
	return true;
}

int vw_attach_state(const struct vw_attach *a, unsigned int i)
{
	return a->state[i];
}

void vw_attach_drop(struct vw_attach *a, unsigned int i)
{
	if (a->link_fds[i] >= 0)
		close(a->link_fds[i]);
	a->link_fds[i] = -1;
}

void vw_attach_free(struct vw_attach *a)
{
	unsigned int i;

	if (!a)
		return;
	for (i = 0; i < a->n; i++)
		vw_attach_drop(a, i);
	if (a->sock >= 0) {
		close(a->sock);
		/*
		 * It dies once the kernel lets it; nobody waits for that, and it holds no hook of
		 * ours.
		 */
		kill(a->child, SIGKILL);
	}
	free(a);
}
