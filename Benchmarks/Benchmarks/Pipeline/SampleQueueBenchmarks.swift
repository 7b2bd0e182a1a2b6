import Benchmark
import Media
import SampleQueue

func sampleQueueBenchmarks() {
    let format = MediaFormat.video(VideoFormat(codec: .h264, codedSize: PixelSize(width: 1280, height: 720)))
    let bytes = [UInt8](repeating: 0x5A, count: 12_000)
    let block = unsafe bytes.withUnsafeBytes { unsafe BlockBuffer(copying: $0) }
    let queue = SampleQueue()

    Benchmark("SampleQueue: a sample in and out") { benchmark in
        var time: Int64 = 0
        for _ in benchmark.scaledIterations {
            queue.enqueue(
                SampleBuffer(
                    content: .compressed(block, format), presentationTime: MediaTime(value: time, timescale: 30),
                    duration: MediaTime(value: 1, timescale: 30)))
            blackHole(queue.dequeue(waitingUntil: .distantPast))
            time += 1
        }
    }
}
