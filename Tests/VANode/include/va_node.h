/// Lets any file stand in for a render node in the test program: libva asks libdrm, and finds this function first.
#ifndef VA_NODE_H
#define VA_NODE_H

/// Answers DRM_NODE_RENDER (2) for every open descriptor.
int drmGetNodeTypeFromFd(int fd);

#endif
