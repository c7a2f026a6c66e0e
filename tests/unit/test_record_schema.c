// SPDX-License-Identifier: GPL-2.0-or-later
/* The descriptions of the tables against the structs that they describe. */
#include "record_env.h"

static const size_t sizes[] = {
	[VW_RECORD_NS] = 8,    [VW_RECORD_START] = 8,  [VW_RECORD_SIGNED] = 8,
	[VW_RECORD_COUNT] = 8, [VW_RECORD_SERIAL] = 8, [VW_RECORD_ADDRESS] = 8,
	[VW_RECORD_U32] = 4,   [VW_RECORD_ID] = 4,     [VW_RECORD_POSITIVE] = 4,
	[VW_RECORD_CPU] = 4,   [VW_RECORD_BOOL] = 1,   [VW_RECORD_BIT] = 4,
	[VW_RECORD_WORD] = 4,  [VW_RECORD_TEXT] = 0,   [VW_RECORD_NAME] = sizeof(char *),
};

static void test_types_fit_members(void **state)
{
	unsigned int i, k, m, words, silent;

	for (i = 0; i < VW_RECORD_TABLES; i++) {
		const struct vw_record_table *table = &vw_record_tables[i];

		assert_non_null(table->name);
		for (k = 0; k < table->n_columns; k++) {
			const struct vw_record_column *c = &table->columns[k];

			if (sizes[c->type] && sizes[c->type] != c->size)
				fail_msg("%s.%s: %zu bytes", table->name, c->name, c->size);
			for (m = 0; m < k; m++)
				assert_string_not_equal(c->name, table->columns[m].name);
			if (c->type != VW_RECORD_WORD)
				continue;
			/* One value may do without a word: it is NULL. */
			for (m = words = silent = 0; m < c->n_words; m++)
				*(c->word(m) ? &words : &silent) += 1;
			if (words < 2 || silent > 1)
				fail_msg("%s.%s: %u words", table->name, c->name, words);
		}
	}
}

/* Bytes of a struct that no table keeps. */
struct rest {
	size_t size;
	unsigned char bytes[sizeof(struct vw_record_finding)];
};

static void take(struct rest *rest, size_t base, size_t offset, size_t size)
{
	if (offset < base || offset - base + size > sizeof(rest->bytes))
		return;
	memset(rest->bytes + offset - base, 0, size);
}

/* Takes out what table @id keeps of the struct at offset @base of its own. */
static void take_table(struct rest *rest, unsigned int id, size_t base)
{
	const struct vw_record_table *table = &vw_record_tables[id], *list;
	unsigned int i, k;

	for (i = 0; i < table->n_columns; i++) {
		take(rest, base, table->columns[i].offset, table->columns[i].size);
		if (table->columns[i].known)
			take(rest, base, table->columns[i].known, 1);
	}
	for (list = vw_record_tables; list < vw_record_tables + VW_RECORD_TABLES; list++) {
		if (!list->max || list->parent != id)
			continue;
		take(rest, base, list->count, sizeof(unsigned int));
		for (k = 0; k < list->max; k++)
			for (i = 0; i < list->n_columns; i++) {
				size_t at = list->array + k * list->stride;

				take(rest, base, at + list->columns[i].offset,
				     list->columns[i].size);
				if (list->columns[i].known)
					take(rest, base, at + list->columns[i].known, 1);
			}
	}
}

static void assert_nothing_left(const struct rest *rest, unsigned int id)
{
	size_t i;

	for (i = 0; i < rest->size; i++)
		if (rest->bytes[i])
			fail_msg("table %s keeps no byte %zu of its struct",
				 vw_record_tables[id].name, i);
}

/*
 * Fails when a member of @type was added before @until and is in no column.  Behind an array of
 * structs gcc 12 clears other bytes than the padding.
 */
#define KEPT_UNTIL(id, type, base, until)                                                          \
	do {                                                                                       \
		struct rest rest = { .size = (until) };                                            \
		type one;                                                                          \
                                                                                                   \
		memset(&one, 0xff, sizeof(one));                                                   \
		__builtin_clear_padding(&one);                                                     \
		memcpy(rest.bytes, &one, sizeof(one));                                             \
		take_table(&rest, (id), (base));                                                   \
		assert_nothing_left(&rest, (id));                                                  \
	} while (0)
#define ALL_KEPT(id, type, base) KEPT_UNTIL(id, type, base, sizeof(type))

/* The counters of a worker's row, which fill it to its end. */
struct counts {
	uint64_t of[(sizeof(struct vw_worker_row) - offsetof(struct vw_worker_row, oncpu_ns)) / 8];
};

static void test_every_member_is_kept(void **state)
{
	ALL_KEPT(VW_OBS_TASK, struct vw_task, offsetof(struct vw_obs, task));
	KEPT_UNTIL(VW_OBS_STINT, struct vw_obs_stint, offsetof(struct vw_obs, stint),
		   offsetof(struct vw_obs_stint, waiters));
	ALL_KEPT(VW_RECORD_STINT_WAITER, struct vw_waiter, 0);
	ALL_KEPT(VW_OBS_WAIT, struct vw_obs_wait, offsetof(struct vw_obs, wait));
	ALL_KEPT(VW_OBS_WORK, struct vw_obs_work, offsetof(struct vw_obs, work));
	ALL_KEPT(VW_OBS_BUSY, struct vw_obs_busy, offsetof(struct vw_obs, busy));
	ALL_KEPT(VW_OBS_CHARGE, struct vw_obs_charge, offsetof(struct vw_obs, charge));
	KEPT_UNTIL(VW_OBS_MOVE, struct vw_obs_move, offsetof(struct vw_obs, move),
		   offsetof(struct vw_obs_move, overtaken));
	ALL_KEPT(VW_OBS_SHARE, struct vw_obs_share, offsetof(struct vw_obs, share));
	ALL_KEPT(VW_OBS_PAIR, struct vw_obs_pair, offsetof(struct vw_obs, pair));
	ALL_KEPT(VW_OBS_BLOCKED, struct vw_obs_blocked, offsetof(struct vw_obs, blocked));
	ALL_KEPT(VW_OBS_REPORT, struct vw_obs_report, offsetof(struct vw_obs, report));
	ALL_KEPT(VW_RECORD_HOOK, struct vw_hook, 0);
	ALL_KEPT(VW_RECORD_DETECTOR, struct vw_detector_info, 0);
	ALL_KEPT(VW_RECORD_RUN, struct vw_host, offsetof(struct vw_record_info, header.host));
	/* The task of a worker's row is kept as a task. */
	ALL_KEPT(VW_RECORD_WORKER, struct counts, offsetof(struct vw_worker_row, oncpu_ns));
}

static void test_sql_has_room(void **state)
{
	char buf[VW_RECORD_SQL_LEN];
	unsigned int i;

	for (i = 0; i < VW_RECORD_TABLES; i++) {
		const struct vw_record_table *table = &vw_record_tables[i];

		assert_true(strlen(vw_record_sql_create(table, VW_RECORD_SCHEMA, buf)) <
			    sizeof(buf) - 1);
		assert_true(strlen(vw_record_sql_insert(table, VW_RECORD_SCHEMA, buf)) <
			    sizeof(buf) - 1);
		assert_true(strlen(vw_record_sql_select(table, VW_RECORD_SCHEMA, buf)) <
			    sizeof(buf) - 1);
	}
	assert_true(strlen(vw_record_sql_view(buf)) < sizeof(buf) - 1);
}

/* The schema as it is; whoever changes it must count its version up and keep reading the old. */
static uint64_t hash_of(int schema)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	char buf[VW_RECORD_SQL_LEN];
	unsigned int i;
	const char *s;

	for (i = 0; i < VW_RECORD_TABLES; i++)
		if (vw_record_tables[i].since <= schema)
			for (s = vw_record_sql_create(&vw_record_tables[i], schema, buf); *s; s++)
				hash = (hash ^ (unsigned char)*s) * UINT64_C(1099511628211);
	return hash;
}

static void test_schemas_are_those_of_their_versions(void **state)
{
	assert_int_equal(hash_of(1), UINT64_C(0xe3419bfd73806a51));
	assert_int_equal(VW_RECORD_SCHEMA, 2);
	assert_int_equal(hash_of(2), UINT64_C(0x759695569ee7a52));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types_fit_members),
		cmocka_unit_test(test_every_member_is_kept),
		cmocka_unit_test(test_sql_has_room),
		cmocka_unit_test(test_schemas_are_those_of_their_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
