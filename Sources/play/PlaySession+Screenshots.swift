internal import Media
internal import PlaySupport
internal import Player
internal import RemoteControl

extension PlaySession {
    /// Writes what the player shows as a file, on a thread of its own; the viewer is told which, or why not.
    ///
    /// - Parameters:
    ///   - path: Of the file; nil: as the options name screenshots.
    ///   - ticket: Whom to tell when it is written.
    func takeScreenshot(of player: Player, _ location: String, hasSubtitles: Bool, as path: String? = nil, for ticket: RemoteTicket? = nil) {
        guard let name = ScreenshotName(template: options.screenshotTemplate) else { return }
        guard options.camera.camera == nil else {
            return inbox.change { messages in
                messages.append(.told("A camera cannot be read a second time for a screenshot."))
                if let ticket { messages.append(.done(ticket, false)) }
            }
        }
        var shot = Screenshot(
            location: location, time: player.position, hasSubtitles: hasSubtitles, folder: options.screenshotDir, name: name,
            sandbox: PlayerConfiguration(options).sandbox)
        shot.path = path
        // One after the other, so that each finds the numbers of those before.
        _ = LoopThread(name: "screenshot") { [inbox, screenshots, shot] in
            let (text, isDone) = screenshots.withLock { _ -> (String, Bool) in
                do throws(PlayerError) { return ("Screenshot: '\(try shot.write(player))'", true) } catch { return (error.description, false) }
            }
            inbox.change { messages in
                messages.append(.told(text))
                if let ticket { messages.append(.done(ticket, isDone)) }
            }
        }
    }
}
