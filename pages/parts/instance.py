"""A row as its file had it: picture, recording, text, features. For pages that show one row at a time."""

from __future__ import annotations

import streamlit as st

from workflow.common.rows import RowView

# Text and addresses go in as data and are set as properties, never as HTML; what may be loaded is the page's policy.
_MEDIA = st.components.v2.component(
    "winnow_instance_media",
    css="""
img { display: block; max-width: 100%; max-height: 340px; min-height: 96px; object-fit: contain; image-rendering: auto;
  border: 1px solid var(--st-border-color); border-radius: 10px; background: #fff; }
.text { margin: 0; max-width: 62ch; line-height: 1.6; white-space: pre-wrap; overflow-wrap: anywhere; }
img.small { image-rendering: pixelated; height: 160px; }
audio { width: 100%; margin-top: 0.5rem; }
""",
    js="""
export default function ({ parentElement, data }) {
  parentElement.querySelectorAll("img, audio, p").forEach((old) => old.remove());
  if (data.image) {
    const image = document.createElement("img");
    image.alt = data.alt;
    image.onload = () => image.classList.toggle("small", image.naturalHeight < 96);
    image.src = data.image;
    parentElement.append(image);
  }
  if (data.audio) {
    const audio = document.createElement("audio");
    audio.controls = true;
    audio.setAttribute("aria-label", data.alt);
    audio.src = data.audio;
    parentElement.append(audio);
  }
  if (data.text) {
    const text = document.createElement("p");
    text.className = "text";
    text.textContent = data.text;
    parentElement.append(text);
  }
}
""",
)


def instance(view: RowView) -> None:
    """Draw the row."""
    if view.image or view.audio or view.text:
        _MEDIA(
            key=f"winnow_media_{view.row}",
            data={
                "image": view.image,
                "audio": view.audio,
                "text": view.text,
                "alt": f"Row {view.row_id}",
            },
        )
    if view.features:
        table = {
            "Feature": [name for name, _ in view.features],
            "Value": [value for _, value in view.features],
        }
        if view.image or view.text or view.audio:
            with st.expander(f"Features ({len(view.features)})"):
                st.dataframe(table, hide_index=True)
        else:
            st.dataframe(table, hide_index=True, height=min(420, 38 + 35 * len(view.features)))
