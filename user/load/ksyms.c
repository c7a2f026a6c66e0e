// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/ksyms.h"
#include "util/fs.h"

/* A few milliseconds of work. */
#define LINES_A_PIECE 10000
#define NAME_LEN 48
/* Known addresses; hogs are found in few places.  The oldest makes room. */
#define CACHE 512
/* Looked up in one reading; more have to be asked for again. */
#define BATCH 64
/* An address so far behind a function is in nothing that is listed (a BPF program, say). */
#define FAR (1u << 20)

struct entry {
	uint64_t addr; /* asked for; 0: empty */
	uint64_t symbol; /* the nearest function at or below it so far */
	char name[NAME_LEN];
};

struct vw_ksyms {
	int proc_fd;
	FILE *file; /* of the reading under way */
	unsigned int n_waiting, n_reading;
	struct entry waiting[BATCH], reading[BATCH];
	unsigned int next; /* cache slot to be overwritten */
	struct entry cache[CACHE];
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
	free(syms);
}

static const struct entry *find(const struct entry *list, unsigned int n, uint64_t addr)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (list[i].addr == addr)
			return &list[i];
	return NULL;
}

const char *vw_ksyms_name(struct vw_ksyms *syms, uint64_t addr)
{
	const struct entry *known;

	if (!addr)
		return "";
	known = find(syms->cache, CACHE, addr);
	if (known)
		return known->name;
	if (!find(syms->reading, syms->n_reading, addr) &&
	    !find(syms->waiting, syms->n_waiting, addr) && syms->n_waiting < BATCH)
		syms->waiting[syms->n_waiting++] = (struct entry){ .addr = addr };
	return NULL;
}

/* "ffffffff81000000 T name [module]".  Only functions hold addresses. */
static void match(struct vw_ksyms *syms, const char *line)
{
	char *p;
	uint64_t symbol = strtoull(line, &p, 16);
	unsigned int i;

	if (!symbol || p[0] != ' ' || !p[1] || !strchr("tTwW", p[1]) || p[2] != ' ')
		return;
	for (i = 0; i < syms->n_reading; i++) {
		struct entry *e = &syms->reading[i];

		if (symbol > e->addr || symbol <= e->symbol || e->addr - symbol > FAR)
			continue;
		e->symbol = symbol;
		snprintf(e->name, sizeof(e->name), "%.*s", (int)strcspn(p + 3, " \t\n"), p + 3);
	}
}

static void begin(struct vw_ksyms *syms)
{
	memcpy(syms->reading, syms->waiting, sizeof(syms->reading));
	syms->n_reading = syms->n_waiting;
	syms->n_waiting = 0;
	syms->file = vw_fs_fopen(syms->proc_fd, "kallsyms");
}

static void finish(struct vw_ksyms *syms)
{
	unsigned int i;

	if (syms->file)
		fclose(syms->file);
	syms->file = NULL;
	for (i = 0; i < syms->n_reading; i++) {
		syms->cache[syms->next] = syms->reading[i];
		syms->next = (syms->next + 1) % CACHE;
	}
	syms->n_reading = 0;
}

void vw_ksyms_work(struct vw_ksyms *syms)
{
	char line[512];
	int i;

	if (!syms->n_reading && !syms->n_waiting)
		return;
	if (!syms->n_reading)
		begin(syms);
	for (i = 0; syms->file && i < LINES_A_PIECE; i++) {
		if (!fgets(line, sizeof(line), syms->file)) {
			finish(syms);
			return;
		}
		match(syms, line);
	}
	if (!syms->file)
		finish(syms); /* no list: none has a name */
}
