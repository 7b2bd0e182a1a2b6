# shellcheck shell=bash disable=SC2154,SC2034
# Builds and runs the suite once, counts what came of it, and runs the virtual machine's part beside it. Sourced by scripts/test.
#
# Uses its filter, lab, limit and lab_setup; adds to passed, failed, skipped and without_media.

passed=0 failed=0 skipped=0 without_media=0

# What runs in the virtual machine is left out on the host, not skipped.
lab_only='^(LabTests\.|(KMSSinkTests|CaptureTests)\.Guest[A-Za-z]*Tests|(TextureCacheTests|FrameExportTests|CInterfaceTests)\.GuestTests|SurfacePoolTests\.DMABufAllocatorTests)'

# An expression that takes long to check is one that the compiler gives up on elsewhere. On an idle machine none takes 300 ms; on a busy one the
# same expressions were seen to take nearly twice their time. In milliseconds of processor time.
type_checks=(-Xfrontend -warn-long-expression-type-checking=600 -Xfrontend -warn-long-function-bodies=2000)

# The scratch folder and the arguments of a run: debug|thread|address.
suite_of() {
    local word
    scratch=.build arguments=()
    if [ "$1" != debug ]; then
        scratch=".build-$1"
        arguments=(--sanitize="$1")
        for word in "${type_checks[@]}"; do arguments+=(-Xswiftc "$word"); done
    fi
    arguments+=(--scratch-path "$scratch")
    export SWIFT_BACKTRACE="color=no,registers=none,images=none,threads=crashed"
    [ "$1" != address ] || SWIFT_BACKTRACE="enable=no"
    if [ "$1" = debug ]; then unset PLAYER_TESTS; else export PLAYER_TESTS="$(test_targets "$1")"; fi
}

build_suite() { # debug|thread|address
    local scratch arguments
    suite_of "$1"
    echo "== $1: building ($(elapsed))"
    build_quietly --build-tests "${arguments[@]}"
}

# Prints the tests of an event stream that have begun and not ended.
unfinished() { # EVENTS
    grep -E '"kind":"test(Started|Ended)"' "$1" 2>/dev/null | sed -n 's/.*"testID":"\([^"]*\.swift:[0-9]*:[0-9]*\)".*/\1/p' |
        sort | uniq -u | sed 's/^/    /' || true
}

# The event stream, not the printed text, is counted: it also tells what ran when a process died.
run_suite() { # debug|thread|address
    local kind="$1" scratch arguments events log ended count fuzz=8 status=0 skip=()
    suite_of "$kind"
    [ "$lab" = no ] || skip=(--skip "$lab_only")
    events="$scratch/test-events.jsonl" log="$scratch/test.log"
    echo "== $kind: testing ($(elapsed))"
    rm -f "$events"
    # Half a minute of mutated films; under a sanitizer, which makes everything slow, as long as by default.
    [ "$kind" != debug ] || fuzz=30
    PLAYER_FUZZ_SECONDS="${PLAYER_FUZZ_SECONDS:-$fuzz}" timeout --signal=ABRT --kill-after=20 "$limit" \
        swift test --skip-build --disable-xctest --event-stream-output-path "$events" --event-stream-version 0 \
        "${arguments[@]}" "${filter[@]}" "${skip[@]}" >"$log" 2>&1 || status=$?

    ended="$(mktemp)"
    grep -E '"kind":"test(Ended|Skipped)"' "$events" 2>/dev/null | grep -E '\.swift:[0-9]+:[0-9]+"' >"$ended" || true
    count="$(grep -c '"kind":"testEnded".*"symbol":"pass' "$ended" || true)"
    passed=$((passed + count))
    count="$(grep -c '"kind":"testSkipped"' "$ended" || true)"
    skipped=$((skipped + count))
    count="$(grep '"kind":"testSkipped"' "$ended" | grep -c "PLAYER_MEDIA" || true)"
    without_media=$((without_media + count))
    grep '"kind":"testSkipped"' "$ended" | sed 's/.*"text":"\(\([^"\\]\|\\.\)*\)".*/➜ \1/; s/\\\(.\)/\1/g' || true
    count="$(grep -c '"kind":"testEnded".*"symbol":"fail' "$ended" || true)"
    failed=$((failed + count))
    if [ "$status" -ne 0 ]; then
        grep -E '^(✘|↳ [^ST]|error:|.*: error:|.*Fatal error|SUMMARY:|WARNING: ThreadSanitizer|==[0-9]+==ERROR)' "$log" |
            grep -v 'Test run with' | head -n 100 || true
        if [ "$count" -eq 0 ]; then
            failed=$((failed + 1))
            grep -E '(Direct|Indirect) leak of| in .* /.*/(Sources|Tests)/' "$log" | head -n 100 || true
            echo "✘ The $kind run ended with status $status; tests that were running then:"
            unfinished "$events"
            echo "The end of $log:"
            tail -n 60 "$log"
        fi
    fi
    grep -E '^([^ ]* Test run with|mutated [a-z]*:)' "$log" || true
    rm -f "$ended"
}

# Starts the tests of displays in the virtual machine; lab_suite is the process then. A machine that cannot be made is a failure.
begin_lab() { # PROCESS that makes the machine
    local arguments=(--no-build)
    [ ${#filter[@]} -eq 0 ] || arguments+=(--filter "${filter[1]}")
    if ! wait "$1"; then
        echo "✘ The lab could not be made; its tests have not run."
        tail -n 20 .build/lab-setup.log
        failed=$((failed + 1))
        return 0
    fi
    tail -n 1 .build/lab-setup.log
    echo "== lab: testing beside the builds that follow ($(elapsed))"
    scripts/lab suite "${arguments[@]}" >.build/lab-suite.log 2>&1 &
    lab_suite=$!
}

# Waits for them and counts them. One that cannot run is a failure.
finish_lab() { # PROCESS
    local log=.build/lab-suite.log count
    wait "$1" || true
    echo "== lab: ended ($(elapsed))"
    grep -v '^lab: [0-9]* passed' "$log" || true
    if count="$(sed -n 's/^lab: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log")" && [ -n "$count" ]; then
        passed=$((passed + ${count% *}))
        failed=$((failed + ${count#* }))
    else
        failed=$((failed + 1))
    fi
}
