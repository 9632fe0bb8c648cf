// Markdown and HTML as a page, with everything taken out that could run or load from elsewhere.

import { address, place } from "./api.js";
import { base, parent } from "./format.js";
import { hash } from "./state.js";
import { word } from "./words.js";

const load = () => import("./lib/markdown.js");

/** Formulas between signs that are no prices: $$…$$, \[…\], $…$, \(…\). */
const FORMULA = /^(?:\$\$([^$]+?)\$\$|\\\[([\s\S]+?)\\\]|\$(?![\s\d]*\s)((?:\\.|[^$\\\n])+?)(?<!\s)\$(?!\d)|\\\(([^\n]+?)\\\))/;

/** Extension of Markdown for formulas, which are rendered when the rest is put together. */
const formulas = {
  name: "formula",
  level: "inline",
  start: (/** @type {string} */ text) => text.match(/\$|\\[([]/)?.index,
  tokenizer(/** @type {string} */ text) {
    const found = FORMULA.exec(text);
    if (!found) return undefined;
    const [raw, block, bracket, inline, round] = found;
    return { type: "formula", raw, text: block ?? bracket ?? inline ?? round, block: (block ?? bracket) !== undefined };
  },
  renderer: (/** @type {any} */ { text, block }) =>
    `<code data-formula="${block ? "block" : "inline"}">${text.replace(/&/g, "&amp;").replace(/</g, "&lt;")}</code>`,
};

/** Languages of diagrams, which are not drawn. */
const DIAGRAMS = ["mermaid", "plantuml", "dot", "graphviz"];

/** A diagram with words about it; `false` for other code. @param {{text: string, lang?: string}} given */
function code({ text, lang = "" }) {
  if (!DIAGRAMS.includes(lang.toLowerCase())) return false;
  const source = text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  return `<figure><pre><code>${source}</code></pre><figcaption>${word("diagram")}</figcaption></figure>`;
}

/** @type {any} */
let parser = null;

/** @param {HTMLElement} element @param {string} text @param {any} zone @param {string} path */
export async function showMarkdown(element, text, zone, path) {
  const { Marked } = await load();
  parser ??= new Marked({ extensions: [formulas], renderer: { checkbox: (/** @type {any} */ { checked }) => (checked ? "☑ " : "☐ "), code } });
  await showHtml(element, await parser.parse(text), zone, path);
}

/** Markup without styles, which the policy of the page refuses aloud even where they come to nothing. @param {string} text */
const plain = (text) => text.replace(/<style\b[\s\S]*?<\/style\s*>/gi, "").replace(/(<[a-z][^<>]*?)\sstyle\s*=\s*("[^"]*"|'[^']*')/gi, "$1");

/** @param {HTMLElement} element @param {string} text @param {any} zone @param {string} path */
export async function showHtml(element, text, zone, path) {
  const { DOMPurify } = await load();
  const content = DOMPurify.sanitize(plain(text), {
    USE_PROFILES: { html: true }, FORBID_TAGS: ["style", "form", "input", "button", "iframe", "video", "audio"],
    FORBID_ATTR: ["style", "id", "name", "class"], RETURN_DOM_FRAGMENT: true,
  });
  for (const image of content.querySelectorAll("img")) {
    const source = image.getAttribute("src") ?? "";
    const at = inside(source, path);
    if (at !== null) image.src = address(zone, at, true);
    else if (!/^data:image\/(png|jpeg|gif|webp);/.test(source)) image.removeAttribute("src");
    image.removeAttribute("srcset");
  }
  for (const link of content.querySelectorAll("a[href]")) {
    const to = link.getAttribute("href") ?? "";
    const at = inside(to, path);
    if (at !== null) link.setAttribute("href", hash({ ...place(zone), path: parent(at), open: base(at) }));
    else if (/^(https?|mailto):/i.test(to)) {
      link.setAttribute("target", "_blank");
      link.setAttribute("rel", "noopener noreferrer");
    } else link.removeAttribute("href");
  }
  const marked = [...content.querySelectorAll("[data-formula]")];
  if (marked.length > 0) {
    const { temml } = await import("./lib/formulas.js");
    for (const one of marked) {
      const displayMode = one.getAttribute("data-formula") === "block";
      const made = temml.renderToString(one.textContent, { displayMode, throwOnError: false, strict: false, trust: false, maxExpand: 200, maxSize: [20, 20] });
      const formula = DOMPurify.sanitize(plain(made), { USE_PROFILES: { mathMl: true }, FORBID_ATTR: ["style", "href", "id"], RETURN_DOM_FRAGMENT: true });
      if (formula.querySelector("math")) one.replaceWith(formula);
      else one.removeAttribute("data-formula");
    }
  }
  element.replaceChildren(content);
}

/** The path in the zone that a relative address means, or null. @param {string} to @param {string} path */
function inside(to, path) {
  if (!to || /^([a-z][a-z0-9+.-]*:|\/\/|#)/i.test(to)) return null;
  const root = "https://zone.invalid/";
  const whole = new URL(to, new URL(path.split("/").map(encodeURIComponent).join("/"), root));
  if (!whole.href.startsWith(root)) return null;
  try {
    return decodeURIComponent(whole.pathname.slice(1));
  } catch {
    return null;
  }
}
