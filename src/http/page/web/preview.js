// One file: shown as what it is, and edited where it is text.

import { html, useEffect, useRef } from "./lib/core.js";
import { acting, address, text as textOf } from "./api.js";
import { drafts, openLease, saveEdit } from "./editing.js";
import { actionsFor, undoOf } from "./actions.js";
import { ask } from "./dialog.js";
import { showText } from "./editor.js";
import { date, instant, join, size } from "./format.js";
import { EntryIcon, Icon } from "./icons.js";
import { openMenuOf } from "./menu.js";
import { Notes } from "./notes.js";
import { isShownOtherwise, Shown, TEXT_MAX } from "./shown.js";
import { attempt, entries, go, goBack, isText, listing, location, personal, previewed, reload, tell } from "./state.js";
import { word } from "./words.js";

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
        ? html`<${EditedText} key=${edit.value.text} name=${name} text=${edit.value.text} onSave=${save} />`
        : html`<${Shown} key=${`${full}-${entry.modified}`} zone=${zone} path=${full} entry=${entry} />`}
    </div>
    <${Notes} layer="preview" />
  </dialog>`;
}

/** The text that is edited. */
function EditedText({ name, text, onSave }) {
  const fill = (/** @type {HTMLElement|null} */ element) => {
    if (!element || element.shadowRoot) return;
    const onChange = () => {
      if (!edit.value) return;
      if (!edit.value.changed) edit.value = { ...edit.value, changed: true };
      drafts.keep(location.value, join(location.value.path, name), () => edit.value?.read?.());
    };
    showText(element, name, text, { label: name, writable: true, onChange, onSave }).then((read) => {
      if (edit.value) edit.value.read = read;
    });
  };
  return html`<div class="text-content" ref=${fill}></div>`;
}
