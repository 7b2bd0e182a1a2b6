# shellcheck shell=bash
# Which test targets run under which sanitizer, and which of their suites do not. Sourced by scripts/test.
#
# ThreadSanitizer can find something only where threads meet, AddressSanitizer only where memory is touched through pointers: here, in libav or in
# the drivers. What lies above such a module uses it by values, and is left to scripts/test --full, under which every suite of every target runs
# under both: so are PlayTests, which start the program hundreds of times, and TSan's share of CInterfaceTests, whose threads PlayerTests try.

with_threads=(
    MediaTests SandboxTests SampleQueueTests DemuxingTests SurfacePoolTests DecodingTests ReadingTests CompositionTests WritingTests DisplaySinkTests
    SubtitlesTests OnScreenTests WaylandSinkTests AudioSinkTests FrameExportTests PlayerTests MediaControlsTests
)
# Suites of these that calculate on one thread, mostly wait for other programs, or compare colours that threads have nothing to do with.
not_with_threads=(
    MediaTests.ProgramDateTests
    DemuxingTests.{SampleCursor,Manifest,LongFilm,FilmCaptions,SampleTableProbe,SteadyTimes,SandboxedReader}Tests
    DecodingTests.PixelFormatDecodingTests
    CompositionTests.{GPUDrawing,GPUAlphaFilm,Drawing,TimelineDissolve}Tests
    ReadingTests.VideoRangeTests
    WritingTests.{OtherPlayers,StreamedFilm,Cover,SoundRoundTrip,TrackReference,FragmentedCut,RoundTrip,Passes}Tests
    DisplaySinkTests.{Cadence,FrameMD5,FrameGeometry}Tests
    SubtitlesTests.{CaptionFilm,ServiceFilm}Tests
    WaylandSinkTests.{Color,LargeFrame}Tests
    AudioSinkTests.{TimeStretcher,Downmix,Sample,SoundConformance}Tests
    PlayerTests.DamagedTimesTests
)
with_pointers=(
    SandboxTests BitstreamTests DemuxingTests SoundDecodingTests SurfacePoolTests PixelConversionTests DecodingTests DeinterlacingTests EncodingTests
    WritingTests HardwareTests CaptureTests SubtitlesTests WaylandSinkTests KMSSinkTests AudioSinkTests FrameExportTests TextureCacheTests ReaderTests
    CInterfaceTests
)
# Suites of these that calculate with Swift's own types, or mostly wait for other programs or for the clock.
not_with_pointers=(
    DemuxingTests.{SampleCursor,Manifest,LongFilm,SteadyTimes}Tests
    EncodingTests.{MultiPass,RateSearch,RangeSearch}Tests
    WritingTests.{OtherPlayers,StreamedFilm,Passes}Tests
    WaylandSinkTests.ColorTests
    AudioSinkTests.TimeStretcherTests
)
# Without a sanitizer only, but for scripts/test --full.
without_sanitizer=(JSONTests KeyboardInputTests PlaySupportTests RemoteControlTests PlayTests TestSupportTests)
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

# A regular expression for the suites that one sanitizer leaves out; nothing where it leaves out none.
suites_left_out() { # debug|optimized|thread|address
    local suites=()
    case "${PLAYER_TEST_FULL:+full}$1" in
        thread) suites=("${not_with_threads[@]}") ;;
        address) suites=("${not_with_pointers[@]}") ;;
    esac
    [ ${#suites[@]} -eq 0 ] || (IFS='|'; sed 's/\./\\./g; s/.*/^(&)\//' <<<"${suites[*]}")
}

# Fails when a test target is in no list, or a list names a target or a suite that is not there.
test_targets_are_sorted() {
    local target suite known all
    known=" ${with_threads[*]} ${with_pointers[*]} ${without_sanitizer[*]} ${in_virtual_machine[*]} " all=" $(test_targets debug) "
    for target in $all; do
        [[ "$known" == *" $target "* ]] || { echo "$target is in no list of scripts/lib/test-targets.sh."; return 1; }
    done
    for target in $known ${calculating[*]}; do
        [[ "$all" == *" $target "* ]] || { echo "scripts/lib/test-targets.sh names $target, which Package.swift does not have."; return 1; }
    done
    for suite in "${not_with_threads[@]}" "${not_with_pointers[@]}"; do
        grep --quiet --recursive --include='*.swift' -wE "(struct|class|actor|enum) ${suite#*.}" "$root/Tests/${suite%%.*}" ||
            { echo "scripts/lib/test-targets.sh names the suite $suite, which is not there."; return 1; }
    done
}
