#!/usr/bin/env bash
# Installs a released kubectl-operator for the runner's system. Nothing is unpacked before
# its checksum is that of the release, and nothing is installed before it has run.
set -euo pipefail

fail() { echo "::error::set up kubectl-operator: $1" >&2; exit 1; }
for program in curl tar; do
  command -v "$program" >/dev/null || fail "$program is not on the PATH; install it in an earlier step"
done
sha256() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1; }

case ${RUNNER_OS:-$(uname -s)} in
Linux) os=linux suffix=tar.gz program=kubectl-operator ;;
macOS | Darwin) os=darwin suffix=tar.gz program=kubectl-operator ;;
Windows | MINGW* | MSYS*) os=windows suffix=zip program=kubectl-operator.exe ;;
*) fail "no release is for ${RUNNER_OS:-$(uname -s)}" ;;
esac
case ${RUNNER_ARCH:-$(uname -m)} in
X64 | x86_64 | amd64) arch=amd64 ;;
ARM64 | aarch64 | arm64) arch=arm64 ;;
*) fail "no release is for ${RUNNER_ARCH:-$(uname -m)}" ;;
esac
case $VERSION in
latest) from=$RELEASES/latest/download ;;
v[0-9]*) from=$RELEASES/download/$VERSION ;;
*) fail "version $VERSION: want a release such as v1.2.3, or latest" ;;
esac

directory=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/kubectl-operator.XXXXXX")
fetch() {
  curl --fail --silent --show-error --location --retry 3 --max-time 600 --output "$directory/$1" "$from/$1" ||
    fail "$from/$1 cannot be read"
}
fetch checksums.txt
if [[ -n ${CHECKSUMS:-} ]]; then
  got=$(sha256 "$directory/checksums.txt")
  [[ ${CHECKSUMS#sha256:} == "$got" ]] || fail "checksums.txt is sha256:$got, and the input checksums says $CHECKSUMS"
fi
if [[ $SIGNATURE == true ]] || { [[ $SIGNATURE == auto ]] && command -v cosign >/dev/null; }; then
  command -v cosign >/dev/null || fail 'cosign is not on the PATH; run sigstore/cosign-installer in an earlier step'
  fetch checksums.txt.sigstore.json
  cosign verify-blob "$directory/checksums.txt" --bundle "$directory/checksums.txt.sigstore.json" \
    --certificate-oidc-issuer https://token.actions.githubusercontent.com \
    --certificate-identity-regexp '^https://github\.com/kubectl-operator/kubectl-operator/\.github/workflows/release\.yml@refs/tags/v' ||
    fail 'the signature of checksums.txt is not that of the release workflow'
fi

line=$(grep -E "^[0-9a-f]{64}  kubectl-operator_[0-9A-Za-z.+-]+_${os}_${arch}\.$suffix\$" "$directory/checksums.txt") ||
  fail "$from has no archive for $os/$arch"
[[ $(wc -l <<<"$line") -eq 1 ]] || fail "$from has several archives for $os/$arch"
archive=${line#*  }
fetch "$archive"
got=$(sha256 "$directory/$archive")
[[ $got == "${line%% *}" ]] || fail "$archive is sha256:$got, and checksums.txt says ${line%% *}"

mkdir "$directory/unpacked" "$directory/bin"
if [[ $suffix == zip ]]; then
  unzip -q "$directory/$archive" -d "$directory/unpacked"
else
  tar -xzf "$directory/$archive" -C "$directory/unpacked"
fi
cp "$directory/unpacked/$program" "$directory/bin/"
if [[ -e $directory/unpacked/kubectl_complete-operator ]]; then cp "$directory/unpacked/kubectl_complete-operator" "$directory/bin/"; fi
version=$("$directory/bin/$program" version </dev/null) || fail "$archive holds a program that does not run here"
echo "$version"
echo "$directory/bin" >>"$GITHUB_PATH"
{
  echo "version=$(cut -d ' ' -f 2 <<<"$version")"
  echo "path=$directory/bin/$program"
} >>"$GITHUB_OUTPUT"
