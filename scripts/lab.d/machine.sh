# shellcheck shell=bash disable=SC2154,SC2016
# Starts, uses and stops one virtual machine. Sourced by scripts/lab.
#
# A machine is a folder: pid, console.log, the pipes by which its agent is told what to do, and out/, which is /out in the guest.
# Uses what scripts/lab has set: cache, memory, cpus, boot, extra, verbose; for a command limit, fresh, guest_root, compositor, variables.

machine_is_up() { # FOLDER
    local pid
    pid="$(cat "$1/pid" 2>/dev/null)" && [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null
}

# Boots and waits until the agent in the guest is ready: five minutes, which only a hang takes, however busy the machine.
machine_start() { # FOLDER
    local folder="$1" tree="$cache/root" line="" began=$SECONDS kernel="$cache/vmlinux"
    if [ ! -s "$cache/initrd.gz" ]; then
        echo "lab: there is no lab in $cache; make it with scripts/lab setup." >&2
        return 1
    fi
    [ -s "$kernel" ] || kernel="$cache/vmlinuz"
    mkdir -p "$folder/out/.lab"
    rm -f "$folder"/control.in "$folder"/control.out "$folder/console.log"
    mkfifo "$folder/control.in" "$folder/control.out"
    exec 7<>"$folder/control.in" 8<>"$folder/control.out"
    # The lab's own QEMU: 7.2 of Debian 12 panics in one boot of eight with two processors.
    # The guest's clock is the HPET, which QEMU takes from the host's monotonic clock. The TSC is the host's processors' own: where two of them are
    # apart, as in a machine that was resumed from a snapshot, QEMU adds the difference whenever the guest reads one after the other.
    QEMU_MODULE_DIR="$tree/usr/lib/x86_64-linux-gnu/qemu" setsid \
        "$tree/lib64/ld-linux-x86-64.so.2" --library-path "$tree/usr/lib/x86_64-linux-gnu" "$tree/usr/bin/qemu-system-x86_64" \
        -L "$tree/usr/share/qemu" -L "$tree/usr/share/seabios" -L "$tree/usr/lib/ipxe/qemu" \
        -name player-lab -machine q35 -accel tcg,thread=multi,tb-size=512 -cpu max -smp "$cpus" -m "$memory" \
        -nodefaults -no-user-config -display none -no-reboot -vga none \
        -chardev "file,id=console,path=$folder/console.log" -serial chardev:console \
        -device virtio-serial-pci -chardev "pipe,id=control,path=$folder/control" -device virtserialport,chardev=control,name=lab.control \
        -chardev "socket,id=monitor,path=$folder/monitor.sock,server=on,wait=off" -mon chardev=monitor,mode=control \
        -chardev "socket,id=monitor-guest,path=$folder/monitor.sock" -device virtserialport,chardev=monitor-guest,name=lab.monitor \
        -netdev user,id=net0 -device virtio-net-pci,netdev=net0,romfile= \
        -device virtio-gpu-pci,id=vgpu0,xres=1280,yres=720 -device virtio-keyboard-pci -device virtio-tablet-pci -device virtio-rng-pci \
        -virtfs local,path=/,mount_tag=hostroot,security_model=passthrough,readonly=on,multidevs=remap \
        -virtfs "local,path=$folder/out,mount_tag=out,security_model=none,multidevs=remap" \
        -kernel "$kernel" -initrd "$cache/initrd.gz" \
        -append "console=ttyS0 quiet loglevel=4 panic=-1 softlockup_panic=1 watchdog_thresh=60 mitigations=off nokaslr audit=0 random.trust_cpu=on tsc=unstable clocksource=hpet lab.out=$folder/out lab.cache=$cache $boot" \
        "${extra[@]}" </dev/null >"$folder/qemu.log" 2>&1 7>&- 8>&- &
    echo $! >"$folder/pid"
    if ! read -r -t 300 -u 8 line || [ "${line%% *}" != ready ]; then
        echo "lab: the machine did not come up; the end of its console:" >&2
        tail -n 25 "$folder/console.log" "$folder/qemu.log" >&2 || true
        machine_stop "$folder" hard
        return 1
    fi
    disown -a
    [ -z "$verbose" ] || echo "lab: up after $((SECONDS - began)) s" >&2
}

machine_stop() { # FOLDER [hard]: switched off, or killed at once
    local folder="$1" pid tries
    pid="$(cat "$folder/pid" 2>/dev/null)" || return 0
    if [ "${2:-}" != hard ] && kill -0 "$pid" 2>/dev/null; then
        timeout 1 bash -c 'echo "off 0" >"$1"' - "$folder/control.in" || true
        for ((tries = 0; tries < 40; tries++)); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
    fi
    kill -KILL "$pid" 2>/dev/null || true
    rm -f "$folder/pid"
}

# Runs one command in the guest; its output is ours, its exit code the result.
machine_run() { # FOLDER COMMAND…
    local folder="$1" name job end code="" reader
    shift
    name="$(date +%s%N)$$" job="$folder/out/.lab/$name"
    mkdir -p "$job"
    : >"$job/log"
    { printf '%q ' "$@"; echo; } >"$job/command"
    pwd >"$job/folder"
    echo "$guest_root" >"$job/root"
    echo "$limit" >"$job/limit"
    echo "$compositor" >"$job/compositor"
    [ -z "$fresh" ] || : >"$job/fresh"
    local variable
    for variable in "${variables[@]}"; do
        printf 'export %s=%q\n' "${variable%%=*}" "${variable#*=}"
    done >"$job/environment"
    exec 7<>"$folder/control.in"
    echo "run $name" >&7
    tail --lines=+1 --sleep-interval=0.05 --follow "$job/log" &
    reader=$!
    # The guest keeps the limit itself; a guest that says nothing for another minute hangs.
    end=$((SECONDS + limit + 60))
    while [ ! -s "$job/code" ]; do
        if ! machine_is_up "$folder"; then
            code=126
            echo "lab: the machine died; the end of its console:" >&2
        elif [ "$SECONDS" -ge "$end" ]; then
            code=126
            echo "lab: the machine hangs and is killed; the end of its console:" >&2
            machine_stop "$folder" hard
        fi
        if [ -n "$code" ]; then
            tail -n 80 "$folder/console.log" >&2
            break
        fi
        sleep 0.05
    done
    [ -n "$code" ] || code="$(cat "$job/code")"
    sleep 0.15 # the reader is behind by at most a twentieth of a second
    kill "$reader" 2>/dev/null || true
    wait "$reader" 2>/dev/null || true
    rm -rf "$job"
    return "$code"
}
