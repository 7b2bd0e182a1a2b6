internal import CDRM
internal import DisplaySink
internal import Glibc
internal import Media

/// Finds the display device and the connectors that the viewer asks for.
enum ConnectorSearch {
    private static let folder = "/dev/dri"

    struct Found {
        var device: KMSDevice
        /// In the order of the requests.
        var connectors: [KMSConnector]
    }

    /// - Parameter requests: Each as `find(_:)` takes it; all of one device. None: the first monitor.
    static func find(_ requests: [String]) throws(SinkError) -> Found {
        var found = try find(requests.first)
        for request in requests.dropFirst() {
            let card = card(found.device.path)
            let connectors = found.device.connectors(probing: true)
            let isFree = { (connector: KMSConnector) in !found.connectors.contains { $0.object.id == connector.object.id } }
            let connector =
                if request.hasPrefix("/") {
                    request == found.device.path ? connectors.first { $0.isConnected && isFree($0) } : nil
                } else {
                    connectors.first { matches($0, request, card: card) }
                }
            guard let connector else {
                throw SinkError(
                    .noDisplay,
                    "\(found.device.path), which \(found.connectors[0].name) belongs to, has no other monitor \(request); "
                        + "all monitors must belong to one device."
                )
            }
            guard isFree(connector) else { throw SinkError(.noDisplay, "The connector \(connector.name) is given twice.") }
            guard connector.isConnected else { throw SinkError(.noDisplay, "No monitor is connected to \(connector.name) of \(found.device.path).") }
            found.connectors.append(connector)
        }
        return found
    }

    private static func card(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    /// - Parameter request: A connector (`HDMI-A-1`), a connector of one card (`card1-HDMI-A-1`), a monitor's name from its EDID, or a device
    ///   (`/dev/dri/card1`: its first connected monitor). Nil: the first connected monitor of the first device that has one.
    private static func find(_ request: String?) throws(SinkError) -> Found {
        let paths = if let request, request.hasPrefix("/") { [request] } else { cards() }
        let name = if let request, !request.hasPrefix("/") { request } else { String?.none }
        guard !paths.isEmpty else { throw SinkError(.noDisplay, "There is no display device: \(folder) has no card.") }
        let seat = FoundSeat()
        var refusals: [SinkError] = [], seen: [String] = []
        for path in paths {
            let device: KMSDevice
            do throws(SinkError) { device = try open(path, seat) } catch {
                refusals.append(error)
                continue
            }
            // Only the DRM master may probe a connector.
            let isMaster = device.becomeMaster()
            let inUse = SinkError(
                .noDisplay, "\(path) is in use by another program, such as a desktop. Only one program can control a monitor.")
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
        // A device that is in use explains more than a device without a monitor.
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

    /// The seat, if a seat manager grants one; otherwise devices are opened directly.
    private struct FoundSeat {
        var seat: Seat?
        /// Why the manager granted none.
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
                    "; members of the group video may open it, others need a seat manager (seatd, logind)"
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
