#!/usr/bin/env bash
# Makes the environment that the course is graded in. Runs once, when Gradescope builds its image.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
autograder=$(dirname "$here")
python=$(command -v python3.11 || true)
if ! command -v bwrap >/dev/null || [ -z "$python" ]; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq bubblewrap python3.11 python3.11-venv
    python=$(command -v python3.11)
fi
[ -x "$autograder/env/bin/python" ] || "$python" -m venv "$autograder/env"
pip=("$autograder/env/bin/python" -m pip install --quiet --disable-pip-version-check)
# without what only a GPU needs
"${pip[@]}" -c "$here/constraints.txt" torch --index-url https://download.pytorch.org/whl/cpu
"${pip[@]}" -c "$here/constraints.txt" -r "$here/requirements.txt"
