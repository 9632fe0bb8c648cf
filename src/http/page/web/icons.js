// Pictures of things and actions, drawn here: nothing is loaded from elsewhere.

import { html } from "./lib/core.js";
import { extension } from "./format.js";

/** Lines on a grid of 24. */
const LINES = {
  menu: "M4 6h16M4 12h16M4 18h16",
  search: "M11 4a7 7 0 1 0 0 14a7 7 0 0 0 0-14M20 20l-4-4",
  close: "M6 6l12 12M18 6L6 18",
  up: "M12 19V5M6 11l6-6l6 6",
  upload: "M12 15V4M7 9l5-5l5 5M4 16v3a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-3",
  download: "M12 4v11M7 10l5 5l5-5M4 16v3a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-3",
  folder_add: "M3 7a2 2 0 0 1 2-2h4l2 2h8a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2zM12 10.500v5M9.5 13h5",
  file_add: "M14 3H7a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V8zM14 3v5h5M12 12v5M9.5 14.500h5",
  rename: "M4 20h4L19 9a2.1 2.1 0 0 0-3-3L5 17zM13.5 7.500l3 3",
  move: "M3 7a2 2 0 0 1 2-2h4l2 2h8a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2zM9 13h6M12.5 10.500L15 13l-2.5 2.5",
  delete: "M4 7h16M10 4h4M6 7l1 12a1 1 0 0 0 1 1h8a1 1 0 0 0 1-1l1-12M10 11v5M14 11v5",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.700l-1.3 1.300M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.700l1.3-1.3",
  history: "M4 12a8 8 0 1 0 2.5-5.800L4 8.500M4 4v4.500h4.500M12 8v4.500l3 1.5",
  more: "M12 5.500v.01M12 12v.01M12 18.500v.01",
  check: "M5 12.500l4.5 4.500L19 7.5",
  previous: "M15 5l-7 7l7 7",
  next: "M9 5l7 7l-7 7",
  sort_up: "M7 14l5-5l5 5",
  sort_down: "M7 10l5 5l5-5",
  zone_uploads: "M12 16V7M8.5 10.500L12 7l3.5 3.500M5 4h14a1 1 0 0 1 1 1v14a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1",
  zone_storage: "M4 6.500h16v4H4zM4 13.500h16v4H4zM7.5 8.500v.01M7.5 15.500v.01",
  zone_documents: "M14 3H7a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V8zM14 3v5h5M9 13h6M9 16.500h4",
  group: "M9 11a3.5 3.5 0 1 0 0-7a3.5 3.5 0 0 0 0 7M3 20a6 6 0 0 1 12 0M16 4.500a3.5 3.5 0 0 1 0 6.300M17.5 14.500A6 6 0 0 1 21 20",
  lock: "M7 11V8a5 5 0 0 1 10 0v3M6 11h12v9H6z",
  pause: "M9 6v12M15 6v12",
  resume: "M8 5l11 7l-11 7z",
  copy: "M9 9h10v11H9zM5 15V4h10v2",
  cut: "M6.5 20a2.5 2.5 0 1 0 0-5a2.5 2.5 0 0 0 0 5M17.5 20a2.5 2.5 0 1 0 0-5a2.5 2.5 0 0 0 0 5M8 15.500L17 4M16 15.500L7 4",
  paste: "M9 4h6v3H9zM8 5.500H6V20h12V5.500h-2M9.5 12h5M9.5 15.500h5",
  details: "M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18M12 11v5M12 8v.01",
  hidden: "M4 12s3-6 8-6s8 6 8 6s-3 6-8 6s-8-6-8-6M12 9.500a2.5 2.5 0 1 0 0 5a2.5 2.5 0 0 0 0-5M4 4l16 16",
  keys: "M3 7h18v10H3zM6.5 10v.01M10 10v.01M14 10v.01M17.5 10v.01M8 14h8",
  tiles: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  recent: "M12 4a8 8 0 1 0 0 16a8 8 0 0 0 0-16M12 8v4.500l3 1.500",
  rights: "M12 3l7 3v5c0 4.5-3 8-7 10c-4-2-7-5.5-7-10V6z",
};

/** @param {{name: keyof typeof LINES, size?: number}} given */
export function Icon({ name, size = 20 }) {
  return html`<svg class="icon" width=${size} height=${size} viewBox="0 0 24 24" aria-hidden="true">
    <path d=${LINES[name]} />
  </svg>`;
}

/** Kinds of files by extension. @type {[string, string[]][]} */
const KINDS = [
  ["picture", ["png", "jpg", "jpeg", "gif", "webp", "svg", "bmp", "ico", "avif", "tif", "tiff"]],
  ["film", ["mp4", "webm", "mov", "mkv", "avi", "m4v", "ogv"]],
  ["sound", ["mp3", "wav", "ogg", "oga", "flac", "m4a", "opus", "aac"]],
  ["pdf", ["pdf"]],
  ["sheet", ["csv", "tsv", "xlsx", "xls", "ods", "sqlite", "sqlite3", "db"]],
  ["text", ["md", "markdown", "txt", "docx", "doc", "odt", "rtf", "epub", "pptx", "log", "tex"]],
  ["archive", ["zip", "tar", "gz", "tgz", "xz", "bz2", "7z", "zst"]],
  ["code", [
    "js", "ts", "jsx", "tsx", "mjs", "py", "rs", "go", "java", "c", "h", "cpp", "hpp", "cs", "rb", "php", "sh",
    "html", "css", "json", "yaml", "yml", "toml", "xml", "sql", "ini", "conf", "lua", "kt", "swift", "ipynb",
  ]],
];

/** @param {string} name */
export function kind(name) {
  const end = extension(name);
  return KINDS.find(([, ends]) => ends.includes(end))?.[0] ?? "other";
}

/** Drawings in the middle of a sheet of paper. */
const MARKS = {
  picture: "M8.5 17l2.8-3.500l1.9 2.200l1.3-1.500L16.5 17zM9.7 11.200a.9.9 0 1 0 0 .01",
  film: "M10 11.500v5l4.2-2.500z",
  sound: "M10.5 16.500v-5l4-1v5M10.5 16.500a1 1 0 1 1-1-1a1 1 0 0 1 1 1M14.5 15.500a1 1 0 1 1-1-1a1 1 0 0 1 1 1",
  pdf: "M8.5 16.500c3-1 4.5-4 3.7-6.500c-1.2 3 1.3 5 3.5 4.500c-2-1-5 0-7.2 2",
  sheet: "M8.5 11h7v6h-7zM8.5 14h7M12 11v6",
  text: "M8.5 12h7M8.5 14.500h7M8.5 17h4.5",
  archive: "M12 9.500v.01M12 11.500v.01M12 13.500v.01M11 15.500h2v2h-2z",
  code: "M10.3 11.500L8 14l2.3 2.500M13.7 11.500L16 14l-2.3 2.5",
  other: "",
};

/** The picture of a file or folder. Its kind is a class with a prefix, which no class of the layout has. @param {{entry: {name: string, type: string}, size?: number}} given */
export function EntryIcon({ entry, size = 28 }) {
  if (entry.type === "directory") {
    return html`<svg class="entry-icon entry-icon-folder" width=${size} height=${size} viewBox="0 0 24 24" aria-hidden="true">
      <path d="M2.5 6.500a2 2 0 0 1 2-2h4.600l2.2 2.300h8.200a2 2 0 0 1 2 2v8.700a2 2 0 0 1-2 2h-15a2 2 0 0 1-2-2z" />
    </svg>`;
  }
  const what = kind(entry.name);
  return html`<svg class="entry-icon entry-icon-${what}" width=${size} height=${size} viewBox="0 0 24 24" aria-hidden="true">
    <path class="paper" d="M14 2.500H7a2 2 0 0 0-2 2v15a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2v-12z" />
    <path class="fold" d="M14 2.500v5h5" />
    <path class="mark" d=${MARKS[what]} />
  </svg>`;
}
