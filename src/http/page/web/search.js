// Results of a search: names, and lines that contain the text.

import { html, useEffect } from "./lib/core.js";
import { read } from "./api.js";
import { base, parent } from "./format.js";
import { EntryIcon } from "./icons.js";
import { attempt, chatName, hash, location, personal, readTitles } from "./state.js";
import { word } from "./words.js";

const found = personal(/** @type {any} */ (null));

/** Something in the tree of all zones as a location. @param {{path: string, chat?: string, type: string}} result */
function place({ path: tree, chat, type }) {
  const [zone, ...rest] = tree.split("/").filter(Boolean);
  const isGroup = zone === "groups";
  const group = isGroup ? rest.shift() : undefined;
  const path = rest.join("/");
  const at = { zone: isGroup ? "group" : zone, group, chat };
  return type === "directory" ? { ...at, path } : { ...at, path: parent(path), open: base(path) };
}

/** The line with what was looked for set off. @param {{text: string, query: string}} given */
function Marked({ text, query }) {
  const at = text.toLowerCase().indexOf(query.toLowerCase());
  if (at < 0) return text;
  const begin = Math.max(0, at - 60);
  return html`${begin > 0 ? "…" : ""}${text.slice(begin, at)}<mark>${text.slice(at, at + query.length)}</mark>${text.slice(at + query.length, at + 160)}`;
}

export function Results() {
  const query = location.value.query ?? "";
  useEffect(() => {
    let isWanted = true;
    found.value = null;
    attempt(() => read("search", { query })).then((results) => {
      if (!isWanted) return;
      found.value = results ?? { results: [] };
      readTitles(found.value.results.map((/** @type {any} */ result) => result.chat));
    });
    return () => (isWanted = false);
  }, [query]);
  const results = found.value?.results;
  return html`<div class="results">
    <h2>${word("results")} “${query}”</h2>
    ${!results && html`<p role="status" class="nothing"><span class="spinner" aria-hidden="true"></span>${word("loading")}</p>`}
    ${results?.length === 0 && html`<p role="status" class="nothing">${word("no_results")}</p>`}
    <ul>${results?.map((/** @type {any} */ result) => {
      const name = base(result.path);
      return html`<li key=${`${result.chat ?? ""}${result.path}`}>
        <a href=${hash(place(result))}>
          <${EntryIcon} entry=${{ name, type: result.type }} />
          <span class="found-name"><${Marked} text=${name} query=${query} /></span>
          <span class="found-path">${parent(result.path)}${result.chat ? ` · ${chatName(result.chat)}` : ""}</span>
        </a>
        ${result.lines.length > 0 && html`<ol>${result.lines.slice(0, 3).map((/** @type {any} */ line) =>
          html`<li><span class="line">${line.line}</span><code><${Marked} text=${line.text} query=${query} /></code></li>`)}</ol>`}
      </li>`;
    })}</ul>
    ${found.value?.unread > 0 && html`<p>${word("unread_documents", String(found.value.unread))}</p>`}
    ${found.value?.more && html`<p>${word("more_results")}</p>`}
  </div>`;
}
