
"use strict";
(() => {
  const form = document.getElementById("filter");
  const status = document.getElementById("count");
  const find = document.getElementById("find");
  const only = document.getElementById("only");
  const kinds = [...form.querySelectorAll("input[name=kind]")];
  const sessions = [...document.querySelectorAll("section.session")].map((section) => ({
    section,
    details: section.querySelector("details"),
    about: section.querySelector(".about").textContent.toLowerCase(),
    rows: [...section.querySelectorAll("tbody tr")],
  }));
  const texts = new Map();
  const AT_ONCE = 50; // sessions that a search opens

  const words = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };
  const said = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

  function filter() {
    const wanted = find.value.trim().toLowerCase();
    const shown = new Set(kinds.filter((box) => box.checked).map((box) => box.value));
    const narrowed = wanted !== "" || only.checked || shown.size < kinds.length;
    const matched = [];
    let steps = 0;
    let all = 0;
    for (const session of sessions) {
      let here = 0;
      const whole = wanted !== "" && session.about.includes(wanted);
      for (const row of session.rows) {
        const match = shown.has(row.dataset.kind) && (!only.checked || "broken" in row.dataset)
          && (wanted === "" || whole || words(row).includes(wanted));
        row.hidden = !match;
        here += match;
      }
      all += session.rows.length;
      steps += here;
      const match = !narrowed || here > 0 || (whole && !only.checked);
      session.section.hidden = !match;
      if (match) matched.push(session);
    }
    if (narrowed && matched.length <= AT_ONCE) matched.forEach(({ details }) => { if (details) details.open = true; });
    status.textContent = `${said(steps, "step")} of ${all.toLocaleString("en")} shown, `
      + `in ${said(matched.length, "section")}.`;
  }

  function reveal(element) {
    const details = element.closest("details");
    if (details) details.open = true;
    element.focus();
    element.scrollIntoView({ block: "center" });
  }

  function jump(by) {
    const marks = [...document.querySelectorAll(".marks .error, .marks .warning")]
      .filter((mark) => !mark.closest("[hidden]"));
    if (marks.length === 0) {
      status.textContent = "No broken rule is shown.";
      return;
    }
    const at = marks.indexOf(document.activeElement.closest(".marks li"));
    if (at >= 0) last = at;
    last = last < 0 && by < 0 ? marks.length - 1 : (last + by + marks.length) % marks.length;
    reveal(marks[last]);
    status.textContent = `Broken rule ${last + 1} of ${marks.length}.`;
  }

  function follow() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.closest("details")) reveal(target);
  }

  // A drawing that fits needs no stop of its own for scrolling. Everything is measured before anything is changed.
  const stops = new ResizeObserver((entries) => {
    const fits = entries.map(({ target }) => target.scrollWidth <= target.clientWidth);
    entries.forEach(({ target }, at) => {
      if (fits[at]) target.removeAttribute("tabindex");
      else target.tabIndex = 0;
    });
  });

  let last = -1;
  let timer = 0;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => { last = -1; filter(); }, 150);
  };
  const press = (id, action) => document.getElementById(id).addEventListener("click", action);
  form.addEventListener("input", soon);
  form.addEventListener("reset", soon);
  form.addEventListener("submit", (event) => event.preventDefault());
  press("next", () => jump(1));
  press("previous", () => jump(-1));
  press("open", () => sessions.forEach(({ details }) => { if (details) details.open = true; }));
  press("shut", () => sessions.forEach(({ details }) => { if (details) details.open = false; }));
  addEventListener("hashchange", follow);
  form.hidden = false;
  filter();
  document.querySelectorAll(".figure").forEach((figure) => stops.observe(figure));
  follow();
})();
