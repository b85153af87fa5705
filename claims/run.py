"""Running the experiments of the units: what is still to do, in processes of its own, and what is written at the end.

A run is one experiment in one setting with one seed. Its numbers are kept in `build/claims/` under a key, a hash of all
code that it depends on in `claims/` and in the unit's own cells, so that a run which is stopped goes on where it was,
and what has not changed is not run again. (The textbook's own modules are not part of the key: tests hold them to
PyTorch, and who changes what they compute says `python -m claims --again`.)
"""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import importlib
import json
import re
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from claims.experiment import BySetting, Experiment, Numbers, Unit
from claims.words import plain
from rnncourse import exercises
from rnncourse.data.claims import FOLDER
from rnngrade.cells import ROOT, Cells, of
from rnngrade.unit import find_units

HERE = Path(__file__).parent
KEPT = ROOT / "build" / "claims"


@dataclass(frozen=True)
class Run:
    """One experiment of a unit in one setting with one seed, by names."""

    stem: str
    experiment: str
    setting: str
    seed: int


def units() -> dict[str, Unit]:
    """All units that claim something about training, by stem, in order."""
    names = [stem.partition("_")[2] for stem in find_units(ROOT)]
    found = [importlib.import_module(f"claims.{name}").unit for name in names if (HERE / f"{name}.py").exists()]
    return {unit.stem: unit for unit in found}


def experiment_of(run: Run) -> Experiment:
    """The experiment that a run is one of."""
    return next(e for e in units()[run.stem].experiments if e.name == run.experiment)


def key_of(stem: str, experiment: str, setting: str) -> str:
    """What the numbers of this setting depend on, as a hash: the settings and the code, without comments."""
    module, cells_of_unit = _module(stem)
    statements = [_undecorated(s) for s in module.needed(experiment)]
    used = sorted(
        node.attr
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in cells_of_unit
    )
    chosen = {"setting": repr(next(e for e in units()[stem].experiments if e.name == experiment).settings[setting])}
    chosen["code"] = "\n".join(ast.unparse(s) for s in statements)
    chosen["cells"] = of(stem).source([name for name in dict.fromkeys(used) if of(stem).needed(name)])
    return hashlib.sha256(json.dumps(chosen).encode()).hexdigest()[:16]


@cache
def _module(stem: str) -> tuple[Cells, frozenset[str]]:
    """The claims module of a unit, as statements, and the names that stand for the unit's cells in it."""
    statements = ast.parse((HERE / f"{stem.partition('_')[2]}.py").read_text(encoding="utf-8")).body
    kept = [s for s in statements if not isinstance(s, ast.Expr)]
    named = {
        target.id
        for s in kept
        if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) and ast.unparse(s.value.func) == "of"
        for target in s.targets
        if isinstance(target, ast.Name)
    }
    return Cells(f"claims of {stem}", kept), frozenset(named)


def _undecorated(statement: ast.stmt) -> ast.stmt:
    if isinstance(statement, ast.FunctionDef):
        statement = ast.parse(ast.unparse(statement)).body[0]
        assert isinstance(statement, ast.FunctionDef)
        statement.decorator_list = []
        if ast.get_docstring(statement) is not None and len(statement.body) > 1:
            statement.body = statement.body[1:]
    return statement


def measure(run: Run) -> tuple[Numbers, float]:
    """The numbers of one run, and the seconds of processor time that it took."""
    experiment, start = experiment_of(run), time.process_time()
    numbers = experiment.run(run.seed, **experiment.settings[run.setting])
    return {name: float(f"{value:.4g}") for name, value in numbers.items()}, time.process_time() - start


def kept(stem: str) -> dict[tuple[str, int], dict[str, Any]]:
    """What earlier runs of a unit measured, by key and seed."""
    path = KEPT / f"{stem}.jsonl"
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = {}
    for row in rows:
        try:
            one = json.loads(row)
        except ValueError:
            continue  # the line at which a run was stopped
        found[one["key"], one["seed"]] = one
    return found


def run_all(stems: list[str], jobs: int, again: bool = False) -> None:
    """Run what is still to be run of these units, and write a file for each as soon as it is complete."""
    chosen = {stem: unit for stem, unit in units().items() if stem in stems}
    todo: dict[Run, str] = {}
    for stem, unit in chosen.items():
        there = {} if again else kept(stem)
        for e in unit.experiments:
            for setting in e.settings:
                key = key_of(stem, e.name, setting)
                todo |= {Run(stem, e.name, setting, s): key for s in range(e.seeds) if (key, s) not in there}
    KEPT.mkdir(parents=True, exist_ok=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool, Progress(*columns) as progress:
        bar = progress.add_task("claims", total=len(todo))
        futures = {pool.submit(measure, run): run for run in todo}
        try:
            for future in as_completed(futures):
                run = futures[future]
                numbers, seconds = future.result()
                row = {"key": todo[run], "seed": run.seed, "numbers": numbers, "seconds": round(seconds, 1)}
                with (KEPT / f"{run.stem}.jsonl").open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row | {"run": [run.experiment, run.setting]}, ensure_ascii=False) + "\n")
                progress.update(bar, advance=1, description=f"{run.stem} {run.experiment}")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    for unit in chosen.values():
        write(unit)


def write(unit: Unit) -> None:
    """The unit's file, from what its runs measured."""
    there = kept(unit.stem)
    experiments: dict[str, Any] = {}
    for e in unit.experiments:
        values: dict[str, dict[str, list[float]]] = {}
        keys, seconds = {}, 0.0
        for setting in e.settings:
            keys[setting] = key_of(unit.stem, e.name, setting)
            rows = [there[keys[setting], seed] for seed in range(e.seeds)]
            values[setting] = {name: [row["numbers"][name] for row in rows] for name in rows[0]["numbers"]}
            seconds += sum(row["seconds"] for row in rows)
        experiments[e.name] = {"measure": e.measure, "keys": keys, "seconds": round(seconds), "values": values}
    claims = [
        {
            "name": c.name,
            "words": plain(c.words),
            "experiment": c.experiment.name,
            "figure": c.figure,
            "controls": c.controls,
            "held": sum(
                bool(c.holds(one_seed(experiments[c.experiment.name]["values"], s))) for s in range(c.experiment.seeds)
            ),
            "of": c.experiment.seeds,
        }
        for c in unit.claims
    ]
    FOLDER.mkdir(exist_ok=True)
    expectations = [dataclasses.asdict(e) for e in unit.expectations]
    title = exercises.unit(unit.stem).title
    everything = {"title": title, "experiments": experiments, "claims": claims, "expectations": expectations}
    text = json.dumps(everything, ensure_ascii=False, indent=1)
    text = re.sub(r"\[[^\[\]{}]*\]", lambda numbers: " ".join(numbers[0].split()), text)  # a list on one line
    (FOLDER / f"{unit.stem}.json").write_text(text + "\n", encoding="utf-8")


def one_seed(values: dict[str, dict[str, list[float]]], seed: int) -> BySetting:
    """What one seed gave in all settings."""
    return {setting: {name: v[seed] for name, v in numbers.items()} for setting, numbers in values.items()}
