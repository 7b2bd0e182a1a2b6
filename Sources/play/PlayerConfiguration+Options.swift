internal import Decoding
internal import Media
internal import PlaySupport
internal import Player
internal import Sandbox

extension PlayerConfiguration {
    /// What the options of the command line say about playing.
    init(_ options: PlayOptions) {
        self.init()
        startedAt = ProcessStart.time()
        start = options.start?.point
        end = options.end?.point
        switch options.duration?.length {
        case .time(let time): playDuration = time
        case .share(let share): playShare = share
        case nil: break
        }
        rate = options.speed
        loopCount = options.repetition.loopCount
        startsPaused = options.pause
        pausesWithoutDisplay = options.onUnplug == .pause
        reconnectsCamera = options.reconnect
        waitsForSource = options.onStall == .wait
        tracks.video = options.noVideo ? .none : options.vid.choice
        tracks.audio = options.aid.choice
        tracks.audioLanguages = options.alang?.codes ?? []
        tracks.subtitles = options.noSub ? .none : options.sid.choice
        tracks.subtitleLanguages = options.slang?.codes ?? []
        subtitles.files = options.subFile
        subtitles.findsFiles = options.subAuto == .exact
        subtitles.delay = MediaTime(value: Int64((options.subDelay * 1000).rounded()), timescale: 1000)
        subtitles.scale = options.subScale
        subtitles.position = options.subPos
        // Its clients may ask for their text.
        subtitles.isTakenByProgram = options.inputIpcServer != nil
        audioFiles = options.audioFile
        findsAudioFiles = options.audioFileAuto == .exact
        playsAudio = !options.noAudio
        audioDevice = options.audioDevice
        audioDelay = MediaTime(value: Int64((options.audioDelay * 1000).rounded()), timescale: 1000)
        volume = VolumeScale.factor(of: Double(options.volume) / 100)
        replayGain = options.loudness.options
        threads = options.threads
        deinterlacing = options.deinterlacing
        sandbox.policy = SandboxPolicy(rawValue: options.sandbox.rawValue) ?? .off
        sandbox.restarts.count = options.decoderRestarts
        decoder = DecoderSpecification(hardware: options.decoder.hardware, device: options.device)
        network = options.network.options
        latency = options.network.latency.latency
        rawCodec = options.raw.map { VideoCodec(name: $0.rawValue) }
    }
}
