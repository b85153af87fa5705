// What stands below a result of the search: the page's sections in which the words stand, at most three, each with the text
// round the first of them. Sphinx's own takes all that is on the page, begins with its buttons, and shows formulas as TeX.
if (typeof Search !== "undefined") {
  const ROUND = 240, BEFORE = 80, SECTIONS = 3;
  const NOISE = ".headerlink, .prev-next-footer, .course-note, div.math, summary, script, style, iframe, audio";
  const MARK = /\uE000(\d+)\uE000/; // where a formula stands

  const drawFormulas = () => {
    if (window.MathJax) return window.MathJax.typesetPromise?.();
    window.MathJax = { options: { enableMenu: false } };
    const script = document.createElement("script");
    script.src = `${document.documentElement.dataset.content_root}_static/mathjax/tex-svg-full.js`;
    document.head.append(script);
  };

  /** The text of a section without those inside it, as a paragraph; `at` is where the first of the words stands. */
  const context = (text, at, formulas) => {
    const from = at <= BEFORE ? 0 : text.indexOf(" ", at - BEFORE) + 1;
    const until = from + ROUND >= text.length ? text.length : text.lastIndexOf(" ", from + ROUND);
    const shown = document.createElement("p");
    shown.className = "context";
    const pieces = ((from ? "… " : "") + text.slice(from, until) + (until < text.length ? " …" : "")).split(MARK);
    shown.append(...pieces.map((piece, i) => (i % 2 ? formulas[piece] : piece)));
    if (pieces.length > 1) setTimeout(drawFormulas);
    return shown;
  };

  Search.makeSearchSummary = (html, keywords, anchor) => {
    const summary = document.createElement("div");
    const page = new DOMParser().parseFromString(html, "text/html");
    const article = page.querySelector("article");
    article?.querySelectorAll(NOISE).forEach((e) => e.remove());
    const formulas = [...(article?.querySelectorAll("span.math") ?? [])];
    formulas.forEach((formula, i) => formula.replaceWith(`\uE000${i}\uE000`));
    const words = [...keywords].map((word) => word.toLowerCase());
    const found = [];
    for (const section of [...(article?.querySelectorAll("section[id]") ?? [])].reverse()) {
      section.remove(); // the last first, so that what is left of a section is its own
      if (anchor && `#${section.id}` !== anchor) continue;
      const head = section.querySelector("h1, h2, h3, h4");
      head?.remove(); // it is a line of its own
      const text = section.textContent.replace(/\s+/g, " ").trim();
      const title = head?.textContent.trim() ?? "";
      const places = [...words, words.join(" ")].map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
      const at = places.length > words.length ? places.at(-1) : Math.min(...places, text.length); // where they stand together
      const inTitle = words.filter((word) => title.toLowerCase().includes(word)).length;
      if (text) found.unshift({ id: section.id, title, text, at, hits: places.length + inTitle });
    }
    const most = Math.max(...found.map(({ hits }) => hits));
    for (const { id, title, text, at } of found.filter(({ hits }) => hits === most).slice(0, most ? SECTIONS : 1)) {
      if (!anchor && id !== found[0].id) {
        const link = summary.appendChild(document.createElement("a"));
        link.className = "section";
        link.href = `${html.match(/pagename = '([^']+)'/)[1]}.html#${id}`;
        link.append(...title.split(MARK).map((piece, i) => (i % 2 ? formulas[piece] : piece)));
      }
      summary.append(context(text, at === text.length ? 0 : at, formulas));
    }
    return summary;
  };
}
