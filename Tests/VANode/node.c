#include "va_node.h"

int drmGetNodeTypeFromFd(int fd) { return fd >= 0 ? 2 : -1; }
