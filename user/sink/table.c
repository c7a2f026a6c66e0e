// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sink/table.h"
#include "util/format.h"
#include "util/parse.h"

struct entry {
	struct vw_worker_row row;
	/* Over the last interval, VW_UNKNOWN at first. */
	uint64_t cpu_permille, wait_permille;
	uint64_t switches, tx, rx; /* a second */
};

struct vw_table {
	struct entry *shown, *next; /* VW_TABLE_MAX at most; shown is sorted by tid */
	size_t n_shown, n_next, cap_shown, cap_next;
	size_t left_out_shown, left_out_next;
};

enum column_id { VM, DEVICE, TID, CPU, ONCPU, WAIT, PENDING, SWITCHES, TX, RX, N_COLUMNS };

static const struct column {
	const char *title, *short_title;
	unsigned int width, short_width; /* of VM and DEVICE: the least */
	bool right;
} columns[N_COLUMNS] = {
	[VM] = { "VM", "VM", 10, 8, false },
	[DEVICE] = { "DEVICE", "DEVICE", 14, 12, false },
	[TID] = { "TID", "TID", 7, 7, true },
	[CPU] = { "CPU", "CPU", 4, 3, true },
	[ONCPU] = { "ON-CPU%", "CPU%", 7, 5, true },
	[WAIT] = { "WAIT%", "WAIT%", 6, 5, true },
	[PENDING] = { "PENDING", "PENDING", 7, 7, true },
	[SWITCHES] = { "SWITCHES/s", "SW/s", 10, 6, true },
	[TX] = { "TX pkt/s", "TX/s", 8, 6, true },
	[RX] = { "RX pkt/s", "RX/s", 8, 6, true },
};

/* What goes first when even short columns do not fit. */
static const enum column_id drop_order[] = { RX, TX, SWITCHES, CPU, PENDING, DEVICE, TID };

struct layout {
	unsigned int width[N_COLUMNS]; /* 0: not shown */
	bool short_titles;
};

struct vw_table *vw_table_new(void)
{
	return calloc(1, sizeof(struct vw_table));
}

void vw_table_free(struct vw_table *table)
{
	if (!table)
		return;
	free(table->shown);
	free(table->next);
	free(table);
}

int vw_table_worker(struct vw_table *table, const struct vw_worker_row *row)
{
	if (table->n_next == VW_TABLE_MAX) {
		table->left_out_next++;
		return 0;
	}
	if (table->n_next == table->cap_next) {
		size_t cap = table->cap_next ? 2 * table->cap_next : 16;
		struct entry *next = realloc(table->next, cap * sizeof(*next));

		if (!next)
			return -ENOMEM;
		table->next = next;
		table->cap_next = cap;
	}
	table->next[table->n_next++] = (struct entry){ .row = *row };
	return 0;
}

static int by_tid(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->row.task.tid > y->row.task.tid) - (x->row.task.tid < y->row.task.tid);
}

/* Unknown sorts last, as it would with a value below zero. */
static int descending(uint64_t a, uint64_t b)
{
	a++; /* VW_UNKNOWN becomes 0 */
	b++;
	return (a < b) - (a > b);
}

static int by_load(const void *a, const void *b)
{
	const struct entry *x = *(const struct entry *const *)a;
	const struct entry *y = *(const struct entry *const *)b;
	int order = descending(x->cpu_permille, y->cpu_permille);

	if (!order)
		order = descending(x->wait_permille, y->wait_permille);
	return order ? order : by_tid(x, y);
}

/* Growth per @scale of time; unknown when either end is, or when a counter went back. */
static uint64_t rate(uint64_t before, uint64_t now, uint64_t elapsed_ns, uint64_t scale)
{
	uint64_t product;

	if (before == VW_UNKNOWN || now == VW_UNKNOWN || now < before || !elapsed_ns)
		return VW_UNKNOWN;
	if (__builtin_mul_overflow(now - before, scale, &product))
		return VW_UNKNOWN;
	return product / elapsed_ns;
}

/* A share of time: two clocks that were read one after the other may make it a little over 1. */
static uint64_t share(uint64_t before, uint64_t now, uint64_t elapsed_ns)
{
	uint64_t permille = rate(before, now, elapsed_ns, 1000);

	return permille != VW_UNKNOWN && permille > 1000 ? 1000 : permille;
}

static uint64_t switches_of(const struct vw_worker_row *row)
{
	if (row->voluntary == VW_UNKNOWN || row->involuntary == VW_UNKNOWN)
		return VW_UNKNOWN;
	return row->voluntary + row->involuntary;
}

static void set_rates(struct entry *e, const struct entry *before)
{
	const struct vw_worker_row *now = &e->row, *old = before ? &before->row : NULL;
	struct vw_worker_row nothing = { .ts_ns = now->since_ns, .task = now->task };
	uint64_t elapsed;

	e->cpu_permille = e->wait_permille = e->switches = e->tx = e->rx = VW_UNKNOWN;
	if (!old && now->since_ns)
		old = &nothing;
	if (!old || !vw_task_same(&now->task, &old->task) || now->ts_ns <= old->ts_ns)
		return;
	elapsed = now->ts_ns - old->ts_ns;
	e->cpu_permille = share(old->oncpu_ns, now->oncpu_ns, elapsed);
	e->wait_permille = share(old->wait_ns, now->wait_ns, elapsed);
	e->switches = rate(switches_of(old), switches_of(now), elapsed, VW_NS_PER_SEC);
	e->tx = rate(old->tx_packets, now->tx_packets, elapsed, VW_NS_PER_SEC);
	e->rx = rate(old->rx_packets, now->rx_packets, elapsed, VW_NS_PER_SEC);
}

void vw_table_rows_done(struct vw_table *table)
{
	struct entry *spare = table->shown;
	size_t cap_spare = table->cap_shown, i;

	if (table->n_next)
		qsort(table->next, table->n_next, sizeof(*table->next), by_tid);
	for (i = 0; i < table->n_next; i++) {
		const struct entry *before = NULL;

		if (table->n_shown)
			before = bsearch(&table->next[i], table->shown, table->n_shown,
					 sizeof(*table->shown), by_tid);
		set_rates(&table->next[i], before);
	}
	table->shown = table->next;
	table->n_shown = table->n_next;
	table->cap_shown = table->cap_next;
	table->left_out_shown = table->left_out_next;
	table->next = spare;
	table->cap_next = cap_spare;
	table->n_next = table->left_out_next = 0;
}

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

static const char *share_text(char buf[VW_FORMAT_LEN], uint64_t permille)
{
	if (permille == VW_UNKNOWN)
		return "-";
	snprintf(buf, VW_FORMAT_LEN, "%" PRIu64 ".%" PRIu64, permille / 10, permille % 10);
	return buf;
}

static const char *count_text(char buf[VW_FORMAT_LEN], uint64_t count)
{
	return count == VW_UNKNOWN ? "-" : vw_format_count(buf, count);
}

static const char *cell_text(char buf[VW_FORMAT_LEN], const struct entry *e, enum column_id id)
{
	switch (id) {
	case VM:
		return or_dash(e->row.task.vm);
	case DEVICE:
		/* A task named with -t or -p serves no device; its name says more than a dash. */
		if (e->row.task.role == VW_ROLE_VHOST_WORKER || *e->row.task.device)
			return or_dash(e->row.task.device);
		snprintf(buf, VW_FORMAT_LEN, "(%s)", e->row.task.comm);
		return buf;
	case TID:
		snprintf(buf, VW_FORMAT_LEN, "%d", e->row.task.tid);
		return buf;
	case CPU:
		if (e->row.cpu < 0)
			return "-";
		snprintf(buf, VW_FORMAT_LEN, "%d", e->row.cpu);
		return buf;
	case ONCPU:
		return share_text(buf, e->cpu_permille);
	case WAIT:
		return share_text(buf, e->wait_permille);
	case PENDING:
		if (e->row.longest_pending_ns == VW_UNKNOWN)
			return "-";
		return vw_format_ns(buf, e->row.longest_pending_ns);
	case SWITCHES:
		return count_text(buf, e->switches);
	case TX:
		return count_text(buf, e->tx);
	case RX:
		return count_text(buf, e->rx);
	default:
		return "";
	}
}

static unsigned int layout_width(const struct layout *l)
{
	unsigned int sum = 0, i;

	for (i = 0; i < N_COLUMNS; i++)
		if (l->width[i])
			sum += l->width[i] + (sum ? 1 : 0);
	return sum;
}

static void set_widths(struct layout *l, bool short_titles)
{
	unsigned int i;

	l->short_titles = short_titles;
	for (i = 0; i < N_COLUMNS; i++)
		l->width[i] = short_titles ? columns[i].short_width : columns[i].width;
}

static unsigned int at_most(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Gives what is left of the line to the device and then the VM, as far as their texts need it. */
static void widen(const struct vw_table *table, struct layout *l, unsigned int width)
{
	unsigned int vm = 0, device = 0, spare, more;
	char buf[VW_FORMAT_LEN];
	size_t i;

	for (i = 0; i < table->n_shown; i++) {
		const struct entry *e = &table->shown[i];
		unsigned int v = vw_text_columns(cell_text(buf, e, VM));
		unsigned int d = vw_text_columns(cell_text(buf, e, DEVICE));

		vm = v > vm ? v : vm;
		device = d > device ? d : device;
	}
	spare = width - at_most(width, layout_width(l));
	if (l->width[DEVICE] && device > l->width[DEVICE]) {
		/* Half of it at most, unless the VM needs less. */
		more = vm > l->width[VM] ? spare - at_most(spare / 2, vm - l->width[VM]) : spare;
		more = at_most(more, device - l->width[DEVICE]);
		l->width[DEVICE] += more;
		spare -= more;
	}
	if (vm > l->width[VM])
		l->width[VM] += at_most(spare, vm - l->width[VM]);
}

static void choose_layout(const struct vw_table *table, unsigned int width, struct layout *l)
{
	size_t i;

	set_widths(l, false);
	if (layout_width(l) > width)
		set_widths(l, true);
	for (i = 0; i < sizeof(drop_order) / sizeof(drop_order[0]); i++) {
		if (layout_width(l) <= width)
			break;
		l->width[drop_order[i]] = 0;
	}
	widen(table, l, width);
}

/* One line of cells; @e NULL: the titles. */
static void render_line(const struct layout *l, const struct entry *e, unsigned int width,
			struct vw_lines *lines)
{
	char line[VW_CELL_SIZE] = "", cell[VW_CELL_SIZE], buf[VW_FORMAT_LEN];
	size_t len = 0;
	int i;

	for (i = 0; i < N_COLUMNS; i++) {
		const struct column *c = &columns[i];
		const char *text;
		int n;

		if (!l->width[i])
			continue;
		text = e ? cell_text(buf, e, i) : l->short_titles ? c->short_title : c->title;
		vw_cell(cell, text, l->width[i], c->right);
		n = snprintf(line + len, sizeof(line) - len, "%s%s", len ? " " : "", cell);
		if (n < 0 || (size_t)n >= sizeof(line) - len)
			break;
		len += (size_t)n;
	}
	vw_lines_add(lines, e ? VW_STYLE_PLAIN : VW_STYLE_HEADING, width, line);
}

void vw_table_render(const struct vw_table *table, unsigned int width, struct vw_lines *lines)
{
	const struct entry **order;
	struct layout layout;
	char more[64];
	size_t i;

	if (width < VW_WIDTH_MIN)
		width = VW_WIDTH_MIN;
	if (!table->n_shown) {
		vw_lines_add(lines, VW_STYLE_DIM, width, "no vhost workers");
		return;
	}
	order = calloc(table->n_shown, sizeof(*order));
	if (!order) {
		lines->failed = true;
		return;
	}
	for (i = 0; i < table->n_shown; i++)
		order[i] = &table->shown[i];
	qsort(order, table->n_shown, sizeof(*order), by_load);
	choose_layout(table, width, &layout);
	render_line(&layout, NULL, width, lines);
	for (i = 0; i < table->n_shown; i++)
		render_line(&layout, order[i], width, lines);
	if (table->left_out_shown) {
		snprintf(more, sizeof(more), "and %zu more workers", table->left_out_shown);
		vw_lines_add(lines, VW_STYLE_DIM, width, more);
	}
	free(order);
}
