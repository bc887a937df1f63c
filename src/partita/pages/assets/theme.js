"use strict";
(function () {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
  const changed = () => document.dispatchEvent(new Event("theme"));
  document.getElementById("theme").addEventListener("click", () => {
    const now = root.dataset.theme || (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    changed();
  });
  dark.addEventListener("change", changed);
  let before = ""; // the theme that comes back after printing, which is always light
  addEventListener("beforeprint", () => { before = root.dataset.theme || ""; root.dataset.theme = "light"; changed(); });
  addEventListener("afterprint", () => {
    if (before) { root.dataset.theme = before; } else { delete root.dataset.theme; }
    changed();
  });
})();
