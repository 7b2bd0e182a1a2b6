internal import CDRM
internal import DisplaySink
internal import Glibc
internal import Media

/// Finds the display device and the sockets that the viewer means.
enum KMSSearch {
    private static let folder = "/dev/dri"

    struct Found {
        var device: KMSDevice
        /// In the order of the wishes.
        var connectors: [KMSConnector]
    }

    /// - Parameter wishes: Each as `find(_:)` takes it; all of one device. None: the first monitor.
    static func find(_ wishes: [String]) throws(SinkError) -> Found {
        var found = try find(wishes.first)
        for wish in wishes.dropFirst() {
            let card = card(found.device.path)
            let connectors = found.device.connectors(probing: true)
            let isFree = { (connector: KMSConnector) in !found.connectors.contains { $0.object.id == connector.object.id } }
            let connector =
                if wish.hasPrefix("/") {
                    wish == found.device.path ? connectors.first { $0.isConnected && isFree($0) } : nil
                } else {
                    connectors.first { matches($0, wish, card: card) }
                }
            guard let connector else {
                throw SinkError(
                    .noDisplay,
                    "\(found.device.path), which \(found.connectors[0].name) belongs to, has no other monitor \(wish); several must be of one device."
                )
            }
            guard isFree(connector) else { throw SinkError(.noDisplay, "The connector \(connector.name) is named twice.") }
            guard connector.isConnected else { throw SinkError(.noDisplay, "No monitor is connected to \(connector.name) of \(found.device.path).") }
            found.connectors.append(connector)
        }
        return found
    }

    private static func card(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    /// - Parameter wish: A socket (`HDMI-A-1`), a socket of a certain card (`card1-HDMI-A-1`), a monitor's own name, a device
    ///   (`/dev/dri/card1`: its first monitor), nil: the first monitor of the first device that has one.
    private static func find(_ wish: String?) throws(SinkError) -> Found {
        let paths = if let wish, wish.hasPrefix("/") { [wish] } else { cards() }
        let name = if let wish, !wish.hasPrefix("/") { wish } else { String?.none }
        guard !paths.isEmpty else { throw SinkError(.noDisplay, "There is no display device: \(folder) has no card.") }
        let seat = FoundSeat()
        var refusals: [SinkError] = [], seen: [String] = []
        for path in paths {
            let device: KMSDevice
            do throws(SinkError) { device = try open(path, seat) } catch {
                refusals.append(error)
                continue
            }
            // Only the master may ask a monitor for its modes.
            let isMaster = device.becomeMaster()
            let inUse = SinkError(
                .noDisplay, "\(path) is in use by another program, such as a desktop: it alone may set what the monitor shows.")
            let card = card(path)
            let connectors = device.connectors(probing: isMaster)
            seen += connectors.map { "\($0.description)\($0.isConnected ? "" : ", nothing connected")" }
            guard let name else {
                guard isMaster else {
                    refusals.append(inUse)
                    continue
                }
                guard let connector = connectors.first(where: \.isConnected) else { continue }
                return Found(device: device, connectors: [connector])
            }
            if let connector = connectors.first(where: { matches($0, name, card: card) }) {
                guard isMaster else { throw inUse }
                guard connector.isConnected else { throw SinkError(.noDisplay, "No monitor is connected to \(connector.name) of \(path).") }
                return Found(device: device, connectors: [connector])
            }
        }
        // A device that cannot be had now says more than one that shows nothing at all.
        if let refusal = refusals.first(where: { $0.code == .noDisplay }) ?? refusals.first, seen.isEmpty || name == nil { throw refusal }
        if let name {
            throw SinkError(
                .noDisplay,
                seen.isEmpty ? "There is no connector \(name)." : "There is no connector \(name); there are: \(seen.joined(separator: "; ")).")
        }
        throw SinkError(.noDisplay, "No monitor is connected to \(paths.joined(separator: " or ")).")
    }

    /// The card devices, in the order of their numbers.
    static func cards() -> [String] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var numbers: [Int] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name.hasPrefix("card"), let number = Int(name.dropFirst(4)) { numbers.append(number) }
        }
        return numbers.sorted().map { "\(folder)/card\($0)" }
    }

    /// The seat, where a manager gives one; else the devices are opened straight.
    private struct FoundSeat {
        var seat: Seat?
        /// What the manager said instead.
        var refusal: String?

        init() { do throws(SinkError) { seat = try Seat.open() } catch { refusal = error.description } }
    }

    private static func open(_ path: String, _ found: FoundSeat) throws(SinkError) -> KMSDevice {
        let file: DeviceFile
        do throws(SystemError) { file = try DeviceFile(path, of: found.seat) } catch {
            let help =
                if error.code != EACCES {
                    ""
                } else if let refusal = found.refusal {
                    "; \(refusal)"
                } else {
                    "; members of the group video may, and others by a seat manager (seatd, logind)"
                }
            throw SinkError(.noDisplay, "\(path) cannot be opened: \(unsafe String(cString: strerror(error.code)))\(help).")
        }
        return try KMSDevice(file, path: path)
    }

    private static func matches(_ connector: KMSConnector, _ name: String, card: String) -> Bool {
        let name = name.lowercased()
        return [connector.name, "\(card)-\(connector.name)", connector.monitor ?? connector.name].contains { $0.lowercased() == name }
    }
}
