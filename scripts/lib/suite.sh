# shellcheck shell=bash disable=SC2154,SC2034
# Builds and runs the suite once, counts what came of it, and runs the virtual machine's part beside it. Sourced by scripts/test.
#
# Uses its filter, lab, limit and lab_setup; adds to passed, failed, skipped and without_media. What failed is named in failures.

passed=0 failed=0 skipped=0 without_media=0 failures=()
declare -A builders=()

# Counts one failure and keeps its name for the end of the run.
fail_one() { # NAME
    failed=$((failed + 1))
    failures+=("$1")
}

# The names, for the end of a run, whose last lines are what is looked at first.
report_failures() {
    [ ${#failures[@]} -gt 0 ] || return 0
    echo "FAILED:"
    printf '    %s\n' "${failures[@]}"
}

# What runs in the virtual machine is left out on the host, not skipped.
lab_only='^(LabTests\.|(KMSSinkTests|CaptureTests)\.Guest[A-Za-z]*Tests|(TextureCacheTests|FrameExportTests|CInterfaceTests)\.GuestTests|SurfacePoolTests\.DMABufAllocatorTests)'

# The compiler gives an expression up ("unable to type-check this expression in reasonable time") after a million steps of its solver. Here it
# does so after a tenth of them, about 300 ms: the same expressions on every machine, however busy, which a limit in milliseconds is not.
type_checks=(-Xfrontend -solver-scope-threshold=100000)

# What users run is optimized; here it asserts as well. The emulator of the virtual machine takes half as long with it. Most tests are not optimized, and
# with a sanitizer nothing is: that would take longer to build than the tests gain. All of it is built as for release: in what is built to debug,
# ArgumentParser checks all options of the program over and over at each start, which takes two seconds of a processor under AddressSanitizer instead
# of 0.3, and tests start it hundreds of times.
# Lines are enough for the stacks of crashes and of sanitizers' reports, without variables for debuggers. The index in which the package manager
# finds the tests needs none of the system's modules.
sparing=(-gline-tables-only -index-ignore-system-modules)
optimized=(-assert-config Debug -enable-testing "${sparing[@]}" "${type_checks[@]}")
unoptimized=(-Onone -enable-testing "${sparing[@]}")

# The scratch folder, the folder of what is built and the arguments of a run: debug|optimized|thread|address. The debug run's are those of
# `swift build` by hand.
suite_of() {
    local word words=() configuration=debug
    scratch=.build arguments=()
    [ "$1" = debug ] || scratch=".build-$1" arguments=("${whole_modules[@]}")
    unset PLAYER_OPTIMIZED_TESTS
    case "$1" in
        optimized) words=("${optimized[@]}"); export PLAYER_OPTIMIZED_TESTS="${calculating[*]}" ;;
        thread | address) arguments+=(--sanitize="$1") words=("${unoptimized[@]}") ;;
    esac
    [ "$1" = debug ] || configuration=release arguments+=(-c release)
    products="$scratch/$configuration"
    for word in "${words[@]}"; do arguments+=(-Xswiftc "$word"); done
    arguments+=(--scratch-path "$scratch")
    export SWIFT_BACKTRACE="color=no,registers=none,images=none,threads=crashed"
    [ "$1" != address ] || SWIFT_BACKTRACE="enable=no"
    case "$1" in
        thread | address)
            export PLAYER_TESTS="$(test_targets "$1")" PLAYER_TESTS_WITHOUT=""
            # Who names tests wants them.
            [ ${#filter[@]} -gt 0 ] || PLAYER_TESTS_WITHOUT="$(files_left_out "$1")"
            ;;
        *) unset PLAYER_TESTS PLAYER_TESTS_WITHOUT ;;
    esac
}

build_suite() { # debug|optimized|thread|address
    local scratch products arguments
    suite_of "$1"
    echo "== $1: building ($(elapsed))"
    build_quietly --build-tests "${arguments[@]}"
}

# Builds those of the runs that come later, one after the other and with the processors that nothing else takes: the compiler's processes wait for
# each other for a third of the first build, and tests wait for the clock. builders has the processes.
begin_builds() { # thread|address…
    local kind previous=""
    # Each is a process group of its own, so that end_builds ends the build system as well; a compiler ends with the module that it is at.
    set -m
    for kind in "$@"; do
        (
            set +m
            # Not by renice, which the build system undoes for the processes that it starts.
            chrt --idle --pid 0 "$BASHPID"
            [ -z "$previous" ] || tail --pid="$previous" -f /dev/null
            build_suite "$kind"
        ) >"$(build_log "$kind")" 2>&1 </dev/null &
        previous=$!
        builders[$kind]=$previous
    done
    set +m
}

build_log() { echo ".build/build-$1.log"; } # KIND

finish_build() { # KIND
    local status=0
    wait "${builders[$1]}" || status=$?
    unset "builders[$1]"
    cat "$(build_log "$1")"
    [ "$status" -eq 0 ] || exit "$status"
}

end_builds() {
    local process
    for process in "${builders[@]}"; do kill -- "-$process" 2>/dev/null || true; done
}

# The event streams, not the printed text, are counted: they also tell what ran when a process died.
run_suite() { # debug|optimized|thread|address
    local kind="$1" scratch products arguments folder events log ended count bundle began=$SECONDS skip=()
    suite_of "$kind"
    [ "$lab" = no ] || skip=(--skip "$lab_only")
    folder="$scratch/test-units" events="$scratch/test-events.jsonl" log="$scratch/test.log"
    echo "== $kind: testing ($(elapsed))"
    bundle="$(readlink -f "$products")/playerPackageTests.xctest"
    run_units "$bundle" "$folder"
    cat "$folder"/*.jsonl >"$events" 2>/dev/null || true
    tail -n +1 "$folder"/*.log >"$log" 2>/dev/null || true

    ended="$(mktemp)"
    grep -E '"kind":"test(Ended|Skipped)"' "$events" 2>/dev/null | grep -E '\.swift:[0-9]+:[0-9]+"' >"$ended" || true
    count="$(grep -c '"kind":"testSkipped"' "$ended" || true)"
    skipped=$((skipped + count))
    count="$(grep '"kind":"testSkipped"' "$ended" | grep -c "PLAYER_MEDIA" || true)"
    without_media=$((without_media + count))
    skipped_by_reason <"$ended"
    count="$(grep -c '"kind":"testEnded".*"symbol":"fail' "$ended" || true)"
    failed=$((failed + count))
    report_failed_units "$kind" "$folder"
    run_failed_again "$bundle" "$folder"
    failed=$((failed - ${#passed_again[@]}))
    mapfile -t -O ${#failures[@]} failures < <(failed_for_good "$events" | sed "s/^/$kind: /")
    count="$(grep -c '"kind":"testEnded".*"symbol":"pass' "$ended" || true)"
    count=$((count + ${#passed_again[@]}))
    passed=$((passed + count))
    grep -E '^mutated [a-z]*:' "$log" || true
    echo "== $kind: $count passed in $(wc -l <"$folder/units") processes, $((SECONDS - began)) s," \
        "$(cat "$folder"/*.time | awk '{ s += $1 + $2 } END { print int(s) }') s of a processor ($(elapsed))"
    rm -f "$ended"
}

# How many tests of an event stream were skipped, for each reason. Their names are in the stream.
skipped_by_reason() {
    grep '"kind":"testSkipped"' | sed 's/.*skipped: \\"\(.*\)\\"".*/\1/; s/\\\(.\)/\1/g' | sort | uniq -c | sed 's/^ *\([0-9]*\) /➜ \1 skipped: /' || true
}

# What the units that did not end well printed. One that died, or whose tests all passed and that a sanitizer ended, counts as a failure.
report_failed_units() { # KIND FOLDER
    local status unit
    for unit in "$2"/*.log; do
        unit="${unit%.log}"
        status="$(cat "$unit.status" 2>/dev/null || echo unknown)"
        [ "$status" != 0 ] || continue
        grep -E '^(✘|↳ [^ST]|error:|.*: error:|.*Fatal error|SUMMARY:|WARNING: ThreadSanitizer|==[0-9]+==ERROR)' "$unit.log" |
            grep -v 'Test run with' | head -n 100 || true
        ! grep --quiet '"kind":"testEnded".*"symbol":"fail' "$unit.jsonl" 2>/dev/null || [ -n "$(unfinished "$unit.jsonl")" ] || continue
        fail_one "$1: a process ended with status $status, ${unit##*/}.log"
        grep -E '(Direct|Indirect) leak of| in .* /.*/(Sources|Tests)/' "$unit.log" | head -n 100 || true
        echo "✘ A process of the $1 run ended with status $status; tests that were running then:"
        unfinished "$unit.jsonl"
        echo "The end of $unit.log:"
        tail -n 60 "$unit.log"
    done
}

# Starts the tests of displays in the virtual machine with what a run was built with; lab_suite is the process then. A machine that cannot be
# made is a failure.
begin_lab() { # debug|optimized|thread|address PROCESS that makes the machine
    local scratch products arguments ahead=()
    suite_of "$1"
    arguments=(--built "$products")
    # Long storms beside it leave the machine less than its cameras and microphones need. Without the right to do so nice only warns.
    [ -z "${PLAYER_TEST_FULL:-}" ] || ahead=(nice -n -5)
    [ ${#filter[@]} -eq 0 ] || arguments+=(--filter "${filter[1]}")
    if ! wait "$2"; then
        echo "✘ The lab could not be made; its tests have not run."
        tail -n 20 .build/lab-setup.log
        fail_one "lab: it could not be made"
        return 0
    fi
    tail -n 1 .build/lab-setup.log
    echo "== lab: testing beside what follows ($(elapsed))"
    "${ahead[@]}" scripts/lab suite "${arguments[@]}" >.build/lab-suite.log 2>&1 &
    lab_suite=$!
}

# Waits for them and counts them. One that cannot run is a failure.
finish_lab() { # PROCESS
    local log=.build/lab-suite.log count
    wait "$1" || true
    echo "== lab: ended ($(elapsed))"
    grep -vE '^(lab: [0-9]* passed|unstable: |failed: )' "$log" || true
    mapfile -t -O ${#unstable[@]} unstable < <(sed -n 's/^unstable: //p' "$log")
    mapfile -t -O ${#failures[@]} failures < <(sed -n 's/^failed: /lab: /p' "$log")
    if count="$(sed -n 's/^lab: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log")" && [ -n "$count" ]; then
        passed=$((passed + ${count% *}))
        failed=$((failed + ${count#* }))
    else
        fail_one "lab: it did not run to its end, $log"
    fi
}
