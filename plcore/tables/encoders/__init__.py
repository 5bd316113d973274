"""The owner's own encoders: ONNX models in folders, and plug-ins, that turn images, texts or sounds into a vector per
row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.tables.encoders.building import build
    from plcore.tables.encoders.catalogue import PLACES, EncoderEntry, SourceFile, read_catalogue
    from plcore.tables.encoders.classifying import Classifier
    from plcore.tables.encoders.declared import EncoderPlugin, describe, encoder_plugins, plugin_at
    from plcore.tables.encoders.description import DESCRIPTION, MODEL, Description, EncoderError
    from plcore.tables.encoders.encoding import (
        Encoded,
        Encoder,
        Key,
        MadeVector,
        ModelInputs,
        Take,
        VectorMemory,
        digest_of,
        taken,
        windows_at_most,
    )
    from plcore.tables.encoders.references import check_encoder, reference_vectors
else:
    __getattr__, __dir__ = lazy_names(__name__)
