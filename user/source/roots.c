// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "source/roots.h"
#include "util/fs.h"

static int open_root(const char *path, int *ret_fd, struct vw_error *e)
{
	int fd = path ? vw_fs_opendir(AT_FDCWD, path) : -1;

	if (path && fd < 0)
		return vw_error_set(e, fd, "no_input", "cannot open %s: %s", path, strerror(-fd));
	*ret_fd = fd;
	return 0;
}

int vw_roots_open(struct vw_roots *roots, const struct vw_replay_config *config, struct vw_error *e)
{
	int err;

	if (!config->procfs && !config->sysfs)
		return 0;
	err = open_root(config->procfs, &roots->proc_fd, e);
	if (!err)
		err = open_root(config->sysfs, &roots->sys_fd, e);
	if (err)
		return err;
	roots->attr = vw_attr_new(roots->proc_fd, roots->sys_fd);
	return roots->attr ? 0 : vw_error_set(e, -ENOMEM, "memory", "out of memory");
}

void vw_roots_close(struct vw_roots *roots)
{
	vw_attr_free(roots->attr);
	if (roots->proc_fd >= 0)
		close(roots->proc_fd);
	if (roots->sys_fd >= 0)
		close(roots->sys_fd);
	*roots = VW_ROOTS_NONE;
}
