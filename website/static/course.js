// What is wider than the page. A table that does not fit is set smaller, and if that is not enough told row by row, each
// cell behind the name of its column. A formula in a line is set smaller; one by itself scrolls, by keyboard too.
addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  const PADDING = 16; // of a cell, at most
  const BESIDE_NAMES = 260; // the most of a formula in the index of concepts, where names stand beside it
  const tooWide = (box) => box.scrollWidth > box.clientWidth;

  function fitTable(box) {
    const table = box.querySelector("table");
    table.classList.remove("small", "told");
    if (!table.tHead || !tooWide(box)) return;
    table.classList.add("small");
    if (!tooWide(box)) return;
    if (!table.querySelector(".column")) nameCells(table);
    table.classList.add("told");
  }

  // (for the eye: to a screen reader the head of the table is there as ever)
  function nameCells(table) {
    const heads = [...table.tHead.rows[0].cells];
    for (const row of table.tBodies[0].rows) {
      for (const cell of row.cells) {
        const name = document.createElement("span");
        name.className = "column";
        name.ariaHidden = "true";
        name.append(...(heads[cell.cellIndex].querySelector("p") ?? heads[cell.cellIndex]).cloneNode(true).childNodes);
        if (name.textContent.trim()) cell.prepend(name);
      }
    }
  }

  function fitFormula(formula) {
    formula.style.fontSize = "";
    const box = formula.closest(".pst-scrollable-table-container");
    const most = formula.closest("table.stacked") ? BESIDE_NAMES : Infinity;
    const room = Math.min(most, box ? box.clientWidth - PADDING : formula.closest("p, li, dd, div").clientWidth);
    const drawn = formula.querySelector("svg");
    for (let percent = 97; percent > 50 && drawn?.getBoundingClientRect().width > room + 1; percent -= 3) {
      formula.style.fontSize = `${percent}%`;
    }
  }

  function fit() {
    document.querySelectorAll("article span.math").forEach(fitFormula);
    document.querySelectorAll("article .pst-scrollable-table-container").forEach(fitTable);
    for (const box of document.querySelectorAll("mjx-container, .cell_output")) {
      if (tooWide(box) && getComputedStyle(box).overflowX === "auto") box.tabIndex = 0;
    }
  }
  fit();
  addEventListener("resize", fit);
});

// A picture opens as large as the window; Escape, the button or a click takes it away again.
addEventListener("click", (event) => {
  const link = event.target.closest("article a.image-reference");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const dialog = document.createElement("dialog");
  dialog.className = "enlarged";
  dialog.ariaLabel = "The picture, enlarged";
  const button = document.createElement("button");
  button.className = "btn btn-sm btn-secondary";
  button.textContent = "Close";
  const picture = link.querySelector("img").cloneNode();
  picture.removeAttribute("style");
  dialog.append(button, picture);
  dialog.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
});
