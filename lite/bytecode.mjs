// In Node.js: run cells in Pyodide, and write the bytecode of what they imported.
//     node bytecode.mjs imported.py TARGET.zip < {"pyodide": its folder, "options": for loadPyodide, "cells": [...]}
import { readFileSync, writeFileSync } from "node:fs";

const [script, target] = process.argv.slice(2);
const { pyodide, options, cells } = JSON.parse(readFileSync(0, "utf8"));
try {
  const { loadPyodide } = await import(`file://${pyodide}/pyodide.mjs`);
  const python = await loadPyodide({ ...options, indexURL: `${pyodide}/` });
  python.FS.mkdirTree("/drive"); // where the page keeps notebooks
  python.runPython(readFileSync(script, "utf8"));
  const bytecode = await python.globals.get("bytecode_after")(python.toPy(cells));
  writeFileSync(target, bytecode.toJs());
} catch (error) {
  console.error(error.message || error);
  process.exit(1);
}
