// Actions on entries. Each is an operation of the server, which also enforces the rules.

import { acting, address, archive, call, execute, place, Refusal, send } from "./api.js";
import { ask, askText } from "./dialog.js";
import { base, join, parent } from "./format.js";
import { fetched } from "./later.js";
import { openMenuOf } from "./menu.js";
import { attempt, clip, go, isSameZone, isVersioned, listing, location, reload, selection, tell } from "./state.js";
import { word } from "./words.js";

/** @typedef {import("./state.js").Entry} Entry */
/** @typedef {import("./menu.js").Action} Action */

/** Longest address of an archive: servers and proxies take no more. */
const ADDRESS_MAX = 7000;

/** Returns the actions for these entries here. @param {Entry[]} chosen @returns {Action[]} */
export function actionsFor(chosen) {
  const { zone } = location.value;
  const [one] = chosen;
  const isOne = chosen.length === 1;
  const mayChange = chosen.every((entry) => entry.writable);
  const mayDelete = mayChange || zone === "uploads";
  /** @type {(Action|false|undefined)[]} */
  const all = [
    isOne && { id: "open", label: word("open"), icon: "next", run: () => open(one) },
    { id: "download", label: word("download"), icon: "download", run: () => download(chosen) },
    isOne && mayChange && { id: "rename", label: word("rename"), icon: "rename", run: () => rename(one) },
    { id: "move", label: word("move_or_copy"), icon: "move", run: () => move(chosen) },
    isOne && { id: "link", label: word("link"), icon: "link", run: () => showLink(one) },
    { id: "copy", label: word("copy"), icon: "copy", run: () => take(chosen, true) },
    mayDelete && { id: "cut", label: word("cut"), icon: "cut", run: () => take(chosen, false) },
    isOne && isVersioned.value && { id: "history", label: word("history"), icon: "history", run: () => showHistory(pathOf(one)) },
    isOne && { id: "details", label: word("details"), icon: "details", run: () => showDetails(one) },
    isOne && one.own && { id: "rights", label: word("rights"), icon: "rights", run: () => showRights(one) },
    mayDelete && { id: "delete", label: word("delete"), icon: "delete", danger: true, run: () => remove(chosen) },
  ];
  return /** @type {Action[]} */ (all.filter(Boolean));
}

/** @param {Entry} entry */
export function pathOf(entry) {
  return join(location.value.path, entry.name);
}

/** @param {string} path of a file or folder; empty for the whole zone @param {import("./api.js").Zone} zone */
export function showHistory(path, zone = location.value) {
  attempt(async () => (await fetched(() => import("./history.js"))).openHistory(path, zone));
}

/** Makes a link to an entry, or without one a link that takes files. @param {Entry} [entry] */
export function showLink(entry) {
  attempt(async () => {
    const { openLink, openUploadLink } = await fetched(() => import("./links.js"));
    return entry ? openLink(entry) : openUploadLink();
  });
}

/** @param {Entry} entry */
function showDetails(entry) {
  attempt(async () => (await fetched(() => import("./details.js"))).openDetails(entry));
}

/** @param {Entry} entry */
function showRights(entry) {
  attempt(async () => (await fetched(() => import("./groups.js"))).openRights(entry));
}

/** @param {string} group */
export function showMembers(group) {
  attempt(async () => (await fetched(() => import("./groups.js"))).openMembers(group));
}

export function showKeys() {
  attempt(async () => (await fetched(() => import("./keys.js"))).openKeys());
}

/** @param {Entry} entry */
export function open(entry) {
  const { path } = location.value;
  if (entry.type === "directory") go({ path: join(path, entry.name) });
  else go({ path, open: entry.name });
}

/** @param {Entry[]} chosen */
export function download(chosen) {
  const { path } = location.value;
  const [one] = chosen;
  const to = chosen.length === 1
    ? address(location.value, join(path, one.name))
    : archive(location.value, path, chosen.map((entry) => entry.name));
  if (to.length > ADDRESS_MAX) return tell(word("too_many"), { kind: "error" });
  const link = document.createElement("a");
  link.href = to;
  link.download = "";
  link.click();
}

/** Runs work and shows the directory anew. @param {() => Promise<any>} work */
async function change(work) {
  const done = await attempt(async () => (await work()) ?? true);
  await reload();
  return done;
}

/**
 * The way back from what was done under this name, for a note.
 * @param {{action?: string}} zone in which somebody acted @param {boolean} can whether there is one
 * @param {() => Promise<void>} refresh shows what there is then
 */
export function undoOf({ action }, can = true, refresh = reload) {
  return can && action ? { label: word("undo"), run: () => undo(`answer=person-${action}`, refresh) } : undefined;
}

/**
 * Takes back what a query names. Where something stands in the way, a person decides about the rest.
 * @param {string} which @param {() => Promise<void>} refresh shows what there is then
 */
export async function undo(which, refresh) {
  const done = await attempt(async () => {
    try {
      return await send(`undo?${which}`, {});
    } catch (error) {
      if (!(error instanceof Refusal) || !error.details.conflicts) throw error;
      const answer = await ask({ title: word("undo_question"), text: error.message, answers: [{ value: "rest", label: word("undo_rest") }] });
      return answer && send(`undo?${which}&partial=true`, {});
    }
  });
  if (done?.id) tell(word("undone"), { action: { label: word("redo"), run: () => undo(`answer=${done.id}`, refresh) } });
  await refresh();
}

export async function newFolder() {
  const name = await askText({ title: word("new_folder"), label: word("name"), action: word("create") });
  if (!name) return;
  const zone = acting(location.value);
  const path = join(zone.path, name);
  const made = await change(() => execute("mkdir", ["--", path], zone));
  if (!made) return;
  selection.value = new Set([name]);
  tell(word("created"), { action: isVersioned.value ? { label: word("undo"), run: () => removeEmpty(zone, path) } : undoOf(zone) });
}

/** Removes a folder that was just made: a history has none without files. @param {import("./api.js").Zone} zone @param {string} path */
async function removeEmpty(zone, path) {
  if (await change(() => execute("rmdir", ["--", path], zone))) tell(word("undone"));
}

export async function newFile() {
  const given = await askText({ title: word("new_file"), label: word("name"), hint: word("new_file_hint"), action: word("create") });
  if (!given) return;
  const name = given.includes(".") ? given : `${given}.md`;
  if (listing.value.entries.some((entry) => entry.name === name)) {
    return tell(word("exists", name), { kind: "error" });
  }
  const zone = acting(location.value);
  const made = await change(() => call("shed_create_file", { ...place(zone), path: join(zone.path, name), content: "" }));
  if (!made) return;
  go({ path: zone.path, open: name });
  tell(word("created"), { action: undoOf(zone) });
}

/** @param {Entry} entry */
export async function rename(entry) {
  const dot = entry.type === "file" ? entry.name.lastIndexOf(".") : -1;
  const name = await askText({
    title: word("rename"), label: word("name"), value: entry.name, selects: dot > 0 ? dot : undefined, action: word("rename"),
  });
  if (!name || name === entry.name) return;
  const zone = acting(location.value);
  const done = await change(() => call("shed_rename", {
    ...place(zone), old_path: join(zone.path, entry.name), new_path: join(zone.path, name),
  }));
  selection.value = new Set([name]);
  if (done) tell(word("renamed"), { action: undoOf(zone) });
}

/** @param {Entry[]} chosen */
export async function remove(chosen) {
  const isKept = Boolean(listing.value.keeps_deleted);
  const what = chosen.length === 1 ? `“${chosen[0].name}”` : `${chosen.length} ${word("items")}`;
  const zone = acting(location.value);
  const paths = chosen.map(pathOf);
  if (!isKept) {
    const answer = await ask({
      title: word("delete_question", what), text: word("delete_final"),
      answers: [{ value: "delete", label: word("delete"), kind: "danger" }],
    });
    if (!answer) return;
  }
  let gone = 0;
  await change(async () => {
    for (const path of paths) {
      await call("shed_delete", { ...place(zone), path });
      gone += 1;
    }
  });
  if (gone > 0) tell(word("deleted", what), { action: undoOf(zone, isKept) });
}

/** @param {Entry[]} chosen */
async function move(chosen) {
  const target = await attempt(async () => (await fetched(() => import("./target.js"))).openTarget(chosen));
  if (target) await carry(location.value, chosen.map(pathOf), target);
}

/** Keeps what is to be pasted. @param {Entry[]} chosen @param {boolean} copies */
export function take(chosen, copies) {
  clip.value = { from: location.value, paths: chosen.map(pathOf), copies };
  tell(word("to_paste", chosen.length === 1 ? `“${chosen[0].name}”` : `${chosen.length} ${word("items")}`));
}

/** Puts what was copied or cut into the directory that is shown. */
export async function paste() {
  if (!clip.value) return;
  const { from, paths, copies } = clip.value;
  if (!copies) clip.value = null;
  await carry(from, paths, { ...location.value, copies });
}

/**
 * Copies or moves entries into a directory of any place. Where a name is taken, a person decides once for all.
 * @param {import("./api.js").Zone} source @param {string[]} paths @param {import("./target.js").Target} to
 */
export async function carry(source, paths, to) {
  const from = acting(source);
  let carried = 0;
  /** @type {string|null} */
  let decided = null;
  await change(async () => {
    for (const path of paths) {
      const isHere = isSameZone(from, to) && parent(path) === to.path;
      if (isHere && !to.copies) continue;
      for (let number = 1; ; number += 1) {
        const name = isHere || decided === "keep" ? numbered(base(path), number) : base(path);
        const given = { from: addressOf(from, path), to: addressOf(to, join(to.path, name)), move: !to.copies, overwrite: decided === "replace" };
        try {
          await call("shed_copy", { chat: from.chat ?? to.chat, action: from.action, ...given });
          carried += 1;
          break;
        } catch (error) {
          if (!(error instanceof Refusal) || error.code !== "FILE_EXISTS" || decided === "replace" || number > 99) throw error;
          if (!isHere) decided ??= await askAboutTaken(`“${base(path)}”`);
          if (!isHere && !decided) return;
        }
      }
    }
  });
  if (carried > 0) tell(word(to.copies ? "copied_files" : "moved"), { action: undoOf(from) });
}

/** A path with its zone in front. @param {import("./api.js").Zone} zone @param {string} path */
function addressOf({ zone, group }, path) {
  return `${group ? `group/${group}` : zone}/${path}`;
}

/** A name with a number before its extension; the first is the name itself. @param {string} name @param {number} number */
function numbered(name, number) {
  const dot = name.lastIndexOf(".");
  const [stem, end] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  return number === 1 ? name : `${stem} (${number})${end}`;
}

/** Asks what becomes of a name that is taken; null where nothing is done. @param {string} what */
export function askAboutTaken(what) {
  return ask({
    title: word("exists", what),
    answers: [
      { value: "keep", label: word("keep_both"), kind: "" },
      { value: "replace", label: word("replace"), kind: "danger" },
    ],
  });
}

/** Shows the actions of some entries beside the pointer. @param {MouseEvent} event @param {Entry[]} chosen */
export function openMenu(event, chosen) {
  openMenuOf(event, actionsFor(chosen));
}
