// A formula that is wider than the page scrolls in a box of its own: by keyboard too.
addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  const reach = () => {
    for (const box of document.querySelectorAll("mjx-container")) {
      if (box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === "auto") box.tabIndex = 0;
    }
  };
  reach();
  addEventListener("resize", reach);
});
