# shellcheck shell=bash disable=SC2154,SC2034
# Gives each test that failed beside others a second run, in which nothing else runs. Sourced by scripts/test and scripts/lab.
#
# A test that then passes is *unstable*: it, or what it tests, depends on how busy the machine is. That is a fault to be mended, and the run names it;
# but one such test among thousands does not make a commit unusable. With --strict it does. There is no second run for what a sanitizer reports,
# for a crash or for a hang, and none at all when more tests failed than `second_runs`.

second_runs=8 unstable=() passed_again=()

# Prints the identifiers of the tests of an event stream that ended so, a line each.
ended_tests() { # EVENTS pass|fail
    grep -E "\"kind\":\"testEnded\".*\"symbol\":\"$2" "$1" 2>/dev/null |
        sed -n 's/.*"testID":"\(\([^"\\]\|\\.\)*\.swift:[0-9]*:[0-9]*\)".*/\1/p' | sed 's/\\\(.\)/\1/g' | sort -u || true
}

# Prints the tests of event streams that have begun and not ended.
unfinished() { # EVENTS
    grep -E '"kind":"test(Started|Ended)"' "$1" 2>/dev/null | sed -n 's/.*"testID":"\([^"]*\.swift:[0-9]*:[0-9]*\)".*/\1/p' |
        sort | uniq -u | sed 's/^/    /' || true
}

# A regular expression for one test identifier.
exactly() { # IDENTIFIER
    printf '^%s$' "$(printf '%s' "$1" | sed 's/[][\.*^$(){}?+|/]/\\&/g')"
}

# True when so few tests have failed that chance may be the reason.
may_run_again() { # TEST…
    [ -z "${strict:-}" ] && [ $# -gt 0 ] && [ $(($# + ${#unstable[@]})) -le "$second_runs" ]
}

# Runs the failed tests of the units that ended with status 1 again; passed_again names those that passed then, which are added to unstable.
run_failed_again() { # BUNDLE FOLDER
    local unit test number=0 tests=() again="$2/again"
    passed_again=()
    for unit in "$2"/*.status; do
        unit="${unit%.status}"
        [ "$(cat "$unit.status")" = 1 ] && [ -z "$(unfinished "$unit.jsonl")" ] || continue
        mapfile -t -O ${#tests[@]} tests < <(ended_tests "$unit.jsonl" fail)
    done
    may_run_again "${tests[@]}" || return 0
    mkdir -p "$again"
    for test in "${tests[@]}"; do
        number=$((number + 1))
        run_unit "$1" "$again/$number" "$(exactly "$test")"
        [ "$(cat "$again/$number.status")" = 0 ] && [ -n "$(ended_tests "$again/$number.jsonl" pass)" ] || continue
        passed_again+=("$test")
    done
    unstable+=("${passed_again[@]}")
}

# Prints the identifiers of the tests that failed and had no second run, or failed in it as well. One that passed in another kind's second run is none
# of passed_again.
failed_for_good() { # EVENTS
    LC_ALL=C comm -23 <(ended_tests "$1" fail | LC_ALL=C sort) <(printf '%s\n' "${passed_again[@]}" | LC_ALL=C sort)
}

# The names, for the end of a run.
report_unstable() {
    [ ${#unstable[@]} -gt 0 ] || return 0
    echo "UNSTABLE: failed beside other tests, passed in a run of its own. Each is a fault to be mended (--strict makes it a failure):"
    printf '    %s\n' "${unstable[@]}"
}
