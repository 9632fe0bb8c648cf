// What was deleted and can be brought back: the bin.

import { html, useEffect } from "./lib/core.js";
import { read, send } from "./api.js";
import { ask } from "./dialog.js";
import { base, instant, parent, size } from "./format.js";
import { EntryIcon } from "./icons.js";
import { attempt, personal, refreshStats, tell } from "./state.js";
import { word } from "./words.js";

/** @typedef {{id: string, zone: string, path: string, type: string, size: number, chat?: string, deleted_at: string, ends_at: string}} Deleted */

const bin = personal(/** @type {{days: number, entries: Deleted[]}|null} */ (null));

async function reloadBin() {
  bin.value = (await attempt(() => read("bin"))) ?? bin.value;
  refreshStats();
}

/** @param {Deleted} entry */
async function bringBack(entry) {
  const back = await attempt(() => send(`bin/restore?id=${entry.id}`, {}));
  if (back) tell(word("brought_back", `“${base(entry.path)}”`));
  await reloadBin();
}

/** @param {Deleted|undefined} entry everything, without one */
async function remove(entry) {
  const answer = await ask({
    title: entry ? word("delete_question", `“${base(entry.path)}”`) : `${word("empty_bin")}?`,
    text: word("delete_final"),
    answers: [{ value: "delete", label: word(entry ? "delete_for_good" : "empty_bin"), kind: "danger" }],
  });
  if (!answer) return;
  await attempt(() => send(entry ? `bin/remove?id=${entry.id}` : "bin/remove", {}));
  await reloadBin();
}

/** @param {{entry: Deleted}} given */
function Row({ entry }) {
  const name = base(entry.path);
  const above = parent(entry.path);
  const place = above ? `${word(entry.zone)}/${above}` : word(entry.zone);
  return html`<li class="link-row">
    <${EntryIcon} entry=${{ name, type: entry.type }} />
    <span class="about"><strong>${name}</strong>
      <span>${place} · ${size(entry.size)} · ${word("deleted_at")} ${instant(entry.deleted_at)}${entry.chat ? ` ${word("in_a_chat")}` : ""}${" · "}
        ${word("ends")} ${instant(entry.ends_at)}</span></span>
    <button aria-label=${`${word("bring_back")}: ${name}`} onClick=${() => bringBack(entry)}>${word("bring_back")}</button>
    <button class="danger" aria-label=${`${word("delete_for_good")}: ${name}`} onClick=${() => remove(entry)}>${word("delete_for_good")}</button>
  </li>`;
}

/** The list of what was deleted. */
export function Bin() {
  useEffect(() => {
    reloadBin();
  }, []);
  const listed = bin.value;
  return html`<div class="results">
    <h2>${word("bin")}</h2>
    ${listed && listed.days > 0 && html`<p>${word("bin_note", listed.days)}</p>`}
    ${listed && listed.entries.length > 0 && html`<p><button class="danger" onClick=${() => remove(undefined)}>${word("empty_bin")}</button></p>`}
    ${listed?.entries.length === 0 && html`<p class="nothing" role="status">${word("bin_empty")}</p>`}
    <ul>${listed?.entries.map((entry) => html`<${Row} key=${entry.id} entry=${entry} />`)}</ul>
  </div>`;
}
