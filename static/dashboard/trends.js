// The large charts: uPlot draws what the server's picture shows, with one cursor and one zoom for all.
// A refresh gives the charts new values, never new charts. Words come from the tables, colours and dashes from the CSS.
(() => {
  "use strict";
  const HEIGHT = 190, TIP = 200, NEAR = 1;
  const section = document.getElementById("trends");
  if (!section || !window.uPlot) return;
  const plots = new Map();
  let data = null, zoom = null, readAt = Date.now();

  const figure = (key) => document.getElementById(`trend-${key}`);
  const look = (key, selector, name) => getComputedStyle(figure(key).querySelector(`.still ${selector}`))[name];
  const lone = (values) => {
    const found = values.flatMap((value, at) => (value !== null && values[at - 1] == null && values[at + 1] == null ? [at] : []));
    return found.length ? found : null;
  };
  const hour = (zone) => new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit" });
  const day = (zone) => new Intl.DateTimeFormat("en-GB", { timeZone: zone, day: "2-digit", month: "2-digit" });
  const dates = (splits) => {
    const format = splits.length > 1 && splits[1] - splits[0] >= 86400 ? day(data.zone) : hour(data.zone);
    return splits.map((each) => format.format(new Date(each * 1000)));
  };

  // The words of the values under the cursor: those of the table's row.
  const tell = (key, place) => {
    const cells = place == null ? [] : figure(key).querySelector("tbody").rows[place]?.cells ?? [];
    const texts = [...cells].map((cell) => cell.textContent);
    figure(key).querySelectorAll("[data-value]").forEach((value, at) => { value.textContent = texts[at + 1] ?? ""; });
    figure(key).querySelector("[data-moment]").textContent = texts[0] ?? "";
  };

  const element = (name) => document.createElementNS("http://www.w3.org/2000/svg", name);
  const layer = (plot) => {
    const found = plot.over.querySelector("svg");
    if (found) return found;
    const made = element("svg");
    made.setAttribute("class", "marks");
    made.append(element("rect"));
    made.firstChild.setAttribute("class", "running");
    plot.over.append(made);
    return made;
  };
  // Flags are moved, not made anew: one that has the focus keeps it.
  const mark = (key, plot) => {
    if (plot.status !== 1) return; // not laid out yet: "ready" comes back here
    const svg = layer(plot), width = plot.over.clientWidth, height = plot.over.clientHeight;
    const left = plot.valToPos(data.running, "x");
    svg.firstChild.setAttribute("x", left);
    svg.firstChild.setAttribute("width", Math.max(0, plot.valToPos(data.until, "x") - left));
    svg.firstChild.setAttribute("height", height);
    const old = new Map([...svg.querySelectorAll(".mark")].map((one) => [one.getAttribute("href"), one]));
    for (const still of figure(key).querySelectorAll(".still .mark")) {
      const name = still.getAttribute("href");
      const one = old.get(name) ?? svg.appendChild(still.cloneNode(true));
      old.delete(name);
      const x = plot.valToPos(Number(still.dataset.seconds), "x");
      one.setAttribute("transform", `translate(${x},0)`);
      one.setAttribute("aria-label", still.getAttribute("aria-label"));
      one.toggleAttribute("hidden", x < 0 || x > width);
      one.querySelector("line").setAttribute("y2", height);
      one.querySelector("text").textContent = still.querySelector("text").textContent;
      one.querySelector(".tip").textContent = still.querySelector(".tip").textContent;
      one.querySelector("foreignObject").setAttribute("x", Math.max(0, Math.min(x - TIP / 2, width - TIP)) - x);
    }
    for (const gone of old.values()) gone.remove();
  };

  const isWhole = (scale) => scale.min <= data.since + NEAR && scale.max >= data.until - NEAR;
  const follow = (key) => (plot, scale) => {
    if (scale !== "x" || !plots.has(key)) return;
    const { min, max } = plot.scales.x;
    zoom = isWhole({ min, max }) ? null : { min, max };
    section.querySelector("[data-whole]").hidden = zoom === null;
    for (const other of plots.values()) {
      const theirs = other.scales.x;
      if (Math.abs(theirs.min - min) > NEAR || Math.abs(theirs.max - max) > NEAR) other.setScale("x", { min, max });
    }
    mark(key, plot);
  };
  const whole = () => ({ min: data.since, max: data.until });

  const options = (key) => {
    const chart = () => data.charts[key];
    const axis = (more) => ({
      stroke: () => look(key, "text", "fill"), font: "11px system-ui, sans-serif",
      grid: { stroke: () => look(key, ".axis", "stroke"), width: 0.5 }, ticks: { show: false }, ...more,
    });
    return {
      width: figure(key).clientWidth, height: HEIGHT, padding: [6, 8, 0, 0], legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false, dist: 6 }, sync: { key: "trends", filters: { pub: (type) => /move|leave|enter/.test(type), sub: () => true } } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), data.zone),
      scales: {
        // A double click asks for the extent of the points: the whole range.
        x: { time: true, range: (_, min, max) => (min === data.at[0] && max === data.at.at(-1) ? [data.since, data.until] : [min, max]) },
        y: { distr: chart().isLog ? 3 : 1, range: () => [chart().ticks[0][0], chart().ticks.at(-1)[0]] },
      },
      axes: [
        axis({ values: (_, splits) => dates(splits), space: 60, size: 30 }),
        axis({ splits: () => chart().ticks.map(([value]) => value), values: () => chart().ticks.map(([, text]) => text), size: 58 }),
      ],
      series: [{}, ...chart().values.map((_, place) => ({
        stroke: () => look(key, `.s${place}`, "stroke"), width: 2,
        dash: (look(key, `.s${place}`, "strokeDasharray").match(/[\d.]+/g) ?? []).map(Number),
        points: { show: false, size: 5, filter: () => lone(chart().values[place]) },
      }))],
      hooks: { setCursor: [(plot) => tell(key, plot.cursor.idx)], setScale: [follow(key)], setSize: [(plot) => mark(key, plot)], ready: [(plot) => mark(key, plot)] },
    };
  };

  const values = (key) => [data.at, ...data.charts[key].values];
  const load = () => {
    data = JSON.parse(document.getElementById("trends-data").textContent);
    const shown = zoom && zoom.max > data.since ? zoom : whole();
    for (const host of section.querySelectorAll("[data-plot]")) {
      const key = host.dataset.plot;
      if (!plots.has(key)) plots.set(key, new uPlot(options(key), values(key), host));
      const plot = plots.get(key);
      plot.setData(values(key), false);
      plot.setScale("x", shown);
      mark(key, plot);
      tell(key, plot.cursor.idx);
    }
    section.querySelector("[data-whole]").hidden = zoom === null;
  };

  load();
  document.body.addEventListener("app:tick", () => {
    // Not while somebody draws a zoom.
    if (Date.now() - readAt < section.dataset.seconds * 1000 || section.matches(":active")) return;
    section.dispatchEvent(new CustomEvent("trends:tick"));
  });
  document.addEventListener("htmx:after:swap", (event) => {
    if (event.detail?.ctx?.sourceElement !== section || event.detail.ctx.response.status >= 400) return;
    readAt = Date.now();
    load();
  });
  section.addEventListener("click", (event) => {
    if (event.target.closest("[data-whole]")) for (const plot of plots.values()) plot.setScale("x", whole());
  });
  new ResizeObserver(() => {
    for (const [key, plot] of plots) if (figure(key).clientWidth !== plot.width) plot.setSize({ width: figure(key).clientWidth, height: HEIGHT });
  }).observe(section);
  const redraw = () => { for (const plot of plots.values()) plot.redraw(false); };
  new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
})();
