# shellcheck shell=bash disable=SC2154
# Runs the tests of displays in the guest: one boot, one process, no parallel tests. Sourced by scripts/lab.
# The tests are those that need the guest's devices. There is nothing to skip in a lab: a skipped test counts as failed. So does what was running
# when the time was over. A test that fails runs once more, in a machine of its own (scripts/lib/unstable.sh). A machine that does not come up, or that
# dies, is named with the unstable tests, and another one goes on.

lab_tests='^(LabTests\.|(KMSSinkTests|CaptureTests)\.Guest[A-Za-z]*Tests|SurfacePoolTests\.(SurfaceAllocatorTests|DMABufAllocatorTests)|(TextureCacheTests|FrameExportTests|HardwareTests)\.Guest[A-Za-z]*Tests|DecodingTests\.OfferedMemoryTests|CInterfaceTests\.(GuestTests|FrameTests))'
lab_suite_limit=$((${LAB_FULL:+1} + 0 ? 7200 : 3600)) # seconds
# Only with LAB_FULL=1. Refusals: where sway on a monitor runs before; without a monitor it draws by virtio-gpu's render node, on which Mesa's software
# driver may not make buffers (CREATE_DUMB: Permission denied), and mostly shows nothing. wlroots takes nothing but a render node. The others take a
# minute and a half each; the host's tests have a few rounds of reconnecting, folders that change and GTK with frames in memory.
lab_rare_tests='^(LabTests\.(CompositorTests/refusal|CompositorDeathTests/reconnects|KioskTests/folder)|CInterfaceTests\.GuestTests/gtk)'

lab_suite() { # [--filter REGEX] [--built DIR]
    local filter="$lab_tests" built="" bundle folder gstreamer code=0 events log passed failed skipped test
    while [ $# -gt 0 ]; do
        case "$1" in
            --filter) [ $# -ge 2 ] || fail "--filter needs a regular expression." 64; filter="$2"; shift ;;
            --built) [ $# -ge 2 ] || fail "--built needs a folder." 64; built="$(realpath -m -s "$2")"; shift ;;
            *) fail "The option $1 is not known; see scripts/lab --help." 64 ;;
        esac
        shift
    done
    if [ -z "$built" ]; then
        need_packages runtime build test
        need_swift
        build_quietly --build-tests
        built="$root/.build/debug"
    fi
    # A second GStreamer, older than the lab's own; the guest sees it where it lies here.
    install_missing curl python3
    gstreamer="$(python3 "$root/scripts/lib/unpacked_gstreamer.py")" || fail "GStreamer of Debian 13 could not be fetched." 69
    bundle="$(readlink -f "$built")/playerPackageTests.xctest"
    [ -x "$bundle" ] || fail "There are no built tests in $built." 70
    # What programs in C are linked with: the guest would take minutes for it. Its tests, and those beside it, take what they find.
    [[ "$filter" != *CInterfaceTests* ]] || flock "${bundle%/*}/installed.lock" "$root/scripts/install" --prefix "${bundle%/*}/installed" --built "${bundle%/*}" >/dev/null
    folder="$(dirname "$built")/lab"
    events="$folder/test-events.jsonl" log="$folder/test.log"
    cd "$root" || return
    local rare=()
    [ -n "${LAB_FULL:-}" ] || [ "$filter" != "$lab_tests" ] || rare=(--skip "$lab_rare_tests")
    lab_guests "$folder" --filter "$filter" "${rare[@]}" || code=$?

    passed="$(lab_count '"kind":"testEnded".*"symbol":"pass')"
    failed="$(lab_count '"kind":"testEnded".*"symbol":"fail')"
    lab_failed_again
    [ -z "${LAB_FULL:-}" ] || [ "$filter" != "$lab_tests" ] || lab_without_landlock
    skipped="$(lab_count '"kind":"testSkipped"')"
    if [ "$skipped" -gt 0 ]; then
        echo "✘ In the lab nothing may be skipped:"
        grep '"kind":"testSkipped"' "$events" | sed 's/.*"text":"\(\([^"\\]\|\\.\)*\)".*/    \1/'
        lab_wrong "$skipped" "$skipped tests were skipped"
    fi
    if [ "$code" -ne 0 ]; then
        grep -E '✘|↳|error:|Fatal error' "$log" | grep -v 'Test run with' | head -n 100 || true
        if [ "$code" -ne 1 ] || { [ "$failed" -eq 0 ] && [ ${#unstable[@]} -eq 0 ]; }; then
            lab_wrong 1 "it ended with status $code, $log"
            unfinished "$events"
            echo "The end of $log:"
            tail -n 40 "$log"
        fi
    elif [ "$passed" -eq 0 ]; then
        lab_wrong 1 "no test ran"
    fi
    for test in "${unstable[@]}"; do echo "unstable: $test"; done
    failed_for_good "$events" | sed 's/^/failed: /'
    echo "lab: $passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

# Runs tests in a machine; where it does not come up (125) or dies (126), those that have not ended in up to two others. Not with --strict.
lab_guests() { # FOLDER OPTIONS of the tests
    local folder="$1" code=0 number test ended began=$SECONDS
    shift
    lab_guest "$folder" "$@" || code=$?
    for number in 1 2; do
        [[ "$code" = 12[56] ]] && [ -z "${strict:-}" ] && [ $((SECONDS - began)) -lt "$lab_suite_limit" ] || break
        unstable+=("the virtual machine itself (status $code), $folder/test.log")
        ended=() code=0
        while read -r test; do ended+=(--skip "$(exactly "$test")"); done < <(ended_tests "$folder/test-events.jsonl" '(pass|fail)')
        lab_guest "$folder/machine-$number" "$@" "${ended[@]}" || code=$?
        cat "$folder/machine-$number/test-events.jsonl" >>"$folder/test-events.jsonl" || true
        cat "$folder/machine-$number/test.log" >>"$folder/test.log"
        [ -z "$(ended_tests "$folder/test-events.jsonl" fail)" ] || [ "$code" -ne 0 ] || code=1
    done
    return "$code"
}

# Runs tests in a machine of its own. What they leave, test.log and test-events.jsonl are in FOLDER then.
lab_guest() { # FOLDER OPTIONS of the tests
    local folder="$1"
    shift
    rm -rf "$folder"
    mkdir -p "$folder"
    # Compositors' seatd is of another version than our libseat. The machine is switched off at the end of the parentheses.
    (run_command --boot "${lab_boot:-}" --time "$lab_suite_limit" --out "$folder" --env "LAB_FULL=${LAB_FULL:-}" --env SEATD_SOCK=/run/lab/no-seat --env "LAB_GSTREAMER=$gstreamer" -- \
        "$bundle" --testing-library swift-testing --no-parallel "$@" --event-stream-output-path /out/test-events.jsonl --event-stream-version 0) \
        >"$folder/test.log" 2>&1
}

# Tries once more what a process without rights may not do, where the kernel has no Landlock.
lab_without_landlock() {
    local status=0 wrong
    local lab_boot="lsm=capability" events="$folder/without-landlock/test-events.jsonl"
    lab_guest "$folder/without-landlock" --filter '^SandboxTests\.ConfinementTests' || status=$?
    passed=$((passed + $(lab_count '"kind":"testEnded".*"symbol":"pass')))
    wrong="$(lab_count '"kind":"test(Ended".*"symbol":"fail|Skipped")')"
    [ "$status" -eq 0 ] || [ "$wrong" -gt 0 ] || wrong=1
    [ "$wrong" -eq 0 ] || lab_wrong "$wrong" "without Landlock $wrong tests failed or were skipped, $folder/without-landlock/test.log"
}

# Counts what no single test's end tells, and names it for the end of scripts/test.
lab_wrong() { # COUNT SENTENCE
    failed=$((failed + $1))
    echo "failed: $2"
}

# Runs the failed tests once more; moves those that pass from failed to passed, and adds their names to unstable.
lab_failed_again() {
    local test tests pattern=""
    mapfile -t tests < <(ended_tests "$events" fail)
    [ "$code" -eq 1 ] && may_run_again "${tests[@]}" || return 0
    for test in "${tests[@]}"; do pattern+="${pattern:+|}$(exactly "$test")"; done
    lab_guest "$folder/again" --filter "$pattern" || true
    for test in "${tests[@]}"; do
        ended_tests "$folder/again/test-events.jsonl" pass | grep --quiet --line-regexp --fixed-strings -e "$test" || continue
        unstable+=("$test") passed_again+=("$test")
        passed=$((passed + 1)) failed=$((failed - 1))
    done
}

lab_count() { # PATTERN: how many single tests of the event stream are so
    grep -E "$1" "$events" 2>/dev/null | grep -cE '\.swift:[0-9]+:[0-9]+"' || true
}
