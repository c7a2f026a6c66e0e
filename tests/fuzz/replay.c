// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs the kept corpus through a target, without libFuzzer: one test a file, in TAP. */
#include <dirent.h>

#include "fuzz.h"

static void replay(const char *folder, const char *name)
{
	char path[512];
	uint8_t *data;
	long size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	/* Said first: a failure ends the program. */
	printf("# %s\n", path);
	fflush(stdout);
	f = fopen(path, "rb");
	FUZZ_MUST(f && !fseek(f, 0, SEEK_END));
	size = ftell(f);
	FUZZ_MUST(size >= 0 && !fseek(f, 0, SEEK_SET));
	/* No byte more than there is, so that reading on is noticed. */
	data = malloc((size_t)size + !size);
	FUZZ_MUST(data && fread(data, 1, (size_t)size, f) == (size_t)size);
	fclose(f);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
}

int main(int argc, char **argv)
{
	struct dirent **list;
	int i, n = argc == 2 ? scandir(argv[1], &list, NULL, alphasort) : -1, tests = 0;

	if (n < 0) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	for (i = 0; i < n; i++) {
		if (list[i]->d_name[0] != '.') {
			replay(argv[1], list[i]->d_name);
			printf("ok %d - %s\n", ++tests, list[i]->d_name);
		}
		free(list[i]);
	}
	free(list);
	printf("1..%d\n", tests);
	return tests ? 0 : 1;
}
