// Tables: of sheets and CSV files, of databases, and of what is in an archive.

import { html, signal, useEffect, useRef } from "./lib/core.js";
import { call, memberAddress, place, query, read } from "./api.js";
import { size } from "./format.js";
import { Icon } from "./icons.js";
import { Waiting, useContent } from "./shown.js";
import { attempt } from "./state.js";
import { word } from "./words.js";

/** Rows that are shown at once. */
const ROWS = 500;

/** Returns `true` if a cell is read as a number. @param {any} value */
const isNumber = (value) => typeof value === "number" || /^[-+−(]?[\p{Sc}\s]*\d[\d.,'’\s]*([eE][-+]?\d+)?\s*[%\p{Sc})]?$/u.test(value);

/** Which columns hold numbers, most of the first rows say. @param {any[][]} rows @param {number} count */
function numeric(rows, count) {
  return Array.from({ length: count }, (_, column) => {
    const filled = rows.slice(0, 100).map((row) => row[column]).filter((value) => value !== "" && value !== null && value !== undefined);
    return filled.length > 0 && filled.filter(isNumber).length >= filled.length * 0.8;
  });
}

/**
 * Rows under their names, with more of them at the end.
 * @param {{head: any[], rows: any[][], label: string, first?: number, more?: (() => void)|null, sort?: {by: number, falls: boolean}|null, onSort?: (by: number) => void}} given
 */
function Table({ head, rows, label, first = 0, more = null, sort = null, onSort }) {
  const width = Math.max(head.length, ...rows.slice(0, 100).map((row) => row.length));
  // A sheet has anything anywhere; under a name all is of one kind.
  const isSheet = first > 0;
  const right = isSheet ? [] : numeric(rows, width);
  const scroll = (/** @type {Event} */ event) => {
    const { scrollTop, clientHeight, scrollHeight } = /** @type {HTMLElement} */ (event.target);
    if (scrollTop + 2 * clientHeight > scrollHeight) more?.();
  };
  const title = (/** @type {any} */ name, /** @type {number} */ at) => html`<th scope="col" class=${right[at] ? "right" : ""}
    aria-sort=${sort?.by === at ? (sort.falls ? "descending" : "ascending") : undefined}>
    ${onSort ? html`<button class="text" onClick=${() => onSort(at)}>${name}${sort?.by === at && html`<${Icon} name=${sort.falls ? "sort_down" : "sort_up"} size=${14} />`}</button>` : name}</th>`;
  const cell = (/** @type {any} */ value) => (value === null ? html`<i>null</i>` : value?.type ? value : String(value ?? ""));
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label} onScroll=${more ? scroll : undefined}><table>
      <thead><tr>${isSheet && html`<td class="corner"></td>`}${Array.from({ length: width }, (_, at) => title(head[at] ?? "", at))}</tr></thead>
      <tbody>${rows.map((row, at) => html`<tr key=${at}>${isSheet && html`<th scope="row">${first + at}</th>`}
        ${row.map((value, column) => html`<td class=${(isSheet ? isNumber(value) : right[column]) ? "right" : ""}>${cell(value)}</td>`)}</tr>`)}</tbody>
    </table>
    ${more && html`<button class="more" onClick=${more}>${word("show_more")}</button>`}
  </div>`;
}

/** Parts of something large, one after the other: what is there, and what reads on. */
function useParts() {
  const state = useRef({ shown: signal(/** @type {any} */ (null)), asked: 0, isBusy: false }).current;
  return {
    get shown() {
      return state.shown.value;
    },
    /** @param {() => Promise<any>} ask @param {((before: any, part: any) => any)} [join] */
    async read(ask, join) {
      if (join && state.isBusy) return;
      const number = ++state.asked;
      state.isBusy = true;
      const part = await attempt(ask);
      if (number !== state.asked) return;
      state.isBusy = false;
      if (part) state.shown.value = join ? join(state.shown.value, part) : part;
    },
  };
}

/** Rows of a CSV file, or of the sheets of a workbook. */
export function SheetTable({ zone, path, name }) {
  const parts = useParts();
  const ask = (/** @type {Record<string, string>} */ given) => () => read("table", Object.fromEntries(query(zone, { path, ...given })));
  const first = useContent(ask({}));
  if (!first.value) return html`<${Waiting} content=${first} zone=${zone} path=${path} name=${name} />`;
  const shown = parts.shown ?? first.value;
  const { sheets = [], sheet, columns, above = [], left_out: leftOut, next } = shown;
  const begin = () => parts.read(async () => shown);
  const more = next === undefined ? null : async () => {
    if (!parts.shown) await begin();
    const join = (/** @type {any} */ before, /** @type {any} */ part) => ({ ...before, rows: [...before.rows, ...part.rows], next: part.next });
    parts.read(ask({ from: String(next), ...(sheet && { sheet }) }), join);
  };
  const rows = columns ? shown.rows : shown.rows.slice(1);
  const head = columns ?? shown.rows[0] ?? [];
  const isEmpty = rows.length === 0 && head.length === 0;
  return html`${sheets.length > 1 && html`<div class="tabs" role="group" aria-label=${word("sheets")}>
      ${sheets.map((/** @type {string} */ one) => html`<button aria-pressed=${one === sheet} onClick=${() => parts.read(ask({ sheet: one }))}>${one}</button>`)}
    </div>`}
    ${above.length > 0 && html`<p class="cut above">${above.join("\n")}</p>`}
    ${leftOut > 0 && html`<p class="cut" role="note">${word("columns_left_out", leftOut)}</p>`}
    ${isEmpty ? html`<p class="nothing">${word("no_rows")}</p>` : html`<${Table} key=${sheet} head=${head} rows=${rows} more=${more} first=${columns ? shown.first : 0} label=${sheet ?? name} />`}`;
}

/** The tables of a database, the rows of one or of a query, in the order of a column. */
export function DatabaseTable({ zone, path, name }) {
  const parts = useParts();
  const choice = useRef(signal(/** @type {{name: string|null, sql: string, sort: {by: number, falls: boolean}|null}|null} */ (null))).current;
  const run = (/** @type {string} */ query) => call("shed_sqlite", { ...place(zone), path, query, limit: 0 });
  // As a part of another statement nothing but a question can stand.
  const statement = (/** @type {any} */ { sql, sort }, from = 0) =>
    `SELECT * FROM (${sql}\n)${sort ? ` ORDER BY ${sort.by + 1}${sort.falls ? " DESC" : ""}` : ""} LIMIT ${ROWS + 1} OFFSET ${from}`;
  const rowsOf = (/** @type {any} */ found) => found.rows.map((/** @type {any} */ row) => found.columns.map((/** @type {string} */ name) => row[name]));
  const ask = (/** @type {any} */ wanted, from = 0) => async () => {
    const found = await run(statement(wanted, from));
    const rows = rowsOf(found);
    return { ...wanted, columns: found.columns, rows: rows.slice(0, ROWS), isMore: rows.length > ROWS || found.truncated };
  };
  const show = (/** @type {any} */ wanted) => {
    choice.value = wanted;
    parts.read(ask(wanted));
  };
  const ofTable = (/** @type {string} */ name) => ({ name, sql: `SELECT * FROM "${name.replaceAll('"', '""')}"`, sort: null });
  const tables = useContent(async () => {
    const found = await run("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name");
    const names = found.rows.map((/** @type {any} */ row) => row.name);
    if (names.length > 0) show(ofTable(names[0]));
    return names;
  });
  if (!tables.value) return html`<${Waiting} content=${tables} zone=${zone} path=${path} name=${name} />`;
  const { shown } = parts;
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const sql = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("query")).trim().replace(/;+$/, "");
    if (sql) show({ name: null, sql, sort: null });
  };
  const sort = (/** @type {number} */ by) => show({ ...shown, sort: { by, falls: shown.sort?.by === by && !shown.sort.falls } });
  const more = shown?.isMore ? () => parts.read(ask(shown, shown.rows.length), (before, part) => ({ ...part, rows: [...before.rows, ...part.rows] })) : null;
  return html`<div class="tabs" role="group" aria-label=${word("table")}>
      ${tables.value.map((/** @type {string} */ name) => html`<button aria-pressed=${choice.value?.name === name} onClick=${() => show(ofTable(name))}>${name}</button>`)}
    </div>
    <form class="query" onSubmit=${submit}>
      <input name="query" aria-label=${word("query")} placeholder="SELECT …" spellcheck=${false} autocapitalize="none" autocomplete="off" key=${choice.value?.name} defaultValue=${choice.value?.sql ?? ""} />
      <button>${word("run")}</button>
    </form>
    ${shown?.rows.length === 0 && html`<p class="cut" role="status">${word("no_rows")}</p>`}
    ${shown && html`<${Table} key=${shown.name} head=${shown.columns} rows=${shown.rows} more=${more} sort=${shown.sort} onSort=${sort} label=${shown.name ?? word("query")} />`}`;
}

/** Contents of an archive, with a download of each file. */
export function ZipTable({ zone, path, name }) {
  const count = useRef(signal(ROWS)).current;
  const found = useContent(() => read("archive", Object.fromEntries(query(zone, { path }))));
  if (!found.value) return html`<${Waiting} content=${found} zone=${zone} path=${path} name=${name} />`;
  const { entries, files, size: total, truncated } = found.value;
  const link = (/** @type {any} */ file) => (file.is_dir ? file.name : html`<a href=${memberAddress(zone, path, file.name)} download=${file.name.split(/[/\\]/).pop()}>${file.name}</a>`);
  const rows = entries.slice(0, count.value).map((/** @type {any} */ file) => [link(file), file.is_dir ? "" : size(file.size), file.date ?? ""]);
  const more = entries.length > count.value ? () => (count.value += ROWS) : null;
  return html`<p class="cut">${files} ${word(files === 1 ? "file_one" : "file_many")} · ${size(total)}${truncated ? ` · ${word("first_entries", entries.length)}` : ""}</p>
    <${Table} head=${[word("name"), word("size"), word("modified")]} rows=${rows} more=${more} label=${name} />`;
}
