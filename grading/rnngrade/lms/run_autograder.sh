#!/usr/bin/env bash
# Grades what lies in submission/ and writes results/results.json. Gradescope starts it for each submission.
here=$(cd "$(dirname "$0")" && pwd)
[ -d "$here/source" ] || here=/autograder
export PYTHONPATH="$here/source/course" OMP_NUM_THREADS=1
exec "$here/env/bin/python" -m rnngrade.lms.gradescope "$here"
