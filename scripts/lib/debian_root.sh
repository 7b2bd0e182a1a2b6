# shellcheck shell=bash disable=SC2154,SC2034
# Bare systems of other Debian releases, in folders below PLAYER_CACHE: to build packages in, and to try them. Sourced by scripts/package, as root.
#
# Uses cache and root of its caller.

debian_root_of() { echo "$cache/debian-$1-$2/root"; } # RELEASE NAME

# Makes the system once; again when the list of its packages has changed.
debian_make() ( # RELEASE NAME PACKAGE…
    local release="$1" place wanted
    place="$(dirname "$(debian_root_of "$1" "$2")")"
    shift 2
    wanted=("$@") lab="$root/scripts/lab.d" cache="$place"
    # shellcheck source=scripts/lab.d/setup.sh
    source "$lab/setup.sh"
    suite="$release" tree="$place/root" log="$place/setup.log"
    mkdir -p "$place/stamps"
    install_wanted() {
        lab_in_root apt-get update -q
        [ ${#wanted[@]} -eq 0 ] || lab_in_root apt-get install -yq "${wanted[@]}"
        lab_in_root apt-get clean
    }
    lab_host_tools >>"$log" 2>&1 || fail "The tools that make a Debian could not be installed; see $log."
    lab_step base "$suite" lab_base
    lab_step packages "$suite ${wanted[*]}" install_wanted
)

# The folder of this machine's compiler.
toolchain_folder() { (cd "$(dirname "$(readlink -f "$(command -v swift)")")/../.." && pwd -P); }

# Runs a command in such a system, with these folders of this one under their own paths.
debian_run() { # TREE FOLDER… -- COMMAND…
    local tree="$1" places=()
    shift
    while [ "$1" != -- ]; do
        places+=("$1")
        mkdir -p "$tree$1"
        shift
    done
    # shellcheck disable=SC2016
    unshare --mount bash -ec '
        mount --make-rprivate /
        tree="$1"
        shift
        while [ "$1" != -- ]; do
            mount --rbind "$1" "$tree$1"
            shift
        done
        shift
        mount -t proc proc "$tree/proc"
        mount -t tmpfs tmpfs "$tree/run"
        mount --rbind /dev "$tree/dev"
        cp --dereference /etc/resolv.conf "$tree/etc/resolv.conf" 2>/dev/null || true
        exec chroot "$tree" env --ignore-environment PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
            http_proxy="$http_proxy" https_proxy="$https_proxy" "$@"' - "$tree" "${places[@]}" "$@"
}

# Shows packages to lintian, installs them in a bare system of the release, and uses them there as a stranger would.
check_packages() { # RELEASE DIR PACKAGE…
    local release="$1" folder="$2/check" tree
    shift 2
    install_missing lintian desktop-file-utils
    desktop-file-validate "$root/contrib/desktop/scanout.desktop" || fail "The entry of the desktop's menu is wrong, see above." 70
    # That no bug of Debian's asks for the package is the only complaint to expect of one that was never uploaded.
    lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs --tag-display-limit 0 "$@" || fail "lintian complains, see above." 70
    mkdir -p "$folder"
    cp "$@" "$root/assets/demo.mp4" "$root/README.md" "$root/scripts/lib/check-package" "$folder/"
    debian_make "$release" bare
    tree="$(debian_root_of "$release" bare)"
    debian_run "$tree" "$folder" -- bash "$folder/check-package" "$folder" || fail "The packages do not work in a bare $release, see above." 70
    echo "The packages work in a bare $release."
}
