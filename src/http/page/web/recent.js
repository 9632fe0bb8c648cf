// The files that were changed last, whoever changed them.

import { html, useEffect } from "./lib/core.js";
import { read } from "./api.js";
import { base, date, parent } from "./format.js";
import { EntryIcon } from "./icons.js";
import { attempt, chatName, hash, NO_CHAT, personal } from "./state.js";
import { word } from "./words.js";

/** @typedef {{to: string, name: string, where: string, at: string}} File */

const files = personal(/** @type {File[]|null} */ (null));

/** Each file once, with its last change; what is gone is left out. @param {import("./changes.js").Answer[]} answers */
function latest(answers) {
  /** @type {Map<string, File|null>} */
  const seen = new Map();
  for (const answer of answers) {
    for (const { zone, group, files: steps } of answer.changes) {
      const at = zone === "uploads" ? { zone, chat: answer.chat ?? NO_CHAT } : { zone, group };
      const place = group ?? (at.chat ? `${word(zone)}/${answer.title ?? chatName(at.chat)}` : word(zone));
      for (const { path, did } of steps) {
        const to = hash({ ...at, path: parent(path), open: base(path) });
        const where = [place, parent(path)].filter(Boolean).join("/");
        if (!seen.has(to)) seen.set(to, did === "deleted" ? null : { to, name: base(path), where, at: answer.at });
      }
    }
  }
  return [...seen.values()].filter((file) => file !== null);
}

export function Recent() {
  useEffect(() => {
    attempt(async () => (files.value = latest((await read("changes")).answers)));
  }, []);
  return html`<div class="results">
    <h2>${word("recent")}</h2>
    ${!files.value && html`<p role="status" class="nothing"><span class="spinner" aria-hidden="true"></span>${word("loading")}</p>`}
    ${files.value?.length === 0 && html`<p role="status" class="nothing">${word("no_recent")}</p>`}
    <ul>${files.value?.map(({ to, name, where, at }) => html`<li key=${to}>
      <a href=${to}><${EntryIcon} entry=${{ name, type: "file" }} />
        <span class="found-name">${name}</span><span class="found-path">${where}</span>
        <span class="found-time">${date(Date.parse(at) / 1000)}</span></a></li>`)}</ul>
  </div>`;
}
