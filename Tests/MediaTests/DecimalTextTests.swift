import Media
import Testing

@Suite struct DecimalTextTests {
    @Test(arguments: [(0.0, 1, "0.0"), (-0.04, 1, "0.0"), (-1.25, 1, "-1.3"), (12.3456, 3, "12.346"), (7, 0, "7"), (0.001, 2, "0.00")])
    func `numbers are rounded`(_ value: Double, _ digits: Int, _ text: String) { #expect(value.decimal(digits) == text) }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300]) func `what has no such text is nil`(_ value: Double) {
        #expect(value.decimal(1) == nil)
    }
}
