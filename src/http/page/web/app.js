// The page: places at the left, the list, and what lies over it.

import { effect, html, render } from "./lib/core.js";
import { clip, dialog, failure, listing, location, menuOpen, previewed, session, start, tell } from "./state.js";
import { paste } from "./actions.js";
import { dropInto, isCarrying } from "./drag.js";
import { send } from "./api.js";
import { day } from "./format.js";
import { later } from "./later.js";
import { List } from "./list.js";
import { Notes } from "./notes.js";
import { Sidebar } from "./sidebar.js";
import { Header, Toolbar } from "./toolbar.js";
import { sendFiles, Transfers } from "./upload.js";
import { word } from "./words.js";


const Admin = later(() => import("./admin.js"), "Admin");
const Chats = later(() => import("./chats.js"), "Chats");
const Changes = later(() => import("./changes.js"), "Changes");
const Bin = later(() => import("./bin.js"), "Bin");
const Links = later(() => import("./links.js"), "Links");
const Preview = later(() => import("./preview.js"), "Preview");
const Recent = later(() => import("./recent.js"), "Recent");
const Results = later(() => import("./search.js"), "Results");
const Tokens = later(() => import("./tokens.js"), "Tokens");

// A file that misses every place must not take the place of the page.
window.addEventListener("drop", (event) => event.preventDefault());
window.addEventListener("dragover", (event) => {
  if (!event.defaultPrevented && event.dataTransfer) event.dataTransfer.dropEffect = "none";
  event.preventDefault();
});

/** Files may be dropped wherever the list is. */
const drop = () => (location.value.view || isCarrying() ? {} : dropInto(location.value, listing.value.writable));

// Pictures of the screen and files of the machine, or what was copied here.
window.addEventListener("paste", (event) => {
  const isField = /** @type {Element} */ (event.target).closest?.("input, textarea, [contenteditable], dialog");
  if (isField || location.value.view || location.value.open || dialog.value) return;
  const files = [...event.clipboardData?.files ?? []];
  if (files.length > 0) sendFiles(files.map((file) => ({ name: file.name, file })));
  else if (clip.value && listing.value.writable) paste();
});

function SignIn() {
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const token = new FormData(/** @type {HTMLFormElement} */ (event.target)).get("token");
    try {
      await send("sign-in", { token });
    } catch (error) {
      return tell(/** @type {Error} */ (error).message, { kind: "error" });
    }
    await start();
  };
  const ways = session.value.ways;
  return html`<main class="sign-in">
    <form onSubmit=${submit}>
      <h1><span class="logo" aria-hidden="true"></span>fileshed</h1>
      ${ways.includes("oidc") && html`<a class="button primary" href="page/oidc">${word("sign_in_provider")}</a>`}
      ${ways.includes("openwebui") && html`<p>${word("sign_in_open_webui")}</p>`}
      <p>${word("sign_in_note")}</p>
      <label>${word("token")}<input name="token" type="password" autocomplete="current-password" required spellcheck=${false} /></label>
      <button class=${ways.includes("oidc") ? "" : "primary"}>${word("sign_in")}</button>
      <p><a href="docs/">${word("api")}</a></p>
    </form>
    <${Notes} layer="page" />
  </main>`;
}

function Place() {
  const { view } = location.value;
  if (view === "links") return html`<${Links} />`;
  if (view === "admin") return html`<${Admin} />`;
  if (view === "tokens") return html`<${Tokens} />`;
  if (view === "chats") return html`<${Chats} />`;
  if (view === "changes") return html`<${Changes} key=${location.value.answer} answer=${location.value.answer} />`;
  if (view === "bin") return html`<${Bin} />`;
  if (view === "recent") return html`<${Recent} />`;
  if (view === "search") return html`<${Results} />`;
  const end = listing.value.ends_on;
  return html`<${Toolbar} />
    ${end && html`<p class="ends" role="note">${word("uploads_end", day(end))}</p>`}
    <${List} />`;
}

function Page() {
  const person = session.value;
  if (!person) {
    return failure.value && html`<main class="sign-in" role="alert"><p>${failure.value.message}</p><p>${failure.value.hint}</p></main>`;
  }
  if (!person.signed_in) return html`<${SignIn} />`;
  return html`<div class="page">
    <${Sidebar} />
    ${menuOpen.value && html`<div class="shade" onClick=${() => (menuOpen.value = false)}></div>`}
    <div class="body">
      <${Header} />
      <main ...${drop()}>
        <h1 class="hidden">${word("files")}</h1>
        <${Place} />
        <p class="drop-note">${word("drop_here")}</p>
      </main>
    </div>
    <${Transfers} />
    ${previewed.value && html`<${Preview} />`}
    ${dialog.value?.()}
    <${Notes} layer="page" />
  </div>`;
}

render(html`<${Page} />`, /** @type {HTMLElement} */ (document.getElementById("page")));
// Removes the frame that stood for the page until now.
effect(() => (session.value || failure.value) && document.getElementById("frame")?.remove());
start();
