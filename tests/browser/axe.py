"""axe-core on a page: what would keep somebody from using it, in the light theme and in the dark one."""

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Frame, Page

THEMES = ("light", "dark")
GRAVE = ("moderate", "serious", "critical")
COLOURS = ["color-contrast", "link-in-text-block"]  # the rules for which a theme makes a difference
# What a page needs and a frame in it does not: it stands within the landmarks and below the headings around it.
OF_A_PAGE = ["landmark-one-main", "page-has-heading-one", "region"]

# All rules but some, once. axe's own way into frames waits for frames without axe, and is not taken.
RUN = """others => axe.run(document, {
  resultTypes: ["violations"], iframes: false, preload: false,
  rules: Object.fromEntries(others.map(rule => [rule, {enabled: false}])),
}).then(found => found.violations)"""

# The rules of the colours, on one text of each look: what decides its contrast is its colour, its size, its weight, and
# the grounds that it stands on. A page has thousands of texts and tens of looks.
RUN_COLOURS = """async ([colours, known]) => {
  const seen = new Set(known), looks = [], texts = [], grounds = new Map([[null, ""]]);
  const ground = element => {
    if (!grounds.has(element)) {
      const style = getComputedStyle(element);
      const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter].join();
      const below = ground(element.parentElement);
      grounds.set(element, own === "rgba(0, 0, 0, 0),none,1,none" ? below : `${below}|${own}`);
    }
    return grounds.get(element);
  };
  for (const element of document.body.querySelectorAll("*")) {
    if (![...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim())) continue;
    if (!element.checkVisibility()) continue;
    const style = getComputedStyle(element), link = element.closest("a") && getComputedStyle(element.closest("a"));
    const line = link ? [link.textDecorationLine, link.color] : "";
    const look = [style.color, style.fontSize, style.fontWeight, line, ground(element)].join();
    if (seen.has(look)) continue;
    seen.add(look);
    looks.push(look);
    texts.push(element);
  }
  const options = {resultTypes: ["violations"], iframes: false, preload: false, runOnly: colours};
  return [looks, texts.length ? (await axe.run({include: texts}, options)).violations : []];
}"""

# A page of the site says which theme it shows, and goes by the browser's until a reader has chosen.
FOLLOW = "theme => { const top = document.documentElement; if (top.dataset.theme) top.dataset.theme = theme }"

# Colours are looked at as they are once they have settled. (A sheet of this kind is let through by a page's policy.)
STILL = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { transition: none !important; animation: none !important }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}"""


def faults(page: Page, known: dict[str, set[str]] | None = None) -> list[str]:
    """The moderate, serious and critical faults of a page as it stands, one line each; of its frames too.

    known: the looks of texts in each theme that have been judged on other pages; those of this one are added to it.
    """
    known = {theme: set() for theme in THEMES} if known is None else known
    found = _of_structure(page)
    page.evaluate(STILL)
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        page.evaluate(FOLLOW, theme)
        found += [f"{theme}: {fault}" for fault in faint(page, known[theme])]
    for frame in page.frames[1:]:
        found += _of_structure(frame) + faint(frame, set())
    return found


def faint(page: Page | Frame, known: set[str]) -> list[str]:
    """The texts that stand out too little from their ground, and links from the text around, in the page's theme."""
    page.evaluate(AXE_SCRIPT)
    looks, violations = page.evaluate(RUN_COLOURS, [COLOURS, sorted(known)])
    known.update(looks)
    return _told(violations)


def _of_structure(page: Page | Frame) -> list[str]:
    page.evaluate(AXE_SCRIPT)
    return _told(page.evaluate(RUN, COLOURS if isinstance(page, Page) else [*COLOURS, *OF_A_PAGE]))


def _told(violations: list[dict]) -> list[str]:
    return [
        f"{rule['help']} ({rule['id']}): {node['html'][:200]}\n{node['failureSummary']}"
        for rule in violations
        if rule["impact"] in GRAVE
        for node in rule["nodes"]
    ]
