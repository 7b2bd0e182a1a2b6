internal import ArgumentParser
internal import Player

/// A track as people name it: `2`, `auto`, `no`.
struct TrackArgument: ExpressibleByArgument {
    let choice: TrackPreferences.Choice

    init(choice: TrackPreferences.Choice) { self.choice = choice }

    init?(argument: String) {
        switch argument {
        case "auto": choice = .automatic
        case "no": choice = .none
        default:
            guard let number = Int(argument), number > 0 else { return nil }
            choice = .number(number)
        }
    }

    var defaultValueDescription: String { "auto" }
}

/// Languages as people list them: `en,de`.
struct LanguagesArgument: ExpressibleByArgument {
    let codes: [String]

    init?(argument: String) {
        codes = argument.split(separator: ",").map { $0.filter { !$0.isWhitespace } }
        guard !codes.isEmpty, codes.allSatisfy({ !$0.isEmpty }) else { return nil }
    }
}
