# shellcheck shell=bash disable=SC2034
# Finds the Swift toolchain and installs the system packages that a script names. Sourced, never run.
#
# Offers to the scripts beside it:
#   fail MESSAGE            one sentence on standard error, exit 69 (a needed thing is not there)
#   need_swift              puts `swift` (6.2 or newer) on PATH, or fails
#   need_packages SET...    installs those packages of the sets runtime, build, test, peers, bench that are missing
#   media_folder            prints the folder of third-party test media, or nothing
#   timeline_package        prints the folder of OpenTimelineIO's Python package, fetched from PyPI the first time, or nothing
#   web_server              prints nginx's path, unpacked from its package the first time, or nothing
#   build_quietly ARGS...   `swift build ARGS`, silent unless it fails
#
# Knows Debian 12, Debian 13, Debian testing (forky, and unstable with it) and Ubuntu 24.04. Elsewhere nothing is installed: what is missing is named.

set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)"
swift_minimum="6.2"
# What is installed and run; the player starts all but the first.
programs=(play scanout-decoder scanout-demuxer scanout-subtitles)

# The package with libcurl's header: the one that is there, since those for different libraries of TLS exclude each other.
curl_header() {
    local found=""
    found="$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' libcurl4-gnutls-dev libcurl4-openssl-dev 2>/dev/null |
        awk '$1 == "installed" { print $2; exit }')" || true
    printf '%s\n' "${found:-libcurl4-gnutls-dev}"
}

# Package sets. All names are the same on these systems.
packages_runtime=(xkb-data libseat1 fonts-dejavu-core)
packages_build=(
    ca-certificates git g++ pkg-config python3
    libavformat-dev libavcodec-dev libavutil-dev libswscale-dev libswresample-dev libavfilter-dev libzimg-dev libass-dev
    "$(curl_header)" libfontconfig-dev libasound2-dev libpipewire-0.3-dev libwayland-dev libxkbcommon-dev libva-dev libdrm-dev libudev-dev libseat-dev libsystemd-dev libseccomp-dev
    libegl-dev libgles-dev libvulkan-dev
)
# What pkg-config calls the libraries among them, for systems with other packages.
build_libraries=(
    libavformat libavcodec libavutil libswscale libswresample zimg libass libcurl fontconfig alsa libpipewire-0.3 wayland-client xkbcommon libva libva-drm libdrm libudev libseat libsystemd
    libseccomp egl glesv2 vulkan
)
packages_test=(ffmpeg weston systemd libgl1-mesa-dri libegl1 libgles2 libvulkan1 mesa-vulkan-drivers vulkan-validationlayers glslang-tools openssl cmake dbus-daemon playerctl
    pipewire pipewire-bin wireplumber python3-numpy python3-pip python3-setuptools python3-wheel rustc cargo libsdl2-dev libgtk-4-dev
    gir1.2-gst-rtsp-server-1.0 python3-gi gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad mkvtoolnix)
packages_peers=(
    ffmpeg mpv weston python3 libgl1-mesa-dri
    gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav melt
)

fail() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit "${2:-69}"
}

# Says in two words which system this is: "debian 12", "ubuntu 24.04", …, or "unknown". Debian testing and unstable have no number but a name.
system_name() {
    if [ -r /etc/os-release ]; then
        # shellcheck source=/dev/null
        (. /etc/os-release && printf '%s %s\n' "${ID:-unknown}" "${VERSION_ID:-${VERSION_CODENAME:-}}")
    else
        echo unknown
    fi
}

is_known_system() {
    case "$(system_name)" in
        "debian 12" | "debian 13" | "debian forky" | "ubuntu 24.04") return 0 ;;
        *) return 1 ;;
    esac
}

# True when version $1 is $2 or newer; both like 6.3 or 6.3.1.
is_at_least() {
    [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# Sets linking and library_linking: what `swift build` and `swiftc` are told for release. The Swift runtime inside, where the toolchain brings it in
# that form: the program starts some milliseconds sooner, and runs where no toolchain is. Tables of addresses that are read-only once it runs.
release_linking() {
    library_linking=(-Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now)
    linking=("${library_linking[@]}")
    local bin
    bin="$(dirname "$(readlink -f "$(command -v swift)")")"
    # Where gold has gone (Debian 13), the system's linker makes no such tables of what Swift compiles; the toolchain's own does.
    if [ -x "$bin/ld.lld" ] && ! command -v ld.gold >/dev/null; then
        linking+=(-Xswiftc -use-ld=lld)
        library_linking+=(-use-ld=lld)
    fi
    [ -d "$bin/../lib/swift_static" ] || return 0
    linking+=(--static-swift-stdlib)
    library_linking+=(-static-stdlib)
}

# The packages that hold the system libraries Swift's own programs lack here, and what is lacking but in no package known.
toolchain_lacks() {
    local bin library
    bin="$(dirname "$(readlink -f "$(command -v swift)")")"
    for library in $(ldd "$bin/swift-frontend" "$bin/swift-package" 2>/dev/null | awk '/not found/ { print $1 }' | sort -u); do
        case "$library" in
            libncurses.so.6) echo libncurses6 ;;
            libcurl.so.4) [ "$(system_name)" = "debian 12" ] && echo libcurl4 || echo libcurl4t64 ;;
            libxml2.so.2) echo libxml2 ;;
            libsqlite3.so.0) echo libsqlite3-0 ;;
            libedit.so.2) echo libedit2 ;;
            *) echo "$library" ;;
        esac
    done
}

# Whether the toolchain has libFuzzer, with which `swift build --sanitize=fuzzer` links.
has_fuzzer() {
    local lib
    lib="$(dirname "$(readlink -f "$(command -v swift)")")/../lib"
    [ -n "$(find -L "$lib" -name 'libclang_rt.fuzzer*.a' -print -quit 2>/dev/null)" ]
}

# Swift 6.2 takes no manifest of 6.3, but one made for it that lies beside it. The text is the same.
manifest_for() { # VERSION
    local older="$root/Package@swift-6.2.swift"
    is_at_least "$1" 6.3 && return 0
    sed '1s/6\.3/6.2/' "$root/Package.swift" | cmp --quiet - "$older" && return 0
    sed '1s/6\.3/6.2/' "$root/Package.swift" >"$older"
}

# Says so when the compiler is not of the version that the manifest names.
name_swift() { # VERSION
    local manifest
    manifest="$(sed -n '1s/.*swift-tools-version: *\([0-9.]*\).*/\1/p' "$root/Package.swift")"
    case "$1" in
        "$manifest" | "$manifest".*) ;;
        *) echo "Using Swift $1 ($(command -v swift)); the manifest names $manifest." >&2 ;;
    esac
}

need_swift() {
    local folder version lacks=() found=""
    for folder in "" "${SWIFTLY_BIN_DIR:-}" "$HOME/.local/share/swiftly/bin" "$HOME/.swiftly/bin" /opt/swift/usr/bin /usr/local/swift/usr/bin \
        /usr/share/swift/usr/bin /usr/libexec/swift/*/bin; do
        if [ -z "$folder" ]; then
            command -v swift >/dev/null || continue
        else
            [ -x "$folder/swift" ] || continue
            PATH="$folder:$PATH"
        fi
        mapfile -t lacks < <(toolchain_lacks)
        [ ${#lacks[@]} -eq 0 ] || install_missing "${lacks[@]}"
        version="$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9.]*[0-9]\).*/\1/p' | head -n 1)" || true
        [ -n "$version" ] || continue
        if is_at_least "$version" "$swift_minimum"; then
            manifest_for "$version"
            name_swift "$version"
            return 0
        fi
        found="$version"
    done
    if [ -n "$found" ]; then
        fail "The newest Swift toolchain found is $found, but $swift_minimum is needed; install it from https://swift.org/install and run this again."
    fi
    fail "No Swift toolchain was found; install Swift $swift_minimum or newer from https://swift.org/install and run this again."
}

# Prints those of the named packages that are not installed. Looks at the package data base only: a few milliseconds.
missing_packages() {
    dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
        awk -v wanted="$*" '
            $1 == "installed" { have[$2] = 1 }
            END { n = split(wanted, names, " "); for (i = 1; i <= n; i++) if (!(names[i] in have)) print names[i] }'
}

need_packages() {
    local name wanted=()
    for name in "$@"; do
        local -n set="packages_$name"
        wanted+=("${set[@]}")
    done
    if ! command -v dpkg-query >/dev/null; then
        need_libraries
        return 0
    fi
    install_missing "${wanted[@]}"
}

# Where packages are not installed by these scripts: fails when a library that is built against is missing.
need_libraries() {
    local library missing=()
    command -v pkg-config >/dev/null || fail "This is neither Debian nor Ubuntu, so nothing is installed here; please install pkg-config."
    for library in "${build_libraries[@]}"; do pkg-config --exists "$library" || missing+=("$library"); done
    [ ${#missing[@]} -eq 0 ] ||
        fail "This is neither Debian nor Ubuntu, so nothing is installed here; please install the development files of ${missing[*]} (pkg-config's names)."
}

# Installs those of the named packages that are not there, with one word on standard error; fails with one sentence.
install_missing() {
    local missing=() as_root=() log cause
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    is_known_system ||
        fail "Packages are installed only on Debian 12, 13 and testing and on Ubuntu 24.04 (this is $(system_name)); please install: ${missing[*]}"
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            fail "These packages are missing and need root to install (there is no sudo here): ${missing[*]}"
        as_root=(sudo)
        [ -t 0 ] || as_root=(sudo -n)
    fi
    echo "Installing ${missing[*]} …" >&2
    log="$(mktemp)"
    if ! { "${as_root[@]}" apt-get update &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
        cause="$(grep -m 1 -E '^(E:|sudo:)' "$log" || tail -n 1 "$log")"
        rm -f "$log"
        fail "These packages could not be installed: ${missing[*]} (${cause})."
    fi
    rm -f "$log"
}

# The third-party test media: the folder named by PLAYER_MEDIA, else ../shared/media beside the checkout.
media_folder() {
    if [ -n "${PLAYER_MEDIA:-}" ]; then
        printf '%s\n' "$PLAYER_MEDIA"
    elif [ -d "$root/../shared/media" ]; then
        (cd "$root/../shared/media" && pwd -P)
    fi
}

# The Python package that writes time lines, in PLAYER_CACHE (~/.cache/player). No test waits long for the network: without it, or without a build of
# the package for this machine's Python, its test is skipped.
timeline_package() {
    local folder made
    folder="${PLAYER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/player}/opentimelineio"
    if ! PYTHONPATH="$folder" /usr/bin/python3 -c 'import opentimelineio' 2>/dev/null; then
        mkdir -p "${folder%/*}" 2>/dev/null && made="$(mktemp -d "$folder.XXXXXX" 2>/dev/null)" || return 0
        if timeout 60 /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --no-input --retries 1 --timeout 10 --no-deps \
            --only-binary :all: --require-hashes --target "$made" --requirement "$root/scripts/lib/opentimelineio.txt" >/dev/null 2>&1 &&
            PYTHONPATH="$made" /usr/bin/python3 -c 'import opentimelineio' 2>/dev/null; then
            rm -rf "$folder"
            mv -T "$made" "$folder"
        else
            rm -rf "$made"
            return 0
        fi
    fi
    printf '%s\n' "$folder"
}

# The system's, else the one of its package, which is not installed: that would serve on this machine from then on.
web_server() {
    local folder made
    folder="${PLAYER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/player}/nginx"
    if [ -x /usr/sbin/nginx ]; then
        echo /usr/sbin/nginx
        return
    fi
    if [ ! -x "$folder/usr/sbin/nginx" ]; then
        mkdir -p "${folder%/*}" 2>/dev/null && made="$(mktemp -d "$folder.XXXXXX" 2>/dev/null)" || return 0
        if (cd "$made" && apt-get download nginx && dpkg-deb -x nginx_*.deb . && rm nginx_*.deb && usr/sbin/nginx -v) >/dev/null 2>&1; then
            rm -rf "$folder"
            mv -T "$made" "$folder"
        else
            rm -rf "$made"
            return 0
        fi
    fi
    printf '%s\n' "$folder/usr/sbin/nginx"
}

# The compiler's caches of modules hold absolute paths. In a checkout that was copied or moved together with its build they make every
# build fail ("missing required module 'SwiftShims'"), so they are removed there; the build makes them anew.
drop_moved_module_caches() { # SCRATCH
    local manifest
    for manifest in "$1"/debug.yaml "$1"/release.yaml; do
        [ -e "$manifest" ] || continue
        ! grep --quiet --fixed-strings "\"$(readlink -f "$1")/" "$manifest" || continue
        rm -rf "$1"/*/*/ModuleCache "$1"/ModuleCache
        rm -f "$manifest"
    done
}

# What others import of a whole module the compiler makes in a process of its own unless it is told not to. That process checks all types once more,
# and the package manager waits for it before it builds what depends on the module.
one_process=(-Xswiftc -no-emit-module-separately-wmo)

# For release, where the package manager asks for whole modules by itself.
# shellcheck disable=SC2034
release_arguments=(--configuration release "${one_process[@]}")

# For other builds of which nothing is changed by hand: whole modules take three quarters of the processor time that compiling file by file takes.
# The package manager expects an object of each file, which the compiler writes then only where it is told of threads.
# shellcheck disable=SC2034
whole_modules=(-Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 1 "${one_process[@]}")

build_quietly() {
    local log scratch="$root/.build" word previous=""
    for word in "$@"; do
        [ "$previous" != --scratch-path ] || scratch="$(cd "$root" && readlink -m "$word")"
        previous="$word"
    done
    drop_moved_module_caches "$scratch"
    # The archiver adds to what is there: members of files that have moved to another module would stay.
    rm -f "$scratch"/*/*/libscanout-c.a
    log="$(mktemp)"
    if ! (cd "$root" && swift build "$@") >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        fail "The build failed; the compiler's words are above." 70
    fi
    rm -f "$log"
}
