// Notes at the bottom, above everything.

import { html, useEffect, useRef } from "./lib/core.js";
import { Icon } from "./icons.js";
import { dialog, dismiss, notes, previewed } from "./state.js";
import { word } from "./words.js";

/** Returns the topmost layer. A dialog makes all else inert: notes below it could not be pressed or read out. */
function topLayer() {
  if (dialog.value) return "dialog";
  return previewed.value ? "preview" : "page";
}

/** The notes, in the layer that is on top. @param {{layer: "page"|"preview"|"dialog"}} given */
export function Notes({ layer }) {
  const element = useRef(/** @type {HTMLElement|null} */ (null));
  const isHere = layer === topLayer();
  const all = isHere ? notes.value : [];
  useEffect(() => {
    // A dialog around it opens after this, and would lie over what was shown before.
    queueMicrotask(() => {
      element.current?.hidePopover();
      if (all.length > 0) element.current?.showPopover();
    });
  }, [notes.value, isHere]);
  return html`<div class="notes" role="status" aria-live="polite" aria-label=${word("notices")} popover="manual" ref=${element}>
    ${all.map(({ id, text, kind, action }) => html`<div class=${kind ? `note note-${kind}` : "note"} key=${id}>
      <span>${text}</span>
      ${action && html`<button type="button" class="text" onClick=${() => { dismiss(id); action.run(); }}>${action.label}</button>`}
      <button type="button" class="quiet" aria-label=${`${word("close")}: ${text}`} onClick=${() => dismiss(id)}><${Icon} name="close" size=${16} /></button>
    </div>`)}
  </div>`;
}
