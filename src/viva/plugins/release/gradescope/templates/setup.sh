#!/usr/bin/env bash
# Run by Gradescope as root, once, when the image is built. Takes nothing but bash; says clearly what is missing.
set -euo pipefail
umask 022
version=@PYTHON@
uv=@UV@
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=${VIVA_HOME:-/opt/viva}
export DEBIAN_FRONTEND=noninteractive

say() { echo "viva: $*"; }
fail() {
    say "$*" >&2
    exit 1
}

usable() { # a Python of the version that the requirements were pinned for, which can make an environment
    "$1" -c "import sys, venv, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" 2>/dev/null
}

from_deadsnakes() {
    command -v apt-get >/dev/null || return 1
    apt-get update -qq || return 1
    if ! apt-get install -y -qq "python$version" "python$version-venv"; then
        apt-get install -y -qq software-properties-common && add-apt-repository -y ppa:deadsnakes/ppa || return 1
        apt-get update -qq && apt-get install -y -qq "python$version" "python$version-venv" || return 1
    fi
    apt-get clean
    python=python$version
    usable "$python"
}

from_uv() { # into a place that every user may read: the boxes run as users of their own
    command -v curl >/dev/null || return 1
    curl -LsSf "https://astral.sh/uv/$uv/install.sh" |
        env UV_INSTALL_DIR="$home/uv" INSTALLER_NO_MODIFY_PATH=1 sh || return 1
    UV_PYTHON_INSTALL_DIR="$home/python" "$home/uv/uv" python install "$version" || return 1
    python=$(UV_PYTHON_INSTALL_DIR="$home/python" "$home/uv/uv" python find --managed-python "$version") || return 1
    usable "$python"
}

mkdir -p "$home"
python=${VIVA_PYTHON:-python$version}
if ! usable "$python"; then
    say "there is no Python $version here; installing it"
    from_deadsnakes || from_uv || fail "no Python $version could be installed, neither with apt-get (deadsnakes) nor \
with uv. Choose the base image Ubuntu 22.04, or build the image yourself with the Dockerfile in this zip."
fi
say "using $(command -v "$python")"

"$python" -m venv "$home/venv" || fail "the virtual environment $home/venv could not be made"
pip() { "$home/venv/bin/python" -m pip install --no-input --disable-pip-version-check --no-cache-dir --quiet "$@"; }
if [ -d "$source/wheels" ]; then
    pip --no-index --find-links "$source/wheels" -r "$source/requirements.txt" ||
        fail "the wheels in this zip do not fit this image (Python $version, $(uname -m))"
else
    torch=$(grep '^torch==' "$source/requirements.txt" || true)
    if [ -n "$torch" ]; then # the build without CUDA: a tenth of the size
        pip --no-deps --index-url https://download.pytorch.org/whl/cpu "$torch" ||
            say "there is no $torch for CPUs; taking the large one"
    fi
    pip -r "$source/requirements.txt" || fail "the requirements could not be installed; pip says why above"
fi
pip --no-index --no-deps --force-reinstall "$source"/viva_grader-*.whl || fail "viva itself could not be installed"
"$home/venv/bin/python" -m compileall -q "$home/venv/lib" >/dev/null 2>&1 || true

# The key, the hidden tests and the secret are for root alone; the libraries are for the boxes, which are other users.
chown -R "$(id -u):$(id -g)" "$source"
chmod -R u=rwX,go= "$source"
chmod 600 "$source/course/secret"
chmod -R a+rX "$home"
"$home/venv/bin/python" -m compileall -q "$source/course" >/dev/null 2>&1 || true
"$home/venv/bin/python" -I -m viva.plugins.release.gradescope.harness --check --root "$source/../.." ||
    fail "the autograder does not work; see above"
say "done"
