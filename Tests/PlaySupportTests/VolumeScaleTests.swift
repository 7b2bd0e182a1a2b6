import Testing

@testable import PlaySupport

@Suite struct VolumeScaleTests {
    @Test(arguments: ["0 0", "0.5 0.125", "1 1", "1.3 2.197"])
    func `volumes are the third root of what samples are multiplied by`(row: String) {
        let numbers = row.split(separator: " ").map { Double($0)! }
        #expect(abs(VolumeScale.factor(of: numbers[0]) - numbers[1]) < 1e-12)
        #expect(VolumeScale.volume(of: VolumeScale.factor(of: numbers[0])) == numbers[0])
    }

    @Test func `every percentage comes back as it was`() {
        for percent in 0...1000 {
            let volume = Double(percent) / 100
            #expect(VolumeScale.volume(of: VolumeScale.factor(of: volume)) == volume)
        }
    }
}
