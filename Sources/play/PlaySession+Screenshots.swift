internal import Media
internal import PlaySupport
internal import Player

extension PlaySession {
    /// Writes what the player shows as a file, on a thread of its own; the viewer is told which, or why not.
    func takeScreenshot(of player: Player, _ location: String, hasSubtitles: Bool) {
        guard let name = ScreenshotName(template: options.screenshotTemplate) else { return }
        guard options.camera.camera == nil else {
            return inbox.change { $0.append(.told("A camera cannot be read a second time for a screenshot.")) }
        }
        let shot = Screenshot(
            location: location, time: player.position, hasSubtitles: hasSubtitles, folder: options.screenshotDir, name: name,
            sandbox: PlayerConfiguration(options).sandbox)
        // One after the other, so that each finds the numbers of those before.
        _ = LoopThread(name: "screenshot") { [inbox, screenshots] in
            let text = screenshots.withLock { _ -> String in
                do throws(PlayerError) { return "Screenshot: '\(try shot.write(player))'" } catch { return error.description }
            }
            inbox.change { $0.append(.told(text)) }
        }
    }
}
