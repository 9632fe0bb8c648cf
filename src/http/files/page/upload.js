"use strict";
// One request a file, one after the other: each has its own progress and its own failure.
const form = document.getElementById("form");
const drop = document.getElementById("drop");
const list = document.getElementById("list");
const status = document.getElementById("status");
const limit = Number(form.dataset.limit) * 1024 * 1024;
const waiting = [];
let sending = false;
let sent = 0;
let failed = 0;

document.getElementById("send").hidden = true;
document.getElementById("or").hidden = false;

function sum() {
  const parts = [];
  const left = waiting.length + (sending ? 1 : 0);
  if (left > 0) parts.push(left + (left === 1 ? " file is" : " files are") + " being sent.");
  if (sent > 0) parts.push(sent + (sent === 1 ? " file was" : " files were") + " received.");
  if (failed > 0) parts.push(failed + (failed === 1 ? " file was" : " files were") + " not sent.");
  status.textContent = parts.join(" ");
}

function add(file, name) {
  const item = document.createElement("li");
  const label = document.createElement("span");
  const bar = document.createElement("progress");
  const word = document.createElement("p");
  label.textContent = name;
  bar.max = 1;
  bar.value = 0;
  bar.setAttribute("aria-label", "Progress of " + name);
  word.textContent = "Waiting";
  item.append(label, bar, word);
  list.append(item);
  waiting.push({ file, name, bar, word });
  sum();
  next();
}

function done(entry, good, text) {
  entry.bar.remove();
  entry.word.textContent = text;
  entry.word.className = good ? "good" : "bad";
  if (good) sent += 1;
  else failed += 1;
  sending = false;
  sum();
  next();
}

function next() {
  if (sending || waiting.length === 0) return;
  const entry = waiting.shift();
  sending = true;
  sum();
  if (entry.file.size > limit) {
    done(entry, false, "This file is too large: at most " + form.dataset.limit + " MB are taken.");
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
    entry.bar.value = event.loaded / event.total;
    entry.word.textContent = Math.floor((100 * event.loaded) / event.total) + " %";
  };
  request.onload = () => {
    if (request.status === 200) {
      done(entry, true, "Received");
      return;
    }
    let text = "This file could not be sent.";
    try {
      text = JSON.parse(request.responseText).error.message;
    } catch {
      // Not this server's answer: the general sentence stands.
    }
    done(entry, false, text);
  };
  request.onerror = () => {
    done(entry, false, "The connection was lost, or this file cannot be read. Try again.");
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
