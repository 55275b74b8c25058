"use strict";
// Shows the partner and the reason of the leaf that is pointed at, and moves by keyboard. The page reads without it.
document.addEventListener("DOMContentLoaded", () => {
  const SIGNS = { carried: "=", changed: "≠", dropped: "−", synthesized: "+", volatile: "·", ignored: "·" };
  const LEVELS = { note: "·", loss: "▽", risk: "▲", unexplained: "?" };
  const ROWS = ".leaf, .tree summary, .card > summary, .run > details > summary";
  const status = document.getElementById("status");
  const narrow = window.matchMedia("(max-width: 56rem)");
  let shown = null;

  document.documentElement.classList.add("scripted");

  const made = (name, text, style) => {
    const element = document.createElement(name);
    element.textContent = text;
    if (style) element.className = style;
    return element;
  };

  // Of each entry: fate, reason, level, id of the partner, what a policy says; "-" for nothing.
  const links = (leaf) =>
    (leaf.dataset.links || "").split(";").filter(Boolean).map((entry) => {
      const [fate, why, level, id, note] = entry.split(" ").map((word) => (word === "-" ? "" : word));
      return { fate, why, level, note, partner: id ? document.getElementById(id) : null };
    });

  const partners = (leaf) => links(leaf).map((link) => link.partner).filter(Boolean);

  // What can be seen of an element: itself, or the part that it is folded in.
  const visible = (element) => {
    let seen = element;
    for (let part = element.parentElement; part; part = part.parentElement) {
      if (part.tagName === "DETAILS" && !part.open && !part.firstElementChild.contains(element)) {
        seen = part.firstElementChild;
      }
    }
    return seen;
  };

  const where = (element) => element.dataset.at || element.querySelector(".key, .title")?.textContent || "";

  const tell = (leaf) => {
    const [first, second] = status.children;
    const said = links(leaf);
    first.replaceChildren();
    second.replaceChildren();
    const fate = said.length ? said[0].fate : "ignored";
    const value = leaf.querySelector(".value").textContent;
    const word = made("span", `${SIGNS[fate]} ${fate}`, `fate ${fate}`);
    first.append(word, `  ${leaf.dataset.at}  `, made("bdi", value.length > 200 ? `${value.slice(0, 200)} …` : value));
    const arrow = leaf.closest("[data-side]").dataset.side === "source" ? "→" : "←";
    const there = said.filter((link) => link.partner);
    for (const { partner } of there.slice(0, 2)) {
      const other = partner.querySelector(".value")?.textContent || "";
      first.append(`  ${arrow} ${where(partner)}`);
      if (other && other !== value) first.append("  ", made("bdi", other.slice(0, 200)));
    }
    if (there.length > 2) first.append(` and ${there.length - 2} more`);
    const told = new Set();
    for (const { why, level, note } of said) {
      if (why && !told.has(why + level)) {
        const sentence = document.getElementById(`why-${why}`)?.nextElementSibling?.textContent || "";
        second.append(made("b", `${LEVELS[level]} ${level}`, `level ${level}`), " ", made("code", why), ` ${sentence} `);
        told.add(why + level);
      }
      if (note && !told.has(note)) {
        second.append(made("em", note), " ");
        told.add(note);
      }
    }
    if (!second.childNodes.length) second.append(fate === "carried" ? "The same value on both sides." : "This is not compared.");
    status.hidden = false;
  };

  const show = (leaf) => {
    if (!leaf || leaf === shown) return;
    for (const old of document.querySelectorAll(".on, .partner")) old.classList.remove("on", "partner");
    shown = leaf;
    leaf.classList.add("on");
    for (const partner of partners(leaf)) visible(partner).classList.add("partner");
    tell(leaf);
  };

  // Bring the partner beside the leaf, by scrolling its pane only.
  const align = (leaf, always) => {
    const partner = partners(leaf)[0];
    const pane = partner?.closest(".pane");
    if (!pane || narrow.matches || pane.contains(leaf)) return;
    const seen = visible(partner).getBoundingClientRect();
    const frame = pane.getBoundingClientRect();
    if (always || seen.top < frame.top + 48 || seen.bottom > frame.bottom) {
      pane.scrollTop += seen.top - leaf.getBoundingClientRect().top;
    }
  };

  const reveal = (element) => {
    for (let part = element.parentElement; part; part = part.parentElement) {
      if (part.tagName === "DETAILS" && !part.firstElementChild.contains(element)) part.open = true;
    }
  };

  // One stop of the Tab key for each side of a document; arrows move within it.
  const side = (row) => row.closest("[data-side]")?.dataset.side || "source";
  const home = (row) => row.closest(".document");
  const rows = (row) =>
    [...home(row).querySelectorAll(ROWS)].filter(
      (other) => side(other) === side(row) || other.matches(".run > details > summary"),
    );
  const stops = new Map();
  const stop = (row) => {
    const sides = stops.get(home(row)) || {};
    if (sides[side(row)]) sides[side(row)].tabIndex = -1;
    row.tabIndex = 0;
    sides[side(row)] = row;
    stops.set(home(row), sides);
  };
  for (const row of document.querySelectorAll(ROWS)) row.tabIndex = -1;
  for (const document_ of document.querySelectorAll(".document")) {
    for (const name of ["source", "target"]) {
      const first = document_.querySelector(
        `[data-side=${name}] .leaf, [data-side=${name}] .tree summary, [data-side=${name}] .card > summary`,
      );
      if (first) stop(visible(first));
    }
  }

  const go = (row) => {
    if (!row) return;
    reveal(row);
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  };

  const beside = (row, step, fits) => {
    const all = rows(row);
    for (let at = all.indexOf(row) + step; at >= 0 && at < all.length; at += step) {
      if (fits(all[at])) return all[at];
    }
    return null;
  };
  const isSeen = (row) => visible(row) === row && row.getClientRects().length > 0;
  const isLoss = (row) => row.matches(".lost") && getComputedStyle(row.parentElement).display !== "none";
  const parent = (row) => {
    const part = (row.tagName === "SUMMARY" ? row.parentElement : row).parentElement.closest("details");
    return part && home(part) ? part.firstElementChild : null;
  };

  document.addEventListener("keydown", (event) => {
    const row = event.target.closest?.(ROWS);
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const folded = row.tagName === "SUMMARY" ? row.parentElement : null;
    const moves = {
      ArrowDown: () => go(beside(row, 1, isSeen)),
      ArrowUp: () => go(beside(row, -1, isSeen)),
      Home: () => go(rows(row).find(isSeen)),
      End: () => go(rows(row).findLast(isSeen)),
      n: () => go(beside(row, 1, isLoss)),
      p: () => go(beside(row, -1, isLoss)),
      ArrowRight: () => {
        if (folded && !folded.open) folded.open = true;
        else if (folded) go(beside(row, 1, isSeen));
        else if (side(row) === "source") go(partners(row)[0]);
      },
      ArrowLeft: () => {
        if (folded && folded.open) folded.open = false;
        else if (!folded && side(row) === "target" && partners(row).length) go(partners(row)[0]);
        else go(parent(row));
      },
    };
    if (event.key in moves) {
      event.preventDefault();
      moves[event.key]();
    }
  });

  document.addEventListener("focusin", (event) => {
    const row = event.target.closest?.(ROWS);
    if (row) stop(row);
    if (row?.matches(".leaf")) {
      show(row);
      align(row, false);
    }
  });

  let pointed = null;
  document.addEventListener("pointerover", (event) => {
    const leaf = event.target.closest?.(".leaf");
    if (leaf === pointed) return;
    pointed = leaf;
    if (leaf) {
      show(leaf);
      align(leaf, false);
    } else {
      show(document.activeElement?.closest(".leaf"));
    }
  });

  document.addEventListener("click", (event) => {
    const leaf = event.target.closest?.(".leaf");
    if (!leaf || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const partner = partners(leaf)[0];
    if (partner && (event.detail === 0 || narrow.matches || !partner.closest(".pane"))) go(partner);
    else align(leaf, true);
  });
});
