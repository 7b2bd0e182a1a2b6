"""Plays a film to its end with GStreamer and prints what each of its tracks had: gstreamer-play.py URI.

A line a track, "video 300" or "audio 470", with the number of decoded buffers; then "end". An error is a line of its own, and the exit code 1.
"""

import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402


def main():
    Gst.init(None)
    pipeline = Gst.Pipeline.new("film")
    source = Gst.ElementFactory.make("uridecodebin")
    if source is None:
        sys.exit("GStreamer has no uridecodebin")
    source.set_property("uri", sys.argv[1])
    pipeline.add(source)
    counts = []

    def add(_, pad):
        kind = pad.get_current_caps().get_structure(0).get_name().split("/")[0]
        sink = Gst.ElementFactory.make("fakesink")
        sink.set_property("sync", False)
        sink.set_property("signal-handoffs", True)
        number = len(counts)
        counts.append([kind, 0])

        def count(*_):
            counts[number][1] += 1

        sink.connect("handoff", count)
        pipeline.add(sink)
        pad.link(sink.get_static_pad("sink"))
        sink.sync_state_with_parent()

    source.connect("pad-added", add)
    bus, loop, failure = pipeline.get_bus(), GLib.MainLoop(), []
    bus.add_signal_watch()

    def hear(_, message):
        if message.type == Gst.MessageType.ERROR:
            failure.append(message.parse_error()[0].message)
        # A track for which there is no decoder is only a warning to GStreamer.
        if message.type == Gst.MessageType.ELEMENT and message.get_structure().get_name() == "missing-plugin":
            failure.append("no decoder for a track")
        if failure or message.type == Gst.MessageType.EOS:
            loop.quit()

    bus.connect("message", hear)
    pipeline.set_state(Gst.State.PLAYING)
    loop.run()
    pipeline.set_state(Gst.State.NULL)
    for kind, count in sorted(counts):
        print(kind, count)
    print(failure[0] if failure else "end")
    sys.exit(1 if failure else 0)


main()
