#!/bin/sh
# Builds the library by `rustc` alone: build.sh OUT.so
set -eu
here=$(dirname "$0")
exec "${RUSTC:-rustc}" --edition 2024 --crate-type cdylib --crate-name holdpoint_record \
    -C opt-level=3 -C codegen-units=1 -C lto=fat -C strip=symbols -o "$1" "$here/src/lib.rs"
