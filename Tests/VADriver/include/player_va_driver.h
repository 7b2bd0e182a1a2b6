/// A VA-API driver without hardware: libva finds it as `player_drv_video.so`. It decodes with libavcodec's software decoders, and encodes H.264
/// without prediction: what is decoded again is the source, bit by bit.
///
/// What an application hands to libva (picture parameters, slice parameters, slice data) is put back into a bit stream, decoded, and copied
/// into surfaces of real memory. An application that describes a picture wrongly therefore gets a wrong picture, as from hardware.
///
/// Of a picture to be encoded the packed headers are the application's own; each macroblock follows as it is (I_PCM, without CABAC). The source is
/// not read before somebody waits for the picture, so that a surface which is written or freed too early shows.
///
///     LIBVA_DRIVER_NAME=player LIBVA_DRIVERS_PATH=<folder with player_drv_video.so>
///
/// Without a DRM device, LD_PRELOAD=player_drv_video.so lets any file stand in for a render node (`ffmpeg -vaapi_device /dev/null`).
///
/// It misbehaves when told so, by these variables, read when a display is initialised; pictures count from 1 for each display:
///
///     PLAYER_VA_FAIL=3,7-9       vaEndPicture fails for these pictures
///     PLAYER_VA_FAIL_CONTEXTS=n  the n-th decoding context and those after it cannot be made
///     PLAYER_VA_HANG=5           vaSyncSurface on the surface of picture 5 never ends (vaSyncSurface2 ends with its time-out)
///     PLAYER_VA_FAIL_ENCODES=3,7 the same for these pictures of those that are encoded, which count by themselves
///     PLAYER_VA_ENCODERS=2       no more than two encoding contexts at once
///     PLAYER_VA_RATES=16         the rate controls of encoding, as a sum of VA_RC_…; CQP, CBR and VBR (22) by default
///     PLAYER_VA_MAIN=1           encodes Main with B pictures, too, and not only Constrained Baseline
///     PLAYER_VA_NO_ENCODING=1    it decodes only
///     PLAYER_VA_NO_IMPORT=1      no memory of others becomes a surface
///     PLAYER_VA_SURFACES=10      no more than 10 surfaces at once
///     PLAYER_VA_GONE=20          from picture 20 on every call fails, as with a device that was taken away
///     PLAYER_VA_TILED=1          surfaces are exported as if they were tiled (and still are not)
///     PLAYER_VA_THREAD=1         a thread is started at once, which tries to open a file when the first context is made; if it can, none is made
///     PLAYER_VA_CHECK=1          a reference picture whose bytes changed since it was decoded fails the picture that refers to it (one a
///                                picture is looked at, in turn), and so does a source that changed before it was encoded
#ifndef PLAYER_VA_DRIVER_H
#define PLAYER_VA_DRIVER_H

/// The function that libva looks up in a driver.
int __vaDriverInit_1_0(void *context);

#endif
