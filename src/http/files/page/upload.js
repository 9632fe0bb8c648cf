"use strict";
// One request a file, one after the other: each has its own progress and its own failure.
const form = document.getElementById("form");
const drop = document.getElementById("drop");
const list = document.getElementById("list");
const total = document.getElementById("total");
const status = document.getElementById("status");
const limit = Number(form.dataset.limit) * 1024 * 1024;
const waiting = [];
let sending = null;
let sent = 0;
let failed = 0;
// Bytes of all files, of those that are done, and of the one that is being sent.
let size = 0;
let done = 0;
let now = 0;

document.documentElement.classList.add("scripted");
document.getElementById("send").hidden = true;
document.getElementById("or").hidden = false;

const words = JSON.parse(form.dataset.words);
function say(key, value) {
  return words[key].replace("{0}", () => value);
}

function count(key, number) {
  return say(key + (number === 1 ? "_one" : "_many"), number);
}

function sum() {
  const parts = [];
  const left = waiting.length + (sending ? 1 : 0);
  if (left > 0) parts.push(count("sending", left));
  if (sent > 0) parts.push(count("received", sent));
  if (failed > 0) parts.push(count("failed", failed));
  status.textContent = parts.join(" ");
  total.hidden = left === 0;
  total.value = size > 0 ? (done + now) / size : 0;
}

function add(file, name) {
  const item = document.createElement("li");
  const label = document.createElement("span");
  const bar = document.createElement("progress");
  const word = document.createElement("p");
  label.textContent = name;
  bar.max = 1;
  bar.value = 0;
  bar.setAttribute("aria-label", say("progress_of", name));
  word.textContent = say("waiting");
  item.append(label, bar, word);
  list.append(item);
  size += file.size;
  waiting.push({ file, name, bar, word });
  sum();
  next();
}

function end(entry, good, text) {
  entry.bar.remove();
  entry.word.textContent = text;
  entry.word.className = good ? "good" : "bad";
  if (good) sent += 1;
  else failed += 1;
  done += entry.file.size;
  now = 0;
  sending = null;
  sum();
  next();
}

function next() {
  if (sending || waiting.length === 0) return;
  const entry = waiting.shift();
  sending = entry;
  sum();
  const large = say("too_large", form.dataset.limit);
  if (entry.file.size > limit) {
    end(entry, false, large);
    return;
  }
  entry.word.textContent = "0 %";
  const body = new FormData();
  body.append("lastModified", String(entry.file.lastModified));
  body.append("file", entry.file, entry.name);
  const request = new XMLHttpRequest();
  request.open("POST", location.href);
  request.setRequestHeader("Accept", "application/json");
  request.upload.onprogress = (event) => {
    if (!event.lengthComputable) return;
    now = Math.min(event.loaded, entry.file.size);
    entry.bar.value = event.loaded / event.total;
    entry.word.textContent = Math.floor((100 * event.loaded) / event.total) + " %";
    sum();
  };
  request.onload = () => {
    if (request.status === 200) {
      end(entry, true, say("received"));
      return;
    }
    const reasons = { 413: large, 507: say("no_space"), 404: say("no_longer") };
    let text = reasons[request.status] || say("not_sent");
    try {
      // The server explains itself in English.
      if (document.documentElement.lang === "en") text = JSON.parse(request.responseText).error.message;
    } catch {
      // Not this server's answer: the general sentence stands.
    }
    end(entry, false, text);
  };
  request.onerror = () => {
    end(entry, false, say("connection_lost"));
  };
  request.send(body);
}

for (const input of [document.getElementById("files"), document.getElementById("folder")]) {
  input.addEventListener("change", () => {
    for (const file of input.files) add(file, file.webkitRelativePath || file.name);
    input.value = "";
  });
}

// A dropped folder is walked; its files keep their place in it.
function walk(entry, above) {
  const name = above + entry.name;
  if (entry.isFile) {
    entry.file((file) => add(file, name), () => {});
    return;
  }
  const reader = entry.createReader();
  const read = () =>
    reader.readEntries(
      (entries) => {
        if (entries.length === 0) return;
        for (const inner of entries) walk(inner, name + "/");
        read();
      },
      () => {},
    );
  read();
}

addEventListener("dragover", (event) => {
  event.preventDefault();
  drop.classList.add("over");
});
addEventListener("dragleave", () => drop.classList.remove("over"));
addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  const items = Array.from(event.dataTransfer.items || []);
  const entries = items.map((item) => item.webkitGetAsEntry && item.webkitGetAsEntry());
  if (entries.some((entry) => entry)) {
    for (const entry of entries) if (entry) walk(entry, "");
  } else {
    for (const file of event.dataTransfer.files) add(file, file.name);
  }
});
addEventListener("beforeunload", (event) => {
  if (sending) event.preventDefault();
});
