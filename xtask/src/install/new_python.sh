# Unpacks Python 3.14 and all that it links to into the folder $1, without touching the system: Debian's packages of a newer
# release, by an apt that has a state of its own. It runs by its own loader, so by a script that stands in its place.
set -eu
folder=$1
suite=forky
sources=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null || true)
# The machine's own mirror, however it is written down.
mirror=$(printf '%s\n' "$sources" | sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' | grep -m1 '/debian/*$')
state=$folder/apt
mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
: > "$state/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" > "$state/list"
ask() {
  apt-get -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" \
    -o Dir::Etc::sourcelist="$state/list" -o Dir::Etc::sourceparts=/dev/null -o Acquire::Languages=none \
    -o Debug::NoLocking=1 -o Acquire::Retries=2 "$@"
}
ask update
ask install -y --no-install-recommends --download-only python3.14-minimal libpython3.14-stdlib
root=$folder/root
for part in bin sbin lib lib64; do
  mkdir -p "$root/usr/$part"
  ln -sfn "usr/$part" "$root/$part"
done
for package in "$state"/cache/archives/*.deb; do dpkg -x "$package" "$root"; done
rm -rf "$state"
mv "$root/usr/bin/python3.14" "$root/usr/bin/python3.14.bin"
cat > "$root/usr/bin/python3.14" <<'SCRIPT'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
root=$(dirname "$(dirname "$here")")
for loader in "$root"/usr/lib64/ld-linux-*.so.* "$root"/usr/lib/ld-linux-*.so.*; do [ -f "$loader" ] && break; done
exec "$loader" --argv0 "$0" --library-path "$(echo "$root"/usr/lib/*-linux-gnu)" "$here/python3.14.bin" "$@"
SCRIPT
chmod +x "$root/usr/bin/python3.14"
"$root/usr/bin/python3.14" -c 'import sys, subprocess, ssl, ctypes; assert sys.monitoring and sys.executable'
