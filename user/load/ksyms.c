// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/ksyms.h"
#include "util/fs.h"

/* A few milliseconds of work, of the 200 000 lines that a kernel has. */
#define LINES_A_PIECE 10000

struct symbol {
	uint64_t addr;
	uint32_t name; /* offset into names */
};

struct vw_ksyms {
	int proc_fd;
	bool asked, ready;
	FILE *file; /* while it is read */
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
	if (syms->file)
		fclose(syms->file);
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

static void finish(struct vw_ksyms *syms)
{
	if (syms->file)
		fclose(syms->file);
	syms->file = NULL;
	if (syms->n)
		qsort(syms->symbols, syms->n, sizeof(*syms->symbols), by_addr);
	syms->ready = true;
}

/* "ffffffff81000000 T name [module]".  Only functions are kept. */
static bool add_line(struct vw_ksyms *syms, char *line)
{
	char *p, *name;
	uint64_t addr = strtoull(line, &p, 16);

	if (!addr || *p != ' ' || !strchr("tTwW", p[1]) || p[2] != ' ')
		return true;
	name = p + 3;
	name[strcspn(name, " \t\n")] = '\0';
	return add(syms, addr, name);
}

void vw_ksyms_work(struct vw_ksyms *syms)
{
	char line[512];
	int i;

	if (!syms->asked || syms->ready)
		return;
	if (!syms->file)
		syms->file = vw_fs_fopen(syms->proc_fd, "kallsyms");
	if (!syms->file) {
		finish(syms);
		return;
	}
	for (i = 0; i < LINES_A_PIECE; i++)
		if (!fgets(line, sizeof(line), syms->file) || !add_line(syms, line)) {
			finish(syms);
			return;
		}
}

const char *vw_ksyms_name(struct vw_ksyms *syms, uint64_t addr)
{
	size_t lo = 0, hi;

	syms->asked = true;
	if (!syms->ready || !syms->n)
		return NULL;
	hi = syms->n;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (syms->symbols[mid].addr <= addr)
			lo = mid;
		else
			hi = mid;
	}
	/*
	 * An address far behind the last symbol is in nothing that is listed (a BPF program, say).
	 */
	if (syms->symbols[lo].addr > addr || addr - syms->symbols[lo].addr > (1u << 20))
		return NULL;
	return syms->names + syms->symbols[lo].name;
}
