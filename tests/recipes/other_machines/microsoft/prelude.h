/* Makes a gcc one that is neither gcc nor clang and compiles for Windows, behind the headers of this system. */
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#undef __GNUC__
#define _WIN32 1
