// Files on their way to the server: chosen by button, or dropped, with their folders.

import { html } from "./lib/core.js";
import { askAboutTaken, undoOf } from "./actions.js";
import { acting, place, read, Refusal, upload } from "./api.js";
import { base, size } from "./format.js";
import { Icon } from "./icons.js";
import { fetched } from "./later.js";
import { attempt, hash, listing, location, onLeave, personal, reload, tell } from "./state.js";
import { word } from "./words.js";

/** @typedef {{name: string, file: File}} Sent */
/** @typedef {"waiting"|"uploading"|"interrupted"|"paused"|"uploaded"|"failed"|"skipped"} State */
/** @typedef {{id: number, label: string, bytes: number, sent: number, state: State, why: string, to: any, stop: AbortController, inPieces: boolean, sending?: import("./resumable.js").Sending, run: () => Promise<void>}} Transfer */

/** One request takes so many files or bytes: together they are one change in the history. A larger
 * file goes in pieces. */
const BATCH_FILES = 100;
const BATCH_BYTES = 32 * 1024 * 1024;

/** States in which something is still to come. @type {State[]} */
const UNFINISHED = ["waiting", "uploading", "interrupted", "paused"];

// Ends transfers when the person leaves; the part of a large file that has arrived waits for that person.
onLeave(() => transfers.value.filter(({ state }) => UNFINISHED.includes(state)).forEach(abandon));
const transfers = personal(/** @type {Transfer[]} */ ([]));
let lastId = 0;
let isBusy = false;

/** @param {Transfer} transfer @param {Partial<Transfer>} change */
function update(transfer, change) {
  Object.assign(transfer, change);
  transfers.value = [...transfers.value];
}

/** Sends files into a directory, which is the one that is shown if no other is given. @param {Sent[]} files @param {import("./state.js").Location} directory */
export async function sendFiles(files, directory = location.value) {
  if (files.length === 0) return;
  const isShown = hash(directory) === hash(location.value);
  const there = isShown ? listing.value : await attempt(() => read("list", { ...place(directory), path: directory.path || "." }));
  if (!there) return;
  const to = { ...acting(directory), keepsReplaced: there.keeps_deleted };
  const overwrite = await mayReplace(files, there.entries);
  if (overwrite === null) return;
  for (const batch of batches(files)) {
    const label = batch.length === 1 ? batch[0].name : `${batch[0].name} + ${batch.length - 1}`;
    const bytes = batch.reduce((sum, { file }) => sum + file.size, 0);
    /** @type {Transfer} */
    const transfer = {
      id: ++lastId, label, bytes, sent: 0, state: "waiting", why: "", to, stop: new AbortController(),
      inPieces: bytes > BATCH_BYTES,
      run: () => send(transfer, to, batch, overwrite),
    };
    transfers.value = [...transfers.value, transfer];
  }
  work();
}

/** Returns `true` if existing entries of these names are to be replaced; null if nothing is to be sent. @param {Sent[]} files @param {import("./state.js").Entry[]} entries */
async function mayReplace(files, entries) {
  const there = new Set(entries.map(({ name }) => name));
  const taken = new Set(files.map(({ name }) => name.split("/")[0]).filter((name) => there.has(name)));
  if (taken.size === 0) return false;
  const [first] = taken;
  const answer = await askAboutTaken(taken.size === 1 ? `“${first}”` : `${taken.size} ${word("items")}`);
  return answer && answer === "replace";
}

/** @param {Sent[]} files */
function batches(files) {
  /** @type {Sent[][]} */
  const all = [];
  let bytes = Infinity;
  for (const sent of files) {
    const last = all.at(-1);
    if (!last || last.length >= BATCH_FILES || bytes + sent.file.size > BATCH_BYTES) {
      all.push([sent]);
      bytes = sent.file.size;
    } else {
      last.push(sent);
      bytes += sent.file.size;
    }
  }
  return all;
}

/** One after the other: a folder arrives in its order, and the first refusal is seen early. */
async function work() {
  if (isBusy) return;
  isBusy = true;
  for (let next; (next = transfers.value.find(({ state }) => state === "waiting")); ) await next.run();
  isBusy = false;
  await reload();
  if (transfers.value.every(({ state }) => state === "uploaded")) setTimeout(forgetDone, 4000);
}

function forgetDone() {
  transfers.value = transfers.value.filter(({ state }) => [...UNFINISHED, "failed"].includes(state));
}

/** @param {Transfer} transfer @param {any} to @param {Sent[]} files @param {boolean} overwrite */
async function send(transfer, to, files, overwrite) {
  update(transfer, { state: "uploading" });
  const progress = (/** @type {number} */ sent) => {
    if (transfer.state === "interrupted") transfer.state = "uploading";
    update(transfer, { sent: Math.min(sent, transfer.bytes) });
  };
  try {
    if (transfer.inPieces) {
      const interrupted = () => update(transfer, { state: "interrupted" });
      const { sendInPieces } = await fetched(() => import("./resumable.js"));
      transfer.sending ??= await sendInPieces(to, to.path, files[0], { overwrite, progress, interrupted });
      // A person may have pressed a button while that was prepared.
      if (isStopped(transfer)) return transfer.stop.signal.aborted ? transfer.sending.giveUp() : undefined;
      const renamed = await transfer.sending.start();
      if (isStopped(transfer)) return;
      if (renamed) tell(word("nearest", base(files[0].name), base(renamed)));
    } else {
      const stored = await upload(to, to.path, files, { overwrite, progress, signal: transfer.stop.signal });
      for (const { name, path } of stored.filter(({ renamed }) => renamed)) tell(word("nearest", base(name), base(path)));
    }
    update(transfer, { state: "uploaded", sent: transfer.bytes });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === "ABORTED") return update(transfer, { state: "skipped" });
    update(transfer, { state: "failed", why: error.message });
    tell(error.message, { kind: "error" });
  } finally {
    tellStored(to, overwrite);
  }
}

/** Tells that files are there, after the last of those that came together. @param {any} to @param {boolean} overwrite */
function tellStored(to, overwrite) {
  const states = transfers.value.filter((one) => one.to === to).map(({ state }) => state);
  if (!states.includes("uploaded") || states.some((state) => UNFINISHED.includes(state))) return;
  tell(word(overwrite ? "replaced" : "uploaded"), { action: undoOf(to, !overwrite || to.keepsReplaced) });
}

/** Returns `true` if a person has paused it or given it up. @param {Transfer} transfer */
function isStopped({ state }) {
  return state === "paused" || state === "skipped";
}

/** Stops sending; what has arrived stays on the server. @param {Transfer} transfer */
function pause(transfer) {
  update(transfer, { state: "paused" });
  transfer.sending?.pause();
}

/** Goes on, after what is on its way now. @param {Transfer} transfer */
function resume(transfer) {
  update(transfer, { state: "waiting" });
  work();
}

/** Stops sending it. @param {Transfer} transfer */
function abandon(transfer) {
  transfer.state = "skipped";
  transfer.stop.abort();
  transfer.sending?.pause();
}

/** Stops sending it, and removes the part that has arrived. @param {Transfer} transfer */
function giveUp(transfer) {
  update(transfer, { state: "skipped" });
  transfer.stop.abort();
  transfer.sending?.giveUp();
}

/** Opens the browser's own choice of files. @param {boolean} folders */
export function choose(folders) {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.webkitdirectory = folders;
  input.hidden = true;
  document.body.append(input);
  input.addEventListener("change", () => {
    sendFiles([...(input.files ?? [])].map((file) => ({ name: file.webkitRelativePath || file.name, file })));
    input.remove();
  });
  input.addEventListener("cancel", () => input.remove());
  input.click();
}

/** Everything that was dropped, with the folders that it lies in. @param {DataTransfer} dropped @param {import("./state.js").Location} [directory] */
export async function takeDropped(dropped, directory) {
  const entries = [...dropped.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const files = entries.length > 0
    ? (await Promise.all(entries.map((entry) => filesOf(entry)))).flat()
    : [...dropped.files].map((file) => ({ name: file.name, file }));
  sendFiles(files, directory);
}

/** @param {any} entry @returns {Promise<Sent[]>} */
async function filesOf(entry, above = "") {
  const name = above + entry.name;
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ name, file }];
  }
  const reader = entry.createReader();
  const all = [];
  // A reader gives a hundred at a time, and nothing at the end.
  for (let some; (some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))).length > 0; ) {
    all.push(...some);
  }
  return (await Promise.all(all.map((/** @type {any} */ inside) => filesOf(inside, `${name}/`)))).flat();
}

/** The list of transfers, in the corner. */
export function Transfers() {
  const all = transfers.value;
  if (all.length === 0) return null;
  const running = all.some(({ state }) => UNFINISHED.includes(state));
  return html`<section class="transfers" aria-label=${word("transfers")}>
    <header><h2>${word(running ? "uploading" : "transfers")}</h2>
      <button class="quiet" aria-label=${word("close")} onClick=${forgetDone}><${Icon} name="close" /></button></header>
    <ul>${all.map((transfer) => html`<${TransferRow} key=${transfer.id} transfer=${transfer} />`)}</ul>
  </section>`;
}

/** @param {{transfer: Transfer}} given */
function TransferRow({ transfer }) {
  const { label, bytes, sent, state, why, inPieces } = transfer;
  const percent = bytes ? Math.round((100 * sent) / bytes) : 0;
  const goesOn = state === "uploading" || state === "interrupted";
  const shown = state === "uploading" ? `${percent} % · ${size(bytes)}` : word(state);
  /** @param {string} action @param {"pause"|"resume"|"close"} icon @param {(transfer: Transfer) => void} run */
  const button = (action, icon, run) => html`<button class="quiet" aria-label=${`${word(action)}: ${label}`}
    onClick=${() => run(transfer)}><${Icon} name=${icon} size=${16} /></button>`;
  return html`<li>
    <span class="label" title=${label}>${label}</span>
    <span class="state" role="status">${shown}</span>
    ${UNFINISHED.includes(state) && html`<span class="buttons">
      ${inPieces && goesOn && button("pause", "pause", pause)}
      ${state === "paused" && button("resume", "resume", resume)}
      ${button(inPieces ? "give_up" : "cancel", "close", giveUp)}
    </span>`}
    ${(goesOn || state === "paused") && html`<progress max="100" value=${percent} aria-label=${label}></progress>`}
    ${why && html`<span class="why">${why}</span>`}
  </li>`;
}
