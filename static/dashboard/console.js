// Small manners of the console: theme, zone, menus, toasts, and what a failed verb says.
(() => {
  "use strict";
  const remember = (name, value) => {
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `${name}=${encodeURIComponent(value)}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
  };

  const switchTheme = () => {
    const root = document.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const theme = (root.dataset.theme || system) === "dark" ? "light" : "dark";
    root.dataset.theme = theme;
    remember("theme", theme);
  };
  const switchZone = (button) => {
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
    document.cookie = `tz=${button.dataset.zone === "UTC" ? own : "UTC"}; Path=/; Max-Age=31536000; SameSite=Lax`;
    location.reload();
  };

  // A button that copies needs a script; the text beside it is selected, so that keys copy it where
  // the browser gives no clipboard (plain http).
  document.documentElement.dataset.scripted = "";
  const copy = (place) => {
    getSelection().selectAllChildren(place);
    navigator.clipboard?.writeText(place.textContent).catch(() => {});
  };

  document.addEventListener("click", (event) => {
    const on = (selector) => event.target.closest(selector);
    if (on("[data-theme-toggle]")) switchTheme();
    if (on("[data-zone]")) switchZone(on("[data-zone]"));
    if (on("[data-close]")) on(".toast").remove();
    if (on("[data-copy]")) copy(document.getElementById(on("[data-copy]").dataset.copy));
    if (on("[data-help]")) document.getElementById("keys").showModal();
    for (const menu of document.querySelectorAll("[data-menu][open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("[data-menu][open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  document.addEventListener("toggle", (event) => {
    if (event.target.matches?.(".ask[open]")) event.target.querySelector("input[type=text]")?.focus();
  }, true);
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
    if (event.target.matches("[data-pick-all]")) {
      for (const box of document.querySelectorAll("#live [name=pick]")) box.checked = event.target.checked;
    }
  });

  // A good answer closes the question and goes after a while; a refusal stays until it is closed.
  const toasts = document.getElementById("toasts");
  const say = (text) => {
    const toast = document.createElement("div");
    toast.className = "toast";
    toast.dataset.tone = "stop";
    toast.append(Object.assign(document.createElement("p"), { textContent: text }));
    const close = Object.assign(document.createElement("button"), { type: "button", className: "close", textContent: "×" });
    close.dataset.close = "";
    toast.append(close);
    toasts.append(toast);
  };
  document.addEventListener("htmx:after:request", (event) => {
    const { sourceElement, response, request } = event.detail.ctx;
    if (request.method !== "POST") return;
    if (response.status < 400) sourceElement.closest?.(".ask")?.removeAttribute("open");
    else if (![403, 409].includes(response.status)) say(toasts.dataset.failed.replace("%s", response.status));
  });
  document.addEventListener("htmx:error", (event) => {
    if (event.detail.ctx?.request?.method === "POST") say(toasts.dataset.unknown);
  });
  new MutationObserver((changes) => {
    for (const node of changes.flatMap((change) => [...change.addedNodes])) {
      if (node.dataset?.tone === "go") setTimeout(() => node.remove(), 8000);
    }
  }).observe(toasts, { childList: true });
})();
