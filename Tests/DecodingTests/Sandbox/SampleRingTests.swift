import TestSupport
import Testing

@testable import Decoding

/// The places of samples in the shared ring: apart, inside, and found again in whatever order they are given back.
@Suite struct SampleRingTests {
    @Test func `places follow each other and wrap in one piece`() {
        var ring = SampleRingState(capacity: 1024)
        #expect(ring.allocate(100, number: 1) == 0)
        #expect(ring.allocate(500, number: 2) == 128)
        #expect(ring.allocate(200, number: 3) == 640)
        // 128 bytes are left at the end.
        #expect(ring.allocate(129, number: 4) == nil)
        #expect(ring.free(1) == true)
        #expect(ring.allocate(129, number: 4) == nil)
        #expect(ring.free(2) == true)
        #expect(ring.allocate(129, number: 4) == 0)
        #expect(ring.allocate(500, number: 5) == nil)
    }

    @Test func `room comes free in the order in which it was taken`() {
        var ring = SampleRingState(capacity: 256)
        for number in 0..<4 { #expect(ring.allocate(64, number: UInt32(number)) == number * 64) }
        #expect(ring.free(2) == true)
        #expect(ring.free(1) == true)
        #expect(ring.allocate(64, number: 9) == nil)
        #expect(ring.free(0) == true)
        #expect(ring.allocate(192, number: 9) == 0)
    }

    @Test func `what does not lie in the ring cannot be given back`() {
        var ring = SampleRingState(capacity: 256)
        #expect(ring.free(0) == false)
        #expect(ring.allocate(10, number: 7) == 0)
        #expect(ring.free(8) == false)
        #expect(ring.free(7) == true)
        #expect(ring.free(7) == false)
        #expect(ring.isEmpty)
    }

    @Test(arguments: [1 as UInt64, 2, 3]) func `samples never overlap`(seed: UInt64) {
        var dice = Dice(seed: seed)
        let capacity = 4096
        var ring = SampleRingState(capacity: capacity)
        var held: [UInt32: Range<Int>] = [:]
        var refused = 0
        for number in 0..<UInt32(5000) {
            let size = Int.random(in: 0...1500, using: &dice)
            if let place = ring.allocate(size, number: number) {
                let range = place..<place + max(size, 1)
                #expect(place % 64 == 0 && range.upperBound <= capacity && held.values.allSatisfy { !$0.overlaps(range) })
                held[number] = range
            } else {
                refused += 1
            }
            while held.count > Int.random(in: 0...4, using: &dice), let victim = held.keys.sorted().randomElement(using: &dice) {
                held[victim] = nil
                #expect(ring.free(victim) == true)
            }
        }
        for number in held.keys { #expect(ring.free(number) == true) }
        #expect(ring.allocate(capacity, number: 0) != nil)
        #expect(refused > 0)
    }
}
