"""The formats by name: each file is taken by its own format alone, and no value makes `fits` fail."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import read_cells
from plcore.tables import read_table
from plcore.tables.readers.mapping import RecordTool, TableTool
from plcore.tables.readers.registry import READERS
from plcore.tables.readers.tools.sound_detectors import DETECTION_TABLES
from tests.plcore.tables.readers.tools.detector_tables import BIRDNET, KALEIDOSCOPE, R_FORM, RAVEN
from tests.plcore.tables.writers.tables import HOSTILE, TEXTS, frame, read_or_refuse

RECORD_TOOLS = [one for one in READERS if isinstance(one, RecordTool)]
SHAPES = [one for one in READERS if isinstance(one, TableTool)]
TOOL_TABLES = [one for one in READERS if isinstance(one, TableTool) and one.fingerprint is not None]

RECORDS: dict[str, dict[str, Any]] = {
    "MegaDetector JSON": {
        "info": {"format_version": "1.4"},
        "detection_categories": {"1": "animal"},
        "images": [{"file": "a.jpg", "detections": []}],
    },
    "Pytorch-Wildlife JSON": {
        "annotations": [{"img_id": "a.jpg", "bbox": [], "category": [], "confidence": []}],
        "categories": {"0": "animal"},
    },
    "label vectors": {"winnow_id": "1", "text": "a", "winnow_cells": {"label": ["x"], "value": [1]}},
    "Argilla records as JSON": {
        "id": "1",
        "fields": {"text": "a"},
        "suggestions": {},
        "responses": {"q": [{"value": "x", "user_id": "u"}]},
    },
    "Anthropic message batch": {"custom_id": "1", "result": {"type": "expired"}},
    "doccano JSONL": {"id": 1, "text": "a", "label": ["x"], "Comments": []},
    "SpeciesNet predictions": {"filepath": "a.jpg", "prediction": "1;;;;;;blank", "prediction_score": 1.0},
    "Label Studio JSON": {"id": 1, "data": {"text": "a"}, "annotations": [], "predictions": []},
    "Label Studio JSON-MIN": {"text": "a", "id": 1, "s": "x", "annotator": 1, "annotation_id": 2, "lead_time": 1.0},
    "Argilla records": {"id": "1", "text": "a", "q.responses": ["x"], "q.suggestion": "y"},
    "Prodigy JSONL": {"text": "a", "options": [{"id": "x", "text": "x"}], "accept": ["x"], "answer": "accept"},
    "batch of a language model": {"custom_id": "1", "response": {"status_code": 200, "body": {}}, "error": None},
    "Gemini batch": {"key": "1", "response": {"candidates": []}},
    "requests of a language model's batch": {"custom_id": "1", "method": "POST", "body": {"messages": []}},
    "answers of Ollama": {"model": "m", "created_at": "2024-01-01", "response": "x", "done": True},
    "completions of llama.cpp": {"content": "x", "completion_probabilities": []},
    "lines that Winnow exported": {
        "winnow_id": "1",
        "data": {"text": "a"},
        "winnow_candidates_before": [{"label": "x"}, {"label": "y"}],
        "winnow_candidates": [{"label": "x"}],
    },
    "candidates of a model": {"id": "1", "candidates": [{"label": "x", "p": 1}], "model": "m"},
    "zero-shot classification": {"sequence": "a", "labels": ["x"], "scores": [1]},
    "BirdNET-Go detections": {
        "speciesCode": "a", "scientificName": "b", "commonName": "c", "confidence": 0.9,
        "date": "2024-05-01", "time": "06:00:00",
    },
    "Toloka assignments as JSON": {
        "id": "1",
        "user_id": "w",
        "status": "ACCEPTED",
        "tasks": [{"input_values": {"x": "a"}}],
        "solutions": [{"output_values": {"y": "cat"}}],
    },
    "WRENCH JSON": {"label": 1, "weak_labels": [1, -1], "data": {"text": "a"}},
    "SageMaker Ground Truth answers of workers": {
        "datasetObjectId": "0",
        "dataObject": {"content": "a"},
        "annotations": [{"workerId": "w", "annotationData": {"content": '{"q": {"label": "x"}}'}}],
    },
    "Labelbox export": {"data_row": {"id": "1", "row_data": "a"}, "projects": {}},
    "Labelbox export of version 1": {"ID": "1", "Labeled Data": "a", "Label": {}, "Created By": "u"},
    "COCO JSON": {
        "images": [{"id": 1, "file_name": "a.jpg"}],
        "annotations": [{"image_id": 1, "category_id": 2}],
        "categories": [{"id": 2, "name": "x"}],
    },
    "records with the label of each annotator": {
        "post_id": "1",
        "annotators": [{"label": "x", "annotator_id": 1}],
        "post_tokens": ["a"],
    },
    "records with the annotators of each label": {"id": "1", "label_distribution": {"x": ["w"], "y": []}},
    "Ground Truth boxes": {"b-metadata": {"job-name": "j", "type": "groundtruth/object-detection"}},
    "Ground Truth labels": {"b-metadata": {"job-name": "j", "type": "groundtruth/text-classification"}},
    "V7 Darwin": {"version": "2.0", "item": {"name": "a.jpg"}, "annotations": []},
    "SuperAnnotate": {"metadata": {"name": "a.jpg"}, "instances": [], "tags": []},
    "Datumaro": {"info": {}, "categories": {}, "items": []},
    "Encord": {"label_hash": "h", "data_title": "a.jpg", "data_units": {}},
    "LabelMe": {"shapes": [], "imagePath": "a.jpg", "imageData": None},
    "tagtog": {"annotatable": {}, "metas": {}, "entities": []},
    "UIMA CAS": {"%TYPES": {}, "%FEATURE_STRUCTURES": []},
}  # fmt: skip
TABLES = {
    "table that Winnow exported": (
        b"text,winnow_id,winnow_candidates_before,winnow_candidates,winnow_label,winnow_source\na,1,x|y,x,x,oracle\n"
    ),
    "table of label vectors that Winnow exported": (
        b"text,x,y,winnow_probability:x,winnow_probability:y,winnow_predicted:x,winnow_predicted:y,winnow_source:x,"
        b"winnow_source:y,winnow_id\na,1,,1.0000,,,,given,model,1\n"
    ),
    "table of cells that Winnow exported": b"id,label,value,probability,predicted,source\n1,x,1,1.0000,,given\n",
    "Label Studio CSV": b"annotation_id,annotator,created_at,id,lead_time,s,text,updated_at\n1,1,,1,2,x,a,\n",
    "Timelapse image data": b"File,RelativePath,DateTime,DeleteFlag,Species\na.jpg,x,,false,fox\n",
    "AddaxAI detections": b"relative_path,data_type,label,confidence,human_verified\na.jpg,img,fox,0.9,False\n",
    "SpeciesNet table": b"filepath,prediction,prediction_score,top2,top2_score\na.jpg,fox,0.9,badger,0.1\n",
    "Kaleidoscope id.csv": b"INDIR,FOLDER,IN FILE,OFFSET,DURATION,AUTO ID*\nd,f,a.wav,0,5,PIPPIP\n",
    "Kaleidoscope cluster.csv": (
        b"INDIR,IN FILE,OFFSET,DURATION,TOP1MATCH*,TOP1DIST,TOP2MATCH,TOP2DIST\nd,a.wav,0,5,x.1,0.5,y.2,1\n"
    ),
    "Kaleidoscope meta.csv": b"INDIR,FOLDER,IN FILE,DURATION,DATE,TEMPERATURE\nd,f,a.wav,5,2024-07-01,12\n",
    "BirdNET-Pi detections": (
        b"Date;Time;Sci_Name;Com_Name;Confidence;Lat;Lon;Cutoff;Week;Sens;Overlap\n"
        b"2024-05-01;06:00:03;Parus major;Great Tit;0.9;1;2;0.7;18;1.25;0.0\n"
    ),
    "BirdNET-Go table of detections": (
        b"id,date,time,species_code,scientific_name,common_name,confidence,clip_name\n1,2024-05-01,06:00:00,a,b,c,0.9,x\n"
    ),
    "BirdNET-Go summary of species": b"Common Name,Scientific Name,Count,Avg Confidence\nWren,T t,3,0.5\n",
    "Camtrap DP observations": b"observationID,deploymentID,observationLevel,observationType\n1,2,media,blank\n",
    "Mechanical Turk results": b"HITId,WorkerId,Input.x,Answer.q.cat,Answer.q.dog\n1,a,b,true,false\n",
    "Toloka assignments": b"INPUT:a\tOUTPUT:b\tASSIGNMENT:worker_id\nx\ty\tw\n",
    "Toloka aggregated answers": b"INPUT:a\tOUTPUT:b\tCONFIDENCE:b\nx\ty\t97%\n",
    "Prolific answers": b"participant_id,submission_id,item_id,response\np,s,1,x\n",
    "Prolific export of submissions": (
        b"Submission id,Participant id,Status,Time taken,Completion code\ns,p,APPROVED,9,C\n"
    ),
    "Appen full report": b"_unit_id,_id,_worker_id,q,q_gold\n1,2,w,x,\n",
    "Appen aggregated report": b"_unit_id,_unit_state,q,q:confidence\n1,finalized,x,0.5\n",
    "Qualtrics responses": b"StartDate,Finished,RecordedDate,ResponseId,Q1,Q2\n1,True,2,R,x,y\n",
    "Gorilla task data": (
        b"Event Index,Participant Private ID,Zone Type,Response,Spreadsheet: a\n1,2,response,x,b.jpg\n"
    ),
    "jsPsych data": b"rt,stimulus,response,trial_type,trial_index,time_elapsed\n1,a,b,image-button-response,0,5\n",
    "PsychoPy data": b"stim,key_resp.keys,participant,date,expName,psychopyVersion\na,left,p1,2024,e,2023.1\n",
    "Zooniverse classifications": (
        b"classification_id,user_name,annotations,subject_data,subject_ids\n1,ann,[],{},5\n"
    ),
    "doccano CSV": b"id,text,label\n1,a,x#y\n2,b,x\n3,c,y\n",
    "BirdNET table of detections": BIRDNET.replace(b"Wald, ", b""),
    "Raven selection table": RAVEN,
    "Kaleidoscope table": KALEIDOSCOPE,
    "table of detections as R packages write it": R_FORM,
    "table of detections in recordings": b"file,start_time,end_time,label,confidence\na.wav,0,3,wren,0.5\n",
    "Audacity label track": b"Recording,Start (s),End (s),Label,Score\na.wav,0,3,wren,0.5\n",
    "table with a vote in each row": b"task,worker,label\n1,a,x\n1,b,y\n",
    "table with a scored label in each row": b"id,label,score\n1,x,0.5\n1,y,0.5\n",
    "table of labelling functions": b"text,lf_a,lf_b\na,1,-1\nb,0,1\n",
    "table with an answer of a participant in each row": (
        b"rater,clip,choice\np,1,x\np,2,x\np,3,y\nq,1,x\nq,2,y\nq,3,y\n"
    ),
    "table with the votes of people in a cell": (
        b'text,votes\na,"{""ann"": ""x"", ""bo"": ""x""}"\nb,"{""ann"": ""y"", ""bo"": ""x""}"\n'
        b'c,"{""ann"": ""y"", ""bo"": ""y""}"\n'
    ),
}


def test_every_format_has_an_example() -> None:
    assert [one.name for one in RECORD_TOOLS] == list(RECORDS)
    assert [one.name for one in SHAPES] == list(TABLES)


@pytest.mark.parametrize("name", RECORDS)
def test_records_are_recognised_only_by_their_own_format(name: str) -> None:
    assert [one.name for one in RECORD_TOOLS if one.fits([RECORDS[name]])] == [name]


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_recognised_only_by_their_own_layout(name: str) -> None:
    cells = read_cells(TABLES[name])
    assert next(one.name for one in SHAPES if one.fits(cells)) == name
    assert [one.name for one in (*TOOL_TABLES, *DETECTION_TABLES) if one.fits(cells)] in ([name], [])


@pytest.mark.parametrize(
    "record",
    [
        {"text": "a", "label": "x"},
        {"id": 1, "candidates": ["x", "y"]},
        {"text": "a", "candidates": "x|y", "options": "z"},
        {"data": "a", "labels": ["x"], "score": 1},
        {},
    ],
)
def test_plain_records_are_recognised_by_no_tool(record: dict[str, Any]) -> None:
    assert not [one.name for one in RECORD_TOOLS if one.fits([record])]


@pytest.mark.parametrize(
    "data",
    [
        b"text,candidates\na,x|y\n", b"id,text,label\n1,a,x\n2,b,y\n", b"w,sea,sand\n1,1,0\n2,0,1\n",
        b"id,ann,bob,cid\n1,x,y,x\n2,y,y,x\n", b"label1,score1,label2,score2\nx,0.5,y,0.5\n",
        b"id,p_x,p_y\n1,0.5,0.5\n", b"file,label,score\n1,x,0.5\n2,y,0.5\n",
    ],
)  # fmt: skip
def test_plain_tables_are_recognised_by_no_tool(data: bytes) -> None:
    assert not [one.name for one in SHAPES if one.fits(read_cells(data))]


NAMES = sorted({name for record in RECORDS.values() for name in record} | {"meta", "completions"})
ODD = st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), HOSTILE, max_size=5)


@given(st.lists(ODD | HOSTILE, max_size=3))
def test_any_records_are_read_or_refused_with_a_message(records: list[Any]) -> None:
    for one in RECORD_TOOLS:
        assert one.fits(records) in (True, False)
        read_or_refuse(one.read, records)


COLUMNS = st.sampled_from(
    ["task", "worker", "label", "score", "id", "lf_a", "lf_b", "gold", "weight", "INPUT:x", "text"]
)


@given(
    st.lists(
        st.dictionaries(COLUMNS, TEXTS | st.sampled_from(["-1", "1", "x"]), min_size=1, max_size=6),
        min_size=1,
        max_size=4,
    )
)
def test_any_tables_are_read_or_refused_with_a_message(rows: list[dict[str, str]]) -> None:
    cells = frame(*rows)
    for one in SHAPES:
        assert one.fits(cells) in (True, False)
        read_or_refuse(one.read, cells)


def test_inner_field_with_the_name_of_an_outer_one_keeps_both() -> None:
    record = {"id": "m1", "text": "a bird", "output": {"id": "run 7", "labels": ["wren", "jay"], "scores": [0.7, 0.3]}}
    cells = read_table(json.dumps([record]).encode()).cells
    assert (cells["id"].tolist(), cells["output.id"].tolist()) == (["m1"], ["run 7"])
