// SPDX-License-Identifier: GPL-2.0-or-later
/* A command line of QEMU as /proc/PID/cmdline holds it, and paths of cgroups. */
#include "attr/qemu.h"
#include "fuzz.h"

static void try_values(const struct vw_qemu_args *args, const char *option, const char *implied)
{
	static const char *const keys[] = { "id", "vhost", "guest", "ifname", "fd", "type", "" };
	const char *value;
	char text[24];
	size_t pos = 0, before = 0, i;
	int err;

	while ((value = vw_qemu_next(args, option, &pos))) {
		FUZZ_MUST(pos > before && pos <= args->len + 1);
		FUZZ_MUST(value >= args->text && value <= args->text + args->len);
		before = pos;
		for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			memset(text, 'x', sizeof(text));
			err = vw_qemu_get(value, implied, keys[i], text, sizeof(text));
			FUZZ_MUST(err || memchr(text, '\0', sizeof(text)));
			vw_qemu_is_on(value, implied, keys[i]);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[32], *text = malloc(size + 1);
	struct vw_qemu_args args = { text, size };

	FUZZ_MUST(text);
	memcpy(text, data, size);
	text[size] = '\0';
	vw_qemu_is_program(&args);
	try_values(&args, "netdev", "type");
	try_values(&args, "device", "driver");
	try_values(&args, "chardev", "backend");
	try_values(&args, "name", "guest");
	if (!vw_qemu_name(&args, name, sizeof(name)))
		FUZZ_MUST(memchr(name, '\0', sizeof(name)));
	if (!vw_qemu_machine_name(text, name, sizeof(name)))
		FUZZ_MUST(memchr(name, '\0', sizeof(name)));
	free(text);
	return 0;
}
