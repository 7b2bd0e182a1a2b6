internal import ArgumentParser
internal import PixelConversion

/// How the display changes the film's brightness and colours.
struct ColorArguments: ParsableArguments {
    @Option(parsing: .unconditional, help: "Show the film darker or brighter: -100 to 100. Costs a copy of each frame, as the next four do.")
    var brightness = 0

    @Option(parsing: .unconditional, help: "Show the film with less contrast or more: -100 to 100.")
    var contrast = 0

    @Option(parsing: .unconditional, help: "Show the film with paler colours (-100 is gray) or stronger ones (100).")
    var saturation = 0

    @Option(parsing: .unconditional, help: "Turn the film's colours around gray: -100 to 100 for -180 to 180 degrees.")
    var hue = 0

    @Option(parsing: .unconditional, help: "Show dark parts of the film darker or brighter: -100 to 100.")
    var gamma = 0

    private var numbers: [(control: ColorBalance.Control, number: Int)] {
        [(.brightness, brightness), (.contrast, contrast), (.saturation, saturation), (.hue, hue), (.gamma, gamma)]
    }

    mutating func validate() throws {
        for (control, number) in numbers where !ColorBalance.range.contains(number) {
            throw ValidationError("--\(control.rawValue) must lie between -100 and 100.")
        }
    }

    /// All of it together.
    var balance: ColorBalance {
        var balance = ColorBalance()
        for (control, number) in numbers { balance[control] = number }
        return balance
    }
}
