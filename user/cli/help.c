// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "cli/options.h"
#include "cli/spec.h"
#include "util/format.h"

#define HELP_COLUMN 30
#define HELP_WIDTH 90

static const char exit_codes[] =
	"EXIT CODES\n"
	"  0  nothing at or above warning (check, analyze), or done (watch, record, doctor)\n"
	"  1  check, analyze: a warning\n"
	"  2  check, analyze: critical\n"
	"  3  cannot tell: wrong usage, unreadable input, no privilege, nothing observable\n";

/* "text (default), json" */
static void print_choices(FILE *out, const struct vw_option_spec *spec)
{
	const unsigned int *value =
		(const void *)((const char *)&vw_option_defaults + spec->offset);
	size_t column = HELP_COLUMN;
	unsigned int i;

	fprintf(out, "%*s", HELP_COLUMN, "");
	for (i = 0; spec->choices[i]; i++) {
		const char *mark = i == *value ? " (default)" : "";
		size_t len = strlen(spec->choices[i]) + strlen(mark) + 2;

		if (column + len > HELP_WIDTH) {
			fprintf(out, ",\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		} else if (i) {
			fputs(", ", out);
		}
		fprintf(out, "%s%s", spec->choices[i], mark);
		column += len;
	}
	fputc('\n', out);
}

/* The default of a duration: until ^C where the value is 0. */
static void print_default(FILE *out, const struct vw_option_spec *spec,
			  const struct vw_options *options)
{
	const uint64_t *value = (const void *)((const char *)&vw_option_defaults + spec->offset);
	char text[VW_FORMAT_LEN];
	unsigned int i;

	if (*value) {
		fprintf(out, " (default %s)\n", vw_format_ns(text, *value));
		return;
	}
	fprintf(out, "\n%*sdefault: ", HELP_COLUMN, "");
	for (i = 0; i < VW_COMMAND_COUNT; i++) {
		const struct vw_command_spec *command = &vw_command_specs[i];

		if (!(spec->commands & 1U << i) ||
		    (options->command_given && options->command != i))
			continue;
		fprintf(out, "%s%s %s", i && !options->command_given ? ", " : "", command->name,
			command->duration_ns ? vw_format_ns(text, command->duration_ns) :
					       "until ^C");
	}
	fputc('\n', out);
}

static void print_option(FILE *out, const struct vw_option_spec *spec,
			 const struct vw_options *options)
{
	char head[64], letter[8] = "    ";

	if (spec->letter)
		snprintf(letter, sizeof(letter), "-%c, ", spec->letter);
	snprintf(head, sizeof(head), "  %s--%s%s%s", letter, spec->name, spec->metavar ? " " : "",
		 spec->metavar ? spec->metavar : "");
	fprintf(out, "%-*s", HELP_COLUMN - 1, head);
	fprintf(out, " %s", spec->help);
	if (spec->type == VW_OPTION_DURATION)
		print_default(out, spec, options);
	else
		fputc('\n', out);
	if (spec->type == VW_OPTION_CHOICE)
		print_choices(out, spec);
}

static void print_options(FILE *out, const struct vw_options *options)
{
	unsigned int bit = options->command_given ? 1U << options->command : ~0U;
	bool ignored = false;
	size_t i;

	fputs("OPTIONS\n", out);
	for (i = 0; i < vw_option_spec_count; i++)
		if (vw_option_specs[i].commands & bit)
			print_option(out, &vw_option_specs[i], options);
	for (i = 0; i < vw_option_spec_count; i++) {
		if (vw_option_specs[i].commands & bit || vw_option_specs[i].type == VW_OPTION_FILE)
			continue;
		fprintf(out, "%s --%s",
			ignored ? "," : "\nTaken, without effect here:", vw_option_specs[i].name);
		ignored = true;
	}
	fputs(ignored ? "\n\n" : "\n", out);
}

static void print_command_help(FILE *out, const struct vw_options *options)
{
	const struct vw_command_spec *command = &vw_command_specs[options->command];

	fprintf(out, "vhostwatch %s - %s\n\nUSAGE\n  vhostwatch %s [OPTIONS]%s%s\n\n%s\n",
		command->name, command->summary, command->name, command->operands ? " " : "",
		command->operands ? command->operands : "", command->details);
	print_options(out, options);
	fprintf(out, "EXAMPLES\n%s\n%s", command->examples, exit_codes);
}

void vw_options_help(FILE *out, const struct vw_options *options)
{
	unsigned int i;

	if (options->command_given) {
		print_command_help(out, options);
		return;
	}
	fputs("vhostwatch - why vhost workers hog CPUs and who starves behind them\n\n"
	      "USAGE\n  vhostwatch [COMMAND] [OPTIONS]\n\nCOMMANDS\n",
	      out);
	for (i = 0; i < VW_COMMAND_COUNT; i++)
		fprintf(out, "  %-8s %s%s\n", vw_command_specs[i].name, vw_command_specs[i].summary,
			i == vw_option_defaults.command ? " (default)" : "");
	fputs("\nvhostwatch COMMAND --help tells more about one.\n\n", out);
	print_options(out, options);
	fputs("EXAMPLES\n", out);
	for (i = 0; i < VW_COMMAND_COUNT; i++)
		fputs(vw_command_specs[i].examples, out);
	fprintf(out, "\n%s", exit_codes);
}
