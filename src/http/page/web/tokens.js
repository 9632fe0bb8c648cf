// Personal tokens, with which programs reach the same files: made, listed and ended.

import { html, useEffect, useRef } from "./lib/core.js";
import { read, send } from "./api.js";
import { Dialog } from "./dialog.js";
import { instant } from "./format.js";
import { Icon } from "./icons.js";
import { copy } from "./links.js";
import { attempt, dialog, personal } from "./state.js";
import { word } from "./words.js";

/** Days after which a token may end; the last is never. */
const DAYS = [30, 90, 365, 0];

const tokens = personal(/** @type {{tokens: any[], may_make: boolean}|null} */ (null));

async function reloadTokens() {
  tokens.value = (await attempt(() => read("tokens"))) ?? tokens.value;
}

/** @param {SubmitEvent} event */
async function make(event) {
  const given = new FormData(/** @type {HTMLFormElement} */ (event.target));
  const days = Number(given.get("days"));
  const made = await attempt(() => send("tokens", {
    label: given.get("label"), only_reads: given.has("only_reads"), days: days || undefined,
  }));
  if (!made) return;
  dialog.value = () => html`<${Made} secret=${made.secret} />`;
  await reloadTokens();
}

/** @param {any} token */
async function end(token) {
  await attempt(() => send("tokens/revoke", { id: token.id }));
  await reloadTokens();
}

function Wanted() {
  const days = (/** @type {number} */ number) => (number ? `${number} ${word("days")}` : word("never"));
  return html`<${Dialog} title=${word("new_token")} onSubmit=${make} actions=${html`<button class="primary">${word("create")}</button>`}>
    <label>${word("token_label")}<input name="label" maxlength="100" required autocomplete="off" /></label>
    <label>${word("ends")}<select name="days">${DAYS.map((number) => html`<option value=${number}>${days(number)}</option>`)}</select></label>
    <label class="choice"><input type="checkbox" name="only_reads" />${word("only_reads")}</label>
  <//>`;
}

function Made({ secret }) {
  const field = useRef(/** @type {HTMLInputElement|null} */ (null));
  useEffect(() => field.current?.select(), []);
  return html`<${Dialog} title=${word("token")} actions=${html`<button type="button" class="primary" onClick=${() => copy(secret)}>
      <${Icon} name="link" />${word("copy")}</button>`}>
    <label>${word("token")}<input ref=${field} readonly value=${secret} /></label>
    <p>${word("token_once")}</p>
  <//>`;
}

/** The list of the tokens of who is signed in. */
export function Tokens() {
  useEffect(() => {
    reloadTokens();
  }, []);
  const listed = tokens.value;
  return html`<div class="results">
    <h2>${word("tokens")}</h2>
    <p>${word("tokens_note")}</p>
    ${listed && (listed.may_make
      ? html`<p><button class="primary" onClick=${() => (dialog.value = () => html`<${Wanted} />`)}>${word("new_token")}</button></p>`
      : html`<p>${word("tokens_not_here")}</p>`)}
    ${listed?.tokens.length === 0 && html`<p class="nothing" role="status">${word("no_tokens")}</p>`}
    <ul>${listed?.tokens.map((token) => html`<li key=${token.id} class="link-row">
      <${Icon} name="rights" />
      <span class="about"><strong>${token.label || token.id}</strong>
        <span>${word("created")} ${instant(token.created_at)}${token.scope === "read" ? ` · ${word("only_reads")}` : ""}
          ${token.expires_at ? ` · ${word("ends")} ${instant(token.expires_at)}` : ""}</span></span>
      <button class="danger" aria-label=${`${word("end_token")}: ${token.label || token.id}`} onClick=${() => end(token)}>${word("end_token")}</button>
    </li>`)}</ul>
  </div>`;
}
