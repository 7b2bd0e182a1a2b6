"""An RTSP server on 127.0.0.1 for the tests, by GStreamer: rtsp-server.py FILM [PORT]. FILM is an MP4 file with H.264, and AAC or no sound.

    /film     the film, without its sound
    /sound    the film with its sound
    /udp      as /film, but over UDP alone
    /locked   as /film, for the user "viewer" with the password "open sesame"
    /live     a test pattern of 25 frames a second, for ever, which all clients share

Prints its port once it serves, and ends when its standard input does.
"""

import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

Gst.init(None)
film = sys.argv[1]
read = f'filesrc location="{film}" ! qtdemux name=film'
video = "film.video_0 ! queue ! rtph264pay name=pay0 pt=96 config-interval=-1"
sound = "film.audio_0 ! queue ! rtpmp4gpay name=pay1 pt=97"
live = "videotestsrc is-live=true ! video/x-raw,format=I420,width=160,height=120,framerate=25/1 ! openh264enc gop-size=25 ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=-1"
everybody, viewers = "anonymous", "viewer"

server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(sys.argv[2] if len(sys.argv) > 2 else "0")
access = GstRtspServer.RTSPAuth()
access.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)


def role_token(role):
    result = GstRtspServer.RTSPToken()
    result.set_string(GstRtspServer.RTSP_TOKEN_MEDIA_FACTORY_ROLE, role)
    return result


access.set_default_token(role_token(everybody))
access.add_digest("viewer", "open sesame", role_token(viewers))
server.set_auth(access)


def serve(path, launch, roles=(everybody, viewers), protocols=None, is_shared=False):
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(f"( {launch} )")
    factory.set_shared(is_shared)
    if protocols is not None:
        factory.set_protocols(protocols)
    permissions = GstRtspServer.RTSPPermissions()
    for role in (everybody, viewers):
        permissions.add_role(role)
        permissions.add_permission_for_role(role, "media.factory.access", True)
        permissions.add_permission_for_role(role, "media.factory.construct", role in roles)
    factory.set_permissions(permissions)
    server.get_mount_points().add_factory(path, factory)


serve("/film", f"{read} {video}")
serve("/sound", f"{read} {video} {sound}")
serve("/udp", f"{read} {video}", protocols=GstRtsp.RTSPLowerTrans.UDP)
serve("/locked", f"{read} {video}", roles=(viewers,))
serve("/live", live, is_shared=True)
server.attach(None)
print(server.get_bound_port(), flush=True)

loop = GLib.MainLoop()
GLib.io_add_watch(0, GLib.PRIORITY_DEFAULT, GLib.IO_HUP, lambda *_: loop.quit())
loop.run()
