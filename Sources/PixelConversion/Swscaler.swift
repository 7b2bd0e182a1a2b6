internal import CSwscale
package import Media

/// A libswscale context that is kept from one frame to the next.
///
/// Thread-safety: one thread at a time. The corresponding C type is `SwsContext`.
@safe
package final class Swscaler {
    private var context: UnsafeMutableRawPointer?

    package init() { unsafe context = nil }

    deinit { unsafe csws_free(context) }

    static func canRead(_ number: Int32) -> Bool { csws_can_read(number) != 0 }
    static func canWrite(_ number: Int32) -> Bool { csws_can_write(number) != 0 }

    /// Changes the pixel format only, as exactly as libswscale can; formats are libavutil's numbers. False when libswscale cannot do it.
    package func convertFormat(size: PixelSize, from number: Int32, _ source: ImagePlanes, to target: Int32, _ planes: ImagePlanes) -> Bool {
        unsafe context = csws_exact(context, Int32(size.width), Int32(size.height), number, target)
        return scale(source, rows: size.height, to: planes) == Int32(size.height)
    }

    /// False when libswscale cannot do it.
    func convertForDisplay(_ plan: ConversionPlan, _ source: ImagePlanes, _ target: ImagePlanes) -> Bool {
        let from = plan.source, to = plan.target, table = PixelFormatTable.shared
        unsafe context = csws_display(
            context, Int32(from.size.width), Int32(from.size.height), table.number(of: from.format), Int32(to.size.width), Int32(to.size.height),
            table.number(of: to.format), Self.matrix(from.color.matrix), from.color.range == .full ? 1 : 0)
        return scale(source, rows: from.size.height, to: target) == Int32(to.size.height)
    }

    private func scale(_ source: ImagePlanes, rows: Int, to target: ImagePlanes) -> Int32 {
        guard let context = unsafe context else { return 0 }
        return unsafe source.withCPlanes { sources, sourcePitches in
            unsafe target.withCPlanes { targets, targetPitches in
                unsafe csws_scale(context, sources, sourcePitches, Int32(rows), targets, targetPitches)
            }
        }
    }

    /// Copies rows of one format (libavutil's number) from one place to another; pitches may be negative.
    package static func copy(_ number: Int32, size: PixelSize, from source: ImagePlanes, to target: ImagePlanes) {
        unsafe source.withCPlanes { sources, sourcePitches in
            unsafe target.withCPlanes { targets, targetPitches in
                unsafe csws_copy(number, Int32(size.width), Int32(size.height), sources, sourcePitches, targets, targetPitches)
            }
        }
    }

    /// libswscale numbers matrices as H.273 does, with gaps.
    private static func matrix(_ matrix: UInt8) -> Int32 {
        switch matrix {
        case 1, 4, 5, 7, 9: Int32(matrix)
        case 10: 9
        default: 5
        }
    }
}

extension ImagePlanes {
    /// The planes as libavutil's functions take them: four addresses and four pitches.
    fileprivate func withCPlanes<R>(_ body: (UnsafePointer<UnsafeMutablePointer<UInt8>?>, UnsafePointer<Int32>) -> R) -> R {
        unsafe withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<UInt8>?.self, capacity: 4) { addresses in
            unsafe withUnsafeTemporaryAllocation(of: Int32.self, capacity: 4) { numbers in
                for index in 0..<4 {
                    let exists = unsafe index < min(planes.count, pitches.count)
                    unsafe addresses[index] = exists ? planes[index].assumingMemoryBound(to: UInt8.self) : nil
                    unsafe numbers[index] = exists ? Int32(pitches[index]) : 0
                }
                return unsafe body(UnsafePointer(addresses.baseAddress!), UnsafePointer(numbers.baseAddress!))
            }
        }
    }
}
