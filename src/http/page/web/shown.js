// Views of a file, by its name and size. The modules of a view are loaded when such a file is opened.

import { html, signal, useEffect, useRef } from "./lib/core.js";
import { address, bytes, text as textOf } from "./api.js";
import { showText } from "./editor.js";
import { extension, size } from "./format.js";
import { Icon, kind } from "./icons.js";
import { later } from "./later.js";
import { attempt, isText } from "./state.js";
import { word } from "./words.js";

/** Most bytes of a text that is shown at once or edited. */
export const TEXT_MAX = 2 * 1024 * 1024;
/** Bytes of a part of a larger text. */
const PART = 128 * 1024;
/** Most bytes of a document or a workbook, which the server reads whole. */
const DOCUMENT_MAX = 50 * 1024 * 1024;
/** Most bytes of a picture. */
const PICTURE_MAX = 100 * 1024 * 1024;
/** Most bytes of a page or a notebook, pictures in it included. */
const PAGE_MAX = 16 * 1024 * 1024;

const DATABASES = ["sqlite", "sqlite3", "db"];
const PICTURES = ["png", "jpg", "jpeg", "gif", "webp", "svg", "bmp", "ico", "avif"];
const DOCUMENTS = ["docx", "pptx", "odt", "odp", "epub", "rtf", "eml"];
const WORKBOOKS = ["xlsx", "xlsm", "xlsb", "xls", "ods"];
const TABLES = ["csv", "tsv"];
const MARKDOWN = ["md", "markdown"];
const PAGES = ["html", "htm"];

const tables = () => import("./tables.js");
const pages = () => import("./pages.js");
const SheetTable = later(tables, "SheetTable");
const DatabaseTable = later(tables, "DatabaseTable");
const ZipTable = later(tables, "ZipTable");
const Document = later(pages, "Document");
const Markdown = later(pages, "Markdown");
const Notebook = later(pages, "Notebook");
const Page = later(pages, "Page");

/** Returns `true` if the server extracts the text of such a file. @param {string} name */
export function isDocument(name) {
  return [...DOCUMENTS, ...WORKBOOKS].includes(extension(name));
}

/** Returns `true` if a file has a view of its own, so that it is text only to programs. @param {string} name */
export function isShownOtherwise(name) {
  const end = extension(name);
  const others = ["pdf", "zip", ...DOCUMENTS, ...WORKBOOKS, ...DATABASES, ...PICTURES].filter((one) => one !== "svg");
  return others.includes(end) || ["film", "sound"].includes(kind(name));
}

/** The view of a file. @param {{zone: import("./api.js").Zone, path: string, entry: import("./state.js").Entry}} given */
export function Shown({ zone, path, entry }) {
  const { name, size: length } = entry;
  const end = extension(name);
  const at = address(zone, path, true);
  const given = { zone, path, name };
  const is = (/** @type {string[]} */ ends, most = Infinity) => ends.includes(end) && length <= most;
  if (is(PICTURES, PICTURE_MAX)) return html`<div class="picture"><img src=${at} alt=${name} /></div>`;
  if (kind(name) === "film") return html`<div class="picture"><video src=${at} aria-label=${name} controls></video></div>`;
  if (kind(name) === "sound") return html`<div class="picture"><audio src=${at} aria-label=${name} controls></audio></div>`;
  if (end === "pdf") return html`<iframe class="document" src=${at} title=${name}></iframe>`;
  if (end === "zip") return html`<${ZipTable} ...${given} />`;
  if (is(DATABASES)) return html`<${DatabaseTable} ...${given} />`;
  if (is(TABLES) || is(WORKBOOKS, DOCUMENT_MAX)) return html`<${SheetTable} ...${given} />`;
  if (is(DOCUMENTS, DOCUMENT_MAX)) return html`<${Document} ...${given} />`;
  if (is(PAGES, PAGE_MAX)) return html`<${Page} ...${given} entry=${entry} />`;
  if (isShownOtherwise(name)) return html`<${Nothing} ...${given} why=${word("too_large", size(length))} />`;
  if (!isText(name)) return html`<${Nothing} ...${given} why=${word("no_preview")} />`;
  if (length > (end === "ipynb" ? PAGE_MAX : TEXT_MAX)) return html`<${LargeText} ...${given} length=${length} />`;
  return html`<${AsText} ...${given} />`;
}

/** Says why there is nothing, with the way to have the file. */
function Nothing({ zone, path, name, why }) {
  return html`<div class="nothing"><p role="status">${why}</p>
    <a class="button" href=${address(zone, path)} download=${name}><${Icon} name="download" />${word("download_file")}</a></div>`;
}

/** Something that is text, or turns out not to be. */
export function AsText({ zone, path, name, isSource = false }) {
  const content = useContent(async () => ({ text: await textOf(zone, path) }));
  if (!content.value) return html`<${Waiting} content=${content} zone=${zone} path=${path} name=${name} />`;
  const { text } = content.value;
  if (text === null) return html`<${Nothing} zone=${zone} path=${path} name=${name} why=${word("no_preview")} />`;
  const end = extension(name);
  if (!isSource && MARKDOWN.includes(end)) return html`<${Markdown} text=${text} zone=${zone} path=${path} />`;
  if (!isSource && end === "ipynb") return html`<${Notebook} text=${text} zone=${zone} path=${path} name=${name} />`;
  return html`<${Text} name=${name} text=${text} />`;
}

/** @param {{name: string, text: string}} given */
export function Text({ name, text }) {
  const fill = (/** @type {HTMLElement|null} */ element) => {
    if (element && !element.shadowRoot) showText(element, name, text, { label: name, writable: false });
  };
  return html`<div class="text-content" ref=${fill}></div>`;
}

/** A text too large to be shown at once: its beginning, and more by and by. */
function LargeText({ zone, path, name, length }) {
  const state = useRef({ parts: signal(/** @type {string[]|null} */ (null)), isBinary: signal(false), decoder: /** @type {TextDecoder|null} */ (null), read: 0 }).current;
  const more = () => attempt(async () => {
    const { raw, charset } = await bytes(zone, path, state.read, PART);
    if (state.read === 0 && !charset && raw.subarray(0, 8000).includes(0)) return (state.isBinary.value = true);
    state.decoder ??= new TextDecoder(charset);
    state.read += raw.length;
    state.parts.value = [...state.parts.value ?? [], state.decoder.decode(raw, { stream: state.read < length })];
  });
  useEffect(() => void more(), []);
  if (state.isBinary.value) return html`<${Nothing} zone=${zone} path=${path} name=${name} why=${word("no_preview")} />`;
  if (!state.parts.value) return html`<p class="nothing" role="status">${word("loading")}</p>`;
  const isMore = state.read < length;
  return html`<p class="cut" role="note">${isMore ? word("part_of", size(state.read), size(length)) : size(length)}</p>
    <div class="parts" tabindex="0" role="region" aria-label=${name}>
      ${state.parts.value.map((part) => html`<pre>${part}</pre>`)}
      ${isMore && html`<button onClick=${more}>${word("show_more")}</button>`}
    </div>`;
}

/** The view until the content is there, or instead of it. */
export function Waiting({ content, ...given }) {
  if (content.error) return html`<${Nothing} ...${given} why=${content.error.message} />`;
  return html`<p class="nothing" role="status">${word("loading")}</p>`;
}

/** Returns content that is read from the server once. @param {() => Promise<any>} read */
export function useContent(read) {
  const content = useRef(signal(/** @type {{value?: any, error?: import("./api.js").Refusal}} */ ({}))).current;
  useEffect(() => {
    read().then((value) => (content.value = { value }), (error) => (content.value = { error }));
  }, []);
  return content.value;
}
