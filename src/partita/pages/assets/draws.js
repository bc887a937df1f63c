"use strict";
(function () {
  const { byId } = chart;
  const data = JSON.parse(byId("page").textContent).figures;
  const cells = (at) => (data.map ? similarityMap.itemsAt(at) : "items");

  function drawAll() {
    figures.counts(data.counts);
    similarityMap.draw(data.map);
    figures.strips("fig-strips", data.strips, cells);
    figures.strips("fig-chain-strips", data.chain_strips, cells);
    figures.points(data.points);
    figures.chains(data.chains);
    figures.trace(data.trace);
  }
  drawAll();
  similarityMap.bind();
  document.addEventListener("theme", drawAll);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; drawAll(); } });
})();
