# shellcheck shell=bash disable=SC2154
# Runs scripts/run (but for --no-run) and scripts/test as a machine that has never seen the project would: a clone of the last commit, empty caches.
# Sourced by scripts/test, whose `run` says whether scripts/run is left out.

run_fresh() { # OPTIONS of scripts/test
    local place word options=() status=0
    for word in "$@"; do [[ "$word" =~ ^--(fresh|no-run)$ ]] || options+=("$word"); done
    [ -z "$(git -C "$root" status --porcelain)" ] || echo "What is not committed is not tested." >&2
    place="$(mktemp -d "${TMPDIR:-/tmp}/player-fresh.XXXXXX")"
    # Tests run programs as users without rights, who must be able to enter.
    chmod 755 "$place"
    git clone --quiet "$root" "$place/player"
    export XDG_CACHE_HOME="$place/cache" PLAYER_CACHE="$place/cache/player" PLAYER_LAB_CACHE="$place/cache/player-lab"
    mkdir -p "$XDG_CACHE_HOME"
    [ "$run" = no ] || (cd "$place/player" && scripts/run --sink headless --untimed --duration 2 assets/demo.mp4) || {
        status=$?
        echo "✘ scripts/run ended with status $status."
    }
    (cd "$place/player" && scripts/test "${options[@]}") || status=$?
    if [ "$status" -ne 0 ]; then
        echo "The logs are in $place." >&2
    elif ! grep --quiet --fixed-strings " $place/" /proc/self/mountinfo; then
        rm -rf "$place"
    fi
    return "$status"
}
