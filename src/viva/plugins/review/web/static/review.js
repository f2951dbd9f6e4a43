"use strict";
// What pages do besides htmx: keys, and a form that loses nothing while the server is away.
(() => {
  const one = (selector) => document.querySelector(selector);
  const RETRY_MS = 1000, TYPING_MS = 400;

  // --- keys: an element with data-key is chosen by it; the help lists them, and switches them off

  const KEYS = "viva-keys";
  const keysOn = () => localStorage.getItem(KEYS) !== "off";
  const writing = (element) => element.matches("textarea, select, input:not([type=checkbox])");

  document.addEventListener("keydown", (event) => {
    const here = event.target instanceof Element ? event.target : document.body;
    if (event.key === "Escape" && writing(here)) { here.blur(); return; }
    if (event.key === "Escape" && here.closest("#comment-bank")) { here.closest("details").open = false; here.blur(); return; }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && form) { event.preventDefault(); finish(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || one("dialog[open]")) return;
    if (!keysOn() || writing(here)) return;
    if (here.closest("#comment-bank") && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      const all = [...document.querySelectorAll("#comment-bank button")];
      const next = all[all.indexOf(here) + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) { event.preventDefault(); next.focus(); }
      return;
    }
    if (event.key === "Enter" && here.matches("a, button, summary")) return;
    const chosen = one(`[data-key="${CSS.escape(event.key)}"]`);
    if (!chosen) return;
    event.preventDefault();
    if (chosen.matches("textarea, input:not([type=checkbox])")) { chosen.focus(); return; }
    if (chosen.matches("summary") && chosen.dataset.focus) {
      chosen.parentElement.open = true;
      one(chosen.dataset.focus)?.focus();
      return;
    }
    chosen.click();
  });

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog]");
    if (opener) document.getElementById(opener.dataset.dialog).showModal();
  });

  const box = document.getElementById("keys-on");
  box.checked = keysOn();
  box.addEventListener("change", () => localStorage.setItem(KEYS, box.checked ? "on" : "off"));

  // --- items that exclude each other

  document.addEventListener("change", (event) => {
    const group = event.target.dataset?.exclusive;
    if (!group || !event.target.checked) return;
    for (const other of document.querySelectorAll(`[data-exclusive="${CSS.escape(group)}"]`))
      if (other !== event.target) other.checked = false;
  });

  // --- the form in which an answer is marked: kept at once, and again until the server has it

  const form = document.getElementById("mark");
  if (!form) return;
  const comment = form.elements.comment, link = document.getElementById("link");
  const place = `viva ${form.dataset.place}`;
  let typing = 0, again = 0, unsaved = false, leaving = false, sure = false, going = "";

  const save = () => {
    clearTimeout(typing); clearTimeout(again);
    unsaved = true;
    if (!form.querySelector("[data-mine]")) htmx.trigger(form, "save");  // first it is chosen whose mark is to stand
  };
  // Nothing may be lost by a key that was pressed too early.
  const means = () => {
    const chosen = form.querySelector("[name=items]:checked") || form.elements.adjust.value.trim() || comment.value.trim();
    if (chosen || form.dataset.empty || sure) return true;
    sure = true;
    link.textContent = "No item is chosen, which is 0 points: the same once more if you mean it.";
    return false;
  };
  const finish = () => {
    if (!means()) return;
    form.elements.done.value = "yes";
    form.elements.then.value = "next";
    save();
  };
  const wait = (sentence) => {
    link.textContent = sentence;
    clearTimeout(again);
    if (!leaving) again = setTimeout(save, RETRY_MS);
  };
  // What a page still sent while the next one is made would be unknown to that one; it finds the text itself.
  addEventListener("beforeunload", () => { leaving = true; clearTimeout(typing); clearTimeout(again); });
  addEventListener("pageshow", () => { leaving = false; });

  // What was typed and not kept is there again when the page is.
  const typed = sessionStorage.getItem(place);
  if (typed !== null && typed !== comment.value) {
    comment.value = typed;
    document.addEventListener("DOMContentLoaded", () => setTimeout(save));  // htmx listens from then on
  }

  comment.addEventListener("input", () => {
    unsaved = true;
    sessionStorage.setItem(place, comment.value);
    clearTimeout(typing);
    typing = setTimeout(save, TYPING_MS);
  });
  form.addEventListener("change", save);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter?.value) { finish(); return; }
    form.elements.done.value = "";
    form.elements.then.value = "";
    save();
  });
  form.addEventListener("click", (event) => {
    const mine = event.target.closest("[data-mine]"), ready = event.target.closest("[data-comment]");
    if (event.target.closest("[data-theirs]")) { sessionStorage.removeItem(place); unsaved = false; }
    if (mine) {
      form.elements.seen.value = mine.dataset.mine;
      mine.remove();
      save();
    }
    if (!ready) return;
    const before = comment.value.trim();
    if (!before.includes(ready.dataset.comment)) comment.value = [before, ready.dataset.comment].filter(Boolean).join("\n\n");
    const item = form.querySelector(`[name=items][value="${CSS.escape(ready.dataset.item)}"]`);
    if (item && ready.dataset.sign) item.checked = ready.dataset.sign === "+";
    comment.dispatchEvent(new Event("input"));
    ready.blur();  // so that the next Enter is "done", and does not take the comment again
    save();
  });

  let sent = { comment: "", then: "" };
  form.addEventListener("htmx:configRequest", () => {
    sent = { comment: comment.value, then: form.elements.then.value };
  });
  form.addEventListener("htmx:beforeSwap", (event) => {
    if ([409, 422].includes(event.detail.xhr.status)) { event.detail.shouldSwap = true; event.detail.isError = false; }
  });
  form.addEventListener("htmx:afterRequest", (event) => {
    const status = event.detail.xhr.status;
    if (status === 403) {
      wait("Not kept yet: the session has ended. Open the address that viva review printed, in another tab; what you wrote stays here.");
    } else if (status === 0 || status >= 500) {
      wait("Not kept yet: the server does not answer. What you wrote stays here and is sent again.");
    } else if (status >= 400 && ![409, 422].includes(status)) {
      going = "";
      link.textContent = `Not kept: the server refuses it (${status}). What you wrote stays here; load the page again.`;
    } else {
      link.textContent = "";
      if (sent.then) form.elements.then.value = "";
      if (status === 200 && comment.value === sent.comment) {
        sessionStorage.removeItem(place);
        unsaved = false;
        if (going) location.assign(going);
      } else if (status !== 200) {
        going = "";
        if (sent.then) form.elements.done.value = "";
      }
    }
  });
  // Whoever goes on in the middle of a word takes it along.
  document.addEventListener("click", (event) => {
    const to = event.target.closest("a[href]");
    if (!to || !unsaved || form.querySelector("[data-mine]") || event.ctrlKey || event.metaKey || to.target) return;
    event.preventDefault();
    going = to.href;
    save();
  });
})();
