// Sorts a table by a click on a column's head, and shows those rows alone that have what is searched for. Without this
// script the table stands by name.
const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" }); // as people sort names
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLocaleLowerCase();
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => row.cells[column].dataset.sort;
  heads.forEach((head, column) => {
    if (!head.hasAttribute("data-sortable")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const first = head.dataset.sortable; // numbers begin with the fewest points: who needs help comes first
      const order = head.ariaSort === first ? (first === "ascending" ? "descending" : "ascending") : first;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const rows = [...body.rows];
      const numeric = column > 0 && rows.every((row) => !isNaN(value(row, column)));
      rows.sort((a, b) => {
        const [x, y] = [value(a, column), value(b, column)];
        return sign * (numeric ? x - y : collator.compare(x, y));
      });
      body.append(...rows);
    });
  });
  if (body.rows.length < 8) continue; // what is seen at a glance need not be searched
  const label = document.createElement("label");
  const input = document.createElement("input");
  const found = document.createElement("output");
  label.className = "search";
  input.type = "search";
  input.autocomplete = "off";
  label.append("Search ", input, " ", found);
  table.closest(".scroll").before(label);
  const words = [...body.rows].map((row) => [row, plain(`${row.cells[0].textContent} ${row.cells[0].title} ${row.textContent}`)]);
  input.addEventListener("input", () => {
    const wanted = plain(input.value).split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [row, text] of words) {
      row.hidden = !wanted.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    found.textContent = wanted.length ? `${shown} of ${words.length}` : "";
  });
}
