// Sorts a table by a click on a column's head. Without this script the table stands by name.
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
      const numeric = rows.every((row) => !isNaN(value(row, column)));
      rows.sort((a, b) => {
        const [x, y] = [value(a, column), value(b, column)];
        return sign * (numeric ? x - y : x.localeCompare(y));
      });
      body.append(...rows);
    });
  });
}
