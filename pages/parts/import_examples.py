"""What the Import page says before a file is chosen: which files it takes, with an example of each kind."""

from __future__ import annotations

import streamlit as st

from workflow.importing import LIMITS

EXAMPLES = (
    (
        "A shortlist with scores",
        "id,text,labels\n1,The rink stays closed,sport:0.6|town:0.3\n2,Heating costs rise,energy:0.8|town:0.1\n",
        "Scores also come in columns (label1,score1,label2,score2), as one column of probabilities for each label, "
        "or as JSON. They are shown with the question, and the model learns by them.",
    ),
    (
        "Votes of several people",
        "task,worker,label\nt1,w3,sport\nt1,w7,town\nt2,w3,energy\n",
        "One vote a row, joined to the table of the tasks, or one column for each person. How often a label was named "
        "is its weight.",
    ),
    (
        "Sounds or pictures in a zip",
        "file,species\na/0733.wav,wren|robin\na/0734.wav,robin\n",
        "The table and the files in one zip. A column names each row's file as it stands in the zip; the cell may stay "
        "empty. The model learns from what recordings sound like and, where there are neither numbers nor texts, from "
        "what images look like. Two columns of seconds say which segment of a recording a row is.",
    ),
)
FORMATS = (
    "**Formats:** CSV and TSV in any common encoding, Excel and OpenDocument, JSON and JSON lines, Parquet and Feather "
    "(with Hugging Face's features), NPZ and MATLAB arrays, ARFF, libsvm lines; exports of Label Studio, Prodigy and "
    "Argilla, votes of crowdsourcing platforms, label matrices of Snorkel, WRENCH and cleanlab, batches of language "
    "models, zero-shot scores; tables of BirdNET, Raven, Kaleidoscope and Audacity, predictions of "
    "SpeciesNet. Packed with gzip or zip, too."
)


def what_it_may_be() -> None:
    """Three examples side by side, the formats, and how large a file may be."""
    st.markdown("###### What may it look like?")
    for place, (title, example, words) in zip(st.columns(3), EXAMPLES, strict=True):
        with place.container(border=True, height="stretch"):
            st.markdown(f"**{title}**")
            st.code(example, language=None, wrap_lines=True)
            st.caption(words)
    st.caption(
        f"{FORMATS} Where several labels may be right at once, a column for each label holds 1, 0 or nothing, which "
        "means not asked. Numbers may have a decimal comma."
    )
    st.caption(f"**Limits:** {LIMITS}")
