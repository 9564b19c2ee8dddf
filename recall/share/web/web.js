"use strict";
// Search while typing, keys, copying, and more of a conversation as it comes into sight. All of it works without, by links and
// forms. Markup comes from our own server, which escapes what transcripts hold; the page's policy lets nothing in it run.
(() => {
  const root = document.documentElement;
  const by = (id) => document.getElementById(id);
  const box = by("q");
  const results = by("results");
  const wait = 140;

  // -- dark and light
  const theme = by("theme");
  const keep = (value) => {
    try {
      if (value) localStorage.setItem("theme", value);
      return localStorage.getItem("theme");
    } catch {
      return value;
    }
  };
  if (["dark", "light"].includes(keep())) root.dataset.theme = keep();
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    keep(root.dataset.theme);
  });

  // -- search while typing
  let timer = 0;
  let asking = null;
  let asked = box.value;
  const all = () => Boolean(document.querySelector('#form input[name="all"]'));
  const ask = (path, text, signal) => {
    const given = new URLSearchParams({ q: text });
    if (all()) given.set("all", "1");
    return fetch(`${path}?${given}`, { signal, credentials: "same-origin" }).then((answer) => answer.json());
  };

  const trouble = (said) => {
    const line = document.createElement("p");
    line.className = "note";
    line.setAttribute("role", "status");
    line.textContent = said;
    results.replaceChildren(line);
  };

  async function search() {
    const text = box.value;
    if (text === asked) return;
    asked = text;
    if (asking) asking.abort();
    asking = new AbortController();
    const mine = asking.signal;
    try {
      const found = await ask("/api/find", text, mine);
      if (found.error) return trouble(`${found.error.message}. ${found.error.hint}`);
      results.innerHTML = found.results;
      document.querySelector("section.activity")?.remove();
      const given = new URLSearchParams({ q: text });
      if (all()) given.set("all", "1");
      history.replaceState(null, "", text ? `/?${given}` : "/");
      document.title = text.trim() ? `${text} – recall` : "recall";
      const counted = await ask("/api/facets", text, mine);
      if (counted.error) return;
      by("facets").innerHTML = counted.facets;
      results.insertAdjacentHTML("beforeend", counted.rest);
      const total = results.querySelector(".total");
      if (total && counted.total !== found.total) {
        total.firstChild.data = total.firstChild.data.replace(/^[\d,]+ sessions?/, `${counted.total.toLocaleString("en")} sessions`);
      }
    } catch (problem) {
      if (problem.name !== "AbortError") trouble("recall does not answer: it has ended. Start it again: recall web");
    }
  }
  if (results) {
    box.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(search, wait);
    });
    if (!location.search) box.focus();
  }

  // -- keys
  const rows = () => [...document.querySelectorAll(".row a.task")];
  function move(step) {
    const there = rows();
    if (!there.length) return;
    const now = there.indexOf(document.activeElement);
    const next = there[Math.min(there.length - 1, Math.max(0, now + step))];
    next.focus();
    next.closest(".row").scrollIntoView({ block: "nearest" });
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const typing = ["INPUT", "TEXTAREA", "SELECT"].includes(document.activeElement?.tagName);
    if (event.key === "/" && !typing) {
      event.preventDefault();
      box.focus();
      box.select();
    } else if (event.key === "Escape" && typing) {
      document.activeElement.blur();
    } else if (event.key === "ArrowDown" && document.activeElement === box && results) {
      event.preventDefault();
      move(1);
    } else if (!typing && results && ["j", "k", "ArrowDown", "ArrowUp"].includes(event.key) && rows().includes(document.activeElement)) {
      event.preventDefault();
      move(event.key === "j" || event.key === "ArrowDown" ? 1 : -1);
    } else if (!typing && results && (event.key === "j" || event.key === "k")) {
      event.preventDefault();
      move(1);
    }
  });

  // -- the newest weeks are what is looked for, where there is no room for all
  for (const chart of document.querySelectorAll(".chart")) chart.scrollLeft = chart.scrollWidth;

  // -- copying
  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      let said = "Copied";
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch {
        getSelection().selectAllChildren(code);
        said = "Selected";
      }
      button.textContent = said;
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
  }

  // -- a conversation
  const turns = by("turns");
  const word = turns?.dataset.find?.toLowerCase();

  function mark(part) {
    if (!word) return;
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) if (walker.currentNode.data.toLowerCase().includes(word)) nodes.push(walker.currentNode);
    for (let node of nodes.slice(0, 50)) {
      for (let up = node.parentElement; up && up !== part; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
      let at = node.data.toLowerCase().indexOf(word);
      for (let count = 0; at >= 0 && count < 50; count += 1) {
        const rest = node.splitText(Math.min(at, node.length));
        node = rest.splitText(Math.min(word.length, rest.length));
        const made = document.createElement("mark");
        rest.replaceWith(made);
        made.append(rest);
        at = node.data.toLowerCase().indexOf(word);
      }
    }
    requestAnimationFrame(() => {
      for (const pre of document.querySelectorAll("#turns pre")) {
        const first = pre.scrollTop ? null : pre.querySelector("mark");
        if (first) pre.scrollTop += first.getBoundingClientRect().top - pre.getBoundingClientRect().top - 60;
      }
    });
  }

  async function more(place) {
    const link = place.querySelector("a");
    if (link.dataset.asked) return;
    link.dataset.asked = "1";
    link.textContent = "…";
    try {
      const answer = await fetch(link.dataset.turns, { credentials: "same-origin" }).then((got) => got.json());
      if (answer.error) throw new Error(answer.error.message);
      const made = document.createElement("div");
      made.innerHTML = answer.turns;
      mark(made);
      if (open) for (const one of made.querySelectorAll("details")) one.open = true;
      turns.append(...made.childNodes);
      place.insertAdjacentHTML("afterend", answer.more);
      place.remove();
      watch();
    } catch (problem) {
      link.textContent = `${problem.message}: try again`;
      delete link.dataset.asked;
    }
  }

  const sight = new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting).forEach((one) => more(one.target)), {
    rootMargin: "1500px",
  });
  function watch() {
    const place = by("more");
    if (!place) return;
    sight.disconnect();
    sight.observe(place);
    place.querySelector("a").addEventListener("click", (event) => {
      event.preventDefault();
      more(place);
    });
  }

  let open = false;
  const fold = by("fold");
  if (fold) {
    fold.hidden = false;
    fold.addEventListener("click", () => {
      open = !open;
      for (const one of turns.querySelectorAll("details")) one.open = open;
      fold.textContent = open ? "Fold all" : "Unfold all";
    });
  }
  if (turns) {
    mark(turns);
    watch();
  }
})();
