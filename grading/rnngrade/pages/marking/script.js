"use strict";
const { unit, xsrf } = document.body.dataset;
const progress = document.getElementById("progress");
const number = (value) => String(Math.round(value * 100) / 100);

for (const main of document.querySelectorAll("main")) start(main);

function start(main) {
  const form = main.querySelector("form");
  const told = form.querySelector(".told");
  const used = form.querySelector(".used");
  const items = [...form.querySelectorAll(".item")];
  const most = Number(main.dataset.most);
  const answers = [...main.querySelectorAll("article")].map((page) => ({ page, ...JSON.parse(page.dataset.state) }));
  let at = 0;
  let given = {};
  let isKeeping = false;
  let isNew = false;  // the rubric: points by the old one hold no more
  if (!answers.length) return;

  // What is typed and not kept stays with its answer, also where the page is left or loaded anew.
  function put_aside() {
    const one = answers[at];
    const now = { points: form.points.value, comment: form.comment.value, given };
    if (JSON.stringify(now) === JSON.stringify(kept(one))) sessionStorage.removeItem(aside(one));
    else sessionStorage.setItem(aside(one), JSON.stringify(isNew ? { comment: now.comment } : now));
  }

  function aside(one) {
    return `${main.dataset.question} ${one.id}`;
  }

  function kept(one) {
    return { points: String(one.points ?? ""), comment: one.comment, given: { ...one.items } };
  }

  function show(next) {
    at = Math.max(0, Math.min(next, answers.length - 1));
    if (form.contains(document.activeElement)) document.activeElement.blur();  // keys are keys again
    const one = answers[at];
    answers.forEach((other, i) => { other.page.hidden = i !== at; });
    const draft = { ...kept(one), ...JSON.parse(sessionStorage.getItem(aside(one))) };
    given = { ...draft.given };
    form.points.value = draft.points;
    form.comment.value = draft.comment;
    told.textContent = one.differ ? "These answers are alike and bear different marks: what you keep now holds for all." : "";
    const many = one.count > 1 ? `, handed in by ${one.count}` : "";
    history.replaceState(null, "", `#${one.id}`);
    one.page.querySelector(".which").textContent = `Answer ${at + 1} of ${answers.length}${many}`;
    paint();
    window.scrollTo({ top: 0 });
  }

  function go(next) {
    put_aside();
    show(next);
  }

  function paint() {
    items.forEach((button, i) => {
      const points = given[i] ?? 0;
      button.setAttribute("aria-pressed", String(points > 0));
      button.querySelector(".given").textContent = points > 0 ? `+${number(points)}` : "";
    });
    const waiting = answers.filter((one) => one.waits).length;
    progress.textContent = `${waiting} of ${answers.length} to mark`;
    const comments = [...new Set(answers.map((one) => one.comment).filter(Boolean))].slice(0, 9);
    used.replaceChildren(...comments.map((text, i) => {
      const button = document.createElement("button");
      button.type = "button";
      const key = document.createElement("kbd");
      key.textContent = `Alt ${i + 1}`;
      button.append(key, ` ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`);
      button.addEventListener("click", () => say(text));
      return button;
    }));
  }

  function say(text) {
    form.comment.value = form.comment.value.trim() ? `${form.comment.value.trimEnd()}\n${text}` : text;
  }

  function give(i) {
    const points = Number(items[i].dataset.points);
    const left = (given[i] ?? points + 0.5) - 0.5;
    if (left > 0) given[i] = Math.min(left, points);
    else delete given[i];
    form.points.value = number(Math.min(most, Object.values(given).reduce((sum, part) => sum + part, 0)));
    paint();
  }

  function all(isFull) {
    given = isFull ? Object.fromEntries(items.map((button, i) => [i, Number(button.dataset.points)])) : {};
    form.points.value = isFull ? number(most) : "0";
    paint();
  }

  async function keep() {
    if (isKeeping || !form.reportValidity()) return;
    isKeeping = true;
    const one = answers[at];
    try {
      const reply = await fetch(`${unit}/${main.dataset.question}/${one.id}`, {
        method: "PUT",
        headers: { "Content-Type": "application/json", "X-XSRFToken": xsrf },
        body: JSON.stringify({
          points: Number(form.points.value), comment: form.comment.value, items: given, seen: one.seen,
        }),
      });
      const body = await reply.json();
      if (reply.status === 409) one.seen = body.seen;
      if (!reply.ok) throw new Error(body.message);
      Object.assign(one, body);
      sessionStorage.removeItem(aside(one));
      one.page.querySelector(".before")?.remove();
      show(at + 1);
      paint();
    } catch (error) {
      told.textContent = `Not kept: ${error.message}`;
    } finally {
      isKeeping = false;
    }
  }

  async function change(row) {
    const [text, points] = [row.querySelector("textarea").value, Number(row.querySelector("input").value)];
    const reply = await fetch(`${unit}/${main.dataset.question}/item/${row.dataset.number}`, {
      method: "PUT",
      headers: { "Content-Type": "application/json", "X-XSRFToken": xsrf },
      body: JSON.stringify({ points, text }),
    });
    isNew = reply.ok;
    if (isNew) location.reload();
    else told.textContent = `Not changed: ${(await reply.json()).message}`;
  }

  for (const button of form.querySelectorAll(".all")) {
    button.addEventListener("click", () => change(button.parentElement));
  }
  form.addEventListener("submit", (event) => { event.preventDefault(); keep(); });
  form.back.addEventListener("click", () => go(at - 1));
  window.addEventListener("pagehide", put_aside);
  items.forEach((button, i) => button.addEventListener("click", () => give(i)));
  document.addEventListener("keydown", (event) => {
    if (main.hidden || event.ctrlKey || event.metaKey) return;
    const isTyping = event.target.matches("input, textarea");
    if (event.key === "Escape") document.activeElement.blur();
    else if (event.altKey && /^[1-9]$/.test(event.key)) used.children[Number(event.key) - 1]?.click();
    else if (event.key === "Enter" && !event.shiftKey && event.target.matches("[name=points], [name=comment]")) keep();
    else if (isTyping || event.altKey || (event.key === "Enter" && event.target.matches("button, summary, a"))) return;
    else if (/^[1-9]$/.test(event.key) && items[Number(event.key) - 1]) give(Number(event.key) - 1);
    else if (event.key === "0" || event.key === "f") all(event.key === "f");
    else if (event.key === "p") form.points.select();
    else if (event.key === "c") form.comment.focus();
    else if (event.key === "Enter" || event.key === "n") keep();
    else if (event.key === "b") go(at - 1);
    else if (event.key === "u") go(answers.findIndex((one, i) => i > at && one.waits));
    else return;
    event.preventDefault();
  });
  show(Math.max(0, answers.findIndex((one) => `#${one.id}` === location.hash)));
}

document.querySelector("[name=student]").addEventListener("change", (event) => {
  const student = event.target.value.trim();
  location.href = student ? `${unit};${new URLSearchParams({ student })}` : unit;
});
