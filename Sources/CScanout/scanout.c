// The header is all there is; SwiftPM wants a source file.
#include "scanout.h"
