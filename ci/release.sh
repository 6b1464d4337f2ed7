#!/usr/bin/env bash
# Build wheel, source archive, SBOM and provenance of the last commit: the same bytes on every machine with the packages of requirements.lock.
# What differs between two machines is set (umask, time zone, locale, times of files) or taken out (owners). docs/ci.md, Releases.
set -euo pipefail
python=${1:?release.sh PYTHON FOLDER} folder=${2:?release.sh PYTHON FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
umask 022
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C PYTHONHASHSEED=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/tree" "$work/built"
commit=$(git rev-parse HEAD)
git -c tar.umask=0022 archive "$commit" | tar -x -C "$work/tree"
"$python" -m build --no-isolation --outdir "$work/built" "$work/tree" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }

# setuptools writes the time, the owner and the order of the folder into the source archive
archive=$(basename "$work/built"/*.tar.gz)
tar -xzf "$work/built/$archive" -C "$work"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=ustar -C "$work" -c "${archive%.tar.gz}" |
  gzip -9 --no-name > "$folder/$archive"
cp "$work/built"/*.whl "$folder"

# what an installed dpassay consists of; the tools of its developers are no part of it
PYTHONWARNINGS=ignore "$python" -m cyclonedx_py requirements "$work/tree/requirements-runtime.lock" --pyproject "$work/tree/pyproject.toml" \
  --output-reproducible --mc-type application --of JSON -o "$folder/${archive%.tar.gz}.cdx.json"
files=("$folder/$archive" "$folder/$(basename "$work/built"/*.whl)" "$folder/${archive%.tar.gz}.cdx.json")
"$python" "$work/tree/ci/provenance.py" "$folder/${archive%.tar.gz}.intoto" "$work/tree" "$commit" "${files[@]}"
ls "$folder"
