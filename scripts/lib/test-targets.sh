# shellcheck shell=bash
# Which test targets, and which of their files, are built and run under which sanitizer. Sourced by scripts/test.
#
# ThreadSanitizer can find something only where threads meet, AddressSanitizer only where memory is touched through pointers: here, in libav or in
# the drivers. What lies above such a module uses it by values, and is left to scripts/test --full, under which every suite of every target runs
# under both: so are PlayTests, which start the program hundreds of times, and TSan's share of CInterfaceTests, whose threads PlayerTests try.
# The compiler takes longer for most of these files than their tests do.

with_threads=(
    MediaTests SandboxTests SampleQueueTests DemuxingTests SurfacePoolTests DecodingTests ReadingTests CompositionTests WritingTests DisplaySinkTests
    SubtitlesTests OnScreenTests WaylandSinkTests AudioSinkTests FrameExportTests PlayerTests MediaControlsTests
)
with_pointers=(
    SandboxTests BitstreamTests DemuxingTests SoundDecodingTests SurfacePoolTests PixelConversionTests DecodingTests DeinterlacingTests EncodingTests
    WritingTests HardwareTests SubtitlesTests WaylandSinkTests AudioSinkTests FrameExportTests TextureCacheTests ReaderTests
    CInterfaceTests
)
# Without a sanitizer only, but for scripts/test --full. What cameras and displays share with the kernel is tried in the virtual machine; the films that
# CaptureTests write are WritingTests' matter.
without_sanitizer=(CaptureTests JSONTests KeyboardInputTests KMSSinkTests PlaySupportTests RemoteControlTests PlayTests TestSupportTests)
# On the host these run nothing.
in_virtual_machine=(LabTests)

# Files of the targets above that neither sanitizer gets: they calculate with Swift's values on one thread, compare colors, mostly wait for other
# programs, or would skip (what runs in the virtual machine, or loads a library of ours into a program that was not built with the sanitizer).
with_neither=(
    MediaTests/{ClockConversion,ClockText,DecimalText,Duration,MediaTime,PixelFormat,PrintableText,ProgramDate,ReplayGain,SecretText}Tests
    SandboxTests/RestartPolicyTests
    DemuxingTests/{AssetError,CaptionOrder,ReadingProgress,RoundedTimes,SteadyTimes,Timeline,TrackEnds}Tests
    DemuxingTests/Adaptive/{AdaptiveTimeline,Manifest,MasterPlaylist,MediaPlaylist,PlaylistStart,VariantChoice,VariantSwitching}Tests
    DemuxingTests/Network/{ByteRanges,FetchProgress,NetrcFile,StreamAddress,WebAddress}Tests
    DemuxingTests/Samples/{LongFilm,SampleCursor}Tests
    DemuxingTests/Web/HTTPHeadTests
    SurfacePoolTests/{FenceDeadline,SurfacePoolState}Tests
    PixelConversionTests/LayoutEndTests
    DecodingTests/{Alpha,SampleLedger}Tests
    DecodingTests/Sandbox/{DeviceChoice,SampleRing}Tests
    EncodingTests/{MultiPass,RateSearch,RangeSearch}Tests
    WritingTests/{OtherPlayers,StreamedFilm,Passes}Tests
    HardwareTests/{DeviceEncoding,DeviceFailure,DriverHonesty,ExportedMemory,Guest,HardwareFallbackState,SandboxedHardware}Tests
    SubtitlesTests/{CaptionCommand,CaptionScreens,CaptionScript,CaptionService,ImagePlace,PlainText,SubtitleName,SubtitleTime}Tests
    WaylandSinkTests/{Color,FullscreenState,PressState}Tests
    AudioSinkTests/TimeStretcherTests
    FrameExportTests/Guest{,Timeline}Tests
    CInterfaceTests/{Endurance,Examples,FilmTools,Guest,Installed,LateLibrary,Python,Rust,Serving}Tests
)
# Files that ThreadSanitizer does not get: one thread, or threads that other suites of the same module have as well.
not_with_threads=(
    SampleQueueTests/ExtractorDumpTests
    DemuxingTests/{DemuxerMessage,DemuxerMutation,DescribedHead,FilmCaptions,FilmTexts,PromisedBytes,SandboxedReader,SeekFilm}Tests
    DemuxingTests/Adaptive/{MovieText,TimedText,WebVTTFile}Tests
    DemuxingTests/Network/RetryStateTests
    DemuxingTests/Samples/SampleTableProbeTests
    SurfacePoolTests/SurfaceLayoutTests
    DecodingTests/{DamagedFilm,ElementaryStreamFilm,FrameFacts,ParameterSetChange,PixelFormat}Tests
    DecodingTests/Sandbox/{LayoutMutation,WireFormat}Tests
    ReadingTests/VideoRangeTests
    CompositionTests/{AlphaLayer,CompositorPatience,Drawing,Editing,GPUAlphaFilm,GPUDrawing,Ramp,Timeline,TimelineDissolve,Validation}Tests
    WritingTests/{CopiedCaptions,Copy,Cover,Cut,FilmDescription,FragmentedCut,RoundTrip,SampleTableBoxes,SoundRoundTrip,TrackReference}Tests
    DisplaySinkTests/{Cadence,CommitPacer,FrameGeometry,FrameMD5,FrameScheduler,Linkage,OverlayDrawing,PresentationStatistics,PreviewGeometry}Tests
    DisplaySinkTests/RefreshClockTests
    SubtitlesTests/{CaptionData,CaptionFilm,ServiceFilm,SubtitleLine,SubtitleMutation}Tests
    OnScreenTests/{ScreenScript,ScreenState}Tests
    WaylandSinkTests/{LargeFrame,Protocol}Tests
    AudioSinkTests/{Conformance,Downmix,Sample}Tests
    FrameExportTests/WireTests
    PlayerTests/{ByteArrivals,ChapterStep,ComposedOrder,DamagedTimes,ExportWishes,FilmPoint,FilmTimeline,LiveBuffer,LiveLatencyHour}Tests
    PlayerTests/{LiveLatencyState,LyingDemuxer,ProxyStorm,Readme,SubtitleSelection,TrackSelection,TransportState}Tests
)

# Those that calculate themselves, or look at pixels in the virtual machine, which is slow: optimized where everything is. The others mostly wait.
calculating=(MediaTests SurfacePoolTests PixelConversionTests DeinterlacingTests KMSSinkTests LabTests)

# The targets for one sanitizer, in one line; for debug all of the manifest.
test_targets() { # debug|thread|address
    case "${PLAYER_TEST_FULL:+full}$1" in
        thread) echo "${with_threads[*]}" ;;
        address) echo "${with_pointers[*]}" ;;
        *) tr '\n' ' ' <"$root/Package.swift" | grep -oE '(tests\(|\.testTarget\( *name:) *"[A-Za-z]+"' | sed 's/.*"\(.*\)"/\1/' | tr '\n' ' ' | sed 's/ $//' ;;
    esac
}

# The files, by their paths below Tests, that one sanitizer leaves out, in one line; nothing where it leaves out none.
files_left_out() { # debug|optimized|thread|address
    local files=()
    case "${PLAYER_TEST_FULL:+full}$1" in
        thread) files=("${with_neither[@]}" "${not_with_threads[@]}") ;;
        address) files=("${with_neither[@]}") ;;
    esac
    [ ${#files[@]} -eq 0 ] || (IFS=' '; echo "${files[*]/%/.swift}")
}

# Fails when a test target is in no list, or a list names a target or a file that is not there.
test_targets_are_sorted() {
    local target file known all
    known=" ${with_threads[*]} ${with_pointers[*]} ${without_sanitizer[*]} ${in_virtual_machine[*]} " all=" $(test_targets debug) "
    for target in $all; do
        [[ "$known" == *" $target "* ]] || { echo "$target is in no list of scripts/lib/test-targets.sh."; return 1; }
    done
    for target in $known ${calculating[*]}; do
        [[ "$all" == *" $target "* ]] || { echo "scripts/lib/test-targets.sh names $target, which Package.swift does not have."; return 1; }
    done
    for file in "${with_neither[@]}" "${not_with_threads[@]}"; do
        [ -e "$root/Tests/$file.swift" ] || { echo "scripts/lib/test-targets.sh names $file, which is not there."; return 1; }
    done
}
