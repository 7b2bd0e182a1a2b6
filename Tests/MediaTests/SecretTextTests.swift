import Media
import Testing

@Suite struct SecretTextTests {
    @Test(arguments: [
        ("rtsp://viewer:open%20sesame@camera/live", "rtsp://viewer:***@camera/live"),
        ("rtsp://viewer:se:s@me@camera:554/live", "rtsp://viewer:***@camera:554/live"),
        ("http://u:p@h", "http://u:***@h"),
        ("https://u@h/a:b@c", "https://u@h/a:b@c"),
        ("http://[::1]:80/a@b", "http://[::1]:80/a@b"),
        ("HTTP://u:p@h?q=a@b", "HTTP://u:***@h?q=a@b"),
        ("play: rtsp://u:p@h: it wants another name and password (401).", "play: rtsp://u:***@h: it wants another name and password (401)."),
        ("a http://u:p@h/ and http://x:y@z/.", "a http://u:***@h/ and http://x:***@z/."),
        ("srt://h:9000?passphrase=0123456789&mode=caller", "srt://h:9000?passphrase=***&mode=caller"),
        ("srt://h:9000?mode=caller&passphrase=0123456789: nothing comes.", "srt://h:9000?mode=caller&passphrase=***: nothing comes."),
        ("http://h/page?nopassword=1", "http://h/page?nopassword=1"),
        ("a file called u:p@h", "a file called u:p@h"), ("", ""), ("://", "://"), ("x://@", "x://@"), ("x://:@", "x://:***@"),
    ]) func `passwords of addresses are not shown`(text: String, shown: String) {
        #expect(text.withoutPasswords == shown)
        #expect(text.printable == shown)
        #expect(shown.withoutPasswords == shown)
    }

    @Test func `what makes text printable hides them, also where it is cut`() {
        #expect("http://u:secret@h/\u{1b}".printable == "http://u:***@h/\u{fffd}")
        #expect("http://u:secret@h/".printable(byteLimit: 14) == "http://u:***@h")
    }
}
