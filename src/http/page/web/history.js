// History of a versioned zone: each change with its author, way and time, the content before, and the way back to it.

import { html } from "./lib/core.js";
import { undoOf } from "./actions.js";
import { acting, execute } from "./api.js";
import { Dialog } from "./dialog.js";
import { Difference } from "./difference.js";
import { base, instant } from "./format.js";
import { attempt, chatName, dialog, personal, readTitles, reload, tell } from "./state.js";
import { word } from "./words.js";

/**
 * `by` is `model` or `person` and `channel` the way by which the change came, `chat` the conversation.
 * @typedef {{by?: string, channel?: string, chat?: string}} Marks
 * @typedef {{id: string, author: string, when: string, subject: string, marks?: Marks, files: {kind: string, path: string}[]}} Version
 */

/** Changes of one answer. */
const VERSIONS = 200;
/** Bytes of an answer that these fit into, as git stores them. */
const OUTPUT_MAX = 1_000_000;
/** Separators of the fields and the versions in git's answer; no message has them. */
const [UNIT, RECORD] = ["\u001f", "\u001e"];

/** Committer of the changes that the server saw. A commit made by git itself may have lines of another commit. */
const SERVER = "fileshed <fileshed@localhost> ";
/** The ways by which people come. */
const WAYS = ["page", "webdav", "files", "link", "file-browser", "shell"];

const versions = personal(/** @type {Version[]|null} */ (null));
const shown = personal(/** @type {{version: Version, path: string}|null} */ (null));

/** @param {string} path of a file or folder; empty for the whole zone @param {import("./api.js").Zone} zone */
export async function openHistory(path, zone) {
  versions.value = null;
  shown.value = null;
  dialog.value = () => html`<${History} zone=${zone} path=${path} />`;
  const log = (/** @type {string[]} */ ...form) => execute(
    "git", ["log", "-n", String(VERSIONS), ...form, "--", ...(path ? [path] : [])], zone, { max_output: OUTPUT_MAX },
  );
  const ran = await attempt(() => Promise.all([
    log("-z", "--name-status", "--no-renames", "--format=%x1e%H%x1f%an%x1f%aI%x1f%s"), log("--format=raw"),
  ]));
  versions.value = ran ? parse(ran[0].stdout, marksOf(ran[1].stdout)) : [];
  readTitles(versions.value.map(({ marks }) => marks?.chat));
  const [first] = versions.value;
  const file = first?.files.find((file) => file.path === path) ?? first?.files[0];
  if (file) shown.value = { version: first, path: file.path };
}

/** Returns the marks of commits, which tell the way by which they came. @param {string} text as git stores them @returns {Map<string, Marks>} */
function marksOf(text) {
  const marks = new Map();
  // The lines of messages are indented.
  for (const commit of `\n${text}`.split("\ncommit ").slice(1)) {
    const [id, ...lines] = commit.split("\n\n", 1)[0].split("\n");
    const value = (/** @type {string} */ name) => lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
    if (!value("committer")?.startsWith(SERVER)) continue;
    const [by, channel] = value("fileshed-by")?.split(" ") ?? [];
    marks.set(id, { by, channel, chat: value("fileshed-chat") });
  }
  return marks;
}

/** Returns the author of a version and the way by which it came, as far as these are known. @param {Version} version */
function origin({ author, marks = {} }, zone) {
  const { by, channel = "", chat } = marks;
  const isOwn = zone.zone === "documents";
  if (by === "model") {
    const model = chat ? word("by_model_in_chat", chatName(chat)) : word("by_model");
    return isOwn ? model : `${author} · ${model}`;
  }
  if (!WAYS.includes(channel)) return author;
  const way = word(`by_${channel}`);
  if (!isOwn) return `${author} · ${way}`;
  // The user of a link may be anybody.
  return channel === "link" ? way : word("by_you", way);
}

/** @param {string} text @param {Map<string, Marks>} marks @returns {Version[]} */
function parse(text, marks) {
  return text.split(RECORD).slice(1).map((record) => {
    const [head, ...rest] = record.split("\0");
    const [id, author, when, subject] = head.split(UNIT);
    const fields = rest.map((field) => field.replace(/^\n/, "")).filter(Boolean);
    const files = [];
    for (let at = 0; at + 1 < fields.length; at += 2) files.push({ kind: fields[at], path: fields[at + 1] });
    return { id, author, when, subject, marks: marks.get(id), files };
  });
}

function History({ zone, path }) {
  const all = versions.value;
  const here = shown.value;
  const restore = async () => {
    if (!here) return;
    const { version, path } = here;
    const source = version.files.find((file) => file.path === path)?.kind === "D" ? `${version.id}^` : version.id;
    const acted = acting(zone);
    const done = await attempt(() => execute("git", ["checkout", source, "--", path], acted));
    if (!done) return;
    tell(word("restored"), { action: undoOf(acted) });
    await reload();
    openHistory(path, zone);
  };
  const title = `${word("history")}: ${path ? base(path) : zone.group ?? word(zone.zone)}`;
  return html`<${Dialog} title=${title} wide
      actions=${here && html`<button type="button" class="primary" onClick=${restore}>${word("restore")}</button>`}>
    ${!all && html`<p role="status">${word("loading")}</p>`}
    ${all?.length === 0 && html`<p>${word("no_history")}</p>`}
    ${all && all.length > 0 && html`<div class="history">
      <ol class="versions" aria-label=${word("versions")}>
        ${all.map((version) => html`<li key=${version.id}>
          <h3 class="version"><strong>${version.subject}</strong>
            <span>${`${instant(version.when)} · ${origin(version, zone)}`}</span></h3>
          <ul>${version.files.slice(0, 20).map((file) => html`<li><button type="button" class="text"
            aria-current=${here?.version.id === version.id && here.path === file.path ? "true" : undefined}
            onClick=${() => (shown.value = { version, path: file.path })}><span class="change change-${file.kind}">${file.kind}</span>${file.path}</button></li>`)}</ul>
        </li>`)}
      </ol>
      ${here && html`<${Difference} key=${here.version.id + here.path} zone=${zone} path=${here.path} of=${{ commit: here.version.id }} />`}
    </div>`}
  <//>`;
}
