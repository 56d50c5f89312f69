// Live refresh: ONE ticker says app:tick on the body; #live reads itself again (innerMorph).
// After activity a change is on the page within 2 s (jitter and the answer included); 15 s when idle,
// never when hidden or paused, slower when answers are slow.
(() => {
  "use strict";
  const ACTIVE = 1600, IDLE = 15000, SLOWEST = 60000, ACTIVE_FOR = 60000, STALE_AFTER = 20000;
  const pill = document.querySelector("[data-live]");
  if (!pill || !document.getElementById("live")) return;

  let paused = sessionStorage.getItem("paused") === "1";
  let activeAt = Date.now(), readAt = Date.now(), askedAt = 0, tookFor = 0, failures = 0, timer = 0;

  const tick = () => document.body.dispatchEvent(new CustomEvent("app:tick"));
  // A row must not move away under the pointer that is about to press its button.
  const pointerIsOnButton = () => document.querySelector("#live .button:hover") !== null;

  const interval = () => {
    const wanted = Date.now() - activeAt < ACTIVE_FOR ? ACTIVE : IDLE;
    const polite = Math.max(wanted, tookFor * 4) * 2 ** Math.min(failures, 5);
    return Math.min(SLOWEST, polite) * (0.9 + Math.random() * 0.2);
  };

  const schedule = () => {
    clearTimeout(timer);
    if (paused || document.hidden) return;
    timer = setTimeout(() => {
      if (pointerIsOnButton() && Date.now() - readAt < 10000) return schedule();
      tick();
      schedule();
    }, interval());
  };

  const show = () => {
    const old = Date.now() - readAt;
    const mode = paused ? "paused" : old > STALE_AFTER + IDLE ? "stale" : "live";
    const text = pill.dataset[`${mode}Word`] + (mode === "stale" ? ` ${Math.round(old / 1000)} s` : "");
    pill.dataset.mode = mode;
    pill.setAttribute("aria-pressed", String(paused));
    const place = pill.querySelector("[data-live-text]");
    if (place.textContent !== text) place.textContent = text;
  };

  // mark: names what is shown. While that is still so the server answers 304, and nothing is drawn anew.
  // Any other request may have used up what a form can be sent for: the next answer comes whole.
  let mark = "";
  const isLive = (event) => event.detail?.ctx?.sourceElement?.id === "live";
  document.addEventListener("htmx:config:request", (event) => {
    if (isLive(event) && mark) event.detail.ctx.request.headers["If-None-Match"] = mark;
  });
  document.addEventListener("htmx:before:request", (event) => { if (isLive(event)) askedAt = Date.now(); });
  document.addEventListener("htmx:after:request", (event) => {
    const response = event.detail.ctx.response;
    if (!isLive(event)) { mark = ""; return; }
    if (response.status >= 400) return;
    mark = response.headers.get("ETag") ?? "";
    readAt = Date.now();
    tookFor = readAt - askedAt;
    failures = 0;
    show();
  });
  for (const name of ["htmx:error", "htmx:response:error"]) {
    document.addEventListener(name, (event) => { if (isLive(event)) failures += 1; });
  }

  const wake = () => {
    const wasIdle = Date.now() - activeAt > ACTIVE_FOR;
    activeAt = Date.now();
    if (wasIdle) schedule();
  };
  for (const name of ["pointerdown", "pointermove", "keydown", "scroll"]) {
    document.addEventListener(name, wake, { passive: true, capture: true });
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && !paused) { activeAt = Date.now(); tick(); }
    schedule();
  });
  pill.addEventListener("click", () => {
    paused = !paused;
    sessionStorage.setItem("paused", paused ? "1" : "0");
    if (!paused) tick();
    show();
    schedule();
  });

  // Ages go on counting between two answers; words.py writes the same words.
  const skew = Date.now() - Number(document.body.dataset.now) * 1000;
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const duration = (seconds) => {
    const at = units.findIndex(([, length]) => seconds >= length);
    if (at < 0) return "0 s";
    const [unit, length] = units[at];
    const first = `${Math.floor(seconds / length)} ${unit}`;
    if (at === units.length - 1) return first;
    const second = Math.floor((seconds % length) / units[at + 1][1]);
    return second ? `${first} ${second} ${units[at + 1][0]}` : first;
  };
  const age = () => {
    for (const element of document.querySelectorAll("time[data-age]")) {
      const seconds = Math.max(0, Math.floor((Date.now() - skew - Date.parse(element.dateTime)) / 1000));
      const text = duration(seconds);
      if (element.firstChild?.nodeValue !== text) element.textContent = text;
    }
  };
  setInterval(() => { show(); if (!document.hidden) age(); }, 1000);
  show();
  schedule();
})();
