// Both sides of a change of one file, beside each other: text, also of documents, and rows of tables.

import { html, signal, useEffect, useRef } from "./lib/core.js";
import { query, read, Refusal } from "./api.js";
import { showDifference } from "./editor.js";
import { leave } from "./state.js";
import { word } from "./words.js";

/** @typedef {{before?: string, after?: string, diff?: string, is_table?: boolean, truncated?: boolean}} Sides */

/** The rows of two tables beside each other, from a unified diff of rows with tabs; `null` where some are left out. @param {string} diff */
function sideBySide(diff) {
  /** @type {([string[], string[]]|null)[]} */
  const rows = [];
  let unpaired = 0;
  for (const line of diff.split("\n")) {
    const cells = line.slice(1).split("\t");
    if (line.startsWith("-")) {
      rows.push([cells, []]);
      unpaired += 1;
      continue;
    }
    const old = line.startsWith("+") && unpaired > 0 ? rows[rows.length - unpaired] : null;
    unpaired = old ? unpaired - 1 : 0;
    if (old) old[1] = cells;
    else if (line.startsWith("+")) rows.push([[], cells]);
    else if (line.startsWith("@@")) rows.push(null);
    else if (line) rows.push([cells, cells]);
  }
  return rows.slice(1);
}

/** Both sides of a change of a table. @param {{diff: string, path: string}} given */
function Sheets({ diff, path }) {
  const rows = sideBySide(diff);
  const width = Math.max(...rows.flatMap((row) => row?.map((side) => side.length) ?? []));
  const side = (/** @type {string[]} */ cells, /** @type {string[]} */ others) => [...Array(width).keys()]
    .map((at) => html`<td class=${cells[at] === others[at] ? "" : "differs"}>${cells[at]}</td>`);
  return html`<div class="scroll" role="region" tabindex="0" aria-label=${path}><table class="beside">
    <thead><tr><th scope="colgroup" colspan=${width}>${word("before")}</th><th scope="colgroup" colspan=${width}>${word("after")}</th></tr></thead>
    ${rows.map((row) => html`<tr>${row ? [...side(row[0], row[1]), ...side(row[1], row[0])] : html`<td colspan=${2 * width}>…</td>`}</tr>`)}
  </table></div>`;
}

/** Returns a view of both sides, as far as the server has them. @param {Sides} sides @param {string} path */
function shown({ before, after = "", diff, is_table, truncated }, path) {
  if (diff === "" || (before !== undefined && before === after)) return html`<p class="cut">${word("no_difference")}</p>`;
  if (before !== undefined) {
    const fill = (/** @type {HTMLElement|null} */ element) => element && !element.shadowRoot && showDifference(element, path, before, after);
    return html`<p class="sides"><span>${word("before")}</span><span>${word("after")}</span></p>
      <div class="sides-content" ref=${fill} role="region" tabindex="0" aria-label=${path}></div>`;
  }
  if (diff === undefined) return html`<p class="cut">${word("no_comparison")}</p>`;
  return html`${is_table ? html`<${Sheets} diff=${diff} path=${path} />` : html`<pre class="extracted" tabindex="0" aria-label=${path}>${diff}</pre>`}
    ${truncated && html`<p class="cut" role="note">${word("document_cut")}</p>`}`;
}

/** A file before and after a change or a commit. @param {{zone: import("./api.js").Zone, path: string, of: {change: number}|{commit: string}}} given */
export function Difference({ zone, path, of }) {
  const found = useRef(signal(/** @type {Sides|null} */ (null))).current;
  useEffect(() => {
    read("difference", Object.fromEntries(query(zone, { path, ...of }))).then((sides) => (found.value = sides), (error) => {
      if (error instanceof Refusal && error.status === 401) leave();
      // A picture, say, or a file that is too large.
      else found.value = {};
    });
  }, []);
  return html`<div class="difference">${found.value ? shown(found.value, path) : html`<p role="status" class="cut">${word("loading")}</p>`}</div>`;
}
