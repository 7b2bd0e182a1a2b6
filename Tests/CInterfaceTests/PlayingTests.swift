import CScanout
import Foundation
import TestSupport
import Testing

/// Commands, events and failures through the C interface, in this process.
@Suite struct PlayingTests {
    private func isReadable(_ fd: Int32) -> Bool {
        var poll = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
        return unsafe Glibc.poll(&poll, 1, 0) == 1
    }

    @Test func `a film reports what was chosen, and its end`() throws {
        let film = try Film(TestAssets.path("plain.mp4"))
        while film.next() != nil {}
        var kinds: [UInt32] = [], texts: [String] = []
        while kinds.last != SCANOUT_EVENT_ENDED.rawValue, let event = film.event(timeout: 60_000_000_000) {
            kinds.append(event.kind)
            texts.append(event.sentence)
        }
        #expect(kinds.last == SCANOUT_EVENT_ENDED.rawValue && kinds.contains(SCANOUT_EVENT_DETAIL.rawValue))
        #expect(texts.contains { $0.contains("h264") })
        #expect(film.events(until: SCANOUT_EVENT_STATE).last?.state == SCANOUT_STATE_ENDED.rawValue)
        let descriptor = unsafe scanout_event_fd(film.player)
        #expect(film.event(timeout: 0) == nil && !isReadable(descriptor))
        // It goes on: a seek brings another end.
        #expect(unsafe scanout_seek(film.player, 0) == 1)
        #expect(film.next()?.info.serial == 1)
        while film.next() != nil {}
        let sought = film.events(until: SCANOUT_EVENT_SOUGHT).last
        #expect(sought?.kind == SCANOUT_EVENT_SOUGHT.rawValue && sought?.serial == 1 && sought?.result == 0)
        #expect(film.events(until: SCANOUT_EVENT_ENDED).last?.kind == SCANOUT_EVENT_ENDED.rawValue)
    }

    @Test func `the descriptor is readable while there are events`() throws {
        let film = try Film(TestAssets.path("plain.mp4"), startsPaused: true)
        let descriptor = unsafe scanout_event_fd(film.player)
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        #expect(unsafe Glibc.poll(&poll, 1, 30_000) == 1)
        while isReadable(descriptor) { #expect(film.event(timeout: 0) != nil) }
    }

    @Test(arguments: [
        ("/nonexistent/film.mp4", SCANOUT_ERROR_OPEN, "/nonexistent/film.mp4"), (TestAssets.root + "/README.md", SCANOUT_ERROR_DATA, "README.md"),
        (TestAssets.root, SCANOUT_ERROR_OPEN, TestAssets.root),
    ])
    func `what cannot be played is refused with a sentence`(_ path: String, _ result: scanout_result, _ word: String) throws {
        let refusal = #expect(throws: Film.Refusal.self) { try Film(path) }
        #expect(refusal?.result == result)
        #expect(refusal?.message.contains(word) == true)
    }

    @Test func `a message is cut to its buffer, with its zero`() {
        var message = [CChar](repeating: 1, count: 12), player: OpaquePointer?
        #expect(unsafe scanout_open("/nonexistent", nil, &player, &message, 10) == SCANOUT_ERROR_OPEN)
        #expect(message[9] == 0 && message[10] == 1 && message.prefix(9).allSatisfy { $0 > 1 })
        #expect(unsafe player == nil)
        #expect(unsafe scanout_open("/nonexistent", nil, &player, nil, 0) == SCANOUT_ERROR_OPEN)
    }

    @Test func `nothing in the place of a handle is answered, not followed`() {
        let none: OpaquePointer? = nil
        #expect(unsafe scanout_play(none) == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe scanout_seek(none, 0) == Int64(SCANOUT_ERROR_ARGUMENT.rawValue))
        #expect(unsafe scanout_position(none) == 0 && scanout_duration(none) == .min && scanout_is_playing(none) == 0)
        #expect(unsafe scanout_program_date(none, 0) == .min)
        #expect(unsafe scanout_event_fd(none) == -1)
        #expect(unsafe scanout_state(none) == SCANOUT_STATE_IDLE.rawValue && scanout_cancel_open(none) == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe scanout_get_statistics(none, nil) == SCANOUT_ERROR_ARGUMENT)
        let opened: UnsafeMutablePointer<OpaquePointer?>? = nil
        #expect(unsafe scanout_open(nil, nil, opened, nil, 0) == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe scanout_open("film.mp4", nil, opened, nil, 0) == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe scanout_exporter_new(nil, opened) == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe scanout_exporter_wait(none, 0, nil) == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe scanout_frame_describe(none, nil) == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe scanout_frame_acquire_fence(none) == -1)
        var textures = scanout_texture_info(), counts = scanout_texture_statistics()
        #expect(unsafe scanout_egl_cache_get(none, none, &textures, nil, 0) == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe scanout_egl_cache_get_statistics(none, &counts) == SCANOUT_ERROR_ARGUMENT)
        unsafe scanout_egl_cache_release(none, none)
        #expect(unsafe scanout_vulkan_cache_record_acquire(none, none, nil, 0) == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe scanout_vulkan_cache_acquire_semaphore(none, none) == 0 && scanout_vulkan_cache_release_semaphore(none) == 0)
        unsafe scanout_vulkan_cache_release(none, none, 0, 0)
        unsafe scanout_vulkan_cache_close(none)
        unsafe scanout_egl_cache_close(none)
        unsafe scanout_close(none)
        unsafe scanout_exporter_close(none)
        unsafe scanout_frame_release(none)
    }

    @Test func `without a current context there are no textures`() {
        var message = [CChar](repeating: 0, count: 200), cache: OpaquePointer?
        #expect(unsafe scanout_egl_cache_new(nil, &cache, &message, message.count) == SCANOUT_ERROR_DEVICE)
        #expect(unsafe cache == nil)
        #expect(message[0] != 0)
        // A device of nothing but zeros is no device.
        var device = unsafe scanout_vulkan_device()
        unsafe device.size = UInt32(MemoryLayout<scanout_vulkan_device>.size)
        #expect(unsafe scanout_vulkan_cache_new(&device, nil, &cache, nil, 0) == SCANOUT_ERROR_ARGUMENT)
    }

    @Test func `values that make no sense are refused`() throws {
        let film = try Film(TestAssets.path("plain.mp4"), startsPaused: true)
        for rate in [0, -1, .nan, .infinity] { #expect(unsafe scanout_set_rate(film.player, rate) == SCANOUT_ERROR_ARGUMENT) }
        for volume in [-0.1, 1.1, .nan] { #expect(unsafe scanout_set_volume(film.player, volume) == SCANOUT_ERROR_ARGUMENT) }
        #expect(unsafe scanout_seek(film.player, .min) == Int64(SCANOUT_ERROR_ARGUMENT.rawValue))
        #expect(unsafe scanout_set_rate(film.player, 2) == SCANOUT_OK)
        #expect(unsafe scanout_set_volume(film.player, 0.5) == SCANOUT_OK)
        #expect(unsafe scanout_duration(film.player) > 0)
        var options = unsafe scanout_exporter_options(), exporter: OpaquePointer?
        unsafe options.size = UInt32(MemoryLayout<scanout_exporter_options>.size)
        unsafe options.policy = 7
        #expect(unsafe scanout_exporter_new(&options, &exporter) == SCANOUT_ERROR_ARGUMENT)
        unsafe options.policy = 0
        unsafe options.budget = 100_000
        #expect(unsafe scanout_exporter_new(&options, &exporter) == SCANOUT_ERROR_ARGUMENT)
    }

    @Test func `an exporter serves one film after the other`() throws {
        var exporter: OpaquePointer?
        try #require(unsafe scanout_exporter_new(nil, &exporter) == SCANOUT_OK)
        defer { unsafe scanout_exporter_close(exporter) }
        for _ in 0..<2 {
            var player: OpaquePointer?, frame: OpaquePointer?
            let exporters = unsafe [exporter]
            let result = unsafe exporters.withUnsafeBufferPointer { exporters in
                var options = unsafe scanout_options()
                unsafe options.size = UInt32(MemoryLayout<scanout_options>.size)
                unsafe options.is_silent = 1
                unsafe options.exporters = exporters.baseAddress
                unsafe options.exporter_count = 1
                return unsafe scanout_open(TestAssets.path("plain.mp4"), &options, &player, nil, 0)
            }
            #expect(result == SCANOUT_OK)
            #expect(unsafe scanout_exporter_wait(exporter, 60_000_000_000, &frame) == SCANOUT_OK)
            unsafe scanout_frame_release(frame)
            unsafe scanout_close(player)
            #expect(unsafe scanout_exporter_wait(exporter, 0, &frame) == SCANOUT_END)
        }
    }
}
