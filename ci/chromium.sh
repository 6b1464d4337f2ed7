#!/usr/bin/env bash
# Debian's Chromium for the tests of the pages, installed where it is missing: as root, and
# without asking. Playwright brings its driver with its wheel. It needs no more than a browser
# that starts, and letters as wide as where the pages were looked at. On a machine that is no
# Debian, or for somebody who is not root, one line says what is missing. The tests are then
# skipped; on Debian they fail instead where CI is set (tests/needed.py).
set -euo pipefail

chromium=${1:-/usr/bin/chromium}
packages=(chromium fonts-dejavu-core fonts-liberation)

starts() { "$chromium" --version > /dev/null 2>&1; }
has_font() { fc-list "$1" 2> /dev/null | grep -q .; }

if starts && has_font "DejaVu Sans" && has_font "Liberation Sans"; then exit 0; fi
if [ "$(id -u)" != 0 ] || ! grep -qsx "ID=debian" /etc/os-release; then
  if ! starts; then
    echo "no $chromium: tests/browser is skipped; on Debian: apt-get install ${packages[*]}" >&2
  fi
  exit 0
fi
echo "installing ${packages[*]} for tests/browser" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq || true # of lists that cannot be had, the install tells
apt-get install -qq --yes --no-install-recommends "${packages[@]}" > /dev/null
if ! starts; then
  echo "$chromium is installed, and does not start" >&2
  exit 1
fi
