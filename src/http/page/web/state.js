// State of the page, as signals that the views follow.

import { batch, computed, effect, signal } from "./lib/core.js";
import { call, place, read, Refusal } from "./api.js";
import { base, extension, parent } from "./format.js";
import { word } from "./words.js";

/** @typedef {{name: string, type: "file"|"directory", size: number, modified: number, writable: boolean, owner?: string, own?: boolean, mode?: string}} Entry */
/** @typedef {{zone: string, group?: string, chat?: string, path: string, open?: string, view?: "links"|"tokens"|"bin"|"admin"|"changes"|"recent"|"chats"|"search", query?: string, answer?: string}} Location */

/** Functions that run when a person signs out or the session ends. @type {(() => void)[]} */
const farewells = [];

/** Registers a function to run when a person signs out or the session ends. @param {() => void} work */
export function onLeave(work) {
  farewells.push(work);
}

/**
 * A signal with data of the signed-in person: it is reset when that person leaves.
 * @template T @param {T} initial
 */
export function personal(initial) {
  const made = signal(initial);
  onLeave(() => (made.value = initial));
  return made;
}

/**
 * A signal that this browser keeps, so that a person's preferences return at the next visit.
 * @template {object} T @param {string} name @param {T} initial
 */
function kept(name, initial) {
  const place = `fileshed.${name}`;
  const made = signal(initial);
  try {
    made.value = { ...initial, ...JSON.parse(localStorage.getItem(place) ?? "{}") };
    effect(() => localStorage.setItem(place, JSON.stringify(made.value)));
  } catch {
    // A browser that keeps nothing begins anew each time.
  }
  return made;
}

/** The user who is signed in; null until the server has said so. */
export const session = signal(/** @type {any} */ (null));

/** The beginning of the names of the drafts that this browser keeps for the person: two people may have one display name. */
export const draftsOf = () => `fileshed.draft.${encodeURIComponent(session.value?.user ?? "")}.`;
/** Groups whose files the caller shares. */
export const groups = personal(/** @type {{id: string, name: string}[]} */ ([]));
/** Titles of chats, as far as they are known. */
export const titles = personal(/** @type {Map<string, string>} */ (new Map()));
/** Space used. */
export const stats = personal(/** @type {any} */ (null));
/** Location that the page shows. */
export const location = signal(/** @type {Location} */ ({ zone: "storage", path: "" }));
/** Entries of that location. */
export const listing = personal(/** @type {{writable: boolean, keeps_deleted?: boolean, ends_on?: string, entries: Entry[]}} */ ({ writable: false, entries: [] }));
/** `true` while they are being read, and the failure if reading failed. */
export const loading = signal(false);
export const failure = signal(/** @type {Refusal|null} */ (null));
/** The look of lists: their order, tiles or rows, and whether names that begin with a dot are shown. */
export const look = kept("look", { by: "name", falls: false, tiles: false, hidden: false });
/** Names of what is selected. */
export const selection = personal(/** @type {Set<string>} */ (new Set()));
/** Which row the keyboard is on. */
export const cursor = signal(0);
/** The entries that were copied or cut, to be pasted. */
export const clip = personal(/** @type {{from: Location, paths: string[], copies: boolean}|null} */ (null));
/** The dialog over the page: a function that returns it. */
export const dialog = personal(/** @type {null|(() => any)} */ (null));
/** Notes at the bottom. */
export const notes = personal(/** @type {{id: number, text: string, kind: string, action?: {label: string, run: () => void}}[]} */ ([]));
/** `true` if the list of places is shown on a screen without space for both beside each other. */
export const menuOpen = signal(false);

/** The order of names in the language of the person. */
export const { compare } = new Intl.Collator([...navigator.languages], { numeric: true });

/** The entries that are shown, in the order that was asked for: folders first. */
export const entries = computed(() => {
  const { by, falls, hidden } = look.value;
  const turn = falls ? -1 : 1;
  const sorted = listing.value.entries.filter(({ name }) => hidden || !name.startsWith("."));
  const keys = {
    name: () => 0,
    size: (/** @type {Entry} */ a, /** @type {Entry} */ b) => a.size - b.size,
    modified: (/** @type {Entry} */ a, /** @type {Entry} */ b) => a.modified - b.modified,
    owner: (/** @type {Entry} */ a, /** @type {Entry} */ b) => compare(a.owner ?? "", b.owner ?? ""),
  };
  const key = keys[/** @type {keyof typeof keys} */ (by)] ?? keys.name;
  sorted.sort((a, b) => {
    if (a.type !== b.type) return a.type === "directory" ? -1 : 1;
    return turn * (key(a, b) || compare(a.name, b.name));
  });
  return sorted;
});

export const selected = computed(() => entries.value.filter((entry) => selection.value.has(entry.name)));
/** The file that is shown, as soon as the list has it. */
export const previewed = computed(() =>
  listing.value.entries.find((entry) => entry.name === location.value.open && entry.type === "file"));
export const isVersioned = computed(() => ["documents", "group"].includes(location.value.zone));

/** The chat of calls that name none. */
export const NO_CHAT = "default";

/** Views that show no directory. */
const OTHERS = /** @type {const} */ (["links", "tokens", "bin", "changes", "recent", "admin"]);

/** The address of a location. @param {Location} to */
export function hash(to) {
  if (to.view && OTHERS.includes(to.view)) return `#/${to.view}${to.answer ? `/${encodeURIComponent(to.answer)}` : ""}`;
  const zone = to.group ? ["group", to.group] : to.chat ? [to.zone, to.chat] : [to.zone];
  const parts = [...zone, ...to.path.split("/").filter(Boolean)].map(encodeURIComponent).join("/");
  const query = new URLSearchParams();
  if (to.open) query.set("open", to.open);
  if (to.view === "search") query.set("search", to.query ?? "");
  return `#/${parts}${query.size ? `?${query}` : ""}`;
}

/** @returns {Location} */
function parse() {
  const [path, query] = window.location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  const given = new URLSearchParams(query ?? "");
  const view = OTHERS.find((name) => name === parts[0]);
  if (view) return { zone: "storage", path: "", view, answer: parts[1] };
  const isGroup = parts[0] === "group";
  const known = ["uploads", "storage", "documents"].includes(parts[0]);
  const zone = isGroup ? "group" : known ? parts[0] : "storage";
  const isUploads = zone === "uploads";
  const rest = isGroup || isUploads ? parts.slice(2) : known ? parts.slice(1) : [];
  /** @type {Location} */
  const to = { zone, path: rest.join("/") };
  if (isGroup) to.group = parts[1];
  if (isUploads && parts[1]) to.chat = parts[1];
  else if (isUploads) to.view = "chats";
  if (given.get("open")) to.open = given.get("open") ?? undefined;
  if (given.has("search")) {
    to.view = "search";
    to.query = given.get("search") ?? "";
  }
  return to;
}

/** @param {Partial<Location>} to @param {boolean} replaces takes the place of where the page is in the browser's history */
export function go(to, replaces = false) {
  const { zone, group, chat } = location.value;
  const address = hash({ zone, group, chat, path: "", ...to });
  if (replaces) window.location.replace(address);
  else window.location.hash = address;
}

/** `true` if the previous entry of the browser's history is the location from which a file was opened. */
let wasOpenedHere = false;

/** Leaves a file for where it was opened, which is as it was: a list, or what a search found. */
export function goBack() {
  if (wasOpenedHere) window.history.back();
  else go({ path: location.value.path }, true);
}

/** Returns `true` if two places are in the same zone. @param {import("./api.js").Zone} a @param {import("./api.js").Zone} b */
export function isSameZone(a, b) {
  return a.zone === b.zone && a.group === b.group && a.chat === b.chat;
}

/** Returns `true` if two locations show the same directory. @param {Location} a @param {Location} b */
function isSame(a, b) {
  return isSameZone(a, b) && a.path === b.path;
}

let asked = 0;

/** Reads the directory again. @param {boolean} quiet keeps what is shown until the answer is there */
export async function reload(quiet = true) {
  const number = ++asked;
  const { path, chat } = location.value;
  if (!quiet) loading.value = true;
  readTitles([chat]);
  try {
    const found = await read("list", { ...place(location.value), path: path || "." });
    if (number !== asked) return;
    batch(() => {
      listing.value = found;
      failure.value = null;
      const at = entries.value.findIndex(({ name }) => name === returned);
      if (at >= 0) cursor.value = at;
      returned = undefined;
      const names = new Set(found.entries.map((/** @type {Entry} */ entry) => entry.name));
      selection.value = new Set([...selection.value].filter((name) => names.has(name)));
      cursor.value = Math.min(cursor.value, Math.max(0, entries.value.length - 1));
    });
  } catch (error) {
    if (number !== asked) return;
    batch(() => {
      listing.value = { writable: false, entries: [] };
      failure.value = /** @type {Refusal} */ (error);
    });
  } finally {
    if (number === asked) loading.value = false;
  }
  refreshStats();
}

/** Chats of the caller that have uploads, and where the next ones begin. @param {number} from */
export async function readChats(from = 0) {
  const found = await read("uploads", { from: String(from) });
  titles.value = new Map([...titles.value, ...found.chats.map((/** @type {any} */ one) => [one.chat, one.title ?? one.chat])]);
  return found;
}

/** Finds out what chats are called, each once. @param {(string|undefined)[]} chats */
export async function readTitles(chats) {
  const all = new Set(chats.filter((chat) => chat !== undefined && chat !== NO_CHAT && !titles.value.has(chat)));
  const unknown = [...all].slice(0, 100);
  if (unknown.length === 0) return;
  const named = (/** @type {[string, string][]} */ some) => (titles.value = new Map([...titles.value, ...some]));
  named(unknown.map((chat) => [chat, chat]));
  try {
    named(Object.entries((await read("titles", { id: unknown.join("\n") })).titles));
  } catch {
    // They are shown by their ids.
  }
}

/** Returns the name of a chat. @param {string} chat */
export function chatName(chat) {
  return chat === NO_CHAT ? word("no_chat") : titles.value.get(chat) ?? chat;
}

export async function refreshStats() {
  try {
    stats.value = await call("shed_stats");
  } catch {
    // The bar keeps what it had.
  }
}

/** The entry that had the focus in each directory. @type {Map<string, string|undefined>} */
const left = new Map();
onLeave(() => left.clear());
/** The entry on which it is again, in a directory to which somebody returns. @type {string|undefined} */
let returned;

/** Follows the address. */
function follow() {
  const to = parse();
  const from = location.value;
  const same = isSame(to, from) && session.value?.signed_in && listing.value.entries.length > 0;
  if (to.open && !from.open) wasOpenedHere = true;
  else if (!to.open) wasOpenedHere = false;
  if (!same && !from.view) left.set(hash({ ...from, open: undefined }), entries.value[cursor.value]?.name);
  if (!same) {
    const isAbove = isSameZone(to, from) && parent(from.path) === to.path && from.path !== "";
    returned = isAbove ? base(from.path) : left.get(hash({ ...to, open: undefined }));
  }
  batch(() => {
    location.value = to;
    menuOpen.value = false;
    if (!same) {
      selection.value = new Set();
      cursor.value = 0;
    }
  });
  if (session.value?.signed_in && !same && !to.view) reload(false);
}

/** Asks who is signed in, and shows what they have. */
export async function start() {
  location.value = parse();
  try {
    session.value = await read("session");
  } catch (error) {
    failure.value = /** @type {Refusal} */ (error);
    return;
  }
  if (!session.value.signed_in) return;
  await Promise.all([location.value.view === "chats" ? refreshStats() : reload(false), readGroups()]);
}

/** Asks again, after somebody has left or their session has ended; nothing of theirs stays. */
export async function leave() {
  asked += 1;
  batch(() => farewells.forEach((work) => work()));
  await start();
}

async function readGroups() {
  // Without users there are no groups.
  if (session.value.mode !== "user") return;
  try {
    const { groups: found } = await call("shed_group_list");
    groups.value = found.sort((/** @type {any} */ a, /** @type {any} */ b) => compare(a.name, b.name));
  } catch {
    // Without groups the other places still work.
  }
}

window.addEventListener("hashchange", follow);
// Shows changes that another window, the model or a colleague made meanwhile.
window.addEventListener("focus", () => session.value?.signed_in && !location.value.view && reload());

let lastNote = 0;

/** Tells something at the bottom of the page. @param {string} text @param {{kind?: string, action?: {label: string, run: () => void}}} options */
export function tell(text, { kind = "info", action } = {}) {
  const id = ++lastNote;
  notes.value = [...notes.value.slice(-2), { id, text, kind, action }];
  setTimeout(() => dismiss(id), action || kind === "error" ? 12000 : 4000);
}

/** @param {number} id */
export function dismiss(id) {
  notes.value = notes.value.filter((note) => note.id !== id);
}

/** Does something, and tells why it failed. @template T @param {() => Promise<T>} work @returns {Promise<T|undefined>} */
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.status === 401) await leave();
    else tell(error.message, { kind: "error" });
    return undefined;
  }
}

/** The zones of the caller. */
export const zones = computed(() => {
  const own = ["documents", "storage", "uploads"].map((zone) => ({ zone, label: zone, group: undefined }));
  const shared = groups.value.map((group) => ({
    zone: "group",
    group: group.name,
    label: group.name,
  }));
  return { own, shared };
});

effect(() => {
  const { zone, group, chat, path } = location.value;
  const place = group ?? (chat ? chatName(chat) : zone);
  document.title = `${path.split("/").pop() || place} – fileshed`;
});

const BINARY = [
  "exe", "bin", "so", "o", "a", "dll", "class", "iso", "img", "doc", "xls", "ppt", "epub", "tif", "tiff",
  "tar", "gz", "tgz", "xz", "bz2", "7z", "zst",
];

/** Returns `true` if a file of such a name is shown as text. @param {string} name */
export function isText(name) {
  return !BINARY.includes(extension(name));
}
