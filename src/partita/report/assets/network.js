"use strict";
(function () {
  const data = JSON.parse(chart.byId("page").textContent).map;
  const draw = () => similarityMap.draw(data);
  draw();
  similarityMap.bind();
  document.addEventListener("theme", draw);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
})();
