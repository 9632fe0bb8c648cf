// One file: shown as what it is, and edited where it is text.

import { html, signal, useEffect, useRef } from "./lib/core.js";
import { acting, address, call, place, Refusal, text as textOf } from "./api.js";
import { drafts, openLease, saveEdit } from "./editing.js";
import { actionsFor, undoOf } from "./actions.js";
import { ask } from "./dialog.js";
import { showText } from "./editor.js";
import { date, extension, instant, join, size } from "./format.js";
import { EntryIcon, Icon, kind } from "./icons.js";
import { later } from "./later.js";
import { showMarkdown } from "./markdown.js";
import { openMenuOf } from "./menu.js";
import { Notes } from "./notes.js";
import { attempt, entries, EXTRACTED, go, goBack, isText, listing, location, personal, previewed, reload, tell } from "./state.js";
import { word } from "./words.js";

/** Most bytes of a text that is shown or edited. */
const TEXT_MAX = 2 * 1024 * 1024;

const DATABASES = ["sqlite", "sqlite3", "db"];
const PICTURES = ["png", "jpg", "jpeg", "gif", "webp", "svg", "bmp", "ico", "avif"];

const tables = () => import("./tables.js");
const CsvTable = later(tables, "CsvTable");
const DatabaseTable = later(tables, "DatabaseTable");
const ZipTable = later(tables, "ZipTable");

/** The text that is edited: as it was when that began, as it is shown first, and what reads it. */
const edit = personal(/** @type {import("./editing.js").Edit|null} */ (null));

/** The file that the address names. */
export function Preview() {
  const entry = previewed.value;
  return entry && html`<${FileView} key=${entry.name} entry=${entry} />`;
}

/** @param {{entry: import("./state.js").Entry}} given */
function FileView({ entry }) {
  const zone = location.value;
  const { path } = zone;
  const { name } = entry;
  const full = join(path, name);
  const element = useRef(/** @type {HTMLDialogElement|null} */ (null));
  useEffect(() => {
    edit.value = null;
    const before = /** @type {HTMLElement|null} */ (document.activeElement);
    element.current?.showModal();
    // A draft from before the page was left or loaded again.
    if (mayEdit && drafts.of(zone, full)) begin();
    return () => {
      if (edit.value) stop();
      before?.focus?.();
    };
  }, []);

  const stop = () => {
    edit.value?.lease.end();
    edit.value = null;
  };
  const leave = async () => {
    if (edit.value?.changed) {
      const answer = await ask({
        title: word("unsaved"),
        answers: [{ value: "discard", label: word("discard"), kind: "danger" }, { value: "save", label: word("save") }],
      });
      if (!answer) return false;
      if (answer === "save") return save();
    }
    if (edit.value) drafts.drop(zone, full);
    stop();
    return true;
  };
  const close = async () => {
    if (await leave()) goBack();
  };
  const begin = async () => {
    const lease = await attempt(() => openLease(zone, full));
    if (!lease) return;
    const base = await attempt(() => textOf(zone, full));
    if (typeof base !== "string") {
      lease.end();
      if (base === null) tell(word("not_text"));
      return;
    }
    const draft = drafts.of(zone, full);
    const changed = draft !== null && draft.text !== base;
    edit.value = { base, text: changed ? draft.text : base, changed, lease };
    if (!changed) return;
    const discard = () => {
      drafts.drop(zone, full);
      if (edit.value) edit.value = { ...edit.value, text: base, changed: false };
    };
    tell(word("draft_back", instant(draft.at)), { action: { label: word("discard"), run: discard } });
  };
  const save = async () => {
    const open = edit.value;
    if (!open) return true;
    const here = acting(zone);
    const done = await attempt(() => saveEdit(here, full, open));
    if (!done) return false;
    drafts.drop(zone, full);
    stop();
    tell(word("saved"), { action: undoOf(here, listing.value.keeps_deleted) });
    await reload();
    return true;
  };
  const step = async (/** @type {number} */ by) => {
    const files = entries.value.filter((one) => one.type === "file");
    const next = files[files.findIndex((one) => one.name === name) + by];
    if (next && (await leave())) go({ path, open: next.name }, true);
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (edit.value || event.target !== element.current) return;
    if (event.key === "ArrowLeft") step(-1);
    if (event.key === "ArrowRight") step(1);
  };
  const mayEdit = entry.writable && isText(name) && entry.size <= TEXT_MAX && !isShownOtherwise(name);
  const others = actionsFor([entry]).filter((action) => !["open", "download"].includes(action.id));
  return html`<dialog class="preview" ref=${element} aria-labelledby="preview-title" onKeyDown=${press}
      onCancel=${(/** @type {Event} */ event) => { event.preventDefault(); close(); }}>
    <header>
      <${EntryIcon} entry=${entry} />
      <div class="about"><h2 id="preview-title">${name}</h2><span>${size(entry.size)} · ${date(entry.modified)}${entry.owner ? ` · ${entry.owner}` : ""}</span></div>
      ${edit.value
        ? html`<button onClick=${async () => { if (await leave()) reload(); }}>${word("cancel")}</button>
          <button class="primary" onClick=${save}>${word("save")}</button>`
        : html`${mayEdit && html`<button aria-label=${word("edit")} onClick=${begin}><${Icon} name="rename" /><span>${word("edit")}</span></button>`}
          <a class="button" aria-label=${word("download")} href=${address(zone, full)} download=${name}><${Icon} name="download" /><span>${word("download")}</span></a>
          <button class="quiet wide-only" aria-label=${word("previous")} onClick=${() => step(-1)}><${Icon} name="previous" /></button>
          <button class="quiet wide-only" aria-label=${word("next")} onClick=${() => step(1)}><${Icon} name="next" /></button>
          <button class="quiet" aria-haspopup="menu" aria-label=${word("more")} onClick=${(/** @type {MouseEvent} */ event) => openMenuOf(event, others.map((action) => ({ ...action, run: () => { element.current?.close(); go({ path }); action.run(); } })))}><${Icon} name="more" /></button>`}
      <button class="quiet" aria-label=${word("close")} onClick=${close}><${Icon} name="close" /></button>
    </header>
    <div class="shown">
      ${edit.value
        ? html`<${Text} key=${edit.value.text} name=${name} text=${edit.value.text} writable onSave=${save} />`
        : html`<${Shown} key=${`${full}-${entry.modified}`} zone=${zone} path=${full} entry=${entry} />`}
    </div>
    <${Notes} layer="preview" />
  </dialog>`;
}

/** Whether a file is text only to programs. @param {string} name */
function isShownOtherwise(name) {
  const end = extension(name);
  return end === "pdf" || end === "zip" || EXTRACTED.includes(end) || DATABASES.includes(end)
    || (PICTURES.includes(end) && end !== "svg") || ["film", "sound"].includes(kind(name));
}

/** What a file is shown as. */
function Shown({ zone, path, entry }) {
  const end = extension(entry.name);
  const at = address(zone, path, true);
  if (PICTURES.includes(end)) return html`<div class="picture"><img src=${at} alt=${entry.name} /></div>`;
  if (kind(entry.name) === "film") return html`<div class="picture"><video src=${at} aria-label=${entry.name} controls></video></div>`;
  if (kind(entry.name) === "sound") return html`<div class="picture"><audio src=${at} aria-label=${entry.name} controls></audio></div>`;
  if (end === "pdf") return html`<iframe class="document" src=${at} title=${entry.name}></iframe>`;
  if (end === "zip") return html`<${ZipTable} zone=${zone} path=${path} />`;
  if (DATABASES.includes(end)) return html`<${DatabaseTable} zone=${zone} path=${path} />`;
  if (EXTRACTED.includes(end)) return html`<${Extracted} zone=${zone} path=${path} />`;
  if (!isText(entry.name)) return html`<p class="nothing">${word("no_preview")}</p>`;
  if (entry.size > TEXT_MAX && !["csv", "tsv"].includes(end)) return html`<p class="nothing">${word("too_large")}</p>`;
  return html`<${AsText} zone=${zone} path=${path} entry=${entry} />`;
}

/** Something that is text, or turns out not to be. */
function AsText({ zone, path, entry }) {
  const content = useContent(async () => ({ text: await textOf(zone, path, entry.size > TEXT_MAX ? TEXT_MAX : undefined) }));
  if (!content.value) return html`<p class="nothing" role="status">${content.error?.message ?? word("loading")}</p>`;
  const { text } = content.value;
  if (text === null) return html`<p class="nothing">${word("no_preview")}</p>`;
  const end = extension(entry.name);
  if (end === "csv" || end === "tsv") return html`<${CsvTable} text=${text} name=${entry.name} />`;
  if (end === "md" || end === "markdown") return html`<${Markdown} text=${text} zone=${zone} path=${path} />`;
  return html`<${Text} name=${entry.name} text=${text} />`;
}

/** The text that the server takes from a document. */
function Extracted({ zone, path }) {
  const content = useContent(() => call("shed_read", { ...place(zone), path }));
  if (!content.value) return html`<p class="nothing" role="status">${content.error?.message ?? word("loading")}</p>`;
  // Each line begins with its number and an arrow.
  const text = content.value.content.replace(/^ *\d+→/gm, "");
  return html`<pre class="extracted" tabindex="0">${text}</pre>`;
}

function Text({ name, text, writable = false, onSave }) {
  const fill = (/** @type {HTMLElement|null} */ element) => {
    if (!element || element.shadowRoot) return;
    const onChange = () => {
      if (!edit.value) return;
      if (!edit.value.changed) edit.value = { ...edit.value, changed: true };
      drafts.keep(location.value, join(location.value.path, name), () => edit.value?.read?.());
    };
    showText(element, name, text, { label: name, writable, onChange, onSave }).then((read) => {
      if (writable && edit.value) edit.value.read = read;
    });
  };
  return html`<div class="text-content" ref=${fill}></div>`;
}

function Markdown({ text, zone, path }) {
  const fill = (/** @type {HTMLElement|null} */ element) => {
    if (element && !element.firstChild) showMarkdown(element, text, zone, path);
  };
  return html`<article class="markdown" ref=${fill} tabindex="0"></article>`;
}

/** What comes from the server, once. @param {() => Promise<any>} read */
export function useContent(read) {
  const content = useRef(signal(/** @type {{value?: any, error?: Refusal}} */ ({}))).current;
  useEffect(() => {
    read().then((value) => (content.value = { value }), (error) => (content.value = { error }));
  }, []);
  return content.value;
}
