// Uploads: each chat has its own, so first comes which chat.

import { html, useEffect } from "./lib/core.js";
import { count, date, day, size } from "./format.js";
import { EntryIcon } from "./icons.js";
import { attempt, chatName, hash, NO_CHAT, personal, readChats } from "./state.js";
import { word } from "./words.js";

/** @typedef {{chat: string, files: number, size: number, modified?: number, ends_on?: string}} Chat */

const chats = personal(/** @type {Chat[]|null} */ (null));
const next = personal(/** @type {number|undefined} */ (undefined));

/** The entry for no chat, shown even if it has no files: it takes files that belong to no chat. @type {Chat} */
const EMPTY = { chat: NO_CHAT, files: 0, size: 0 };

/** @param {number} from */
async function more(from) {
  const found = await attempt(() => readChats(from));
  if (!found) return;
  const before = from === 0 ? [] : chats.value ?? [];
  const known = new Set(before.map(({ chat }) => chat));
  chats.value = [...before, ...found.chats.filter((/** @type {Chat} */ one) => !known.has(one.chat))];
  next.value = found.next;
}

/** @param {{one: Chat}} given */
function Row({ one }) {
  const facts = [`${count(one.files)} ${word(one.files === 1 ? "file_one" : "file_many")}`];
  if (one.files > 0) facts.push(size(one.size));
  if (one.modified) facts.push(`${word("changed")} ${date(one.modified)}`);
  if (one.ends_on) facts.push(word("chat_ends", day(one.ends_on)));
  return html`<li class="link-row">
    <${EntryIcon} entry=${{ name: "", type: "directory" }} />
    <span class="about"><a href=${hash({ zone: "uploads", chat: one.chat, path: "" })}><strong>${chatName(one.chat)}</strong></a>
      <span>${facts.join(" · ")}</span></span>
  </li>`;
}

/** The list of the chats that have uploads. */
export function Chats() {
  useEffect(() => {
    more(0);
  }, []);
  const listed = chats.value;
  const isWhole = listed && next.value === undefined;
  const all = isWhole && !listed.some(({ chat }) => chat === NO_CHAT) ? [...listed, EMPTY] : listed;
  return html`<div class="results">
    <h2>${word("uploads")}</h2>
    <p>${word("chats_note")}</p>
    ${!all && html`<p role="status" class="nothing"><span class="spinner" aria-hidden="true"></span>${word("loading")}</p>`}
    <ul aria-label=${word("chats")}>${all?.map((one) => html`<${Row} key=${one.chat} one=${one} />`)}</ul>
    ${next.value !== undefined && html`<p><button onClick=${() => more(next.value ?? 0)}>${word("show_more")}</button></p>`}
  </div>`;
}
