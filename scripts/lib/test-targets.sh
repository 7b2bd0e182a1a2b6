# shellcheck shell=bash
# Which test targets run under which sanitizer. Sourced by scripts/test.
#
# ThreadSanitizer can find something only where threads meet, AddressSanitizer only where memory is touched through pointers: here, in libav or in
# the drivers. PlayTests, which start the program hundreds of times, run under AddressSanitizer only: most of its threads are the player's, which
# PlayerTests try. Under scripts/test --full every target runs under both.

with_threads=(
    MediaTests SandboxTests SampleQueueTests DemuxingTests SurfacePoolTests PixelConversionTests DecodingTests ReadingTests
    CompositionTests WritingTests DisplaySinkTests SubtitlesTests OnScreenTests WaylandSinkTests AudioSinkTests FrameExportTests PlayerTests
    RemoteControlTests MediaControlsTests CInterfaceTests
)
with_pointers=(
    JSONTests SandboxTests BitstreamTests SampleQueueTests DemuxingTests SoundDecodingTests SurfacePoolTests PixelConversionTests DecodingTests
    ReadingTests DeinterlacingTests EncodingTests CompositionTests WritingTests HardwareTests CaptureTests DisplaySinkTests SubtitlesTests
    OnScreenTests WaylandSinkTests KMSSinkTests KeyboardInputTests AudioSinkTests FrameExportTests TextureCacheTests PlaySupportTests RemoteControlTests ReaderTests PlayTests CInterfaceTests
    TestSupportTests
)
# On the host these run nothing.
in_virtual_machine=(LabTests)

# Those that calculate themselves, or look at pixels in the virtual machine, which is slow: optimized where everything is. The others mostly wait.
calculating=(MediaTests SurfacePoolTests PixelConversionTests DeinterlacingTests CaptureTests KMSSinkTests LabTests)

# The targets for one sanitizer, in one line; for debug all of the manifest.
test_targets() { # debug|thread|address
    case "${PLAYER_TEST_FULL:+full}$1" in
        thread) echo "${with_threads[*]}" ;;
        address) echo "${with_pointers[*]}" ;;
        *) tr '\n' ' ' <"$root/Package.swift" | grep -oE '(tests\(|\.testTarget\( *name:) *"[A-Za-z]+"' | sed 's/.*"\(.*\)"/\1/' | tr '\n' ' ' | sed 's/ $//' ;;
    esac
}

# Fails when a test target is in neither list, or a list names one that is not there.
test_targets_are_sorted() {
    local target known all
    known=" ${with_threads[*]} ${with_pointers[*]} ${in_virtual_machine[*]} " all=" $(test_targets debug) "
    for target in $all; do
        [[ "$known" == *" $target "* ]] || { echo "$target is in no list of scripts/lib/test-targets.sh."; return 1; }
    done
    for target in $known ${calculating[*]}; do
        [[ "$all" == *" $target "* ]] || { echo "scripts/lib/test-targets.sh names $target, which Package.swift does not have."; return 1; }
    done
}
