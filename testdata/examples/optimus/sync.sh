#!/bin/sh
# sync.sh CHECKOUT: the client of Optimus itself, from a checkout of github.com/raystack/optimus,
# fetches what this program installed for its server, as "optimus plugin sync" does. Only the
# plugin commands are built: they are the client's own, and need few modules.
set -eu
checkout=${1:?a checkout of github.com/raystack/optimus}
here=$(cd "$(dirname "$0")" && pwd)
operator=${OPERATOR:-kubectl-operator} # the program to try
port=${PORT:-9123}
work=$(mktemp -d)
trap 'test -z "${server:-}" || kill "$server"; rm -rf "$work"' EXIT

mkdir "$work/source" "$work/server" "$work/client" "$work/served"
cp -r "$checkout/." "$work/source"
mkdir "$work/source/synconly"
cp "$here/main.go.txt" "$work/source/synconly/main.go"
(cd "$work/source" && CGO_ENABLED=0 GOFLAGS=-mod=mod go build -buildvcs=false -o "$work/optimus-plugin" ./synconly)

cp "$here/config.yaml" "$here/optimus-plugin-echo.yaml" "$work/server"
(cd "$work/server" && "$operator" plugin install -c config.yaml --location .plugins --yes)
ln -s ../server/yaml-plugins.zip "$work/served/plugins" # the path that its clients fetch
python3 -m http.server --bind 127.0.0.1 --directory "$work/served" "$port" 2>/dev/null &
server=$!

printf 'version: 1\nlog: {level: info}\nhost: localhost:%s\nproject: {name: sample}\n' "$port" > "$work/client/optimus.yaml"
cd "$work/client"
tries=0
until curl -fsS -o /dev/null "http://localhost:$port/plugins" 2>/dev/null; do
  tries=$((tries + 1))
  test "$tries" -lt 50 || { echo "sync.sh: nothing serves port $port" >&2; exit 1; }
  sleep 0.1
done
"$work/optimus-plugin" sync -c optimus.yaml
cmp .plugins/optimus-plugin-echo.yaml ../server/.plugins/optimus-plugin-echo.yaml
"$work/optimus-plugin" validate --path .plugins
echo "sync.sh: the client has what was installed for its server"
