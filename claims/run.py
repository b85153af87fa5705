"""Running the experiments of the units: what is still to do, in processes of its own, and what is written at the end.

A run is one experiment in one setting with one seed. Its numbers are kept in `build/claims/` under a key, a hash of all
code that it depends on in `claims/` and `rnncourse/experiments`, so that a run which is stopped goes on where it was,
and what has not changed is not run again. (The textbook's own modules are not part of the key: tests hold them to
PyTorch, and who changes what they compute says `python -m claims --again`.)

Settings and thresholds are chosen on development seeds; what is written is counted on confirmation seeds (seeds.toml).
Whatever is changed afterwards, in an experiment or in what its claims hold to be so, is counted on new ones. Code that
is written anew and gives the same numbers has not changed: who says so is believed when its first seed says so, too
(`python -m claims --same`).
"""

import ast
import dataclasses
import hashlib
import importlib
import json
import re
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from claims.experiment import BySetting, Claim, Experiment, Numbers, Unit
from claims.words import plain
from rnncourse import exercises
from rnncourse.data.claims import FOLDER, Measured, unit_claims
from rnngrade.author.cells import ROOT, Cells
from rnngrade.author.unit import find_units

HERE = Path(__file__).parent
KEPT = ROOT / "build" / "claims"
SEEDS: dict[str, int] = tomllib.loads((HERE / "seeds.toml").read_text(encoding="utf-8"))


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
    settings = next(e for e in units()[stem].experiments if e.name == experiment).settings
    code = _code(f"claims.{stem.partition('_')[2]}", experiment)
    return _hash(repr(settings[setting]), *code)


def rule_of(stem: str, claim: Claim) -> str:
    """What a claim holds to be so, as a hash: the code of `holds`, and which numbers it is about."""
    calls = [
        s.value
        for s in ast.parse((HERE / f"{stem.partition('_')[2]}.py").read_text(encoding="utf-8")).body
        if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)
    ]
    is_claim = f"{claim.experiment.name}.claim"
    (call,) = [c for c in calls if ast.unparse(c.func) == is_claim and ast.literal_eval(c.args[0]) == claim.name]
    (holds,) = [keyword.value for keyword in call.keywords if keyword.arg == "holds"]
    needed = {n.id for n in ast.walk(holds) if isinstance(n, ast.Name)}
    code = [part for name in sorted(needed) for part in _code(f"claims.{stem.partition('_')[2]}", name)]
    return _hash(ast.unparse(holds), repr(claim.figure), repr(claim.controls), *code)


def _hash(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _code(module: str, name: str) -> list[str]:
    """The statements that a name of a module needs, in order, with those that it takes from experiments."""
    found = []
    for statement in _statements(module).needed(name):
        match statement:
            case ast.ImportFrom(module=str(other), names=[alias]) if other.startswith("rnncourse.experiments."):
                found += _code(other, alias.name)
            case _:
                found.append(ast.unparse(_undecorated(statement)))
    return found


@cache
def _statements(module: str) -> Cells:
    """A module of ours, as statements, an import of several names as several."""
    statements: list[ast.stmt] = []
    for s in ast.parse((ROOT / module.replace(".", "/")).with_suffix(".py").read_text(encoding="utf-8")).body:
        if isinstance(s, ast.ImportFrom):
            statements += ast.parse("\n".join(f"from {s.module} import {ast.unparse(alias)}" for alias in s.names)).body
        elif not isinstance(s, ast.Expr):
            statements.append(s)
    return Cells(statements)


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
    """What earlier runs of a unit measured, by key and seed: what its file has, and what came since."""
    path = KEPT / f"{stem}.jsonl"
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = {}
    for e in unit_claims(stem)["experiments"].values():
        for setting, key in e["keys"].items():
            names, seconds = list(e["values"][setting]), e["seconds"] / len(e["seeds"]) / len(e["keys"])
            for seed, *numbers in zip(e["seeds"], *e["values"][setting].values(), strict=True):
                found[key, seed] = {"numbers": dict(zip(names, numbers, strict=True)), "seconds": seconds}
    for row in rows:
        try:
            one = json.loads(row)
        except ValueError:
            continue  # the line at which a run was stopped
        found[one["key"], one["seed"]] = one
    return found


def seeds_of(unit: Unit, experiment: Experiment) -> list[int]:
    """The confirmation seeds of an experiment: those that it was counted on, or new ones if something has changed."""
    old = unit_claims(unit.stem)
    before = old["experiments"].get(experiment.name, {})
    first = before.get("seeds", [SEEDS["confirmation"] - SEEDS["block"]])[0]
    rules = {c["name"]: c.get("rule") for c in old["claims"] if c["experiment"] == experiment.name}
    keys = {setting: key_of(unit.stem, experiment.name, setting) for setting in experiment.settings}
    now = {c.name: rule_of(unit.stem, c) for c in unit.claims if c.experiment is experiment}
    if "seeds" not in before or (before["keys"], rules) != (keys, now):
        first += SEEDS["block"]
    return list(range(first, first + experiment.seeds))


def run_all(stems: list[str], jobs: int, again: bool = False, develop: int = 0) -> None:
    """Run what is still to be run of these units, and write a file for each that is complete.

    develop: how many development seeds to run instead, of which nothing is written.
    """
    chosen = {stem: unit for stem, unit in units().items() if stem in stems}
    seeds = {(stem, e.name): seeds_of(unit, e) for stem, unit in chosen.items() for e in unit.experiments}
    if develop:
        seeds = {key: list(range(SEEDS["development"], SEEDS["development"] + develop)) for key in seeds}
    todo: dict[Run, str] = {}
    for stem, unit in chosen.items():
        there = {} if again else kept(stem)
        for e in unit.experiments:
            for setting in e.settings:
                key = key_of(stem, e.name, setting)
                todo |= {Run(stem, e.name, setting, s): key for s in seeds[stem, e.name] if (key, s) not in there}
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
        found = measured(unit, {e.name: seeds[unit.stem, e.name] for e in unit.experiments})
        if develop:
            tell(unit, found)
        else:
            write(unit.stem, found)


def keep(stem: str) -> list[str]:
    """Keep what was counted of a unit where its code has changed and its numbers have not: the keys are written anew.

    Each changed setting is run with its first seed. It is to give what was counted; or, as the last digits of a long
    training depend on the machine, what the code of the last commit gives here. Returned are the settings that gave
    other numbers; their keys stay.
    """
    file, other = unit_claims(stem), []
    for e in units()[stem].experiments:
        counted = file["experiments"].get(e.name)
        for setting in e.settings if counted else ():  # one that is new has nothing to keep
            key, run = key_of(stem, e.name, setting), Run(stem, e.name, setting, counted["seeds"][0])
            if counted["keys"].get(setting) != key:
                numbers, _ = measure(run)
                first = {name: values[0] for name, values in counted["values"].get(setting, {}).items()}
                if numbers == first or numbers == committed(run):
                    counted["keys"][setting] = key
                else:
                    other.append(f"{e.name}, {setting}")
    write(stem, file)
    return other


def committed(run: Run) -> Numbers | None:
    """The numbers of a run by the code of the last commit; None if it has no such run."""
    code = subprocess.run(["git", "archive", "HEAD", "claims", "rnncourse"], cwd=ROOT, check=True, capture_output=True)
    program = f"import json; from claims.run import Run, measure; print(json.dumps(measure({run})[0]))"
    with TemporaryDirectory() as folder:
        subprocess.run(["tar", "-x", "-C", folder], input=code.stdout, check=True)
        done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def measured(unit: Unit, seeds: dict[str, list[int]]) -> dict[str, Any]:
    """All that was measured of a unit with these seeds, by experiment, and how many claims held."""
    there = kept(unit.stem)
    experiments: dict[str, Any] = {}
    for e in unit.experiments:
        values: dict[str, dict[str, list[float]]] = {}
        keys, seconds = {}, 0.0
        for setting in e.settings:
            keys[setting] = key_of(unit.stem, e.name, setting)
            rows = [there[keys[setting], seed] for seed in seeds[e.name]]
            values[setting] = {name: [row["numbers"][name] for row in rows] for name in rows[0]["numbers"]}
            seconds += sum(row["seconds"] for row in rows)
        known = {"measure": e.measure, "keys": keys, "seeds": seeds[e.name], "seconds": round(seconds)}
        experiments[e.name] = known | {"values": values}
    claims = []
    for c in unit.claims:
        of_all = len(seeds[c.experiment.name])
        values = experiments[c.experiment.name]["values"]
        held = sum(bool(c.holds(one_seed(values, i))) for i in range(of_all))
        known = {"name": c.name, "words": plain(c.words), "rule": rule_of(unit.stem, c), "held": held, "of": of_all}
        known |= {"interval": interval(held, of_all), "experiment": c.experiment.name}
        claims.append(known | {"figure": c.figure, "controls": c.controls})
    expectations = [dataclasses.asdict(e) for e in unit.expectations]
    title = exercises.unit(unit.stem).title
    return {"title": title, "experiments": experiments, "claims": claims, "expectations": expectations}


def interval(held: int, of: int) -> list[float]:
    """Wilson's interval, at 95%, for the share of seeds in which a claim holds.

    >>> interval(19, 20), interval(20, 20)
    ([0.76, 0.99], [0.84, 1.0])
    """
    from scipy.stats import binomtest  # type: ignore[import-untyped]  # a second and a half

    found = binomtest(held, of).proportion_ci(method="wilson")
    return [round(float(found.low), 2), round(float(found.high), 2)]


def write(stem: str, found: dict[str, Any]) -> None:
    """The unit's file."""
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(found, ensure_ascii=False, indent=1)
    text = re.sub(r"\[[^\[\]{}]*\]", lambda numbers: " ".join(numbers[0].split()), text)  # a list on one line
    (FOLDER / f"{stem}.json").write_text(text + "\n", encoding="utf-8")
    unit_claims.cache_clear()


def tell(unit: Unit, found: dict[str, Any]) -> None:
    """Print what development seeds gave: medians and ranges, and how many held. Nothing is written."""
    for name, experiment in found["experiments"].items():
        numbers = Measured(experiment["measure"], experiment["values"])
        print(f"{unit.stem} {name}: {experiment['measure']} ({experiment['seconds']} s)")
        for setting, values in experiment["values"].items():
            print(f"  {setting}: " + "; ".join(f"{n} {numbers.quote(setting, n, '.3g')}" for n in values))
    for claim in found["claims"]:
        print(f"{claim['held']} of {claim['of']} {claim['name']}: {claim['words']}")


def one_seed(values: dict[str, dict[str, list[float]]], seed: int) -> BySetting:
    """What one seed gave in all settings."""
    return {setting: {name: v[seed] for name, v in numbers.items()} for setting, numbers in values.items()}
