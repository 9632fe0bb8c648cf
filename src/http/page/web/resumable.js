// A large file on its way to the server: in pieces, which go on after a lost connection, a restart of
// the server, or when the same file is chosen again after the page was closed.

import { named, OWN, query, Refusal } from "./api.js";
import { fetched } from "./later.js";

/** Bytes of a piece: what a proxy has to pass on in one request. */
const PIECE = 16 * 1024 * 1024;

/** Milliseconds before each new attempt, for an hour without any progress. */
const DELAYS = Array.from({ length: 720 }, (_, attempt) => Math.min(5000, 500 * 2 ** attempt));

/** Attempts after which something that stands in the way is told: a lock, or too many transfers. */
const ATTEMPTS = 12;

/** Statuses that may pass by themselves: another request for the same upload, a locked file, too many transfers. */
const PASSES = [409, 423, 429];

/** @typedef {{start: () => Promise<string|undefined>, pause: () => void, giveUp: () => void}} Sending */

/**
 * One file on its way to a directory. `start` begins or goes on, and ends when it is stored or paused; it
 * returns the path if the file got the nearest name that every system supports. `progress` is told how many bytes have arrived, `interrupted` that the connection is lost.
 * @param {import("./api.js").Zone} zone @param {string} path @param {{name: string, file: File}} sent
 * @param {{overwrite: boolean, progress: (bytes: number) => void, interrupted: () => void}} options
 * @returns {Promise<Sending>}
 */
export async function sendInPieces(zone, path, { name, file }, { overwrite, progress, interrupted }) {
  const { Upload } = await fetched(() => import("./lib/tus.js"));
  const given = query(zone, { path: path || "." });
  if (overwrite) given.set("overwrite", "true");
  const endpoint = new URL(`files/uploads?${given}`, document.baseURI).href;
  /** Functions that end the present run. @type {{resolve: (path?: string) => void, reject: (error: Error) => void}} */
  let run;
  const upload = new Upload(file, {
    endpoint,
    headers: { ...OWN, ...named(zone.action) },
    metadata: { filename: name, lastModified: String(file.lastModified) },
    chunkSize: PIECE,
    retryDelays: DELAYS,
    removeFingerprintOnSuccess: true,
    fingerprint: async () => ["fileshed", endpoint, name, file.size, file.lastModified].join(" "),
    onProgress: progress,
    onShouldRetry: (/** @type {any} */ error, /** @type {number} */ attempt) => {
      const status = statusOf(error);
      const mayPass = status === 0 || status >= 500 || (PASSES.includes(status) && attempt < ATTEMPTS);
      if (mayPass) interrupted();
      return mayPass;
    },
    onSuccess: ({ lastResponse }) => run.resolve(renamedTo(lastResponse)),
    onError: (/** @type {any} */ error) => run.reject(refusal(error)),
  });
  const [earlier] = (await upload.findPreviousUploads()).reverse();
  if (earlier) upload.resumeFromPreviousUpload(earlier);
  return {
    start: () =>
      new Promise((resolve, reject) => {
        run = { resolve, reject };
        upload.start();
      }),
    pause: () => {
      upload.abort();
      run.resolve();
    },
    giveUp: () => {
      // If the server cannot be told, the upload expires there by itself.
      upload.abort(true).catch(() => {});
      run?.resolve();
    },
  };
}

/** The path of a file under another name than its own. @param {any} answer */
function renamedTo(answer) {
  const [, path] = (answer.getHeader("Upload-Metadata") ?? "").match(/^path (\S+),renamed$/) ?? [];
  return path && new TextDecoder().decode(Uint8Array.from(atob(path), (byte) => byte.charCodeAt(0)));
}

/** @param {any} error */
function statusOf(error) {
  return error.originalResponse?.getStatus() ?? 0;
}

/** @param {any} error */
function refusal(error) {
  let said = {};
  try {
    said = JSON.parse(error.originalResponse.getBody()).error ?? {};
  } catch {
    // Nobody answered, or a proxy.
  }
  return new Refusal(statusOf(error), said);
}
