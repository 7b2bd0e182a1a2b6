internal import Media

/// What a session knows of its passes: which method they follow, what the last one has shown, what the next one is to do. A pure value, but for the
/// meter and the storage.
struct PassPlan {
    enum Method: Sendable {
        /// The encoder's own: the first pass only gathers statistics, the others are whole.
        case statistics
        /// Ranges that miss the target are encoded again.
        case search
    }

    let options: MultiPassOptions
    let method: Method
    let storage: MultiPassStorage?
    let meter: PassMeter?
    /// Bits a second that were asked for; nil with a quality.
    let rate: Int?
    /// The smallest step of the quality that the encoder sees.
    let qualityStep: Double
    let frameLength: MediaTime

    /// Of the pass that is under way or was the last, from 1.
    private(set) var number = 0
    private(set) var isOpen = false
    /// No further pass has been asked for.
    private(set) var isOver = false
    var record = PassRecord()
    /// What the encoder has handed out as text.
    var statistics = ""
    /// Bits a second that the encoder is asked for; it may differ from `rate` so that `rate` is met.
    private(set) var requestedRate: Double
    /// Of whole passes.
    private var trials: [RateSearch.Trial] = []
    private(set) var firstQuality: Double?
    private var search: RangeSearch?
    /// Of the pass, with their settings; empty for a whole pass.
    private(set) var parts: [(range: MediaTimeRange, setting: Double)] = []
    /// Of the part that is being encoded.
    var part: Int?

    /// Of a rate.
    private static let tolerance = 0.01
    /// Where a search begins when nobody says where: the usual quality of x264.
    private static let usualQuality = 0.55

    init(
        _ options: MultiPassOptions, _ method: Method, storage: MultiPassStorage?, _ properties: EncodingProperties, qualityStep: Double,
        frameLength: MediaTime
    ) {
        self.options = options
        self.method = method
        self.storage = storage
        self.qualityStep = qualityStep
        self.frameLength = frameLength
        switch options.target {
        case .rate:
            rate = properties.averageBitRate
            meter = nil
        case .quality(let target):
            rate = nil
            meter = PassMeter(target.measure)
            firstQuality = ((properties.quality ?? Self.usualQuality) / qualityStep).rounded() * qualityStep
        }
        requestedRate = Double(rate ?? 0)
    }

    /// The samples of the pass are not for the film.
    var gathersOnly: Bool { method == .statistics && number == 1 }

    mutating func begin() {
        number += 1
        isOpen = true
        record = PassRecord()
        statistics = ""
        part = nil
    }

    /// The part that a frame belongs to; nil for a frame outside all of them.
    func part(at time: MediaTime) -> Int? {
        if let part, parts[part].range.contains(time) { return part }
        return parts.map(\.range).index(of: time)
    }

    /// - Returns: The ranges of the next pass; empty when none would help.
    mutating func end() -> [MediaTimeRange] {
        isOpen = false
        if let meter { record.scores = meter.takeScores() }
        let ranges = method == .statistics ? nextWhole() : nextParts()
        isOver = ranges.isEmpty
        return ranges
    }

    private mutating func nextWhole() -> [MediaTimeRange] {
        if number == 1 { return [.all] }
        let seconds = record.duration(frameLength: frameLength), wanted = Double(rate ?? 0)
        guard number < options.maximumPassCount, seconds > 0, record.bits > 0 else { return [] }
        let made = record.bits / seconds
        guard abs(made - wanted) > Self.tolerance * wanted else { return [] }
        trials.append(RateSearch.Trial(requested: requestedRate, made: made))
        requestedRate = RateSearch.next(trials, wanted: wanted)
        return [.all]
    }

    private mutating func nextParts() -> [MediaTimeRange] {
        let made = search == nil ? record.ranges(frameLength: frameLength) : parts.map(\.range)
        let results: [Double?] =
            if case .quality(let target) = options.target { record.decibel(in: made, target.measure) } else { record.bits(in: made) }
        if search == nil {
            search = RangeSearch(
                zip(made, results).compactMap { range, result in
                    guard let result else { return nil }
                    return (range, RangeSearch.Trial(setting: firstQuality ?? result / max(range.duration.seconds, 0.001), result: result))
                })
        } else {
            search?.note { range in made.index(of: range.start).flatMap { results[$0] } }
        }
        parts = []
        guard number < options.maximumPassCount else { return [] }
        switch options.target {
        case .rate:
            let seconds = (search?.parts ?? []).reduce(0) { $0 + $1.range.duration.seconds }
            search?.decide(bits: Double(rate ?? 0) * seconds, tolerance: Self.tolerance)
        case .quality(let target):
            let low = target.decibel(target.value - target.tolerance), high = target.decibel(target.value + target.tolerance)
            search?.decide(quality: low...max(low, high), step: qualityStep)
        }
        parts = search?.next ?? []
        return parts.map(\.range)
    }
}
