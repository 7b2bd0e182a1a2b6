/// How values are written in a DASH manifest. Pure functions.
enum ManifestText {
    /// Microseconds of an `xs:duration` of days, hours, minutes and seconds (`PT1H2M3.4S`), at most 100 years; nil for others.
    static func microseconds(_ text: String) -> Int64? {
        guard text.hasPrefix("P") else { return nil }
        var isTime = false, digits = "", seconds = 0.0, hasAny = false
        for character in text.dropFirst() {
            if character == "T" {
                guard !isTime, digits.isEmpty else { return nil }
                isTime = true
            } else if character.isASCII, character.isNumber || character == "." {
                digits.append(character)
            } else {
                let units: [Character: Double] = isTime ? ["H": 3600, "M": 60, "S": 1] : ["D": 86_400]
                guard let unit = units[character], let value = Double(digits) else { return nil }
                seconds += value * unit
                (digits, hasAny) = ("", true)
            }
        }
        guard digits.isEmpty, hasAny, seconds < 3.2e9 else { return nil }
        return Int64((seconds * 1e6).rounded())
    }

    /// A rate such as `25` or `30000/1001`.
    static func rate(_ text: String) -> Double? {
        let numbers = text.split(separator: "/").map { Double($0) ?? 0 }
        guard let first = numbers.first, numbers.count <= 2 else { return nil }
        let rate = first / (numbers.count == 2 ? numbers[1] : 1)
        return rate.isFinite && rate > 0 ? rate : nil
    }

    /// A whole number from 0 to `limit`.
    static func number(_ text: String, upTo limit: Int64 = ManifestElement.largest) -> Int64? {
        Int64(text).flatMap { (0...limit).contains($0) ? $0 : nil }
    }

    /// The bytes of `FIRST-LAST`.
    static func range(_ text: String) -> Range<Int64>? {
        let numbers = text.split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) ?? -1 }
        guard numbers.count == 2, numbers[0] >= 0, numbers[1] >= numbers[0], numbers[1] < ManifestElement.largest else { return nil }
        return numbers[0]..<numbers[1] + 1
    }

    /// 2048 bytes: many servers refuse longer addresses. A manifest may name 86,400 parts of each representation.
    private static let longestAddress = 2048

    /// What a name means at `base`; nil where that is on no web server, or too long.
    static func address(_ name: String, from base: String) -> String? {
        guard name.utf8.count <= longestAddress, let address = AssetBytes.webAddress(name, from: base) else { return nil }
        return address.utf8.count <= longestAddress ? address : nil
    }

    /// A template's name with its values put in (ISO/IEC 23009-1, 5.3.9.4.4); nil where it wants one that is not there, or becomes too long.
    static func filled(_ template: String, _ values: [Substring: String]) -> String? {
        guard template.utf8.count <= longestAddress else { return nil }
        var result = "", rest = template[...]
        while let mark = rest.firstIndex(of: "$") {
            result += rest[..<mark]
            rest = rest[rest.index(after: mark)...]
            guard let end = rest.firstIndex(of: "$") else { return nil }
            let word = rest[..<end]
            rest = rest[rest.index(after: end)...]
            if word.isEmpty {
                result += "$"
                continue
            }
            let name = word.prefix { $0 != "%" }, form = word.dropFirst(name.count)
            guard let value = values[name], let width = width(form) else { return nil }
            result += String(repeating: "0", count: max(width - value.count, 0)) + value
            if result.utf8.count > longestAddress { return nil }
        }
        result += rest
        return result.utf8.count <= longestAddress ? result : nil
    }

    /// The digits of `%05d`; 0 without a form.
    private static func width(_ form: Substring) -> Int? {
        if form.isEmpty { return 0 }
        guard form.hasPrefix("%0"), form.hasSuffix("d"), let width = Int(form.dropFirst(2).dropLast()), (0...32).contains(width) else { return nil }
        return width
    }
}
