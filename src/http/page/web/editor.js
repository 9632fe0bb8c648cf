// Text with colours: shown, edited, compared. The library is loaded when it is first needed, and
// lies in a shadow root, where the page's policy lets it bring its own styles.

import { extension } from "./format.js";
import { word } from "./words.js";

const load = () => import("./lib/editor.js");

/** @param {any} library @param {string} name */
function languageOf(library, name) {
  const { markdown, javascript, python, json, html, css } = library;
  const languages = {
    md: markdown, markdown, js: javascript, mjs: javascript, jsx: () => javascript({ jsx: true }),
    ts: () => javascript({ typescript: true }), tsx: () => javascript({ jsx: true, typescript: true }),
    py: python, json, ipynb: json, html, htm: html, svg: html, xml: html, css,
  };
  const made = languages[/** @type {keyof typeof languages} */ (extension(name))];
  return made ? [made()] : [];
}

/** The look of all editors, since their rules lie in one style sheet. @type {any[]|undefined} */
let look;

/** Colours that follow light and dark. @param {any} library */
function lookOf(library) {
  const { EditorView, HighlightStyle, syntaxHighlighting, tags } = library;
  const theme = EditorView.theme({
    "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "13px" },
    "&.cm-focused": { outline: "none" },
    ".cm-scroller": { fontFamily: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace", lineHeight: "1.55" },
    ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--faint)", border: "none" },
    ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
    ".cm-cursor": { borderLeftColor: "var(--text)" },
    "&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection": { backgroundColor: "var(--accent-soft) !important" },
    ".cm-panels, .cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--text)", borderColor: "var(--line)" },
    ".cm-panel.cm-search": { "& label, & .cm-button, & .cm-textfield": { fontSize: "inherit" } },
    ".cm-textfield, .cm-button": { background: "var(--surface)", color: "inherit", border: "1px solid var(--line)", borderRadius: "6px" },
    ".cm-button:active": { background: "var(--hover)" },
    ".cm-foldPlaceholder, .cm-collapsedLines": { background: "var(--hover)", color: "var(--faint)", borderColor: "var(--line)" },
    ".cm-collapsedLines::before, .cm-collapsedLines::after": { content: "'…'" },
  });
  const { keyword, string, comment, number, bool, heading, link, tagName, attributeName, propertyName, typeName, strong, emphasis } = tags;
  const style = HighlightStyle.define([
    { tag: [keyword, tagName], color: "var(--code-keyword)" },
    { tag: string, color: "var(--code-string)" },
    { tag: comment, color: "var(--faint)" },
    { tag: [number, bool], color: "var(--code-number)" },
    { tag: [attributeName, propertyName, typeName], color: "var(--code-name)" },
    { tag: heading, color: "var(--code-keyword)", fontWeight: "600" },
    { tag: link, color: "var(--accent)" },
    { tag: strong, fontWeight: "600" },
    { tag: emphasis, fontStyle: "italic" },
  ]);
  return [theme, syntaxHighlighting(style)];
}

/** @param {HTMLElement} element */
function shadow(element) {
  return element.shadowRoot ?? element.attachShadow({ mode: "open" });
}

/** Has Firefox see the rules that came into the style sheet after it was first used. @param {ShadowRoot} root */
function restyle(root) {
  const sheets = [...root.adoptedStyleSheets];
  root.adoptedStyleSheets = [];
  root.adoptedStyleSheets = sheets;
}

/** The editor's own words, in the language of the page. */
const phrases = () => ({
  Find: word("find_in_text"),
  Replace: word("replace_with"),
  next: word("next_match"),
  previous: word("previous_match"),
  all: word("all_matches"),
  "match case": word("match_case"),
  regexp: word("regular_expression"),
  "by word": word("whole_words"),
  replace: word("replace_match"),
  "replace all": word("replace_all"),
  "current match": word("current_match"),
  "on line": word("on_line"),
  "replaced match on line $": word("replaced_on_line"),
  "replaced $ matches": word("replaced_matches"),
  "$ unchanged lines": word("unchanged_lines"),
  "Go to line": word("go_to_line"),
  go: word("go"),
  close: word("close"),
});

/**
 * Shows text in an element; gives what reads it.
 * @param {HTMLElement} element @param {string} name @param {string} text
 * @param {{label: string, writable: boolean, onChange?: () => void, onSave?: () => void}} options
 */
export async function showText(element, name, text, { label, writable, onChange, onSave }) {
  const library = await load();
  const { EditorView, EditorState, basicSetup, keymap } = library;
  const root = shadow(element);
  root.replaceChildren();
  const view = new EditorView({
    root,
    parent: root,
    doc: text,
    extensions: [
      keymap.of([{ key: "Mod-s", run: () => { onSave?.(); return true; } }]),
      basicSetup,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": label }),
      EditorState.readOnly.of(!writable),
      EditorState.phrases.of(phrases()),
      EditorView.updateListener.of((update) => update.docChanged && onChange?.()),
      languageOf(library, name),
      look ??= lookOf(library),
    ],
  });
  restyle(root);
  if (writable) view.focus();
  return () => view.state.doc.toString();
}

/** Shows two texts side by side. @param {HTMLElement} element @param {string} name @param {string} before @param {string} after */
export async function showDifference(element, name, before, after) {
  const library = await load();
  const { EditorView, EditorState, MergeView, basicSetup } = library;
  const root = shadow(element);
  root.replaceChildren();
  const side = (/** @type {string} */ doc, /** @type {string} */ label) => ({
    doc,
    extensions: [
      basicSetup, EditorView.lineWrapping, EditorState.readOnly.of(true), EditorState.phrases.of(phrases()),
      EditorView.contentAttributes.of({ "aria-label": label }), languageOf(library, name), look ??= lookOf(library),
    ],
  });
  new MergeView({
    a: side(before, `${name} (1)`), b: side(after, `${name} (2)`), root, parent: root,
    collapseUnchanged: { margin: 3, minSize: 6 },
  });
  restyle(root);
}
