// What stands below a result of the search: the words of the page round the first that was asked for, from the
// beginning of a word on. Sphinx's own takes all that is on the page, and begins with its buttons and its contents.
if (typeof Search !== "undefined") {
  const ROUND = 240, BEFORE = 80;
  Search.makeSearchSummary = (html, keywords, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const article = page.querySelector("article");
    if (!article) return null;
    article.querySelectorAll(".headerlink, .prev-next-footer, .course-note, script, style, iframe, audio").forEach((e) => e.remove());
    const part = (anchor && article.querySelector(anchor)) || article;
    part.querySelector("h1, h2, h3, h4")?.remove(); // it is the result's own line
    const text = part.textContent.replace(/\\[()]/g, "").replace(/\s+/g, " ").trim();
    if (!text) return null;
    const found = [...keywords].map((word) => text.toLowerCase().indexOf(word.toLowerCase())).filter((at) => at >= 0);
    const first = found.length ? Math.min(...found) : 0;
    const from = first <= BEFORE ? 0 : text.indexOf(" ", first - BEFORE) + 1;
    const until = from + ROUND >= text.length ? text.length : text.lastIndexOf(" ", from + ROUND);
    const summary = document.createElement("p");
    summary.className = "context";
    summary.textContent = (from ? "… " : "") + text.slice(from, until) + (until < text.length ? " …" : "");
    return summary;
  };
}
