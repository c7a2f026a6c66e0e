/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which vhost devices a process has, told by its open files and its command line.
 *
 * /proc does not say which worker serves which device.  So the answer is one string that holds for
 * all workers of the process, or none: with vhost-net on two taps nothing here tells the workers
 * apart, and no order of descriptors or tids is taken for a proof.  vhost-vdpa has no workers and
 * counts only where there is no other vhost device.
 */
#ifndef VW_ATTR_DEVICES_H
#define VW_ATTR_DEVICES_H

#include <stdbool.h>

#include "attr/qemu.h"
#include "model/task.h"

struct vw_devices {
	bool vmm;                   /* it holds /dev/kvm or a vhost device */
	bool macvtap;               /* the interface in @device is a macvtap, not a tap */
	char device[VW_DEVICE_LEN]; /* "" when not certain */
};

/*
 * @pid_fd is /proc/PID.  @sys_fd is only asked for the names of macvtap interfaces, and not at all
 * when it is negative (the process lives in another network namespace).  0, or a negative errno
 * when the descriptors cannot be listed.
 */
int vw_devices_read(int pid_fd, int sys_fd, const struct vw_qemu_args *args,
		    struct vw_devices *ret);

#endif
