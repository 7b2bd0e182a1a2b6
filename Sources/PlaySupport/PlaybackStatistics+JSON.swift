public import JSON
internal import Media
public import Player
internal import SurfacePool

extension PlaybackStatistics {
    /// The statistics as one JSON object, as `play --stats` writes it.
    public var json: JSONValue { .object(frameMembers + memoryMembers + timeMembers) }

    private var frameMembers: [JSONValue.Member] {
        [
            .init("file", text: file.withoutPasswords), .init("decoder", text: decoder), .init("sink", text: sink),
            .init("pixelFormat", text: pixelFormat?.rawValue), .init("modifier", text: modifier?.description),
            .init("framesDecoded", count: framesDecoded), .init("framesDeinterlaced", count: framesDeinterlaced),
            .init("framesPresented", count: framesPresented),
            .init("framesDropped", .object(framesDropped.map { JSONValue.Member($0.reason, count: $0.count) })),
        ]
    }

    private var memoryMembers: [JSONValue.Member] {
        [
            .init("bytesWritten", .integer(bytesWritten)), .init("bytesCopied", .integer(bytesCopied)),
            .init("conversion", conversion.map(Self.members) ?? .null),
            .init("sandbox", text: sandbox), .init("decoderDeaths", count: decoderDeaths),
            .init("soundSandbox", text: soundSandbox), .init("soundDecoderDeaths", count: soundDecoderDeaths),
            .init("network", network.map(Self.members) ?? .null), .init("live", live.map(Self.members) ?? .null),
            .init("camera", camera.map(Self.members) ?? .null),
            .init("composition", composition.map(Self.members) ?? .null),
            .init("surfacesAllocated", count: surfacesAllocated), .init("poolCapacity", count: poolCapacity),
        ]
    }

    private var timeMembers: [JSONValue.Member] {
        [
            .init("startupMilliseconds", thousandths: startupMilliseconds),
            .init("presentationErrorMicroseconds", Self.members(presentationError)),
            .init("avOffsetMilliseconds", avOffset.map(Self.members) ?? .null),
            .init("stalls", count: stalls), .init("stalledSeconds", thousandths: stalledSeconds),
            .init("wallSeconds", thousandths: wallSeconds), .init("cpuSeconds", thousandths: cpuSeconds),
            .init("peakRSSBytes", .integer(peakRSSBytes)),
        ]
    }

    private static func members(_ conversion: Conversion) -> JSONValue {
        .object([.init("from", text: conversion.from), .init("to", text: conversion.to), .init("why", text: conversion.why)])
    }

    private static func members(_ error: PresentationError) -> JSONValue {
        .object([
            .init("p50", .number(error.p50)), .init("p95", .number(error.p95)), .init("p99", .number(error.p99)), .init("max", .number(error.max)),
        ])
    }

    private static func members(_ network: Network) -> JSONValue {
        let bytes: [JSONValue.Member] = [
            .init("bytesFetched", .integer(network.bytesFetched)), .init("bytesAhead", .integer(network.bytesAhead)),
            .init("secondsAhead", thousandths: network.secondsAhead), .init("percentAhead", count: network.percentAhead),
            .init("bytesPerSecond", .integer(network.bytesPerSecond)),
        ]
        guard let variant = network.variant else { return .object(bytes) }
        return .object(bytes + [.init("variant", count: variant), .init("variantSwitches", count: network.variantSwitches)])
    }

    private static func members(_ live: Live) -> JSONValue {
        .object([
            .init("targetSeconds", thousandths: live.target), .init("latencySeconds", thousandths: live.latency),
            .init("latencyByDateSeconds", thousandths: live.latencyByDate), .init("jumps", count: live.jumps),
            .init("reconnections", count: live.reconnections),
        ])
    }

    private static func members(_ camera: Camera) -> JSONValue {
        .object([
            .init("device", text: camera.device), .init("name", text: camera.name), .init("format", text: camera.format),
            .init("rate", text: camera.rate.isKnown ? camera.rate.description : nil), .init("buffers", text: camera.buffers),
            .init("framesCounted", count: camera.framesCounted), .init("framesDelivered", count: camera.framesDelivered),
            .init("framesDropped", .object(camera.framesDropped.map { JSONValue.Member($0.reason, count: $0.count) })),
            .init("interruptions", count: camera.interruptions),
            .init("driftPPM", thousandths: camera.drift.map { $0 * 1e6 }),
            .init("delayMicroseconds", camera.delay.map(Self.members) ?? .null),
        ])
    }

    private static func members(_ delay: Camera.Delay) -> JSONValue {
        .object([.init("p50", thousandths: delay.p50), .init("p95", thousandths: delay.p95), .init("max", thousandths: delay.max)])
    }

    private static func members(_ composition: Composition) -> JSONValue {
        .object([
            .init("framesDrawn", count: composition.framesDrawn), .init("framesPassedThrough", count: composition.framesPassedThrough),
            .init("framesRepeated", count: composition.framesRepeated), .init("framesLate", count: composition.framesLate),
            .init("framesFailed", count: composition.framesFailed), .init("framesSkipped", count: composition.framesSkipped),
            .init("answersIgnored", count: composition.answersIgnored),
        ])
    }

    private static func members(_ offset: AVOffset) -> JSONValue {
        .object([.init("mean", thousandths: offset.mean), .init("max", thousandths: offset.max)])
    }
}
