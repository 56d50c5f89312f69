// The keyboard: j k move, Enter and o open, x selects, r goes to the verb, s to snooze, / finds, g goes, ? helps.
// The current row is the one with the focus, so live refresh cannot lose it.
(() => {
  "use strict";
  const dialog = document.getElementById("keys");
  const off = dialog.querySelector("[data-keys-off]");
  off.checked = localStorage.getItem("keys") === "off";
  off.addEventListener("change", () => localStorage.setItem("keys", off.checked ? "off" : "on"));

  const rows = () => [...document.querySelectorAll("#live [data-row]")];
  const current = () => document.activeElement?.closest?.("[data-row]");
  const step = (by) => {
    const all = rows();
    const at = all.indexOf(current());
    const row = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
    row?.querySelector("a[href]")?.focus();
    row?.scrollIntoView({ block: "nearest" });
  };
  const focusOn = (selector) => {
    const place = current()?.querySelector(selector) ?? document.querySelector(`#live ${selector}`);
    place?.focus();
  };
  const press = (selector) => document.querySelector(selector)?.click();

  let going = 0;
  const go = (key) => {
    const link = document.querySelector(`.rail [data-go="${CSS.escape(key)}"]`);
    if (link) location.assign(link.href);
  };
  const keys = {
    j: () => step(1),
    k: () => step(-1),
    x: () => current()?.querySelector("[name=pick]")?.click(),
    o: () => current()?.querySelector("a[href]")?.click(),
    r: () => focusOn("[data-hot]"),
    s: () => focusOn("[data-snooze]"),
    "/": () => document.querySelector("[data-finder]")?.focus(),
    "?": () => dialog.showModal(),
    p: () => press("[data-live]"),
    t: () => press("[data-theme-toggle]"),
    z: () => press("[data-zone]"),
    g: () => { going = Date.now(); },
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || off.checked) return;
    if (dialog.open || event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
    if (Date.now() - going < 1500) {
      going = 0;
      event.preventDefault();
      return go(event.key);
    }
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
})();
