/// JSON as OpenTimelineIO's own package writes it, made in code.
enum TimelineText {
    static func time(_ value: Double, _ rate: Double = 25) -> String {
        #"{"OTIO_SCHEMA": "RationalTime.1", "rate": \#(rate), "value": \#(value)}"#
    }

    static func range(_ start: Double, _ duration: Double, _ rate: Double = 25) -> String {
        #"{"OTIO_SCHEMA": "TimeRange.1", "start_time": \#(time(start, rate)), "duration": \#(time(duration, rate))}"#
    }

    static func clip(_ name: String, _ url: String, _ start: Double, _ duration: Double, available: String = "null", effects: String = "") -> String {
        #"""
        {"OTIO_SCHEMA": "Clip.2", "metadata": {}, "name": "\#(name)", "source_range": \#(range(start, duration)), "effects": [\#(effects)],
         "markers": [], "enabled": true, "media_references": {"DEFAULT_MEDIA": {"OTIO_SCHEMA": "ExternalReference.1", "metadata": {}, "name": "",
         "available_range": \#(available), "available_image_bounds": null, "target_url": "\#(url)"}}, "active_media_reference_key": "DEFAULT_MEDIA"}
        """#
    }

    static func warp(_ speed: Double) -> String {
        #"{"OTIO_SCHEMA": "LinearTimeWarp.1", "name": "", "effect_name": "LinearTimeWarp", "enabled": true, "time_scalar": \#(speed)}"#
    }

    static func gap(_ duration: Double) -> String { #"{"OTIO_SCHEMA": "Gap.1", "name": "", "source_range": \#(range(0, duration))}"# }

    static func dissolve(_ before: Double, _ after: Double, type: String = "SMPTE_Dissolve") -> String {
        #"""
        {"OTIO_SCHEMA": "Transition.1", "name": "", "in_offset": \#(time(before)), "out_offset": \#(time(after)), "transition_type": "\#(type)"}
        """#
    }

    static func marker(_ name: String, _ start: Double) -> String {
        #"{"OTIO_SCHEMA": "Marker.2", "name": "\#(name)", "color": "RED", "marked_range": \#(range(start, 0))}"#
    }

    static func track(_ kind: String, _ children: [String], markers: [String] = []) -> String {
        #"""
        {"OTIO_SCHEMA": "Track.1", "name": "", "kind": "\#(kind)", "source_range": null, "effects": [], "enabled": true,
         "markers": [\#(markers.joined(separator: ", "))], "children": [\#(children.joined(separator: ", "))]}
        """#
    }

    static func stack(_ children: [String], range: String = "null", effects: String = "") -> String {
        #"""
        {"OTIO_SCHEMA": "Stack.1", "name": "nested", "source_range": \#(range), "effects": [\#(effects)], "markers": [], "enabled": true,
         "children": [\#(children.joined(separator: ", "))]}
        """#
    }

    static func timeline(_ tracks: [String], rate: Double = 25) -> String {
        #"{"OTIO_SCHEMA": "Timeline.1", "metadata": {}, "name": "A \u00fcbung", "global_start_time": \#(time(0, rate)), "tracks": \#(stack(tracks))}"#
    }
}
