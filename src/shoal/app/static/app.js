// What HTML and htmx cannot do: upload with progress, a slider beside its number, a dropped file, copying.
"use strict";

function announce(form, text, share) {
  const box = form.querySelector("[data-progress]");
  box.hidden = false;
  box.querySelector("[data-words]").textContent = text;
  const bar = box.querySelector("progress");
  if (share === null) bar.removeAttribute("value"); else bar.value = share;
}

function refuse(form, what, cure) {
  const box = form.querySelector("[data-refused]");
  box.hidden = false;
  box.querySelector("[data-what]").textContent = what;
  box.querySelector("[data-cure]").textContent = cure || "";
  form.querySelector("[data-progress]").hidden = true;
}

function size(bytes) {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let place = 0, value = bytes;
  while (value >= 1000 && place < 4) { value /= 1000; place += 1; }
  return (place ? value.toPrecision(3) : value) + " " + units[place];
}

function upload(form, file) {
  form.querySelector("[data-refused]").hidden = true;
  const limit = Number(form.dataset.limit);
  if (file.size > limit) {
    refuse(form, "This file has " + size(file.size) + ", more than the " + size(limit) + " that may be uploaded.",
      "Choose it below under 'On this machine' instead: then it is read where it is.");
    return;
  }
  const request = new XMLHttpRequest();
  const stop = form.querySelector("[data-stop]");
  stop.onclick = () => request.abort();
  request.open("PUT", form.action + "?name=" + encodeURIComponent(file.name));
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.setRequestHeader("Accept", "application/json");
  request.upload.onprogress = (event) => announce(form, size(event.loaded) + " of " + size(file.size), event.loaded / file.size);
  request.onabort = () => refuse(form, "The upload was stopped. Nothing was kept.");
  request.onerror = () => refuse(form, "The upload did not arrive.", "Is shoal app still running?");
  request.onload = () => {
    let answer = {};
    try { answer = JSON.parse(request.responseText); } catch (problem) { /* not JSON: the words below stand */ }
    if (request.status < 300 && answer.href) window.location.assign(new URL("." + answer.href, form.action));
    else refuse(form, answer.error || "The file was refused (" + request.status + ").", answer.cure);
  };
  announce(form, "0 of " + size(file.size), 0);
  request.send(file);
}

function ready(root) {
  for (const form of root.querySelectorAll("form[data-upload]")) {
    if (form.dataset.ready) continue;
    form.dataset.ready = "yes";
    const input = form.querySelector("input[type=file]");
    input.addEventListener("change", () => { if (input.files.length) upload(form, input.files[0]); });
    form.addEventListener("submit", (event) => { event.preventDefault(); if (input.files.length) upload(form, input.files[0]); });
    for (const name of ["dragenter", "dragover"]) form.addEventListener(name, (event) => { event.preventDefault(); form.classList.add("over"); });
    for (const name of ["dragleave", "drop"]) form.addEventListener(name, () => form.classList.remove("over"));
    form.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files.length) upload(form, event.dataTransfer.files[0]); });
  }
  for (const slider of root.querySelectorAll("input[type=range][data-number]")) {
    const number = document.getElementById(slider.dataset.number);
    slider.oninput = () => { number.value = slider.value; number.dispatchEvent(new Event("input", { bubbles: true })); };
    number.addEventListener("input", () => { slider.value = number.value; });
  }
  for (const input of root.querySelectorAll("input[type=file][data-into]")) {
    input.onchange = async () => { if (input.files.length) document.getElementById(input.dataset.into).value = await input.files[0].text(); };
  }
  for (const button of root.querySelectorAll("[data-copy]")) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.onclick = async () => {
      await navigator.clipboard.writeText(button.parentElement.querySelector("pre").textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    };
  }
}

document.addEventListener("DOMContentLoaded", () => ready(document));
document.addEventListener("htmx:afterSwap", (event) => ready(event.detail.elt.parentElement || document));
