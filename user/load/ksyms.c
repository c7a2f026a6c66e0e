// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load/ksyms.h"

struct symbol {
	uint64_t addr;
	uint32_t name; /* offset into names */
};

struct vw_ksyms {
	int proc_fd;
	bool started;
	pthread_t thread;
	atomic_bool stop, ready;
	struct symbol *symbols;
	size_t n, room;
	char *names;
	size_t used, size;
};

struct vw_ksyms *vw_ksyms_new(int proc_fd)
{
	struct vw_ksyms *syms = calloc(1, sizeof(*syms));

	if (syms)
		syms->proc_fd = proc_fd;
	return syms;
}

void vw_ksyms_free(struct vw_ksyms *syms)
{
	if (!syms)
		return;
	atomic_store(&syms->stop, true);
	if (syms->started)
		pthread_join(syms->thread, NULL);
	free(syms->symbols);
	free(syms->names);
	free(syms);
}

static bool add(struct vw_ksyms *syms, uint64_t addr, const char *name)
{
	size_t len = strlen(name) + 1;

	if (syms->n == syms->room) {
		size_t room = syms->room ? syms->room * 2 : 4096;
		struct symbol *grown = realloc(syms->symbols, room * sizeof(*grown));

		if (!grown)
			return false;
		syms->symbols = grown;
		syms->room = room;
	}
	if (syms->used + len > syms->size) {
		size_t size = syms->size ? syms->size * 2 : 65536;
		char *grown = realloc(syms->names, size);

		if (!grown)
			return false;
		syms->names = grown;
		syms->size = size;
	}
	memcpy(syms->names + syms->used, name, len);
	syms->symbols[syms->n].addr = addr;
	syms->symbols[syms->n].name = (uint32_t)syms->used;
	syms->n++;
	syms->used += len;
	return true;
}

static int by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void *read_all(void *arg)
{
	struct vw_ksyms *syms = arg;
	int fd = openat(syms->proc_fd, "kallsyms", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char line[512], name[128], type;
	unsigned long long addr;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	/* Names are at most 127 bytes (KSYM_NAME_LEN was 128 for long); longer ones are cut. */
	while (!atomic_load(&syms->stop) && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %c %127s", &addr, &type, name) != 3 || !addr)
			continue;
		if (strchr("tTwW", type) && !add(syms, addr, name))
			break;
	}
	fclose(file);
	qsort(syms->symbols, syms->n, sizeof(*syms->symbols), by_addr);
	atomic_store(&syms->ready, true);
	return NULL;
}

const char *vw_ksyms_name(struct vw_ksyms *syms, uint64_t addr)
{
	size_t lo = 0, hi;

	if (!syms->started)
		syms->started = !pthread_create(&syms->thread, NULL, read_all, syms);
	if (!atomic_load(&syms->ready) || !syms->n)
		return NULL;
	hi = syms->n;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (syms->symbols[mid].addr <= addr)
			lo = mid;
		else
			hi = mid;
	}
	/* An address far behind the last symbol is in nothing that is listed (a BPF program, say). */
	if (syms->symbols[lo].addr > addr || addr - syms->symbols[lo].addr > (1u << 20))
		return NULL;
	return syms->names + syms->symbols[lo].name;
}
