#!/bin/sh
# Installs what is missing (Debian, Ubuntu): nothing is asked and nothing is printed when all is
# there.
#   install_packages.sh build | test | all
set -eu

build="g++ make cmake ninja-build ccache libcli11-dev libfmt-dev libsqlite3-dev libzstd-dev libpq-dev libutf8proc-dev libcurl4-openssl-dev"
test="$build libgtest-dev librapidcheck-dev libbenchmark-dev libsimdjson-dev postgresql python3"
all="$test clang lld libclang-rt-dev clang-format pkg-config git"

case "${1:-all}" in
  build) wanted=$build ;;
  test) wanted=$test ;;
  all) wanted=$all ;;
  *) echo "usage: $0 build|test|all" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "not a Debian system: taking it that these are installed: $wanted" >&2
  exit 0
fi

missing=
for package in $wanted; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo >/dev/null; then
  as_root=sudo
else
  echo "missing packages; install them as root, then try again:" >&2
  echo "  apt-get install$missing" >&2
  exit 1
fi
echo "installing:$missing" >&2

# The tests start servers of their own. Debian's package would make one for the machine, too, and
# start it now and at every boot; it is told not to, for this installation only.
case " $missing " in *" postgresql "*)
  no_cluster=/etc/postgresql-common/createcluster.d/quipu-install.conf
  trap '$as_root rm -f "$no_cluster"' EXIT
  $as_root mkdir -p "${no_cluster%/*}"
  echo "create_main_cluster = false" | $as_root tee "$no_cluster" >/dev/null ;;
esac
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
