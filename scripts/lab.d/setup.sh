# shellcheck shell=bash disable=SC2154,SC2016
# Makes the lab: a small Debian with compositors, its kernel, vkms built for it, and the initrd. Sourced by scripts/lab.
#
# Each step runs again when its key changes: a key names everything that its step depends on. The first key covers this file, so a
# changed list of packages makes the lab from nothing, and a package that is in no list is in no lab. The log is setup.log in the cache.
# Nothing outside the cache is changed except for the packages named in lab_host_tools.

suite=forky # has a kernel of this year, wlroots 0.20, weston 16, KWin 6.7, mutter 50 and a Mesa that imports DMA-BUFs in software
tree="$cache/root"

packages_guest="weston sway mutter kwin-wayland seatd udev dbus grim wayland-utils drm-info libgl1-mesa-dri libegl1 libgles2 mesa-vulkan-drivers strace kmod
    qemu-system-x86 zstd iproute2 gstreamer1.0-tools gstreamer1.0-plugins-bad libgtk-4-dev vulkan-validationlayers"
packages_module="gcc make libc6-dev linux-headers-amd64 linux-source"
# What the initrd loads, and what tests may load.
modules_boot="virtio_pci virtio_console 9pnet_virtio 9p overlay configfs virtio_gpu vkms evdev virtio_input virtio_net"
modules_more="vgem vivid vhci-hcd uvcvideo uinput snd-aloop snd-dummy sch_netem"

lab_setup() {
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "Making the lab needs root, and there is no sudo here."
        exec sudo env "PLAYER_LAB_CACHE=$cache" "http_proxy=${http_proxy:-}" "https_proxy=${https_proxy:-}" "$root/scripts/lab" setup
    fi
    mkdir -p "$cache/stamps"
    exec 9>"$cache/lock"
    flock --nonblock 9 || fail "Another scripts/lab setup works in $cache."
    log="$cache/setup.log"
    : >>"$log"
    # The machine's programs run in the lab with their own libraries; its seatd must fit their libseat.
    need_packages runtime
    lab_host_tools >>"$log" 2>&1 || fail "The tools that make the lab could not be installed; see $log."
    lab_step base "$suite $(lab_key <"$lab/setup.sh")" lab_base
    lab_step packages "$(cat "$cache/stamps/base")" lab_packages
    lab_step seatd "$(lab_seatd_version) $(cat "$cache/stamps/base")" lab_seatd
    lab_step kernel "$(lab_kernel_version) $(cat "$cache/stamps/base")" lab_kernel
    lab_step vkms "$(cat "$cache/stamps/kernel") $(cat "$lab"/vkms-lab*.c | lab_key)" lab_vkms
    lab_step initrd "$(cat "$cache/stamps/vkms") $(find "$lab/guest" -type f -print0 | sort -z | xargs -0 cat | lab_key) $modules_boot $modules_more" lab_initrd
    lab_step smoke-test "$(lab_key <"$cache/initrd.gz")" lab_smoke_test
    echo "The lab is ready in $cache: kernel $(lab_kernel_version), $(awk '
        $1 ~ /^(weston|sway|mutter|kwin-wayland|mesa-libgallium(:amd64)?|qemu-system-x86)$/ { printf "%s %s, ", $1, $2 }' "$cache/versions.txt"
    )$(du --summarize --human-readable "$cache" | cut -f 1)."
}

lab_key() { md5sum | cut -c 1-12; }

lab_step() { # NAME KEY FUNCTION
    local name="$1" key="$2" began=$SECONDS status=0
    [ "$(cat "$cache/stamps/$name" 2>/dev/null)" != "$key" ] || return 0
    # A shell of its own, since "if" would switch off set -e inside the function.
    ( "$3" ) >>"$log" 2>&1 9>&- & wait $! || status=$?
    if [ "$status" -ne 0 ]; then
        echo "The end of $log:" >&2
        tail -n 15 "$log" >&2
        fail "The step $name failed."
    fi
    echo "$key" >"$cache/stamps/$name"
    printf '%-11s %3d s\n' "$name" $((SECONDS - began))
}

# Runs a command in the lab's own file system.
lab_in_root() {
    # shellcheck disable=SC2016
    unshare --mount bash -c '
        mount --make-rprivate /
        mount -t proc proc "$0/proc"
        mount --rbind /dev "$0/dev"
        cp --dereference /etc/resolv.conf "$0/etc/resolv.conf" 2>/dev/null
        exec chroot "$0" env --ignore-environment PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive http_proxy="$http_proxy" https_proxy="$https_proxy" "$@"' "$tree" "$@"
}
export http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}"

lab_host_tools() {
    local wanted=(debootstrap cpio busybox-static xz-utils zstd kmod binutils gpgv debian-archive-keyring) missing
    mapfile -t missing < <(missing_packages "${wanted[@]}")
    [ ${#missing[@]} -eq 0 ] || { apt-get update -q && apt-get install -yq --no-install-recommends "${missing[@]}"; }
}

# This machine's own Debian mirror, from sources of either style; else the one everybody has.
lab_mirror() {
    local mirror
    [ "$(. /etc/os-release && echo "$ID")" = debian ] || { echo http://deb.debian.org/debian; return; }
    mirror="$(cat /etc/apt/sources.list.d/*.sources 2>/dev/null | awk '/^URIs:/ { for (i = 2; i <= NF; i++) if ($i !~ /security/) print $i }' | head -n 1)"
    [ -n "$mirror" ] || mirror="$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^https?:/ && $i !~ /security/) print $i }' | head -n 1)"
    echo "${mirror:-http://deb.debian.org/debian}"
}

lab_base() {
    rm -rf --one-file-system "$tree" "$tree.new"
    debootstrap --variant=minbase --include=ca-certificates --keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
        "$suite" "$tree.new" "$(lab_mirror)" /usr/share/debootstrap/scripts/sid
    cat >"$tree.new/etc/apt/apt.conf.d/90lab" <<'END'
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
DPkg::Options {"--force-unsafe-io";};
END
    printf 'path-exclude=/usr/share/%s/*\n' doc man locale help >"$tree.new/etc/dpkg/dpkg.cfg.d/90lab"
    printf '#!/bin/sh\nexit 101\n' >"$tree.new/usr/sbin/policy-rc.d"
    chmod +x "$tree.new/usr/sbin/policy-rc.d"
    mv "$tree.new" "$tree"
}

lab_packages() {
    lab_in_root apt-get update -q
    # shellcheck disable=SC2086
    lab_in_root apt-get install -yq $packages_guest $packages_module
    lab_in_root apt-get clean
    lab_in_root dpkg-query --show --showformat '${Package} ${Version}\n' >"$cache/versions.txt"
}

# The host's programs speak to a seatd of their own libseat's version: another's answers stop the old library. Taken out of its package,
# since installed it would run on the host.
lab_seatd_version() { dpkg-query --show --showformat '${Version}' libseat1 2>/dev/null || echo none; }

lab_seatd() {
    local folder version
    version="$(lab_seatd_version)"
    [ "$version" != none ] || { echo "libseat1 is not installed"; return 1; }
    folder="$(mktemp -d)"
    (cd "$folder" && { apt-get download -q "seatd=$version" || { apt-get update -q && apt-get download -q "seatd=$version"; }; })
    dpkg --fsys-tarfile "$folder"/seatd_*.deb | tar --extract --to-stdout --wildcards '*/sbin/seatd' >"$tree/usr/local/sbin/host-seatd"
    chmod +x "$tree/usr/local/sbin/host-seatd"
    rm -rf "$folder"
}

lab_kernel_version() {
    find "$tree/usr/src" -maxdepth 1 -name 'linux-headers-*-amd64' -printf '%f\n' | sed 's/^linux-headers-//' | sort -V | tail -n 1
}

# Debian's kernel, unpacked and not installed: the image, uncompressed (which boots 2 s sooner), and all its modules.
lab_kernel() {
    local version image sectors offset length
    version="$(lab_kernel_version)"
    rm -rf "$tree/kernel" "$tree/root/packages"
    mkdir -p "$tree/kernel" "$tree/root/packages"
    # From 7.x on, image and modules are packages of their own.
    lab_in_root sh -ec "
        cd /root/packages
        apt-get download -q linux-binary-$version linux-modules-$version linux-base-$version || apt-get download -q linux-image-$version
        for package in *.deb; do dpkg -x \$package /kernel; done
        rm -rf /root/packages"
    if [ ! -d "$tree/kernel/usr/lib/modules/$version" ]; then
        mkdir -p "$tree/kernel/usr/lib/modules"
        mv "$tree/kernel/lib/modules/$version" "$tree/kernel/usr/lib/modules/"
    fi
    image="$(find "$tree/kernel" -name 'vmlinuz*' -type f -print -quit)"
    cp "$image" "$cache/vmlinuz"
    # The payload of a bzImage: Documentation/arch/x86/boot.rst, setup_sects, payload_offset and payload_length.
    sectors="$(od -An -tu1 -j 497 -N 1 "$image" | tr -d ' ')"
    offset=$(((sectors + 1) * 512 + $(od -An -tu4 -j 584 -N 4 "$image" | tr -d ' ')))
    length="$(od -An -tu4 -j 588 -N 4 "$image" | tr -d ' ')"
    dd if="$image" of="$cache/payload" bs=64K iflag=skip_bytes,count_bytes skip="$offset" count=$((length - 4)) status=none
    zstd -dcq "$cache/payload" >"$cache/vmlinux" || xz -dc "$cache/payload" >"$cache/vmlinux" || gzip -dc "$cache/payload" >"$cache/vmlinux" ||
        rm -f "$cache/vmlinux"
    rm -f "$cache/payload"
}

# Not in Debian's kernels. Three changes: DRM sync objects, so that compositors offer explicit synchronisation on it, and what vkms-lab.c and
# vkms-lab-lock.c say.
lab_vkms() {
    local version source
    version="$(lab_kernel_version)"
    source="$(find "$tree/usr/src" -name 'linux-source-*.tar.xz' | sort -V | tail -n 1)"
    rm -rf "$tree/root/vkms"
    mkdir "$tree/root/vkms"
    cp "$lab"/vkms-lab*.c "$tree/root/vkms"
    lab_in_root sh -ec "
        tar -xJf ${source#"$tree"} -C /root/vkms --strip-components=1 --wildcards '*/drivers/gpu/drm/vkms/*'
        cd /root/vkms/drivers/gpu/drm/vkms
        sed -i 's/DRIVER_MODESET | DRIVER_ATOMIC | DRIVER_GEM/& | DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE/' vkms_drv.c
        grep -q DRIVER_SYNCOBJ_TIMELINE vkms_drv.c
        sed -i -e '/^static enum drm_connector_status vkms_connector_detect/i #include \"/root/vkms/vkms-lab.c\"' \\
            -e 's/status = vkms_config_connector_get_status(connector_cfg)/status = lab_status(connector, connector_cfg)/' \\
            -e '/Use the default modes list/i count = lab_modes(connector); if (count) return count;' \\
            -e '/drm_connector_helper_add(&connector->base/a lab_attach(vkmsdev, &connector->base);' vkms_connector.c
        test \$(grep -cE 'vkms-lab.c|lab_status|lab_modes|lab_attach' vkms_connector.c) = 4
        sed -i -e '/^static void vkms_crtc_atomic_begin/i #include \"/root/vkms/vkms-lab-lock.c\"' \\
            -e 's/spin_lock_irq(&vkms_output->lock)/lab_lock(\&vkms_output->lock)/' \\
            -e 's/spin_unlock_irq(&vkms_output->lock)/lab_unlock(\&vkms_output->lock)/' vkms_crtc.c
        test \$(grep -cE 'vkms-lab-lock.c|lab_lock|lab_unlock' vkms_crtc.c) = 3
        make -j$(nproc) -C /usr/src/linux-headers-$version M=\$PWD CONFIG_DRM_VKMS=m CONFIG_DEBUG_INFO_BTF_MODULES= modules
        strip --strip-debug vkms.ko
        cp vkms.ko /kernel/usr/lib/modules/$version/kernel/drivers/gpu/drm/
        rm -rf /root/vkms"
}

# The files of modules and of those they need, in the order of loading.
lab_module_files() { # FOLDER VERSION MODULE…
    local folder="$1" version="$2" module
    shift 2
    for module in "$@"; do
        modprobe --dirname "$folder" --set-version "$version" --show-depends "$module" | awk '$1 == "insmod" { print $2 }'
    done | awk '!seen[$0]++'
}

# The initrd with the modules needed at boot and the guest's scripts, and a folder of modules that tests may load.
lab_initrd() {
    local version all kept new file target
    version="$(lab_kernel_version)" all="$tree/kernel/usr/lib/modules" kept="$cache/modules/lib/modules/$version"
    new="$(mktemp -d)"
    mkdir -p "$new/all/lib" "$new/image/bin" "$new/image/modules"
    ln -s "$all" "$new/all/lib/modules"
    depmod --basedir "$new/all" "$version"
    rm -rf "$cache/modules"
    # shellcheck disable=SC2086
    lab_module_files "$new/all" "$version" $modules_boot >"$new/boot"
    # shellcheck disable=SC2086
    lab_module_files "$new/all" "$version" $modules_boot $modules_more >"$new/every"
    while read -r file; do
        target="$kept/${file#"$new/all/lib/modules/$version/"}"
        target="${target%.xz}"
        mkdir -p "$(dirname "$target")"
        case "$file" in
            *.xz) xz -dc "$file" >"$target" ;;
            *) cp "$file" "$target" ;;
        esac
        if grep -qxF "$file" "$new/boot"; then
            cp "$target" "$new/image/modules/"
            basename "$target" >>"$new/image/modules/order"
        fi
    done <"$new/every"
    cp "$all/$version"/modules.builtin* "$all/$version"/modules.order "$kept/"
    depmod --basedir "$cache/modules" "$version"
    cp "$(command -v busybox)" "$new/image/bin/busybox"
    cp -r "$lab/guest" "$new/image/guest"
    cp "$lab/guest/init" "$new/image/init"
    chmod +x "$new/image/init"
    (cd "$new/image" && find . | cpio --create --format=newc --quiet | gzip -1) >"$cache/initrd.new"
    mv "$cache/initrd.new" "$cache/initrd.gz"
    rm -rf "$new"
}

lab_smoke_test() {
    PLAYER_LAB_CACHE="$cache" "$root/scripts/lab" run --time 60 -- bash -ec '
        test -c "$(lab-card vkms)"
        test -c "$(lab-card virtio)"
        test -c /dev/udmabuf
        test -c /dev/dma_heap/system
        in-lab drm_info "$(lab-card vkms)" | grep -q NV12'
}
