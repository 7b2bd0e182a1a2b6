import Foundation
import TestSupport
import Testing

/// What ArgumentParser itself checks only in a program that is built to debug, which the one that is tested mostly is not.
@Suite struct CommandTests {
    private struct Name: Decodable, Hashable {
        var kind: String
        var name: String
    }
    private struct Argument: Decodable {
        var kind: String
        var names: [Name]?
        var isRepeating: Bool
    }
    private struct Command: Decodable {
        var commandName: String
        var arguments: [Argument]?
        var subcommands: [Command]?

        var all: [Command] { [self] + (subcommands ?? []).flatMap(\.all) }
    }
    private struct Description: Decodable { var command: Command }

    @Test func `no two options of a command have the same name, and nothing follows what takes all words`() throws {
        let text = try PlayProgram.run(["--experimental-dump-help"]).output
        let commands = try JSONDecoder().decode(Description.self, from: Data(text.utf8)).command.all
        #expect(commands.count > 6)
        for command in commands {
            let names = (command.arguments ?? []).flatMap { $0.names ?? [] }
            let twice = Dictionary(grouping: names, by: \.self).filter { $0.value.count > 1 }
            #expect(twice.isEmpty, "\(command.commandName): \(twice.keys.map(\.name))")
            let places = (command.arguments ?? []).filter { $0.kind == "positional" }
            #expect(places.dropLast().allSatisfy { !$0.isRepeating }, "\(command.commandName)")
        }
    }
}
