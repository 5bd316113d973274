// @ts-check
// A box for one file, chosen or dropped on it: the file goes to the server's upload route with a progress
// bar, and the page receives the key that the server gave it.

/** @import { Component } from "../card/types.js" */

/**
 * @typedef {object} Box
 * @property {string} label what the file is
 * @property {string} about explanation, "" for none
 * @property {number} most bytes
 * @property {string} limit the same in words
 * @property {string} address of the route
 * @property {{ name: string, size: string } | null} file that the page has
 */

const WAITING = "Choose a file, or drop it here.";
const ONE = "Drop a single file.";
const SILENT = "The upload was interrupted. Check the connection, then choose the file again.";

/** @param {string} text */
const inner = (text) => {
  const node = document.createElement("p");
  node.textContent = text;
  return node;
};

/** @param {string} text @param {() => void} press */
const button = (text, press) => {
  const node = document.createElement("button");
  node.type = "button";
  node.textContent = text;
  node.onclick = press;
  return node;
};

/** @param {number} bytes */
export const megabytes = (bytes) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

/**
 * Error message about the files before any of them is sent; "" if there is none.
 *
 * @param {{ size: number }[]} files
 * @param {Pick<Box, "most" | "limit">} box
 */
export const wrongWith = (files, { most, limit }) => {
  if (files.length !== 1) return ONE;
  return files[0].size > most ? `The file has ${megabytes(files[0].size)}. ${limit}` : "";
};

/** A box in the page, drawn once and kept across the page's redraws. */
class FileBox {
  /** @param {Node} parent */
  constructor(parent) {
    this.input = document.createElement("input");
    this.input.type = "file";
    this.input.hidden = true;
    this.input.onchange = () => this.take([...(this.input.files ?? [])]);
    this.name = inner("");
    this.name.className = "name";
    this.about = inner("");
    this.about.className = "quiet";
    this.limit = inner("");
    this.limit.className = "quiet";
    this.said = inner(WAITING);
    this.said.setAttribute("role", "status");
    this.bar = document.createElement("progress");
    this.bar.hidden = true;
    this.choose = button("Choose a file", () => this.input.click());
    this.cancel = button("Cancel", () => this.request?.abort());
    this.remove = button("Remove", () => this.tell?.(""));
    this.box = document.createElement("div");
    this.box.className = "box";
    this.box.setAttribute("role", "group");
    const row = document.createElement("div");
    row.className = "row";
    row.append(this.choose, this.bar, this.cancel, this.remove);
    this.box.append(this.name, this.said, row, this.limit, this.about, this.input);
    this.box.ondragover = (event) => this.over(event, true);
    this.box.ondragleave = (event) => this.over(event, false);
    this.box.ondrop = (event) => {
      this.over(event, false);
      this.take([...(event.dataTransfer?.files ?? [])]);
    };
    parent.appendChild(this.box);
    /** @type {XMLHttpRequest | null} */
    this.request = null;
    this.trouble = "";
  }

  /** @param {Component<Box>} component */
  draw({ data, setTriggerValue }) {
    this.data = data;
    this.tell = (/** @type {string} */ key) => setTriggerValue("chosen", { key });
    this.show();
  }

  /** @param {DragEvent} event @param {boolean} over */
  over(event, over) {
    event.preventDefault();
    this.box.classList.toggle("over", over);
  }

  show() {
    if (!this.data) return;
    const { label, about, limit, file } = this.data;
    const coming = this.request !== null;
    this.box.setAttribute("aria-label", label);
    this.input.setAttribute("aria-label", label);
    this.bar.setAttribute("aria-label", label);
    this.choose.setAttribute("aria-label", `${file ? "Choose another file" : "Choose a file"}: ${label}`);
    this.name.textContent = label;
    this.about.textContent = about;
    this.about.hidden = !about;
    this.limit.textContent = limit;
    this.bar.hidden = !coming;
    this.cancel.hidden = !coming;
    this.choose.hidden = coming;
    this.remove.hidden = coming || !file;
    this.said.classList.toggle("wrong", !!this.trouble);
    this.box.classList.toggle("full", !!file && !coming && !this.trouble);
    this.choose.textContent = file ? "Choose another file" : "Choose a file";
    if (coming) return;
    this.said.textContent = this.trouble || (file ? `${file.name} · ${file.size}` : WAITING);
  }

  /** @param {File[]} files */
  take(files) {
    this.input.value = "";
    if (!this.data || this.request || !files.length) return;
    this.trouble = wrongWith(files, this.data);
    if (!this.trouble) this.send(files[0], this.data);
    this.show();
  }

  /** @param {File} file @param {Box} data */
  send(file, data) {
    const request = new XMLHttpRequest();
    const address = new URL(`${data.address}?name=${encodeURIComponent(file.name)}`, document.baseURI);
    request.open("POST", address);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.onprogress = ({ loaded }) => this.far(file, loaded);
    request.onload = () => {
      if (request.status === 201) this.arrived(JSON.parse(request.responseText).key);
      else this.failed(request.responseText || SILENT);
    };
    request.onerror = () => this.failed(SILENT);
    request.onabort = () => this.failed("");
    this.request = request;
    this.far(file, 0);
    request.send(file);
  }

  /** @param {File} file @param {number} loaded */
  far(file, loaded) {
    this.bar.max = Math.max(1, file.size);
    this.bar.value = Math.min(loaded, file.size);
    this.said.textContent =
      loaded < file.size ? `${file.name}: ${megabytes(loaded)} of ${megabytes(file.size)}` : `${file.name}: all sent`;
  }

  /** @param {string} key */
  arrived(key) {
    this.request = null;
    this.tell?.(key); // and the page is redrawn
  }

  /** @param {string} words */
  failed(words) {
    this.request = null;
    this.trouble = words;
    this.show();
  }
}

/** @type {WeakMap<Node, FileBox>} */
const boxes = new WeakMap();

/** @param {Component<Box>} component */
export default function fileBox(component) {
  const { parentElement } = component;
  let box = boxes.get(parentElement);
  if (!box) {
    box = new FileBox(parentElement);
    boxes.set(parentElement, box);
  }
  box.draw(component);
  return () => {
    box.request?.abort();
    boxes.delete(parentElement);
  };
}
