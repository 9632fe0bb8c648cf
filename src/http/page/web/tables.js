// Tables: of CSV files, of databases, and of what is in an archive.

import { html, signal, useEffect, useRef } from "./lib/core.js";
import { call, place } from "./api.js";
import { size } from "./format.js";
import { attempt } from "./state.js";
import { word } from "./words.js";

/** Rows that are shown at most. */
const ROWS = 500;

/** @param {{head: any[], rows: any[][], isCut: boolean, label: string}} given */
function Table({ head, rows, isCut, label }) {
  return html`${isCut && html`<p class="cut" role="note">${word("first_rows")}</p>`}
    <div class="scroll" tabindex="0" role="region" aria-label=${label}><table>
      <thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr>${row.map((value) => html`<td>${value === null ? html`<i>null</i>` : String(value)}</td>`)}</tr>`)}</tbody>
    </table></div>`;
}

/** @param {{text: string, name: string}} given */
export function CsvTable({ text, name }) {
  const rows = parse(text, name.endsWith(".tsv") ? "\t" : delimiter(text));
  const [head = [], ...rest] = rows;
  return html`<${Table} head=${head} rows=${rest.slice(0, ROWS)} isCut=${rest.length > ROWS} label=${name} />`;
}

/** The character that one of the first lines has most of. @param {string} text */
function delimiter(text) {
  const lines = text.slice(0, 10_000).split(/[\r\n]+/, 10);
  const count = (/** @type {string} */ mark) => Math.max(...lines.map((line) => line.split(mark).length));
  return [",", ";", "\t", "|"].reduce((best, mark) => (count(mark) > count(best) ? mark : best));
}

/** The first rows of a CSV text (RFC 4180). @param {string} text @param {string} mark */
function parse(text, mark) {
  const rows = [];
  let row = [];
  let field = "";
  let isQuoted = false;
  for (let at = text.charCodeAt(0) === 0xfeff ? 1 : 0; at < text.length && rows.length <= ROWS + 1; at += 1) {
    const character = text[at];
    if (isQuoted) {
      if (character !== '"') field += character;
      else if (text[at + 1] === '"') {
        field += '"';
        at += 1;
      } else isQuoted = false;
    } else if (character === '"' && field === "") isQuoted = true;
    else if (character === mark) {
      row.push(field);
      field = "";
    } else if (character === "\n" || (character === "\r" && text[at + 1] !== "\n")) {
      rows.push([...row, field]);
      row = [];
      field = "";
    } else if (character !== "\r") field += character;
  }
  if (field !== "" || row.length > 0) rows.push([...row, field]);
  return rows;
}

/** The tables of a database, and the rows of one. */
export function DatabaseTable({ zone, path }) {
  const state = useRef({ tables: signal(/** @type {string[]|null} */ (null)), shown: signal(/** @type {any} */ (null)) }).current;
  const query = (/** @type {string} */ query, limit = 0) => call("shed_sqlite", { ...place(zone), path, query, limit });
  const show = async (/** @type {string} */ name) => {
    const found = await attempt(() => query(`SELECT * FROM "${name.replaceAll('"', '""')}" LIMIT ${ROWS + 1}`));
    if (found) state.shown.value = { name, ...found };
  };
  useEffect(() => {
    attempt(() => query("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"))
      .then((found) => {
        state.tables.value = (found?.rows ?? []).map((/** @type {any} */ row) => row.name);
        if (state.tables.value?.length) show(state.tables.value[0]);
      });
  }, []);
  const shown = state.shown.value;
  const rows = shown ? shown.rows.map((/** @type {any} */ row) => shown.columns.map((/** @type {string} */ name) => row[name])) : [];
  return html`<div class="tabs" role="group" aria-label=${word("table")}>
      ${state.tables.value?.map((name) => html`<button aria-pressed=${shown?.name === name} onClick=${() => show(name)}>${name}</button>`)}
    </div>
    ${shown && html`<${Table} head=${shown.columns} rows=${rows.slice(0, ROWS)} isCut=${rows.length > ROWS} label=${shown.name} />`}`;
}

/** What is in an archive. */
export function ZipTable({ zone, path }) {
  const found = useRef(signal(/** @type {any} */ (null))).current;
  useEffect(() => {
    attempt(() => call("shed_zipinfo", { ...place(zone), path })).then((info) => (found.value = info ?? null));
  }, []);
  if (!found.value) return html`<p class="nothing" role="status">${word("loading")}</p>`;
  const rows = found.value.files.map((/** @type {any} */ file) => [file.name, file.is_dir ? "" : size(file.size), file.date ?? ""]);
  return html`<${Table} head=${[word("name"), word("size"), word("modified")]} rows=${rows} isCut=${found.value.truncated} label=${path} />`;
}
