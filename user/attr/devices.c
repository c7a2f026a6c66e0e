// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "attr/devices.h"
#include "attr/ifname.h"
#include "util/fs.h"
#include "util/str.h"

/* More than any machine has; what is beyond makes the answer "not certain". */
#define MAX_FILES 256
#define MAX_DESCRIPTORS 65536

struct tap {
	int32_t fd;
	bool macvtap;
	bool excluded; /* paired with a vhost descriptor, or said to be without vhost */
	char ifname[IFNAMSIZ]; /* "" unknown */
};

/* What the scan of the descriptors collects. */
struct files {
	int sys_fd;
	unsigned int n_seen, n_taps, n_nets, n_vsocks, n_scsis, n_vdpas;
	bool overflow, kvm, vdpas_differ;
	struct tap taps[MAX_FILES];
	struct { int32_t fd; bool named; } nets[MAX_FILES];
	char vdpa[VW_DEVICE_LEN];
};

/* All device strings met so far, as far as the answer depends on them. */
struct answer {
	bool any, differs, macvtap;
	char device[VW_DEVICE_LEN];
};

static void answer_add(struct answer *answer, bool macvtap, const char *kind, const char *name)
{
	char device[VW_DEVICE_LEN];

	snprintf(device, sizeof(device), *name ? "%s:%s" : "%s", kind, name);
	if (answer->any && strcmp(answer->device, device))
		answer->differs = true;
	answer->any = true;
	answer->macvtap = macvtap;
	memcpy(answer->device, device, sizeof(device));
}

static void add_tap(struct files *files, int dir_fd, int32_t fd, const char *macvtap_index)
{
	struct tap *tap = &files->taps[files->n_taps];
	char path[40], text[512];
	uint64_t index;
	char *name, *value;

	if (files->n_taps == MAX_FILES) {
		files->overflow = true;
		return;
	}
	memset(tap, 0, sizeof(*tap));
	tap->fd = fd;
	if (macvtap_index) {
		tap->macvtap = true;
		if (files->sys_fd >= 0 && !vw_str_u64(macvtap_index, NULL, &index))
			vw_ifname_by_index(files->sys_fd, index, tap->ifname, sizeof(tap->ifname));
		files->n_taps++;
		return;
	}
	snprintf(path, sizeof(path), "../fdinfo/%d", fd);
	if (vw_fs_read(dir_fd, path, text, sizeof(text)) < 0)
		text[0] = '\0';
	name = strstr(text, "iff:");
	if (name && (name == text || name[-1] == '\n')) {
		value = name + strlen("iff:");
		value += strspn(value, " \t");
		value[strcspn(value, " \t\n")] = '\0';
		/* A descriptor that is attached to no interface yet cannot be a backend. */
		if (!*value)
			return;
		vw_str_copy(tap->ifname, sizeof(tap->ifname), value, strlen(value));
	}
	files->n_taps++;
}

static void add_net(struct files *files, int32_t fd)
{
	if (files->n_nets == MAX_FILES) {
		files->overflow = true;
		return;
	}
	files->nets[files->n_nets].fd = fd;
	files->nets[files->n_nets].named = false;
	files->n_nets++;
}

static void add_vdpa(struct files *files, const char *number)
{
	char device[VW_DEVICE_LEN];

	snprintf(device, sizeof(device), "%s", number);
	if (files->n_vdpas && strcmp(device, files->vdpa))
		files->vdpas_differ = true;
	memcpy(files->vdpa, device, sizeof(device));
	files->n_vdpas++;
}

static int add_file(void *ctx, int dir_fd, int32_t fd)
{
	struct files *files = ctx;
	char path[16], link[64];
	const char *name;

	if (++files->n_seen > MAX_DESCRIPTORS) {
		files->overflow = true;
		return 1;
	}
	snprintf(path, sizeof(path), "%d", fd);
	/* A link that does not fit is none of the short names looked for. */
	if (vw_fs_readlink(dir_fd, path, link, sizeof(link)) < 0)
		return 0;
	if (!strcmp(link, "anon_inode:kvm-vm"))
		files->kvm = true;
	if (!vw_str_starts(link, "/dev/"))
		return 0;
	name = link + strlen("/dev/");
	if (!strcmp(name, "net/tun"))
		add_tap(files, dir_fd, fd, NULL);
	else if (!strcmp(name, "vhost-net"))
		add_net(files, fd);
	else if (!strcmp(name, "vhost-vsock"))
		files->n_vsocks++;
	else if (!strcmp(name, "vhost-scsi"))
		files->n_scsis++;
	else if (vw_str_starts(name, "vhost-vdpa-"))
		add_vdpa(files, name + strlen("vhost-vdpa-"));
	else if (!strcmp(name, "kvm"))
		files->kvm = true;
	else if (vw_str_starts(name, "tap"))
		add_tap(files, dir_fd, fd, name + strlen("tap"));
	return 0;
}

static struct tap *tap_by_fd(struct files *files, uint64_t fd)
{
	unsigned int i;

	for (i = 0; i < files->n_taps; i++)
		if ((uint64_t)files->taps[i].fd == fd)
			return &files->taps[i];
	return NULL;
}

/* The next number of a list like "34:35"; false at its end or at something else (a name). */
static bool next_fd(const char **list, uint64_t *ret_fd)
{
	if (vw_str_u64(*list, list, ret_fd))
		return false;
	*list += **list == ':';
	return true;
}

/* True when one of the two spellings of a list of descriptors is there. */
static bool get_fds(const char *netdev, const char *one, const char *many, char *ret, size_t size)
{
	return !vw_qemu_get(netdev, "type", one, ret, size) ||
	       !vw_qemu_get(netdev, "type", many, ret, size);
}

/* Pairs taps with vhost descriptors as the command line says, as far as both are still open. */
static void pair(struct files *files, struct answer *answer, const char *fds, const char *vhostfds)
{
	uint64_t fd, vhostfd;
	struct tap *tap;
	unsigned int i;

	while (next_fd(&fds, &fd) && next_fd(&vhostfds, &vhostfd)) {
		tap = tap_by_fd(files, fd);
		for (i = 0; i < files->n_nets; i++)
			if ((uint64_t)files->nets[i].fd == vhostfd)
				break;
		if (!tap || i == files->n_nets)
			continue;
		files->nets[i].named = true;
		tap->excluded = true;
		answer_add(answer, tap->macvtap, "vhost-net", tap->ifname);
	}
}

/* A netdev without vhost: none of its taps can be the backend of a vhost device. */
static void exclude(struct files *files, const char *fds, const char *ifname)
{
	struct tap *tap;
	unsigned int i;
	uint64_t fd;

	while (next_fd(&fds, &fd)) {
		tap = tap_by_fd(files, fd);
		if (tap)
			tap->excluded = true;
	}
	for (i = 0; *ifname && i < files->n_taps; i++)
		if (!strcmp(files->taps[i].ifname, ifname))
			files->taps[i].excluded = true;
}

static void take_netdev(struct files *files, struct answer *answer, const char *netdev)
{
	char word[8], fds[512] = "", vhostfds[512] = "", ifname[IFNAMSIZ] = "";
	bool paired, vhost;

	if (vw_qemu_get(netdev, "type", "type", word, sizeof(word)) || strcmp(word, "tap"))
		return;
	get_fds(netdev, "fd", "fds", fds, sizeof(fds));
	paired = get_fds(netdev, "vhostfd", "vhostfds", vhostfds, sizeof(vhostfds));
	vw_qemu_get(netdev, "type", "ifname", ifname, sizeof(ifname));
	/* As QEMU decides: vhost= where given, else the presence of what only vhost needs. */
	if (!vw_qemu_get(netdev, "type", "vhost", word, sizeof(word)))
		vhost = vw_qemu_is_on(netdev, "type", "vhost");
	else
		vhost = paired || vw_qemu_is_on(netdev, "type", "vhostforce");
	if (!vhost)
		exclude(files, fds, ifname);
	else if (paired)
		pair(files, answer, fds, vhostfds);
}

/* vhost-net descriptors that the command line did not name: certain if only one tap is left. */
static void name_rest(struct files *files, struct answer *answer)
{
	const struct tap *only = NULL;
	unsigned int i, rest = 0;

	for (i = 0; i < files->n_nets; i++)
		rest += !files->nets[i].named;
	if (!rest)
		return;
	if (!files->n_taps) {
		answer_add(answer, false, "vhost-net", "");
		return;
	}
	for (i = 0; i < files->n_taps; i++) {
		const struct tap *tap = &files->taps[i];

		if (tap->excluded)
			continue;
		if (only && (!*tap->ifname || strcmp(only->ifname, tap->ifname)))
			answer->differs = true;
		only = tap;
	}
	if (only)
		answer_add(answer, only->macvtap, "vhost-net", only->ifname);
	else
		answer->differs = true;
}

static void name_nets(struct files *files, const struct vw_qemu_args *args, struct answer *answer)
{
	static const char *const options[] = { "netdev", "nic", "net" };
	const char *value;
	unsigned int i;
	size_t pos;

	if (!files->n_nets)
		return;
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		pos = 0;
		while ((value = vw_qemu_next(args, options[i], &pos)))
			take_netdev(files, answer, value);
	}
	name_rest(files, answer);
}

/*
 * Devices that the command line names by a property.  With more descriptors than devices on the
 * command line one was added later, under a name that is not known.
 */
static void name_by_key(const struct vw_qemu_args *args, unsigned int n, const char *kind,
			const char *key, struct answer *answer)
{
	char driver[64], name[VW_DEVICE_LEN];
	const char *value;
	unsigned int found = 0;
	size_t pos = 0;

	if (!n)
		return;
	while ((value = vw_qemu_next(args, "device", &pos))) {
		if (vw_qemu_get(value, "driver", "driver", driver, sizeof(driver)) ||
		    !vw_str_starts(driver, kind) ||
		    vw_qemu_get(value, "driver", key, name, sizeof(name)) == -ENOENT)
			continue;
		answer_add(answer, false, kind, name);
		found++;
	}
	if (!found)
		answer_add(answer, false, kind, "");
	if (n > (found ? found : 1))
		answer->differs = true;
}

int vw_devices_read(int pid_fd, int sys_fd, const struct vw_qemu_args *args,
		    struct vw_devices *ret)
{
	struct answer answer = { 0 };
	struct files *files;
	int err;

	files = calloc(1, sizeof(*files));
	if (!files)
		return -ENOMEM;
	files->sys_fd = sys_fd;
	err = vw_fs_each_number(pid_fd, "fd", add_file, files);
	if (err < 0)
		goto out;
	name_nets(files, args, &answer);
	name_by_key(args, files->n_vsocks, "vhost-vsock", "guest-cid", &answer);
	name_by_key(args, files->n_scsis, "vhost-scsi", "wwpn", &answer);
	if (!answer.any && files->n_vdpas) {
		answer_add(&answer, false, "vhost-vdpa", files->vdpa);
		answer.differs = files->vdpas_differ;
	}
	memset(ret, 0, sizeof(*ret));
	ret->vmm = files->kvm || answer.any;
	if (!answer.differs && !files->overflow) {
		ret->macvtap = answer.macvtap;
		memcpy(ret->device, answer.device, sizeof(ret->device));
	}
	err = 0;
out:
	free(files);
	return err;
}
