// The head of the page: where one is, what can be done there, and the search.

import { html } from "./lib/core.js";
import { actionsFor, newFile, newFolder, showHistory } from "./actions.js";
import { choose } from "./upload.js";
import { Icon } from "./icons.js";
import { openMembers } from "./groups.js";
import { openUploadLink } from "./links.js";
import { chatName, go, hash, isVersioned, listing, location, menuOpen, selected, selection } from "./state.js";
import { openMenuOf } from "./menu.js";
import { word } from "./words.js";

function Search() {
  const { view, query } = location.value;
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const text = new FormData(/** @type {HTMLFormElement} */ (event.target)).get("query");
    const { path } = location.value;
    if (text) go({ view: "search", query: String(text), path });
    else go({ path });
  };
  return html`<form class="search" role="search" onSubmit=${submit}>
    <${Icon} name="search" />
    <input name="query" type="search" aria-label=${word("search")} placeholder=${word("search")} key=${view} defaultValue=${query ?? ""} autocomplete="off" />
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
    ${all.map(({ name, to }, at) => html`<li><a href=${hash(to)} aria-current=${at === all.length - 1 ? "page" : undefined}>${name}</a></li>`)}
  </ol></nav>`;
}

function Selection() {
  const chosen = selected.value;
  return html`<div class="selection" role="toolbar" aria-label=${word("selected")}>
    <button class="quiet" aria-label=${word("clear")} onClick=${() => (selection.value = new Set())}><${Icon} name="close" /></button>
    <span class="chosen" role="status">${chosen.length} ${word("selected")}</span>
    ${actionsFor(chosen).map((action) => html`<button key=${action.id} class=${action.danger ? "quiet danger" : "quiet"} onClick=${action.run} title=${action.label}>
      <${Icon} name=${action.icon} /><span>${action.label}</span></button>`)}
  </div>`;
}

export function Toolbar() {
  const { zone, group } = location.value;
  const mayWrite = listing.value.writable;
  const mayUpload = mayWrite || zone === "uploads";
  const more = [
    mayUpload && { id: "folder", label: word("upload_folder"), icon: "upload", run: () => choose(true) },
    mayWrite && { id: "file", label: word("new_file"), icon: "file_add", run: newFile },
    mayUpload && { id: "link", label: word("upload_link"), icon: "link", run: openUploadLink },
    isVersioned.value && { id: "history", label: word("history_of_zone"), icon: "history", run: () => showHistory("") },
    group && { id: "members", label: word("members"), icon: "group", run: () => openMembers(group) },
  ].filter(Boolean);
  return html`<div class="tools">
    <${Path} />
    ${selected.value.length > 0
      ? html`<${Selection} />`
      : html`<div class="buttons">
        ${mayWrite && html`<button class="shrinks" aria-label=${word("new_folder")} onClick=${newFolder}><${Icon} name="folder_add" /><span>${word("new_folder")}</span></button>`}
        ${mayUpload && html`<button class="primary" onClick=${() => choose(false)}><${Icon} name="upload" /><span>${word("upload_files")}</span></button>`}
        ${more.length > 0 && html`<button aria-haspopup="menu" aria-label=${word("more")} onClick=${(/** @type {MouseEvent} */ event) => openMenuOf(event, more)}><${Icon} name="more" /></button>`}
      </div>`}
  </div>`;
}
