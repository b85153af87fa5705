"""Films in a notebook that only was opened: what has stood in a caption, from the beginning."""

from playwright.sync_api import Page, expect

# For every frame of a page, before it is opened: the captions that a film shows.
CAPTIONS = """addEventListener("DOMContentLoaded", () => {
  const caption = document.getElementById("caption");
  window.captions = [];
  if (caption) new MutationObserver(() => captions.push(caption.textContent)).observe(caption, {childList: true});
})"""

# For every frame of a page: the page around it notes that a film has run by itself. It may have ended before one looks.
RAN = """new MutationObserver(() => { if (document.getElementById("play")?.textContent === "Pause") top.ran = true })
  .observe(document, { subtree: true, childList: true, characterData: true })"""


def runs_by_itself(page: Page) -> None:
    """Wait until the film of the page's notebook, `scan_film`'s, has run from its first moment to its last."""
    film = '.jp-OutputArea iframe[title^="One pass"]'
    player = page.frame_locator(film)
    expect(player.locator("#caption")).to_be_visible()
    expect(page.locator(film).locator("xpath=../img")).to_be_hidden()
    frame = page.locator(film).element_handle().content_frame()
    assert frame
    frame.wait_for_function("captions.some(words => words.startsWith('Round 1'))")
    expect(player.get_by_role("button", name="Play", exact=True)).to_be_visible()
