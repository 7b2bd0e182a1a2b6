public import Composition
internal import Demuxing
internal import Dispatch
internal import Media
internal import Reading

// Films made of films.

extension Player {
    /// Plays a composition: its frames as the compositor draws them, its sound as `audioMix` says; otherwise as the other `open`.
    ///
    /// Its films are opened when their frames are wanted. Where an instruction passes a track through, the surface that the decoder wrote goes to the
    /// display. A frame that is not drawn within a second, or within four the first one and that after a seek, is left out, and so are frames whose
    /// time is over before they are drawn; a sink that is not timed waits for every frame instead, and a frame that cannot be drawn ends the film.
    /// What a compositor does wrong is said by the event `notice`, once for each kind, and counted by `PlaybackStatistics.composition`. A seek
    /// cancels the requests that are open.
    ///
    /// - Parameters:
    ///   - compositor: nil takes a `LayerCompositor`, for 8 bits. It is called on threads of the player's.
    ///   - name: what the player's sentences call it.
    /// - Throws: `unsupportedFormat` when a rule of `VideoComposition.isValid` or `AudioMix.isValid` is broken.
    public func open(
        _ composition: Composition, videoComposition: VideoComposition, audioMix: AudioMix = AudioMix(), compositor: (any VideoCompositing)? = nil,
        name: String = "composition"
    ) async throws(PlayerError) {
        try await open(.composition(ComposedFilm(composition, videoComposition, audioMix, compositor: compositor, name: name)))
    }

    /// Draws the composition that plays in another way. A paused film shows the frame of its time anew at once; one that plays changes with the next
    /// frame that is drawn. Any thread.
    ///
    /// - Throws: `notOpen` when no composition is open, `unsupportedFormat` when a rule of `VideoComposition.isValid` is broken.
    public func setVideoComposition(_ videoComposition: VideoComposition) throws(PlayerError) {
        guard let source = storage.withLock({ $0.pipeline })?.source.composed else { throw PlayerError(.notOpen, "No composition is open.") }
        do throws(ReadingError) { try source.replace(videoComposition) } catch { throw PlayerError(AssetError(error)) }
        guard !isPlaying else { return }
        _ = issueSeek { [self] in
            // It may have been told to play meanwhile.
            let time = storage.withLock { $0.seekTarget } ?? position
            return storage.withLock { $0.transport.seek(to: time) }
        }
    }
}
