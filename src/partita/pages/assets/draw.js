"use strict";
// Draws every figure of the page, and again when its colours or its width change.
(function () {
  const page = JSON.parse(document.getElementById("page").textContent);
  const shown = page.sections.flatMap((part) => part.blocks).filter((block) => block.figure);
  shown.sort((a, b) => (b.figure === "map") - (a.figure === "map")); // strips are named by the items of the map
  const drawAll = () => shown.forEach((block) => figures[block.figure](block.id, block.data));
  drawAll();
  if (shown.some((block) => block.figure === "map")) { similarityMap.bind(); }
  document.addEventListener("theme", drawAll);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; drawAll(); } });
})();
