// The keys of the list.

import { html } from "./lib/core.js";
import { Dialog } from "./dialog.js";
import { dialog } from "./state.js";
import { word } from "./words.js";

/** Keys, and what each does. @type {[string[], string][]} */
const KEYS = [
  [["↑", "↓", "Home", "End"], "keys_go"],
  [["Enter"], "open"],
  [["⌫"], "keys_up"],
  [["Space"], "keys_select"],
  [["Shift", "↑↓"], "keys_range"],
  [["Ctrl", "A"], "select_all"],
  [["Ctrl", "C"], "copy"],
  [["Ctrl", "X"], "cut"],
  [["Ctrl", "V"], "paste"],
  [["F2"], "rename"],
  [["Del"], "delete"],
  [["Shift", "F10"], "more"],
  [["A–Z"], "keys_jump"],
  [["/"], "search"],
  [["←", "→"], "keys_step"],
  [["Esc"], "keys_escape"],
  [["?"], "keys"],
];

export function openKeys() {
  dialog.value = () => html`<${Dialog} title=${word("keys")}>
    <dl class="keys">${KEYS.map(([keys, what]) => html`<div key=${what}>
      <dt>${keys.map((key) => html`<kbd>${key}</kbd>`)}</dt><dd>${word(what)}</dd></div>`)}</dl>
  <//>`;
}
