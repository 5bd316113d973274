"""A row as its file had it: caption, pictures, recording, text, features. For pages that show one row at a time."""

from __future__ import annotations

import streamlit as st

from pages.parts.components import component
from workflow.common.rows import RowView

# Text and addresses go in as data and are set as properties, never as HTML; what may be loaded is the page's policy.
_MEDIA = st.components.v2.component(
    "winnow_instance_media",
    css="""
img { display: block; max-width: 100%; max-height: 340px; min-height: 96px; object-fit: contain; image-rendering: auto;
  border: 1px solid var(--st-border-color); border-radius: 10px; background: #fff; }
img.small { image-rendering: pixelated; height: 160px; }
.pictures { display: flex; flex-wrap: wrap; gap: 0.5rem; }
.pictures img:not(:only-child) { max-height: 200px; }
.caption { margin: 0 0 0.5rem; font-size: 0.85rem; overflow-wrap: anywhere; }
audio { width: 100%; margin-top: 0.5rem; }
""",
    js="""
export default function ({ parentElement, data }) {
  parentElement.querySelectorAll(".pictures, audio, p").forEach((old) => old.remove());
  const say = (name, words) => {
    const line = document.createElement("p");
    line.className = name;
    line.textContent = words;
    parentElement.append(line);
  };
  if (data.caption) say("caption", data.caption);
  const pictures = document.createElement("div");
  pictures.className = "pictures";
  data.images.forEach((source, place) => {
    const image = document.createElement("img");
    image.alt = data.images.length > 1 ? `${data.alt}, picture ${place + 1} of ${data.images.length}` : data.alt;
    image.onload = () => image.classList.toggle("small", image.naturalHeight < 96);
    image.src = source;
    pictures.append(image);
  });
  if (data.images.length) parentElement.append(pictures);
  if (data.audio) {
    const audio = document.createElement("audio");
    audio.controls = true;
    audio.setAttribute("aria-label", data.alt);
    audio.src = data.audio;
    parentElement.append(audio);
  }
}
""",
)
_TEXT = component("winnow_row_text", "card/row_text.js", ("card/reading.css",))


MANY = 20
"""More features than these stand in a box that is shut."""


def instance(view: RowView) -> None:
    """Draw the row."""
    if view.images or view.audio or view.caption:
        _MEDIA(
            key=f"winnow_media_{view.row}",
            data={
                "images": list(view.images),
                "caption": " · ".join(text for _, text in view.caption),
                "audio": view.audio,
                "alt": f"Row {view.row_id}",
            },
        )
    if view.text:
        _TEXT(key=f"winnow_text_{view.row}", data={"text": view.text})
    if view.features:
        table = {
            "Feature": [name for name, _ in view.features],
            "Value": [value for _, value in view.features],
        }
        if view.images or view.text or view.audio or len(view.features) > MANY:
            with st.expander(f"Features ({len(view.features)})"):
                st.dataframe(table, hide_index=True)
        else:
            st.dataframe(table, hide_index=True, height=min(420, 38 + 35 * len(view.features)))
