// Calls of the server. Addresses are relative: a proxy may have put the server below a path.

import { word } from "./words.js";

/** Says that this page makes the request, which no other site can. */
export const OWN = { "X-Fileshed-Page": "1" };

/** A refusal by the server, with its message. */
export class Refusal extends Error {
  /** @param {number} status @param {{code?: string, message?: string, hint?: string, details?: any}} error */
  constructor(status, error) {
    super(error.message ?? word("offline"));
    this.status = status;
    this.code = error.code ?? "";
    this.hint = error.hint ?? "";
    this.details = error.details ?? {};
  }
}

/** @param {string} address @param {RequestInit} options */
async function request(address, options = {}) {
  let response;
  try {
    response = await fetch(address, { ...options, headers: { ...OWN, ...options.headers } });
  } catch {
    throw new Refusal(0, {});
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

/** @param {Response} response */
async function refusal(response) {
  let error = {};
  try {
    error = (await response.json()).error ?? {};
  } catch {
    // A proxy answered.
  }
  return new Refusal(response.status, error);
}

/**
 * Runs an operation and gives its data; in a chat, as part of what a person does, and through the lease of an editor, if they are given.
 * @param {string} operation @param {{chat?: string, action?: string, lease?: string}} given
 */
export async function call(operation, { chat, action, lease, ...given } = {}) {
  return post(operation, given, { ...(chat && { "X-Session-Id": chat }), ...named(action), ...leased(lease) });
}

/** The lease of an editor, for the server. @param {string} [token] @returns {Record<string, string>} */
function leased(token) {
  return token ? { "Lock-Token": `<${token}>` } : {};
}

/** Takes a file for an editor, or keeps it. @param {Zone} zone @param {string} path @param {string} [token] @returns {Promise<{token: string, seconds: number}>} */
export function takeLease(zone, path, token) {
  return post(`page/lease?${query(zone, { path })}`, {}, leased(token));
}

/** Gives a file of an editor back, also while the page is being left. @param {Zone} zone @param {string} path @param {string} token */
export function endLease(zone, path, token) {
  const headers = { ...OWN, ...leased(token) };
  fetch(`page/lease/end?${query(zone, { path })}`, { method: "POST", headers, keepalive: true }).catch(() => {});
}

/** A place in which a person does something that can be taken back as one. @template {object} Z @param {Z} zone @returns {Z & {action: string}} */
export function acting(zone) {
  return { ...zone, action: [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("") };
}

/** The name of what a person does, for the server. @param {string} [action] @returns {Record<string, string>} */
export function named(action) {
  return action ? { "X-Fileshed-Action": action } : {};
}

/** Reads an address of the page. @param {string} name @param {Record<string, string>} query */
export async function read(name, query = {}) {
  const response = await request(`page/${name}?${new URLSearchParams(query)}`);
  return response.json();
}

/** Sends something to an address of the page, as part of what a person does, and gives the data of the answer. @param {string} name @param {object} given @param {string} [action] */
export async function send(name, given, action) {
  return post(`page/${name}`, given, named(action));
}

/** Reads what only administrators see. @param {string} name */
export async function overview(name) {
  const response = await request(`admin/api/${name}`);
  return response.json();
}

/** Does what only administrators do. @param {string} name @param {object} given */
export async function administer(name, given) {
  return post(`admin/api/${name}`, given);
}

/** @param {string} address @param {object} given @param {Record<string, string>} headers */
async function post(address, given, headers = {}) {
  const response = await request(address, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(given),
  });
  return (await response.json()).data;
}

/** A zone; uploads are those of a chat. @typedef {{zone: string, group?: string, chat?: string, action?: string}} Zone */

/** The zone as parameters. @param {Zone} zone @returns {Zone} */
export function place({ zone, group, chat, action }) {
  const done = action ? { action } : {};
  if (group) return { zone: "group", group, ...done };
  return chat ? { zone, chat, ...done } : { zone, ...done };
}

/** The zone in an address. @param {Zone} zone @param {Record<string, string>} more */
export function query(zone, more) {
  const { action, ...parameters } = place(zone);
  return new URLSearchParams({ ...parameters, ...more });
}

/**
 * Runs a command in a zone; its failure is one of the call.
 * @param {string} cmd @param {string[]} args @param {Zone} zone @param {object} more
 */
export async function execute(cmd, args, zone, more = {}) {
  const ran = await call("shed_exec", { ...place(zone), cmd, args, ...more });
  if (ran.returncode !== 0) throw new Refusal(200, { message: ran.stderr.trim() || `${cmd}: ${ran.returncode}` });
  return ran;
}

/** The address of a file. @param {Zone} zone @param {string} path @param {boolean} inline */
export function address(zone, path, inline = false) {
  const given = query(zone, { path });
  if (inline) given.set("inline", "true");
  return `files/content?${given}`;
}

/** The address of several entries of a directory as one archive. @param {Zone} zone @param {string} path @param {string[]} names */
export function archive(zone, path, names) {
  const given = query(zone, { path: path || "." });
  for (const name of names) given.append("name", name);
  return `files/archive?${given}`;
}

/** The address of a small picture of a large one. @param {Zone} zone @param {string} path */
export function thumbnailAddress(zone, path) {
  return `page/thumbnail?${query(zone, { path })}`;
}

/** The address of a file in an archive. @param {Zone} zone @param {string} path @param {string} name */
export function memberAddress(zone, path, name) {
  return `page/member?${query(zone, { path, name })}`;
}

/** Bytes of a file from one on, and the encoding of its text. @param {Zone} zone @param {string} path @param {number} from @param {number} [most] */
export async function bytes(zone, path, from, most) {
  const headers = most ? { Range: `bytes=${from}-${from + most - 1}` } : {};
  const response = await request(address(zone, path), { headers, cache: "no-cache" });
  const raw = new Uint8Array(await response.arrayBuffer());
  return { raw, charset: response.headers.get("Content-Type")?.match(/charset=([\w-]+)/)?.[1] };
}

/** The text of a file; null if it is none. @param {Zone} zone @param {string} path */
export async function text(zone, path) {
  const { raw, charset } = await bytes(zone, path, 0);
  if (!charset && raw.subarray(0, 8000).includes(0)) return null;
  return new TextDecoder(charset).decode(raw);
}

/**
 * Sends files to a directory; `progress` is told how many bytes are on their way.
 * @param {Zone} zone @param {string} path @param {{name: string, file: File}[]} files
 * @param {{overwrite: boolean, progress: (sent: number) => void, signal: AbortSignal}} options
 * @returns {Promise<{name: string, path: string, renamed?: boolean}[]>} what was stored
 */
export function upload(zone, path, files, { overwrite, progress, signal }) {
  const form = new FormData();
  for (const { name, file } of files) {
    form.append("lastModified", String(file.lastModified));
    form.append("file", file, name);
  }
  const given = query(zone, { path: path || "." });
  if (overwrite) given.set("overwrite", "true");
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open("POST", `files/upload?${given}`);
    for (const [name, value] of Object.entries({ ...OWN, ...named(zone.action) })) sending.setRequestHeader(name, value);
    sending.upload.onprogress = (event) => progress(event.loaded);
    sending.onload = () => {
      if (sending.status < 300) return resolve(JSON.parse(sending.responseText).data.files);
      let error = {};
      try {
        error = JSON.parse(sending.responseText).error ?? {};
      } catch {
        // A proxy answered.
      }
      reject(new Refusal(sending.status, error));
    };
    sending.onerror = () => reject(new Refusal(0, {}));
    sending.onabort = () => reject(new Refusal(0, { code: "ABORTED" }));
    signal.addEventListener("abort", () => sending.abort());
    sending.send(form);
  });
}
