// The head of the page: where one is, what can be done there, and the search.

import { html, useEffect, useRef } from "./lib/core.js";
import { actionsFor, newFile, newFolder, paste, showHistory, showKeys, showLink, showMembers } from "./actions.js";
import { dropInto } from "./drag.js";
import { choose } from "./upload.js";
import { Icon } from "./icons.js";
import { chatName, clip, go, hash, isVersioned, listing, location, look, menuOpen, selected, selection } from "./state.js";
import { openMenuOf } from "./menu.js";
import { word } from "./words.js";

/** Milliseconds without a key after which a search begins. */
const PAUSE = 300;

function Search() {
  const { query } = location.value;
  const field = useRef(/** @type {HTMLInputElement|null} */ (null));
  const pause = useRef(0);
  useEffect(() => {
    const input = /** @type {HTMLInputElement} */ (field.current);
    if (document.activeElement !== input || query === undefined) input.value = query ?? "";
  }, [query]);
  useEffect(() => {
    const focus = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "/" || /** @type {Element} */ (event.target).closest("input, textarea, [contenteditable], dialog")) return;
      event.preventDefault();
      field.current?.focus();
    };
    window.addEventListener("keydown", focus);
    return () => window.removeEventListener("keydown", focus);
  }, []);
  const seek = () => {
    clearTimeout(pause.current);
    const text = field.current?.value.trim() ?? "";
    const { view, path } = location.value;
    const isSearch = view === "search";
    if (text) go({ view: "search", query: text, path }, isSearch);
    else if (isSearch) go({ path }, true);
  };
  const wait = () => {
    clearTimeout(pause.current);
    pause.current = setTimeout(seek, PAUSE);
  };
  return html`<form class="search" role="search" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); seek(); }}>
    <${Icon} name="search" />
    <input ref=${field} type="search" aria-label=${word("search")} placeholder=${word("search")} defaultValue=${query ?? ""} autocomplete="off" onInput=${wait} />
  </form>`;
}

export function Header() {
  return html`<header class="top">
    <button class="quiet menu-button" aria-label=${word("menu")} aria-expanded=${menuOpen.value} aria-controls="places"
      onClick=${() => (menuOpen.value = !menuOpen.value)}><${Icon} name="menu" /></button>
    <${Search} />
  </header>`;
}

function Path() {
  const { zone, group, chat, path } = location.value;
  const parts = path.split("/").filter(Boolean);
  const here = { zone, group, chat };
  const places = parts.map((name, at) => ({ name, to: { ...here, path: parts.slice(0, at + 1).join("/") } }));
  const all = [{ name: group ?? word(zone), to: { zone, group, path: "" } }, ...places];
  if (chat) all.splice(1, 0, { name: chatName(chat), to: { ...here, path: "" } });
  return html`<nav class="path" aria-label=${word("path")}><ol>
    ${all.map(({ name, to }, at) => html`<li><a href=${hash(to)} ...${at < all.length - 1 ? dropInto(to) : {}} aria-current=${at === all.length - 1 ? "page" : undefined}>${name}</a></li>`)}
  </ol></nav>`;
}

function Selection() {
  const chosen = selected.value;
  const all = actionsFor(chosen);
  return html`<div class="selection" role="toolbar" aria-label=${word("selected")}>
    <button class="quiet" aria-label=${word("clear")} onClick=${() => (selection.value = new Set())}><${Icon} name="close" /></button>
    <span class="chosen" role="status">${chosen.length} <span>${word("selected")}</span></span>
    ${all.filter(({ id }) => BAR.includes(id)).map((action) => html`<button key=${action.id} class=${action.danger ? "quiet danger" : "quiet"} onClick=${action.run} aria-label=${action.label} title=${action.label}>
      <${Icon} name=${action.icon} /><span>${action.label}</span></button>`)}
    <button class="quiet" aria-haspopup="menu" aria-label=${word("more")} onClick=${(/** @type {MouseEvent} */ event) => openMenuOf(event, all.filter(({ id }) => !BAR.includes(id)))}><${Icon} name="more" /></button>
  </div>`;
}

/** The actions that are used most: the rest is behind a button, so that nothing of it is cut on a phone. */
const BAR = ["download", "rename", "move", "link", "delete"];

export function Toolbar() {
  const { zone, group } = location.value;
  const mayWrite = listing.value.writable;
  const mayUpload = mayWrite || zone === "uploads";
  const more = [
    mayUpload && { id: "folder", label: word("upload_folder"), icon: "upload", run: () => choose(true) },
    mayWrite && { id: "file", label: word("new_file"), icon: "file_add", run: newFile },
    mayUpload && { id: "link", label: word("upload_link"), icon: "link", run: () => showLink() },
    isVersioned.value && { id: "history", label: word("history_of_zone"), icon: "history", run: () => showHistory("") },
    clip.value && mayWrite && { id: "paste", label: word("paste"), icon: "paste", run: paste },
    { id: "hidden", label: word(look.value.hidden ? "hide_hidden" : "show_hidden"), icon: "hidden", run: () => (look.value = { ...look.value, hidden: !look.value.hidden }) },
    { id: "keys", label: word("keys"), icon: "keys", run: showKeys },
    group && { id: "members", label: word("members"), icon: "group", run: () => showMembers(group) },
  ].filter(Boolean);
  return html`<div class="tools">
    <${Path} />
    ${selected.value.length > 0
      ? html`<${Selection} />`
      : html`<div class="buttons">
        ${mayWrite && html`<button class="shrinks" aria-label=${word("new_folder")} onClick=${newFolder}><${Icon} name="folder_add" /><span>${word("new_folder")}</span></button>`}
        ${mayUpload && html`<button class="primary" onClick=${() => choose(false)}><${Icon} name="upload" /><span>${word("upload_files")}</span></button>`}
        <button aria-label=${word("tiles")} aria-pressed=${look.value.tiles} title=${word("tiles")} onClick=${() => (look.value = { ...look.value, tiles: !look.value.tiles })}><${Icon} name="tiles" /></button>
        ${more.length > 0 && html`<button aria-haspopup="menu" aria-label=${word("more")} onClick=${(/** @type {MouseEvent} */ event) => openMenuOf(event, more)}><${Icon} name="more" /></button>`}
      </div>`}
  </div>`;
}
