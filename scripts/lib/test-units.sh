# shellcheck shell=bash disable=SC2154
# Runs the suite as many small processes. Sourced by scripts/test.
#
# Swift Testing begins all tests of a process at once, on as many threads as there are processors. A test that waits then waits for hundreds of
# others: each of its steps takes minutes, and a limit that only a hang should reach is reached. Here a process runs the tests of a few suites
# one by one, a few processes run at the same time, and the kernel shares the processors among them. A crash takes the rest of its unit along only.

# How many tests a unit has at most, unless one suite has more, and how many units run at the same time: most of them wait most of their time.
unit_size=20 processes=$((3 * $(nproc)))

# Prints a regular expression a line, each for the suites of a unit. The tests of films that play come first: they wait longest.
test_units() { # LIST of all tests [REGEX of tests to run [REGEX of tests to leave out]]
    grep -P -e "${2:-}" "$1" | grep -v -P -e "${3:-^$}" |
        awk -F/ -v size="$unit_size" '
            function finish() { if (suites != "") print rank, "^(" suites ")/"; suites = ""; tests = 0 }
            !($1 in count) { order[++known] = $1 }
            { count[$1]++ }
            END {
                for (i = 1; i <= known; i++) {
                    split(order[i], name, ".")
                    if (name[1] != target || tests + count[order[i]] > size) finish()
                    target = name[1]; rank = target ~ /^Play/ ? 0 : 1
                    suites = suites (suites == "" ? "" : "|") name[1] "\\." name[2]; tests += count[order[i]]
                }
                finish()
            }' | sort --stable --key=1,1n | cut -d' ' -f2-
}

# Runs every unit; leaves FOLDER/units, and of each FOLDER/NUMBER.log, .jsonl (the event stream), .status and .time (seconds of a processor, with those
# of the processes that it started: as user, as system). Uses filter, skip and limit.
run_units() { # BUNDLE FOLDER
    local bundle="$1" folder="$2" unit number=0 choice="${filter[1]:-}"
    rm -rf "$folder"
    mkdir -p "$folder"
    "$bundle" --testing-library swift-testing --list-tests >"$folder/tests" 2>"$folder/000.log" && rm "$folder/000.log" || echo 70 >"$folder/000.status"
    test_units "$folder/tests" "$choice" "${skip[1]:-}" >"$folder/units" || true
    if [ ! -s "$folder/units" ]; then
        echo "error: No test is called so." >"$folder/000.log"
        echo 69 >"$folder/000.status"
        return
    fi
    (
        trap 'kill $(jobs -rp) 2>/dev/null' EXIT
        while IFS= read -r unit; do
            while [ "$(jobs -rp | wc -l)" -ge "$processes" ]; do wait -n || true; done
            number=$((number + 1))
            # Options that choose tests are joined by "or"; a unit's tests must match the caller's choice, too.
            [ -z "$choice" ] || unit="(?=$unit)(?=.*?(?:$choice))"
            run_unit "$bundle" "$folder/$(printf %03d "$number")" "$unit" &
        done <"$folder/units"
        wait
        trap - EXIT
    )
}

run_unit() { # BUNDLE PATH REGEX
    local status=0 TIMEFORMAT='%U %S'
    {
        time timeout --signal=ABRT --kill-after=20 "$limit" "$1" --testing-library swift-testing --no-parallel --filter "$3" "${skip[@]}" \
            --event-stream-output-path "$2.jsonl" --event-stream-version 0 </dev/null >"$2.log" 2>&1 || status=$?
    } 2>"$2.time"
    echo "$status" >"$2.status"
}
