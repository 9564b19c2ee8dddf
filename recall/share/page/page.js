"use strict";
// Search, folding and the theme of a page of one session. No request is ever made.
(() => {
  const root = document.documentElement;
  const box = document.getElementById("search");
  const found = document.getElementById("found");
  const turns = [...document.querySelectorAll(".turn")];
  let texts = null;
  let timer = 0;

  function unmark() {
    for (const mark of document.querySelectorAll("main mark")) {
      const parent = mark.parentNode;
      mark.replaceWith(mark.textContent);
      parent.normalize();
    }
  }

  function mark(turn, word) {
    const walker = document.createTreeWalker(turn, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) nodes.push(walker.currentNode);
    let count = 0;
    for (let node of nodes) {
      let at = node.data.toLowerCase().indexOf(word);
      while (at >= 0 && count < 200) {
        const rest = node.splitText(at);
        node = rest.splitText(Math.min(word.length, rest.length));
        const made = document.createElement("mark");
        rest.replaceWith(made);
        made.append(rest);
        count += 1;
        for (let up = made.parentElement; up && up !== turn; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
        at = node.data.toLowerCase().indexOf(word);
      }
    }
  }

  function search() {
    const word = box.value.trim().toLowerCase();
    unmark();
    texts = texts || turns.map((turn) => turn.textContent.toLowerCase());
    let count = 0;
    turns.forEach((turn, n) => {
      const fits = !word || texts[n].includes(word);
      turn.classList.toggle("off", !fits);
      if (fits && word) {
        count += 1;
        if (count <= 100) mark(turn, word);
      }
    });
    found.textContent = word ? `${count} of ${turns.length} turns` : "";
  }

  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 120);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== box) {
      event.preventDefault();
      box.focus();
    } else if (event.key === "Escape" && document.activeElement === box) {
      box.value = "";
      search();
    }
  });
  document.getElementById("fold").addEventListener("click", () => {
    const all = [...document.querySelectorAll(".turn details")];
    const open = !all.some((one) => one.open);
    for (const one of all) one.open = open;
  });
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
})();
