import CPlayer
import Foundation
import TestSupport
import Testing

/// Commands, events and failures through the C interface, in this process.
@Suite struct PlayingTests {
    private func text(_ event: player_event) -> String {
        unsafe withUnsafeBytes(of: event.text) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private func isReadable(_ fd: Int32) -> Bool {
        var poll = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
        return unsafe Glibc.poll(&poll, 1, 0) == 1
    }

    @Test func `a film reports what was chosen, and its end`() throws {
        let film = try Film(TestAssets.path("plain.mp4"))
        while film.next() != nil {}
        var kinds: [UInt32] = [], texts: [String] = []
        while kinds.last != PLAYER_EVENT_ENDED.rawValue, let event = film.event(timeout: 30_000_000_000) {
            kinds.append(event.kind)
            texts.append(text(event))
        }
        #expect(kinds.last == PLAYER_EVENT_ENDED.rawValue && kinds.contains(PLAYER_EVENT_DETAIL.rawValue))
        #expect(texts.contains { $0.contains("h264") })
        let descriptor = unsafe player_event_fd(film.player)
        #expect(film.event(timeout: 0) == nil && !isReadable(descriptor))
        // It goes on: a seek brings another end.
        #expect(unsafe player_seek(film.player, 0) == PLAYER_OK)
        // Until the seek has been carried out the film is still over.
        #expect(Polling.until { film.next() != nil })
        while film.next() != nil {}
        #expect(film.event(timeout: 30_000_000_000)?.kind == PLAYER_EVENT_ENDED.rawValue)
    }

    @Test func `the descriptor is readable while there are events`() throws {
        let film = try Film(TestAssets.path("plain.mp4"), startsPaused: true)
        let descriptor = unsafe player_event_fd(film.player)
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        #expect(unsafe Glibc.poll(&poll, 1, 30_000) == 1)
        while isReadable(descriptor) { #expect(film.event(timeout: 0) != nil) }
    }

    @Test(arguments: [
        ("/nonexistent/film.mp4", PLAYER_ERROR_OPEN, "/nonexistent/film.mp4"), (TestAssets.root + "/README.md", PLAYER_ERROR_DATA, "README.md"),
        (TestAssets.root, PLAYER_ERROR_OPEN, TestAssets.root),
    ])
    func `what cannot be played is refused with a sentence`(_ path: String, _ result: player_result, _ word: String) throws {
        let refusal = #expect(throws: Film.Refusal.self) { try Film(path) }
        #expect(refusal?.result == result)
        #expect(refusal?.message.contains(word) == true)
    }

    @Test func `a message is cut to its buffer, with its zero`() {
        var message = [CChar](repeating: 1, count: 12), player: OpaquePointer?
        #expect(unsafe player_open("/nonexistent", nil, &player, &message, 10) == PLAYER_ERROR_OPEN)
        #expect(message[9] == 0 && message[10] == 1 && message.prefix(9).allSatisfy { $0 > 1 })
        #expect(unsafe player == nil)
        #expect(unsafe player_open("/nonexistent", nil, &player, nil, 0) == PLAYER_ERROR_OPEN)
    }

    @Test func `nothing in the place of a handle is answered, not followed`() {
        let none: OpaquePointer? = nil
        #expect(unsafe player_play(none) == PLAYER_ERROR_ARGUMENT)
        #expect(unsafe player_seek(none, 0) == PLAYER_ERROR_ARGUMENT)
        #expect(unsafe player_position(none) == 0 && player_duration(none) == .min && player_is_playing(none) == 0)
        #expect(unsafe player_event_fd(none) == -1)
        let opened: UnsafeMutablePointer<OpaquePointer?>? = nil
        #expect(unsafe player_open(nil, nil, opened, nil, 0) == PLAYER_ERROR_ARGUMENT)
        #expect(unsafe player_exporter_new(nil, opened) == PLAYER_ERROR_ARGUMENT)
        #expect(unsafe player_exporter_wait(none, 0, nil) == PLAYER_ERROR_ARGUMENT)
        #expect(unsafe player_frame_describe(none, nil) == PLAYER_ERROR_ARGUMENT)
        #expect(unsafe player_frame_acquire_fence(none) == -1)
        var textures = player_texture_info(), counts = player_texture_statistics()
        #expect(unsafe player_egl_cache_get(none, none, &textures, nil, 0) == PLAYER_ERROR_ARGUMENT)
        #expect(unsafe player_egl_cache_get_statistics(none, &counts) == PLAYER_ERROR_ARGUMENT)
        unsafe player_egl_cache_release(none, none)
        #expect(unsafe player_vulkan_cache_record_acquire(none, none, nil, 0) == PLAYER_ERROR_ARGUMENT)
        #expect(unsafe player_vulkan_cache_acquire_semaphore(none, none) == 0 && player_vulkan_cache_release_semaphore(none) == 0)
        unsafe player_vulkan_cache_release(none, none, 0, 0)
        unsafe player_vulkan_cache_close(none)
        unsafe player_egl_cache_close(none)
        unsafe player_close(none)
        unsafe player_exporter_close(none)
        unsafe player_frame_release(none)
    }

    @Test func `without a current context there are no textures`() {
        var message = [CChar](repeating: 0, count: 200), cache: OpaquePointer?
        #expect(unsafe player_egl_cache_new(nil, &cache, &message, message.count) == PLAYER_ERROR_DEVICE)
        #expect(unsafe cache == nil)
        #expect(message[0] != 0)
        // A device of nothing but zeros is no device.
        var device = unsafe player_vulkan_device()
        unsafe device.size = UInt32(MemoryLayout<player_vulkan_device>.size)
        #expect(unsafe player_vulkan_cache_new(&device, nil, &cache, nil, 0) == PLAYER_ERROR_ARGUMENT)
    }

    @Test func `values that make no sense are refused`() throws {
        let film = try Film(TestAssets.path("plain.mp4"), startsPaused: true)
        for rate in [0, -1, .nan, .infinity] { #expect(unsafe player_set_rate(film.player, rate) == PLAYER_ERROR_ARGUMENT) }
        for volume in [-0.1, 1.1, .nan] { #expect(unsafe player_set_volume(film.player, volume) == PLAYER_ERROR_ARGUMENT) }
        #expect(unsafe player_seek(film.player, .min) == PLAYER_ERROR_ARGUMENT)
        #expect(unsafe player_set_rate(film.player, 2) == PLAYER_OK)
        #expect(unsafe player_set_volume(film.player, 0.5) == PLAYER_OK)
        #expect(unsafe player_duration(film.player) > 0)
        var options = player_exporter_options(), exporter: OpaquePointer?
        options.size = UInt32(MemoryLayout<player_exporter_options>.size)
        options.policy = 7
        #expect(unsafe player_exporter_new(&options, &exporter) == PLAYER_ERROR_ARGUMENT)
        options.policy = 0
        options.budget = 100_000
        #expect(unsafe player_exporter_new(&options, &exporter) == PLAYER_ERROR_ARGUMENT)
    }

    @Test func `an exporter serves one film after the other`() throws {
        var exporter: OpaquePointer?
        try #require(unsafe player_exporter_new(nil, &exporter) == PLAYER_OK)
        defer { unsafe player_exporter_close(exporter) }
        for _ in 0..<2 {
            var player: OpaquePointer?, frame: OpaquePointer?
            let exporters = unsafe [exporter]
            let result = unsafe exporters.withUnsafeBufferPointer { exporters in
                var options = unsafe player_options()
                unsafe options.size = UInt32(MemoryLayout<player_options>.size)
                unsafe options.is_silent = 1
                unsafe options.exporters = exporters.baseAddress
                unsafe options.exporter_count = 1
                return unsafe player_open(TestAssets.path("plain.mp4"), &options, &player, nil, 0)
            }
            #expect(result == PLAYER_OK)
            #expect(unsafe player_exporter_wait(exporter, 30_000_000_000, &frame) == PLAYER_OK)
            unsafe player_frame_release(frame)
            unsafe player_close(player)
            #expect(unsafe player_exporter_wait(exporter, 0, &frame) == PLAYER_END)
        }
    }
}
