// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "cli/options.h"
#include "cli/spec.h"
#include "util/parse.h"
#include "util/utf8.h"

#define MAX_OPTIONS 32
/* getopt's value for the long form of row i; above any letter. */
#define LONG_VALUE(i) (256 + (int)(i))

#define usage_error(e, ...) vw_error_set(e, -EINVAL, "usage", __VA_ARGS__)

struct getopt_tables {
	struct option longs[MAX_OPTIONS + 1];
	char shorts[2 * MAX_OPTIONS + 2];
};

const char *vw_clock_name(enum vw_clock clock)
{
	size_t i;

	for (i = 0; i < vw_option_spec_count; i++)
		if (vw_option_specs[i].offset == offsetof(struct vw_options, clock))
			return (unsigned int)clock < VW_CLOCK_COUNT ?
				       vw_option_specs[i].choices[clock] :
				       NULL;
	return NULL;
}

const char *vw_level_name(enum vw_level level)
{
	return level == VW_LEVEL_GUARD ? "guard" : "trace";
}

const char *vw_command_name(enum vw_command command)
{
	return (unsigned int)command < VW_COMMAND_COUNT ? vw_command_specs[command].name : NULL;
}

static void build_tables(struct getopt_tables *tables)
{
	char *s = tables->shorts;
	size_t i;

	memset(tables, 0, sizeof(*tables));
	*s++ = ':'; /* a missing argument is told apart from an unknown option */
	for (i = 0; i < vw_option_spec_count && i < MAX_OPTIONS; i++) {
		const struct vw_option_spec *spec = &vw_option_specs[i];
		bool has_arg = spec->type != VW_OPTION_FLAG;

		tables->longs[i] = (struct option){
			.name = spec->name,
			.has_arg = has_arg ? required_argument : no_argument,
			.val = LONG_VALUE(i),
		};
		if (!spec->letter)
			continue;
		*s++ = spec->letter;
		if (has_arg)
			*s++ = ':';
	}
}

static const struct vw_option_spec *find_spec(int value)
{
	size_t i;

	for (i = 0; i < vw_option_spec_count; i++)
		if (value == LONG_VALUE(i) ||
		    (vw_option_specs[i].letter && value == vw_option_specs[i].letter))
			return &vw_option_specs[i];
	return NULL;
}

static int set_choice(const struct vw_option_spec *spec, const char *arg, unsigned int *field,
		      struct vw_error *ret_err)
{
	char list[128] = "";
	unsigned int i;

	for (i = 0; spec->choices[i]; i++) {
		if (!strcmp(arg, spec->choices[i])) {
			*field = i;
			return 0;
		}
		if (i)
			strncat(list, spec->choices[i + 1] ? ", " : " or ",
				sizeof(list) - strlen(list) - 1);
		strncat(list, spec->choices[i], sizeof(list) - strlen(list) - 1);
	}
	return usage_error(ret_err, "'%.64s' is no value for --%s: use %s", arg, spec->name, list);
}

static int set_duration(const struct vw_option_spec *spec, const char *arg, uint64_t *field,
			struct vw_error *ret_err)
{
	const char *example = spec->bare_unit_ns ? "2, 0.5, 500ms or 5m" : "10ms, 500us or 2s";
	uint64_t ns;
	int err;

	err = vw_parse_duration_ns(arg, spec->bare_unit_ns, &ns);
	if (err == -ERANGE)
		return usage_error(ret_err, "%s '%.64s' is too long: use at most a hundred years",
				   spec->name, arg);
	/* What one tool takes for milliseconds another takes for microseconds: do not guess. */
	if (err && !vw_parse_duration_ns(arg, 1, &ns))
		return usage_error(ret_err, "%s '%.64s' has no unit: write %.64sms or %.64sus",
				   spec->name, arg, arg, arg);
	if (err)
		return usage_error(ret_err, "%s '%.64s' is no time: write it like %s", spec->name,
				   arg, example);
	if (ns < spec->min_ns && spec->min_ns > 1)
		return usage_error(ret_err, "%s '%.64s' is too short: use at least %s", spec->name,
				   arg, spec->min_ns < VW_NS_PER_MS ? "1us" : "10ms");
	if (ns < spec->min_ns)
		return usage_error(ret_err, "%s '%.64s' must be more than zero", spec->name, arg);
	*field = ns;
	return 0;
}

static int add_id(const struct vw_option_spec *spec, uint64_t id, struct vw_id_list *list,
		  struct vw_error *ret_err)
{
	unsigned int i;

	for (i = 0; i < list->n; i++)
		if ((uint64_t)list->ids[i] == id)
			return 0;
	if (list->n == VW_MAX_IDS)
		return usage_error(ret_err, "more than %d %ss given: use fewer, or leave --%s out",
				   VW_MAX_IDS, spec->name, spec->name);
	list->ids[list->n++] = (int32_t)id;
	return 0;
}

static int set_ids(const struct vw_option_spec *spec, const char *arg, struct vw_id_list *list,
		   struct vw_error *ret_err)
{
	const char *pos = arg;
	char word[24];
	uint64_t id;
	size_t len;

	for (;; pos += len + 1) {
		len = strcspn(pos, ",");
		if (len >= sizeof(word))
			goto bad;
		memcpy(word, pos, len);
		word[len] = '\0';
		if (vw_parse_u64(word, 1, INT32_MAX, &id))
			goto bad;
		if (add_id(spec, id, list, ret_err))
			return -EINVAL;
		if (!pos[len])
			return 0;
	}
bad:
	return usage_error(ret_err, "'%.*s' is no %s: use numbers from 1 up, as %s shows them",
			   (int)(len < 64 ? len : 64), pos, spec->name,
			   spec->letter == 'p' ? "ps -e" : "ps -eL");
}

static int apply(const struct vw_option_spec *spec, const char *arg, struct vw_options *options,
		 struct vw_error *ret_err)
{
	void *field = (char *)options + spec->offset;
	int err = 0;

	switch (spec->type) {
	case VW_OPTION_FLAG:
		*(bool *)field = true;
		break;
	case VW_OPTION_CHOICE:
		err = set_choice(spec, arg, field, ret_err);
		break;
	case VW_OPTION_DURATION:
		err = set_duration(spec, arg, field, ret_err);
		break;
	case VW_OPTION_PATH:
	case VW_OPTION_FILE:
		if (!*arg)
			return usage_error(ret_err, "--%s '' names no %s: give a path", spec->name,
					   spec->type == VW_OPTION_FILE ? "file" : "folder");
		*(const char **)field = arg;
		break;
	case VW_OPTION_IDS:
		err = set_ids(spec, arg, field, ret_err);
		break;
	}
	if (!err && spec->given_offset)
		*(bool *)((char *)options + spec->given_offset) = true;
	return err;
}

/* getopt said '?' or ':'; @word is what it looked at. */
static int bad_option(int what, const char *word, struct vw_error *ret_err)
{
	const struct vw_option_spec *spec = find_spec(optopt);

	if (what == ':' && spec && optopt < LONG_VALUE(0))
		return usage_error(ret_err, "option '-%c' needs a value: -%c %s", optopt, optopt,
				   spec->metavar);
	if (what == ':' && spec)
		return usage_error(ret_err, "option '--%s' needs a value: --%s %s", spec->name,
				   spec->name, spec->metavar);
	if (spec)
		return usage_error(
			ret_err,
			"option '--%s' takes no value: leave out what follows =", spec->name);
	if (optopt)
		return usage_error(ret_err, "unknown option '-%c': vhostwatch --help lists them",
				   optopt);
	return usage_error(ret_err, "unknown option '%.64s': vhostwatch --help lists them", word);
}

static int set_command(const char *word, struct vw_options *options, struct vw_error *ret_err)
{
	unsigned int i;

	if (options->command_given)
		return usage_error(ret_err, "unexpected argument '%.64s': %s takes options only",
				   word, vw_command_specs[options->command].name);
	for (i = 0; i < VW_COMMAND_COUNT; i++) {
		if (strcmp(word, vw_command_specs[i].name))
			continue;
		options->command = i;
		options->command_given = true;
		return 0;
	}
	return usage_error(ret_err, "unknown command '%.64s': vhostwatch --help lists them", word);
}

static bool takes_operands(const struct vw_options *options)
{
	return options->command_given && vw_command_specs[options->command].operands;
}

/* Is there all that the command cannot do without? */
static int check_complete(const struct vw_options *options, struct vw_error *ret_err)
{
	const struct vw_command_spec *command = &vw_command_specs[options->command];
	size_t i;

	if (command->operands && !options->n_files)
		return usage_error(ret_err,
				   "%s needs a file: vhostwatch %s %s, or - to read standard input",
				   command->name, command->name, command->operands);
	for (i = 0; i < vw_option_spec_count; i++) {
		const struct vw_option_spec *spec = &vw_option_specs[i];
		bool given;

		if (spec->type != VW_OPTION_FILE)
			continue;
		given = *(const char *const *)((const char *)options + spec->offset);
		/* Who names a file to be written must not be left without one. */
		if (given && !(spec->commands & 1U << options->command))
			return usage_error(
				ret_err, "%s has no --%s: vhostwatch --help says which command has",
				command->name, spec->name);
		if (!given && command->needs && !strcmp(spec->name, command->needs))
			return usage_error(ret_err, "%s needs --%s: vhostwatch %s -%c %s",
					   command->name, spec->name, command->name, spec->letter,
					   spec->metavar);
	}
	return 0;
}

/* Keeps the first mistake, but none once help was asked for. */
static void keep_first(int err, const struct vw_error *error, const struct vw_options *options,
		       int *first, struct vw_error *ret_first)
{
	if (!err || *first || options->help || options->version)
		return;
	*first = err;
	*ret_first = *error;
}

int vw_options_parse(int argc, char **argv, struct vw_options *ret, struct vw_error *ret_err)
{
	struct vw_options options = vw_option_defaults;
	struct vw_error error, first_error;
	struct getopt_tables tables;
	int value, err, first = 0;

	build_tables(&tables);
	opterr = 0;
	optind = 0; /* glibc: forget an earlier parse altogether */
	while ((value = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1) {
		const struct vw_option_spec *spec = find_spec(value);

		if (value == '?' || value == ':' || !spec)
			err = bad_option(value, argv[optind - 1], &error);
		else
			err = apply(spec, optarg, &options, &error);
		keep_first(err, &error, &options, &first, &first_error);
	}
	for (; optind < argc && !takes_operands(&options); optind++) {
		err = set_command(argv[optind], &options, &error);
		keep_first(err, &error, &options, &first, &first_error);
	}
	options.files = argv + optind;
	options.n_files = (unsigned int)(argc - optind);
	err = check_complete(&options, &error);
	keep_first(err, &error, &options, &first, &first_error);
	if (first) {
		if (ret_err) {
			*ret_err = first_error;
			/* It quotes what was typed, which may hold line feeds and worse. */
			vw_utf8_printable(ret_err->message, sizeof(ret_err->message),
					  first_error.message, sizeof(first_error.message));
		}
		return first;
	}
	if (!options.duration_ns)
		options.duration_ns = vw_command_specs[options.command].duration_ns;
	*ret = options;
	return 0;
}

/* True when @word is --format or what getopt takes for it (no other option begins with f). */
static bool is_format_option(const char *word, size_t len)
{
	return len > 2 && len <= strlen("--format") && !strncmp(word, "--format", len);
}

enum vw_format vw_options_format(int argc, char **argv)
{
	enum vw_format format = VW_FORMAT_TEXT;
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		size_t len = strcspn(argv[i], "=");
		const char *value;

		if (!is_format_option(argv[i], len))
			continue;
		value = argv[i][len] ? argv[i] + len + 1 : argv[i + 1];
		if (value && !strcmp(value, "json"))
			format = VW_FORMAT_JSON;
		else if (value && !strcmp(value, "text"))
			format = VW_FORMAT_TEXT;
	}
	return format;
}
