// Links for people without an account: made, copied, listed and ended.

import { html, useEffect, useRef, useState } from "./lib/core.js";
import { call, place } from "./api.js";
import { Dialog } from "./dialog.js";
import { duration, instant, join, size } from "./format.js";
import { EntryIcon, Icon } from "./icons.js";
import { attempt, dialog, location, personal, tell } from "./state.js";
import { word } from "./words.js";

/**
 * The whole address of a link of this server. A server that does not know its own gives a path, which
 * begins where this page does.
 *
 * @param {string} url
 */
function absolute(url) {
  return new URL(url.replace(/^\/+/, ""), document.baseURI).href;
}

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
export function openLink(entry) {
  const path = join(location.value.path, entry.name);
  return openLinkTo({ ...place(location.value), path }, `${word("link")}: ${entry.name}`);
}

export function openUploadLink() {
  const path = location.value.path || ".";
  return openLinkTo({ ...place(location.value), path, upload: true }, word("upload_link"));
}

/**
 * @param {any} target
 * @param {string} title
 */
async function openLinkTo(target, title) {
  const made = await attempt(() => call("shed_link_create", target));
  if (made) dialog.value = () => html`<${LinkDialog} title=${title} target=${target} first=${made} />`;
}

const HOUR = 3_600_000;

// Hours after which a link may end, beside the longest time.
const LIVES = [1, 24, 168, 720];

function LinkDialog({ title, target, first }) {
  const field = useRef(/** @type {HTMLInputElement|null} */ (null));
  const [made, setMade] = useState(first);
  const [longest] = useState(() => Math.round((Date.parse(first.expires_at) - Date.now()) / HOUR));
  // One after the other: with the keyboard a choice is made by passing others.
  const last = useRef(Promise.resolve(first));
  useEffect(() => field.current?.select(), [made]);
  /** @param {string} life */
  function replace(life) {
    last.current = last.current.then(async (former) => {
      const expires_hours = life ? Number(life) : undefined;
      const next = await attempt(() => call("shed_link_create", { ...target, expires_hours }));
      if (!next) return former;
      await attempt(() => call("shed_link_delete", { file_id: former.file_id }));
      setMade(next);
      return next;
    });
  }
  return html`<${Dialog} title=${title} actions=${html`<button type="button" class="primary" onClick=${() => copy(absolute(made.download_url))}>
      <${Icon} name="link" />${word("copy")}</button>`}>
    <label>${word("links")}<input ref=${field} readonly value=${absolute(made.download_url)} onFocus=${(/** @type {any} */ event) => event.target.select()} /></label>
    ${longest > 1 && html`<label>${word("ends_after")}<select onChange=${(/** @type {any} */ event) => replace(event.target.value)}>
      <option value="">${duration(longest)}</option>
      ${LIVES.filter((life) => life < longest).map((life) => html`<option key=${life} value=${life}>${duration(life)}</option>`)}
    </select></label>`}
    <p>${`${word("link_note")} ${word("ends")}: ${instant(made.expires_at)}.`}</p>
  <//>`;
}

/** `true` if the link leads into Open WebUI, where the file is for its user alone. @param {any} link */
function isInOpenWebui(link) {
  return !link.upload && !link.expires_at;
}

/** @param {any} link */
function facts(link) {
  const all = [`${link.source_zone}/${link.source_path}`];
  if (link.size_bytes !== undefined) all.push(size(link.size_bytes));
  if (link.upload) all.push(word("upload_link"));
  if (link.expires_at) all.push(`${word("ends")} ${instant(link.expires_at)}`);
  if (isInOpenWebui(link)) all.push(word("link_in_openwebui"));
  return all.join(" · ");
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
        <span>${facts(link)}</span></span>
      ${!isInOpenWebui(link) && html`<button aria-label=${`${word("copy")}: ${link.filename}`} onClick=${() => copy(absolute(link.download_url))}>${word("copy")}</button>`}
      <button class="danger" aria-label=${`${word("end_link")}: ${link.filename}`} onClick=${() => end(link)}>${word("end_link")}</button>
    </li>`)}</ul>
  </div>`;
}
