// Links for people without an account: made, copied, listed and ended.

import { html, useEffect, useRef } from "./lib/core.js";
import { call, place } from "./api.js";
import { Dialog } from "./dialog.js";
import { instant, join, size } from "./format.js";
import { EntryIcon, Icon } from "./icons.js";
import { attempt, dialog, location, personal, tell } from "./state.js";
import { word } from "./words.js";

/** @param {string} url */
export async function copy(url) {
  try {
    await navigator.clipboard.writeText(url);
    tell(word("copied"));
  } catch {
    // Without https the browser may refuse; the field can be copied by hand.
  }
}

/** @param {import("./state.js").Entry} entry */
export async function openLink(entry) {
  const path = join(location.value.path, entry.name);
  const made = await attempt(() => call("shed_link_create", { ...place(location.value), path }));
  if (made) dialog.value = () => html`<${LinkDialog} title=${`${word("link")}: ${entry.name}`} made=${made} />`;
}

export async function openUploadLink() {
  const path = location.value.path || ".";
  const made = await attempt(() => call("shed_link_create", { ...place(location.value), path, upload: true }));
  if (made) dialog.value = () => html`<${LinkDialog} title=${word("upload_link")} made=${made} />`;
}

function LinkDialog({ title, made }) {
  const field = useRef(/** @type {HTMLInputElement|null} */ (null));
  useEffect(() => field.current?.select(), []);
  return html`<${Dialog} title=${title} actions=${html`<button type="button" class="primary" onClick=${() => copy(made.download_url)}>
      <${Icon} name="link" />${word("copy")}</button>`}>
    <label>${word("links")}<input ref=${field} readonly value=${made.download_url} onFocus=${(/** @type {any} */ event) => event.target.select()} /></label>
    <p>${word("link_note")}${made.expires_at ? ` ${word("ends")}: ${instant(made.expires_at)}.` : ""}</p>
  <//>`;
}

const links = personal(/** @type {any[]|null} */ (null));

async function reloadLinks() {
  const listed = await attempt(() => call("shed_link_list"));
  links.value = listed?.files ?? [];
}

/** @param {any} link */
async function end(link) {
  await attempt(() => call("shed_link_delete", { file_id: link.file_id }));
  await reloadLinks();
}

/** The list of all links. */
export function Links() {
  useEffect(() => {
    reloadLinks();
  }, []);
  return html`<div class="results">
    <h2>${word("links")}</h2>
    ${links.value?.length === 0 && html`<p class="nothing" role="status">${word("no_links")}</p>`}
    <ul>${links.value?.map((link) => html`<li key=${link.file_id} class="link-row">
      <${EntryIcon} entry=${{ name: link.filename, type: link.upload || link.size_bytes === undefined ? "directory" : "file" }} />
      <span class="about"><strong>${link.filename}</strong>
        <span>${link.source_zone}/${link.source_path}${link.size_bytes === undefined ? "" : ` · ${size(link.size_bytes)}`}
          ${link.upload ? ` · ${word("upload_link")}` : ""}${link.expires_at ? ` · ${word("ends")} ${instant(link.expires_at)}` : ""}</span></span>
      <button aria-label=${`${word("copy")}: ${link.filename}`} onClick=${() => copy(link.download_url)}>${word("copy")}</button>
      <button class="danger" aria-label=${`${word("end_link")}: ${link.filename}`} onClick=${() => end(link)}>${word("end_link")}</button>
    </li>`)}</ul>
  </div>`;
}
