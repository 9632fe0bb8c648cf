// A list of actions beside the pointer.

import { html, useLayoutEffect, useRef } from "./lib/core.js";
import { Icon } from "./icons.js";
import { Notes } from "./notes.js";
import { dialog } from "./state.js";
import { word } from "./words.js";

/** @typedef {{id: string, label: string, icon: string, run: () => void, danger?: boolean}} Action */

/** @param {{x: number, y: number, actions: Action[]}} given */
export function Menu({ x, y, actions }) {
  const menu = useRef(/** @type {HTMLDialogElement|null} */ (null));
  useLayoutEffect(() => {
    const element = /** @type {HTMLDialogElement} */ (menu.current);
    const before = /** @type {HTMLElement|null} */ (document.activeElement);
    // Above whatever is open, and the rest of the page waits.
    element.showModal();
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(8, Math.min(x, window.innerWidth - width - 8))}px`;
    element.style.top = `${Math.max(8, Math.min(y, window.innerHeight - height - 8))}px`;
    element.querySelector("button")?.focus();
    return () => before?.focus?.();
  }, []);
  const close = () => (dialog.value = null);
  const press = (/** @type {KeyboardEvent} */ event) => {
    const buttons = [...(menu.current?.querySelectorAll("[role=menuitem]") ?? [])];
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) buttons[(at + step + buttons.length) % buttons.length].focus();
    else if (event.key === "Tab") close();
    else return;
    event.preventDefault();
  };
  const cancel = (/** @type {Event} */ event) => {
    event.preventDefault();
    close();
  };
  const leave = (/** @type {Event} */ event) => {
    if (event.target === menu.current) cancel(event);
  };
  const choose = (/** @type {() => void} */ run) => () => {
    close();
    run();
  };
  return html`<dialog class="menu" ref=${menu} aria-label=${word("more")} onKeyDown=${press} onCancel=${cancel}
      onMouseDown=${leave} onContextMenu=${leave}>
    <div role="menu" aria-label=${word("more")}>
      ${actions.map((action) => html`<button role="menuitem" class=${action.danger ? "danger" : ""} onClick=${choose(action.run)}>
        <${Icon} name=${action.icon} />${action.label}</button>`)}
    </div>
    <${Notes} layer="dialog" />
  </dialog>`;
}

/** Shows actions beside the pointer, or below the button that was used by key. @param {MouseEvent} event @param {any[]} actions */
export function openMenuOf(event, actions) {
  event.preventDefault();
  const button = /** @type {HTMLElement} */ (event.currentTarget ?? event.target);
  const box = button.getBoundingClientRect();
  const isKey = event.detail === 0 && event.type === "click";
  const [x, y] = isKey ? [box.left, box.bottom + 4] : [event.clientX, event.clientY];
  dialog.value = () => html`<${Menu} x=${x} y=${y} actions=${actions} />`;
}
