// Dialogs: the browser's own element, so focus stays inside and Escape closes it.

import { html, useEffect, useRef } from "./lib/core.js";
import { Icon } from "./icons.js";
import { Notes } from "./notes.js";
import { dialog } from "./state.js";
import { word } from "./words.js";

export function close() {
  dialog.value = null;
}

/**
 * @param {{title: string, wide?: boolean, children?: any, actions?: any, onClose?: () => void, onSubmit?: (event: any) => void}} given
 */
export function Dialog({ title, wide, children, actions, onClose = close, onSubmit }) {
  const element = useRef(/** @type {HTMLDialogElement|null} */ (null));
  useEffect(() => {
    const before = /** @type {HTMLElement|null} */ (document.activeElement);
    element.current?.showModal();
    return () => before?.focus?.();
  }, []);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    onSubmit?.(event);
  };
  const press = (/** @type {MouseEvent} */ event) => {
    if (event.target === element.current) onClose();
  };
  return html`<dialog ref=${element} class=${wide ? "wide" : ""} aria-labelledby="dialog-title"
      onCancel=${(/** @type {Event} */ event) => { event.preventDefault(); onClose(); }} onMouseDown=${press}>
    <form onSubmit=${submit}>
      <header>
        <h2 id="dialog-title">${title}</h2>
        <button type="button" class="quiet" aria-label=${word("close")} onClick=${onClose}><${Icon} name="close" /></button>
      </header>
      <div class="content">${children}</div>
      ${actions && html`<footer>${actions}</footer>`}
    </form>
    <${Notes} layer="dialog" />
  </dialog>`;
}

/**
 * Asks for a text. Gives null where the person changed their mind.
 * @param {{title: string, label: string, value?: string, hint?: string, action: string, selects?: number}} given
 * @returns {Promise<string|null>}
 */
export function askText({ title, label, value = "", hint, action, selects }) {
  return new Promise((resolve) => {
    const end = (/** @type {string|null} */ answer) => {
      close();
      resolve(answer);
    };
    dialog.value = () => html`<${TextQuestion} ...${{ title, label, value, hint, action, selects, end }} />`;
  });
}

function TextQuestion({ title, label, value, hint, action, selects, end }) {
  const input = useRef(/** @type {HTMLInputElement|null} */ (null));
  useEffect(() => {
    input.current?.focus();
    input.current?.setSelectionRange(0, selects ?? value.length);
  }, []);
  const submit = () => {
    const text = input.current?.value.trim() ?? "";
    if (text) end(text);
  };
  return html`<${Dialog} title=${title} onClose=${() => end(null)} onSubmit=${submit}
      actions=${html`<button type="button" onClick=${() => end(null)}>${word("cancel")}</button>
        <button class="primary">${action}</button>`}>
    <label>${label}<input ref=${input} defaultValue=${value} placeholder=${hint} autocomplete="off" spellcheck=${false} required /></label>
  <//>`;
}

/**
 * Asks what to do. Gives the value of an answer, or null.
 * @param {{title: string, text?: string, answers: {value: string, label: string, kind?: string}[]}} given
 * @returns {Promise<string|null>}
 */
export function ask({ title, text, answers }) {
  return new Promise((resolve) => {
    const end = (/** @type {string|null} */ answer) => {
      close();
      resolve(answer);
    };
    dialog.value = () => html`<${Dialog} title=${title} onClose=${() => end(null)}
        actions=${html`<button type="button" onClick=${() => end(null)}>${word("cancel")}</button>
          ${answers.map(({ value, label, kind = "primary" }) =>
            html`<button type="button" class=${kind} onClick=${() => end(value)}>${label}</button>`)}`}>
      ${text && html`<p>${text}</p>`}
    <//>`;
  });
}
