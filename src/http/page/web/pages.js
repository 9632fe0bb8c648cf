// Files that are read as pages: documents, Markdown, notebooks and HTML.

import { html, useRef, signal } from "./lib/core.js";
import { address, query, read } from "./api.js";
import { showHtml, showMarkdown } from "./markdown.js";
import { AsText, Waiting, useContent } from "./shown.js";
import { word } from "./words.js";

/** @typedef {import("./api.js").Zone} Zone */

export function Markdown({ text, zone, path }) {
  return html`<article class="markdown" ref=${once((element) => showMarkdown(element, text, zone, path))} tabindex="0"></article>`;
}

/** Fills an element when it is there, and never again. @param {(element: HTMLElement) => any} fill */
function once(fill) {
  return (/** @type {HTMLElement|null} */ element) => {
    if (!element || element.dataset.filled) return;
    element.dataset.filled = "true";
    fill(element);
  };
}

/** A page of somebody's: shown where it can do nothing, or as its source. */
export function Page({ zone, path, name, entry }) {
  const isSource = useRef(signal(false)).current;
  const choices = /** @type {const} */ ([["page", false], ["source", true]]);
  return html`<div class="tabs" role="group" aria-label=${word("shown_as")}>
      ${choices.map(([label, value]) => html`<button aria-pressed=${isSource.value === value} onClick=${() => (isSource.value = value)}>${word(label)}</button>`)}
    </div>
    ${isSource.value
      ? html`<${AsText} zone=${zone} path=${path} name=${name} isSource />`
      : html`<iframe class="document paper" sandbox="" src=${`${address(zone, path, true)}&at=${entry.modified}`} title=${name}></iframe>`}`;
}

/** A document as the server reads it: headings, paragraphs, lists and tables. */
export function Document({ zone, path, name }) {
  const content = useContent(() => read("document", Object.fromEntries(query(zone, { path }))));
  if (!content.value) return html`<${Waiting} content=${content} zone=${zone} path=${path} name=${name} />`;
  const { text, roles, truncated } = content.value;
  return html`<article class="markdown laid-out" tabindex="0">
    <p class="cut" role="note">${word("laid_out")} <a href=${address(zone, path)} download=${name}>${word("download_file")}</a></p>
    ${blocks(text.trimEnd().split("\n"), new Map(roles))}
    ${truncated && html`<p class="cut" role="note">${word("document_cut")}</p>`}
  </article>`;
}

/** Lines as elements. @param {string[]} lines @param {Map<number, any>} roles */
function blocks(lines, roles) {
  const made = [];
  for (let at = 0; at < lines.length; at += 1) {
    const role = roles.get(at);
    const run = (/** @type {string} */ kind) => {
      const begin = at;
      while (roles.get(at + 1) === kind) at += 1;
      return lines.slice(begin, at + 1);
    };
    if (role === "part") made.push(html`<h3 class="part">${partName(lines[at])}</h3>`);
    else if (role === "row") made.push(rows(run("row")));
    else if (role === "item") made.push(html`<ul class="items">${run("item").map(item)}</ul>`);
    else if (role?.heading) made.push(html`<h3 class=${`heading-${Math.min(role.heading, 4)}`}>${lines[at]}</h3>`);
    else if (lines[at].trim()) made.push(html`<p class=${/^\[\^\d+\]: /.test(lines[at]) ? "note" : ""}>${noted(lines[at])}</p>`);
  }
  return made;
}

/** A text with the numbers of its notes raised. @param {string} text */
function noted(text) {
  return text.split(/\[\^(\d+)\](?:: )?/).map((part, at) => (at % 2 ? html`<sup>${part}</sup>` : part));
}

/** The name of a slide or section in the language of the page. @param {string} line */
function partName(line) {
  const name = line.replace(/^--- | ---$/g, "");
  const [, kind, rest] = name.match(/^(Slide|Section|Notes)\b(.*)$/) ?? [];
  return kind ? `${word(`part_${kind.toLowerCase()}`)}${rest.replace("(hidden)", `(${word("hidden_slide")})`)}` : name;
}

/** @param {string} line */
function item(line) {
  const [, indent, mark, text] = line.match(/^( *)(- )?(.*)$/s) ?? ["", "", "", line];
  // Word says the number of an item, or that it has a point; LibreOffice says neither.
  const isNumbered = !mark && /^[\p{L}\p{N}.]{1,8}[.)] /u.test(text);
  return html`<li class=${`level-${Math.min(indent.length / 2, 4)} ${isNumbered ? "numbered" : ""}`}>${noted(text)}</li>`;
}

/** @param {string[]} lines */
function rows(lines) {
  return html`<div class="wide"><table>${lines.map((line) => html`<tr>${line.split("\t").map((cell) => html`<td>${noted(cell)}</td>`)}</tr>`)}</table></div>`;
}

/** Characters of an output that are shown. */
const OUTPUT_MAX = 100_000;
/** Cells of a notebook that are shown. */
const CELLS = 1000;

/** A notebook: text, code and what came out of it. */
export function Notebook({ text, zone, path, name }) {
  let cells;
  try {
    const { cells: found, worksheets } = JSON.parse(text);
    cells = found ?? worksheets.flatMap((/** @type {any} */ sheet) => sheet.cells);
    if (!Array.isArray(cells)) throw new TypeError();
  } catch {
    return html`<${AsText} zone=${zone} path=${path} name=${name} isSource />`;
  }
  const given = { zone, path };
  return html`<article class="markdown notebook" tabindex="0">
    ${cells.length === 0 && html`<p class="cut">${word("no_cells")}</p>`}
    ${cells.slice(0, CELLS).map((/** @type {any} */ cell, /** @type {number} */ at) => html`<${Cell} key=${at} cell=${cell} ...${given} />`)}
    ${cells.length > CELLS && html`<p class="cut" role="note">${word("document_cut")}</p>`}
  </article>`;
}

/** Text that may be a list of lines. @param {any} source */
const joined = (source) => (Array.isArray(source) ? source.join("") : String(source ?? ""));

function Cell({ cell, zone, path }) {
  const source = joined(cell.source ?? cell.input);
  if (cell.cell_type === "markdown") return html`<div ref=${once((element) => showMarkdown(element, source, zone, path))}></div>`;
  if (cell.cell_type !== "code") return source && html`<pre>${source}</pre>`;
  const number = cell.execution_count ?? cell.prompt_number ?? " ";
  return html`<div class="code-cell"><span class="prompt">[${number}]</span><pre><code>${source}</code></pre></div>
    ${(cell.outputs ?? []).map((/** @type {any} */ output) => html`<${Output} output=${output} zone=${zone} path=${path} />`)}`;
}

function Output({ output, zone, path }) {
  const data = output.data ?? output;
  const picture = ["png", "jpeg"].find((kind) => data[`image/${kind}`]);
  const plain = (/** @type {any} */ said) => joined(said).replace(/\x1b\[[0-9;]*[A-Za-z]/g, "").slice(0, OUTPUT_MAX);
  if (picture) {
    const source = `data:image/${picture};base64,${joined(data[`image/${picture}`]).replace(/\s/g, "")}`;
    return html`<div class="output"><img src=${source} alt=${plain(data["text/plain"]) || word("output")} /></div>`;
  }
  if (data["text/markdown"]) return html`<div class="output" ref=${once((element) => showMarkdown(element, joined(data["text/markdown"]), zone, path))}></div>`;
  if (data["text/html"]) return html`<div class="output wide" ref=${once((element) => showHtml(element, joined(data["text/html"]), zone, path))}></div>`;
  const said = output.traceback ? `${output.traceback.join("\n")}` : output.text ?? data["text/plain"] ?? "";
  return plain(said) && html`<pre class=${`output ${output.output_type === "error" || output.name === "stderr" ? "failed" : ""}`}>${plain(said)}</pre>`;
}
