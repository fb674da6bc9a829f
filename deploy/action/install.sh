#!/bin/sh
# Installs the program at CARP_URL if its SHA-256 is CARP_SHA256, and puts it on the path of the later steps.
set -eu
to=${RUNNER_TOOL_CACHE:-$HOME/.cache}/carp/$CARP_SHA256
checksum() {
  if command -v sha256sum > /dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}
if [ ! -x "$to/carp" ] || [ "$(checksum "$to/carp")" != "$CARP_SHA256" ]; then
  mkdir -p "$to"
  curl --fail --silent --show-error --location --retry 3 --output "$to/carp.new" "$CARP_URL"
  found=$(checksum "$to/carp.new")
  if [ "$found" != "$CARP_SHA256" ]; then
    rm "$to/carp.new"
    echo "error: $CARP_URL has the checksum $found, and $CARP_SHA256 is wanted" >&2
    exit 1
  fi
  chmod +x "$to/carp.new"
  mv "$to/carp.new" "$to/carp"
fi
echo "$to" >> "$GITHUB_PATH"
echo "program=$to/carp" >> "$GITHUB_OUTPUT"
