#!/bin/sh
# Installs @COMMAND@ @VERSION@ into ~/.local/bin (or $PREFIX/bin) and connects it. Arguments are passed on to
# `@COMMAND@ install`. Nothing is installed unless the download has the checksum that stands here.
set -eu

base=${CLAUDE_MEM_DOWNLOAD_URL:-@BASE_URL@}
bin=${PREFIX:-$HOME/.local}/bin

fail() {
  echo "install: $1" >&2
  exit 1
}

case "$(uname -s)-$(uname -m)" in
@CASES@
  *) fail "there is no package for $(uname -s) on $(uname -m)" ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if command -v curl > /dev/null; then
  curl --fail --silent --show-error --location --output "$scratch/$file" "$base/$file" || fail "cannot download $base/$file"
elif command -v wget > /dev/null; then
  wget --quiet --output-document="$scratch/$file" "$base/$file" || fail "cannot download $base/$file"
else
  fail "curl or wget is needed"
fi

if command -v sha256sum > /dev/null; then
  got=$(sha256sum "$scratch/$file" | cut -d ' ' -f 1)
else
  got=$(shasum -a 256 "$scratch/$file" | cut -d ' ' -f 1)
fi
[ "$got" = "$sum" ] || fail "checksum mismatch: $file has $got instead of $sum; nothing was installed"

tar -xzf "$scratch/$file" -C "$scratch"
mkdir -p "$bin"
# Under a temporary name first: a hook that starts meanwhile finds the old or the new file, complete.
cp "$scratch/${file%.tar.gz}/@COMMAND@" "$bin/.@COMMAND@.$$"
mv -f "$bin/.@COMMAND@.$$" "$bin/@COMMAND@"
echo "installed $bin/@COMMAND@"
"$bin/@COMMAND@" install "$@"
