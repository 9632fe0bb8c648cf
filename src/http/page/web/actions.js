// What can be done with entries. Each is an operation of the server; its rules are the server's.

import { acting, address, archive, call, execute, place, Refusal, send } from "./api.js";
import { ask, askText } from "./dialog.js";
import { base, join } from "./format.js";
import { fetched } from "./later.js";
import { openMenuOf } from "./menu.js";
import { openLink } from "./links.js";
import { openRights } from "./groups.js";
import { CROSSINGS, openTarget } from "./target.js";
import { attempt, go, isSameZone, isVersioned, listing, location, reload, selection, tell } from "./state.js";
import { word } from "./words.js";

/** @typedef {import("./state.js").Entry} Entry */
/** @typedef {import("./menu.js").Action} Action */

/** Longest address of an archive: servers and proxies take no more. */
const ADDRESS_MAX = 7000;

/** What can be done with these entries here. @param {Entry[]} chosen @returns {Action[]} */
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
    zone !== "group" || mayChange
      ? { id: "move", label: word("move_or_copy"), icon: "move", run: () => move(chosen) } : undefined,
    isOne && { id: "link", label: word("link"), icon: "link", run: () => openLink(one) },
    isOne && isVersioned.value && { id: "history", label: word("history"), icon: "history", run: () => showHistory(pathOf(one)) },
    isOne && one.own && { id: "rights", label: word("rights"), icon: "rights", run: () => openRights(one) },
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
 * @param {import("./api.js").Zone} zone in which somebody acted @param {boolean} can whether there is one
 */
export function undoOf({ action }, can = true) {
  return can && action ? { label: word("undo"), run: () => undo(`answer=person-${action}`, reload) } : undefined;
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
      if (!(error instanceof Refusal) || error.code !== "FILE_LOCKED") throw error;
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
  const path = join(location.value.path, name);
  const made = await change(() => execute("mkdir", ["--", path], location.value));
  if (made) selection.value = new Set([name]);
}

export async function newFile() {
  const name = await askText({ title: word("new_file"), label: word("name"), value: ".md", selects: 0, action: word("create") });
  if (!name) return;
  const { path } = location.value;
  if (listing.value.entries.some((entry) => entry.name === name)) {
    return tell(word("exists", name), { kind: "error" });
  }
  const made = await change(() =>
    call("shed_create_file", { ...place(location.value), path: join(path, name), content: "" }));
  if (made) go({ path, open: name });
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
export async function move(chosen) {
  const target = await openTarget(chosen);
  if (!target) return;
  const from = acting(location.value);
  const paths = chosen.map(pathOf);
  let gone = 0;
  await change(async () => {
    for (const path of paths) {
      await carry(from, path, target);
      gone += 1;
    }
  });
  // What was copied is in nobody's way, and commands that copy are in no list.
  if (gone > 0) tell(word(target.copies ? "copied_files" : "moved"), { action: undoOf(from, !target.copies) });
}

/**
 * Moves or copies one entry.
 * @param {any} from @param {string} path @param {{zone: string, group?: string, path: string, copies: boolean}} to
 */
async function carry(from, path, to) {
  const dest = join(to.path, base(path));
  if (isSameZone(from, to)) {
    return to.copies
      ? execute("cp", ["-r", "-n", "--", path, dest], from)
      : call("shed_rename", { ...place(from), old_path: path, new_path: dest });
  }
  const { chat, action } = from;
  if (to.group) {
    return call("shed_copy_to_group", { chat, action, src_zone: from.zone, src_path: path, group: to.group, dest_path: dest });
  }
  return call(CROSSINGS[`${from.zone}-${to.zone}`].operation, { chat, action, src: path, dest });
}

/** Shows the actions of some entries beside the pointer. @param {MouseEvent} event @param {Entry[]} chosen */
export function openMenu(event, chosen) {
  openMenuOf(event, actionsFor(chosen));
}
