// swift-tools-version: 6.3
// Targets stand in the order in which data flows; a module imports only what stands above it.
import PackageDescription

let house: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: house)
}

/// The test targets to build: those that PLAYER_TESTS names, separated by spaces; all without it. The sanitized builds of `scripts/test` name some.
let wanted = Context.environment["PLAYER_TESTS"]?.split(separator: " ").map(String.init)

/// Files of test targets that are not built, by their paths below Tests: those that PLAYER_TESTS_WITHOUT names.
let leftOut = Context.environment["PLAYER_TESTS_WITHOUT"]?.split(separator: " ") ?? []

/// Where PLAYER_OPTIMIZED_TESTS is set, test targets that it does not name are compiled without optimization, whatever the rest of the build is.
let optimizedTests = Context.environment["PLAYER_OPTIMIZED_TESTS"]?.split(separator: " ").map(String.init)

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    let isUnoptimized = optimizedTests?.contains(name) == false
    return .testTarget(
        name: name, dependencies: dependencies,
        exclude: leftOut.filter { $0.hasPrefix("\(name)/") }.map { String($0.dropFirst(name.count + 1)) },
        swiftSettings: house + (isUnoptimized ? [.unsafeFlags(["-Onone"])] : []))
}

/// What the tests of readers and their fuzzer depend on.
let read: [Target.Dependency] = [
    "Bitstream", "CAV", "Decoding", "Demuxing", "FrameExport", "JSON", "KMSSink", "Media", "PlaySupport", "RemoteControl", "SampleQueue", "Sandbox",
    "SoundDecoding", "Subtitles", "SurfacePool", "Timelines", "Web",
]

let package = Package(
    name: "player",
    products: [
        .library(name: "Player", targets: ["Player"]),
        .library(name: "Media", targets: ["Media"]),
        .library(name: "Sandbox", targets: ["Sandbox"]),
        .library(name: "Bitstream", targets: ["Bitstream"]),
        .library(name: "SampleQueue", targets: ["SampleQueue"]),
        .library(name: "Demuxing", targets: ["Demuxing"]),
        .library(name: "SurfacePool", targets: ["SurfacePool"]),
        .library(name: "PixelConversion", targets: ["PixelConversion"]),
        .library(name: "Deinterlacing", targets: ["Deinterlacing"]),
        .library(name: "Decoding", targets: ["Decoding"]),
        .library(name: "Reading", targets: ["Reading"]),
        .library(name: "Composition", targets: ["Composition"]),
        .library(name: "Encoding", targets: ["Encoding"]),
        .library(name: "Writing", targets: ["Writing"]),
        .library(name: "Capture", targets: ["Capture"]),
        .library(name: "Recording", targets: ["Recording"]),
        .library(name: "DisplaySink", targets: ["DisplaySink"]),
        .library(name: "Subtitles", targets: ["Subtitles"]),
        .library(name: "WaylandSink", targets: ["WaylandSink"]),
        .library(name: "KMSSink", targets: ["KMSSink"]),
        .library(name: "AudioSink", targets: ["AudioSink"]),
        .library(name: "FrameExport", targets: ["FrameExport"]),
        .library(name: "TextureCache", targets: ["TextureCache"]),
        .library(name: "GPUComposition", targets: ["GPUComposition"]),
        .executable(name: "play", targets: ["play"]),
        // What `scripts/install` makes libscanout.so of.
        .library(name: "scanout-c", type: .static, targets: ["ScanoutC"]),
        // For tests: a VA-API driver without hardware.
        .library(name: "player_drv_video", type: .dynamic, targets: ["VADriver"]),
        .executable(name: "scanout-decoder", targets: ["scanout-decoder"]),
        .executable(name: "scanout-demuxer", targets: ["scanout-demuxer"]),
        .executable(name: "scanout-subtitles", targets: ["scanout-subtitles"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: [
        // C doors: a module map and shims, no policy.
        .target(name: "CLinux"),
        .systemLibrary(
            name: "CAV", pkgConfig: "libavcodec libavutil libswresample",
            providers: [.apt(["libavcodec-dev", "libavutil-dev", "libswresample-dev"])]),
        // Apart, because loading it takes longer than all others together. Goes with CAV.
        .systemLibrary(name: "CAVFormat", pkgConfig: "libavformat", providers: [.apt(["libavformat-dev"])]),
        // Apart from CAV, so that converting frames does not load libavcodec.
        .systemLibrary(name: "CSwscale", pkgConfig: "libswscale libavutil", providers: [.apt(["libswscale-dev", "libavutil-dev"])]),
        // libcurl, which is loaded when the first web server is asked.
        .target(name: "CCurl"),
        .systemLibrary(name: "CALSA", pkgConfig: "alsa", providers: [.apt(["libasound2-dev"])]),
        .systemLibrary(name: "CPipeWire", pkgConfig: "libpipewire-0.3", providers: [.apt(["libpipewire-0.3-dev"])]),
        .systemLibrary(
            name: "CWaylandClient", pkgConfig: "wayland-client", providers: [.apt(["libwayland-dev"])]),
        .systemLibrary(name: "CXKBCommon", pkgConfig: "xkbcommon", providers: [.apt(["libxkbcommon-dev"])]),
        .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
        .systemLibrary(name: "CZimg", pkgConfig: "zimg", providers: [.apt(["libzimg-dev"])]),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CASS", pkgConfig: "libass", providers: [.apt(["libass-dev"])]),
        .systemLibrary(name: "CFontconfig", pkgConfig: "fontconfig", providers: [.apt(["libfontconfig-dev"])]),
        .target(name: "CWaylandProtocols", dependencies: ["CWaylandClient"]),
        .systemLibrary(name: "CVA", pkgConfig: "libva libva-drm", providers: [.apt(["libva-dev"])]),
        .systemLibrary(name: "CDRM", pkgConfig: "libdrm libudev", providers: [.apt(["libdrm-dev", "libudev-dev"])]),
        // Cameras: the kernel's ioctls, no library.
        .target(name: "CV4L2"),
        .systemLibrary(name: "CSeat", pkgConfig: "libseat", providers: [.apt(["libseat-dev"])]),

        module("Media", ["CLinux"]),
        module("JSON", ["Media"]),
        // Processes without rights: starting them, talking to them, sharing memory with them.
        module("Sandbox", ["Media", "CLinux"]),
        // The text of time lines: what it holds, for whoever makes a composition of it.
        module("Timelines", ["JSON", "Media", "Sandbox"]),
        module("Bitstream", ["Media"]),
        // Requests to web servers, whose connections are kept.
        module("Web", ["Media", "CCurl"]),
        module("SampleQueue", ["Media", "Bitstream", "CAV"]),
        module("Demuxing", ["Media", "Sandbox", "Timelines", "Bitstream", "Web", "SampleQueue", "CAV", "CAVFormat", "CLinux"]),
        // Sound into PCM, in this process or in one without rights.
        module("SoundDecoding", ["Media", "Sandbox", "SampleQueue", "CAV"]),
        module("SurfacePool", ["Media", "CLinux", "CVA"]),
        module("PixelConversion", ["Media", "SurfacePool", "CSwscale", "CZimg"]),
        .target(name: "CDeinterlace", dependencies: ["CAV"]),
        module("Deinterlacing", ["Media", "SurfacePool", "PixelConversion", "CDeinterlace"]),
        module("Decoding", ["Media", "Sandbox", "SampleQueue", "SoundDecoding", "SurfacePool", "PixelConversion", "CAV", "CLinux"]),
        // What a process does to itself. Apart from Sandbox, which the player loads, so that the player does not link libseccomp.
        module("Confinement", ["CLinux", "Media", "Sandbox", "CSeccomp"]),
        // Each confines itself, then does nothing but its work. The decoder must not depend on what loads libavformat.
        .executableTarget(name: "scanout-decoder", dependencies: ["Confinement", "Decoding", "Sandbox", "CLinux"], swiftSettings: house),
        .executableTarget(name: "scanout-demuxer", dependencies: ["Confinement", "Demuxing", "Sandbox", "CLinux"], swiftSettings: house),
        module("DisplaySink", ["Media", "SurfacePool", "PixelConversion", "CAV"]),
        // Subtitles as images over the film: libavcodec decodes, libass lays out and draws.
        module("Subtitles", ["Media", "Sandbox", "Bitstream", "SampleQueue", "Demuxing", "DisplaySink", "CAV", "CASS", "CSwscale"]),
        .executableTarget(
            name: "scanout-subtitles", dependencies: ["Confinement", "Sandbox", "Subtitles", "CLinux", "CFontconfig"], swiftSettings: house),
        // What tells the viewer of the player, over the film: messages, a bar, a page of statistics.
        module("OnScreen", ["Media", "DisplaySink", "Subtitles"]),
        // Keymaps, for both display systems.
        module("KeyboardInput", ["Media", "DisplaySink", "CXKBCommon"]),
        module(
            "WaylandSink",
            ["Media", "SurfacePool", "PixelConversion", "DisplaySink", "KeyboardInput", "CLinux", "CWaylandClient", "CWaylandProtocols"]),
        module("KMSSink", ["Media", "SurfacePool", "PixelConversion", "DisplaySink", "KeyboardInput", "CLinux", "CDRM", "CSeat"]),
        module("AudioSink", ["Media", "Sandbox", "SampleQueue", "SoundDecoding", "CAV", "CALSA", "CPipeWire"]),
        // Decoded frames and sound of any part of a film, for programs that do not play it.
        module(
            "Reading",
            ["Media", "Sandbox", "SampleQueue", "Demuxing", "SoundDecoding", "SurfacePool", "PixelConversion", "Decoding", "AudioSink", "CAV"]),
        // Films made of parts of others: their frames drawn by a compositor, their sound mixed.
        module("Composition", ["Media", "Timelines", "Demuxing", "SurfacePool", "PixelConversion", "Decoding", "Reading"]),
        // Frames and sound into compressed samples.
        module("Encoding", ["Media", "Bitstream", "SampleQueue", "SurfacePool", "PixelConversion", "Decoding", "AudioSink", "CAV"]),
        // Compressed samples into files, and films into other films.
        module(
            "Writing",
            [
                "Media", "Sandbox", "SampleQueue", "Demuxing", "SurfacePool", "PixelConversion", "Decoding", "Reading", "Composition", "Encoding",
                "CAV",
                "CAVFormat", "CLinux",
            ]),
        // Cameras, their frames in the surfaces that displays and exporters read, and microphones.
        module("Capture", ["Media", "SampleQueue", "SurfacePool", "Decoding", "CV4L2", "CALSA"]),
        // Cameras and microphones into files.
        module("Recording", ["Media", "Demuxing", "SampleQueue", "SurfacePool", "Reading", "Encoding", "Writing", "Capture"]),
        module("FrameExport", ["CLinux", "Media", "Sandbox", "SurfacePool"]),
        // Types only; the libraries are opened by name. No `pkgConfig`, whose flags would link them.
        .systemLibrary(name: "CEGL", providers: [.apt(["libegl-dev", "libgles-dev"])]),
        .systemLibrary(name: "CVulkan", providers: [.apt(["libvulkan-dev"])]),
        module("TextureCache", ["CEGL", "CVulkan", "Media", "SurfacePool", "FrameExport"]),
        // The built-in compositor on a GPU; the player does not load it.
        module(
            "GPUComposition",
            ["CEGL", "Media", "SurfacePool", "PixelConversion", "Reading", "Composition", "FrameExport", "TextureCache"]),
        module(
            "Player",
            [
                "CLinux", "Media", "Sandbox", "Bitstream", "SampleQueue", "SoundDecoding", "SurfacePool", "PixelConversion", "Deinterlacing",
                "Decoding",
                "Demuxing",
                "Capture",
                "DisplaySink", "Subtitles", "AudioSink", "Reading", "Composition", "FrameExport",
            ]),
        // What the command line needs beyond the player: reports, JSON, exit codes, the status line, keys.
        module(
            "PlaySupport",
            [
                "JSON", "Media", "Sandbox", "SampleQueue", "SurfacePool", "PixelConversion", "Decoding", "Demuxing", "Reading", "Composition",
                "Encoding", "Writing", "Capture", "Recording", "DisplaySink", "AudioSink", "Player", "CAV",
            ]),
        // The player under the control of other programs, in mpv's protocol.
        module("RemoteControl", ["JSON", "Media", "Sandbox", "PixelConversion", "DisplaySink", "PlaySupport"]),
        module("MediaControls", ["CSystemd", "Media", "PlaySupport", "RemoteControl"]),
        // The C interface: a header written by hand, and the functions behind it.
        .target(name: "CScanout"),
        module(
            "ScanoutC",
            [
                "CLinux", "CScanout", "Media", "Sandbox", "SampleQueue", "SurfacePool", "Decoding", "DisplaySink", "WaylandSink", "KMSSink",
                "FrameExport", "TextureCache", "Player", "Demuxing", "AudioSink", "Reading", "Encoding", "Writing", "Capture",
            ]),
        // How `play` ends when it cannot end by itself: signal handlers.
        .target(name: "CEnding"),
        .executableTarget(
            name: "play",
            dependencies: [
                "CEnding", "JSON", "PlaySupport", "Player", "Media", "Sandbox", "SampleQueue", "SurfacePool", "Decoding", "Demuxing", "Reading",
                "Composition", "Deinterlacing", "Encoding", "Writing", "Capture", "Recording", "DisplaySink", "KeyboardInput", "WaylandSink",
                "KMSSink", "AudioSink", "FrameExport", "PixelConversion", "RemoteControl", "MediaControls", "OnScreen",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: house),

        // The example in Swift; those in C and Python lie beside it.
        .executableTarget(
            name: "brightness", dependencies: ["DisplaySink", "FrameExport", "Media", "Player"], path: "Examples/Swift",
            exclude: ["Compositor.swift", "Mirror.swift"], swiftSettings: house),
        .executableTarget(
            name: "compositor", dependencies: ["Composition", "Media", "PixelConversion", "Reading", "SurfacePool", "Writing"],
            path: "Examples/Swift", exclude: ["Brightness.swift", "Mirror.swift"], swiftSettings: house),
        .executableTarget(
            name: "mirror", dependencies: ["Capture", "DisplaySink", "KMSSink", "Media", "Player", "WaylandSink"],
            path: "Examples/Swift", exclude: ["Brightness.swift", "Compositor.swift"], swiftSettings: house),

        // libva loads it, nothing links it.
        .target(name: "VADriver", dependencies: ["CAV", "CVA"], path: "Tests/VADriver"),
        // Shared by test targets: finding media, starting programs and compositors, trackers.
        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        .target(
            name: "TestSupport", dependencies: ["CTestSupport", "Media", "SurfacePool", "CAV"], path: "Tests/TestSupport", swiftSettings: house),
        // Wrong messages, made of true ones.
        .target(name: "Lies", dependencies: ["Media", "Sandbox"], path: "Tests/Lies", swiftSettings: house),
        // What every sink must do; run by the tests of each.
        .target(
            name: "SinkConformance", dependencies: ["DisplaySink", "SurfacePool", "Media"], path: "Tests/SinkConformance", swiftSettings: house),
        // What films hold, decoded once for the tests that compare.
        .target(
            name: "FilmReference", dependencies: ["Player", "Writing", "Decoding", "DisplaySink", "Media", "TestSupport"],
            path: "Tests/FilmReference", swiftSettings: house),
        tests("TestSupportTests", ["Media", "TestSupport"]),
        tests("MediaTests", ["Media", "TestSupport"]),
        tests("JSONTests", ["JSON"]),
        tests("SandboxTests", ["Sandbox", "Media", "TestSupport"]),
        tests("BitstreamTests", ["Bitstream", "SampleQueue", "Demuxing", "Media", "TestSupport"]),
        tests("SampleQueueTests", ["SampleQueue", "Demuxing", "Media", "TestSupport"]),
        tests("DeinterlacingTests", ["Deinterlacing", "SurfacePool", "Media", "TestSupport"]),
        tests(
            "DemuxingTests", ["Lies", "Demuxing", "Web", "Timelines", "Sandbox", "SampleQueue", "Media", "TestSupport", "CAV", "CAVFormat", "CLinux"]),
        tests("SurfacePoolTests", ["SurfacePool", "Media", "TestSupport", "CLinux"]),
        tests("PixelConversionTests", ["PixelConversion", "SurfacePool", "Media", "TestSupport", "CLinux"]),
        tests(
            "DecodingTests",
            [
                "Lies", "Decoding", "Demuxing", "Sandbox", "Bitstream", "SampleQueue", "SoundDecoding", "PixelConversion", "SurfacePool", "Media",
                "TestSupport", "CAV", "CLinux",
            ]),
        tests(
            "ReadingTests",
            ["Reading", "Demuxing", "Decoding", "Sandbox", "SampleQueue", "PixelConversion", "SurfacePool", "Media", "TestSupport"]),
        tests(
            "CompositionTests",
            [
                "Timelines", "Composition", "GPUComposition", "Sandbox", "Writing", "Encoding", "Reading", "Demuxing", "SampleQueue", "SurfacePool",
                "PixelConversion",
                "Media", "TestSupport",
            ]),
        tests(
            "EncodingTests",
            [
                "Encoding", "Decoding", "Demuxing", "Bitstream", "SampleQueue", "PixelConversion", "SurfacePool", "AudioSink", "Media", "TestSupport",
                "CAV",
            ]),
        tests("WritingTests", ["Writing", "Encoding", "Reading", "Decoding", "Demuxing", "SampleQueue", "SurfacePool", "Media", "TestSupport"]),
        tests(
            "SoundDecodingTests", ["Lies", "SoundDecoding", "Demuxing", "SampleQueue", "Sandbox", "Media", "TestSupport", "CAV", "scanout-decoder"]),
        // Defines a function that libva would otherwise find in libdrm.
        .target(name: "VANode", path: "Tests/VANode"),
        tests(
            "HardwareTests",
            [
                "Decoding", "Demuxing", "DisplaySink", "Sandbox", "SampleQueue", "SurfacePool", "PixelConversion", "Reading", "Composition",
                "FrameExport", "Player", "Bitstream", "Encoding", "Media", "TestSupport", "VANode",
            ]),
        tests(
            "CaptureTests",
            [
                "Capture", "Recording", "Player", "PlaySupport", "Demuxing", "DisplaySink", "Encoding", "FrameExport", "Reading", "SampleQueue",
                "SurfacePool", "Writing", "Media", "TestSupport", "CALSA", "CScanout", "ScanoutC",
            ]),
        tests(
            "DisplaySinkTests",
            ["DisplaySink", "PixelConversion", "Decoding", "Demuxing", "SampleQueue", "SurfacePool", "Media", "TestSupport", "SinkConformance"]),
        tests(
            "SubtitlesTests",
            [
                "Lies", "Subtitles", "Demuxing", "DisplaySink", "SampleQueue", "Sandbox", "Media", "TestSupport", "scanout-decoder",
                "scanout-subtitles",
            ]),
        tests("OnScreenTests", ["OnScreen", "Subtitles", "DisplaySink", "Media", "TestSupport"]),
        tests("KeyboardInputTests", ["KeyboardInput", "DisplaySink", "TestSupport"]),
        tests(
            "WaylandSinkTests", ["WaylandSink", "DisplaySink", "PixelConversion", "SurfacePool", "Media", "TestSupport", "SinkConformance"]),
        tests(
            "KMSSinkTests",
            [
                "Player", "Composition", "Subtitles", "OnScreen", "KMSSink", "DisplaySink", "PixelConversion", "SurfacePool", "Media", "TestSupport",
                "SinkConformance",
            ]),
        tests("AudioSinkTests", ["AudioSink", "Demuxing", "SampleQueue", "Media", "CAV", "CAVFormat", "TestSupport"]),
        // A client of exported frames in a process of its own, without any of our code.
        .executableTarget(name: "export-client", path: "Tests/ExportClient"),
        tests(
            "FrameExportTests",
            [
                "FrameExport", "Decoding", "Sandbox", "SurfacePool", "DisplaySink", "Player", "Media", "TestSupport", "FilmReference", "CLinux",
                "export-client",
            ]),
        .testTarget(
            name: "TextureCacheTests",
            dependencies: [
                "TextureCache", "FrameExport", "Decoding", "Demuxing", "SampleQueue", "SurfacePool", "Media", "TestSupport", "CEGL", "CVulkan",
            ],
            swiftSettings: house, linkerSettings: [.linkedLibrary("EGL"), .linkedLibrary("GLESv2"), .linkedLibrary("vulkan")]),
        tests(
            "PlayerTests",
            [
                "Lies", "Player", "Subtitles", "FrameExport", "Decoding", "PixelConversion", "Demuxing", "Sandbox", "SampleQueue", "SurfacePool",
                "DisplaySink", "Deinterlacing",
                "WaylandSink", "AudioSink", "Composition", "Reading", "Media", "TestSupport", "FilmReference",
            ]),
        tests(
            "PlaySupportTests",
            ["PlaySupport", "JSON", "Demuxing", "Capture", "Recording", "Reading", "Player", "DisplaySink", "Media", "TestSupport"]),
        tests("MediaControlsTests", ["MediaControls", "RemoteControl", "PlaySupport", "Media", "TestSupport"]),
        tests("RemoteControlTests", ["RemoteControl", "JSON", "PlaySupport", "DisplaySink", "PixelConversion", "Media", "Sandbox", "TestSupport"]),
        tests("CInterfaceTests", ["SampleQueue", "Demuxing", "CScanout", "ScanoutC", "Media", "TestSupport", "FilmReference"]),
        // Stands between the player and its processes, and changes what they say.
        .executableTarget(name: "lying-proxy", dependencies: ["Lies", "Media", "Sandbox"], path: "Tests/LyingProxy", swiftSettings: house),
        tests(
            "PlayTests",
            ["OnScreen", "CEnding", "PlaySupport", "Player", "Demuxing", "Sandbox", "FrameExport", "Media", "TestSupport", "lying-proxy"]),
        // The readers of what strangers write, over wrong bytes. With PLAYER_FUZZER they make a program of libFuzzer's instead, which only
        // `swift build --sanitize=fuzzer` links (`scripts/fuzz`).
        Context.environment["PLAYER_FUZZER"] == nil
            ? .testTarget(
                name: "ReaderTests", dependencies: read + ["TestSupport"], path: "Tests/ReaderTests", exclude: ["Fuzzer"], swiftSettings: house)
            : .executableTarget(
                name: "reader-fuzzer", dependencies: read, path: "Tests/ReaderTests", exclude: ["ReaderTests.swift"],
                swiftSettings: house + [.unsafeFlags(["-parse-as-library"])]),
        // In the virtual machine of scripts/lab only.
        tests("LabTests", ["Player", "DisplaySink", "WaylandSink", "Media", "TestSupport"]),
    ]
)

if let wanted {
    // With the test targets, what they depend on and the programs that they start without depending on them.
    var needed = Set<String>(), next = wanted + ["scanout-decoder", "scanout-demuxer", "scanout-subtitles", "VADriver"]
    if wanted.contains("PlayTests") { next.append("play") }
    while let name = next.popLast() {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
        for case .byNameItem(let name, _) in target.dependencies { next.append(name) }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll {
        switch $0 {
        case let program as Product.Executable: !needed.isSuperset(of: program.targets)
        case let library as Product.Library: !needed.isSuperset(of: library.targets)
        default: false
        }
    }
}
