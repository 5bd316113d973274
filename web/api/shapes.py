"""The replies that programs get. The OpenAPI document is made of these and of the request bodies
(`sent.py`)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from workflow.exporting.for_programs import ANSWERS, ENTRY_KINDS

AnswerKind = Annotated[str, Field(json_schema_extra={"enum": [*ANSWERS]})]
EntryKindName = Annotated[str, Field(json_schema_extra={"enum": [*ENTRY_KINDS]})]
Share = Annotated[float, Field(ge=0, le=1)]
RoleName = Literal["owner", "reviewer", "annotator", "viewer"]


class ToldProblem(BaseModel):
    """Why the request was refused (RFC 9457)."""

    type: Literal["about:blank"]
    title: str
    status: int
    detail: str = Field(description="Problem, reason and fix, for people.")


class ListedProject(BaseModel):
    """A project in the list."""

    id: int
    name: str
    description: str
    kind: str
    role: RoleName = Field(description="Role of the caller.")
    rows: int
    classes: int
    answered: int
    open: int
    created_at: datetime
    last_answer: datetime | None


class SentFile(BaseModel):
    """A completely uploaded file."""

    key: str = Field(description="Key for `upload` in `POST /readings` and `POST /projects`.")
    name: str
    size: int = Field(description="Bytes.")


class LinkedProject(BaseModel):
    """A project that asks about the same rows."""

    id: int
    name: str


class FurtherProjects(BaseModel):
    """The projects that ask about the same row after an answer in this one, in order."""

    further: list[LinkedProject]


class MadeProject(ListedProject):
    """A new project."""

    reading: str = Field(
        description="The reading: questions, features, columns only shown, ignored columns, with counts."
    )
    notes: list[str] = Field(description="Parts that were left out, or could be read in several ways.")
    further: list[LinkedProject] = Field(description="The projects of its further questions.")


class ProjectSettings(BaseModel):
    """Settings of the project's model and questions."""

    settings: dict[str, Any] = Field(description="Every setting by its name, as `winnow import --setting` has it.")


class ProjectMember(BaseModel):
    """A person who may see a project."""

    person: int
    name: str
    role: RoleName
    ended: bool = Field(description="Cannot sign in now.")
    everywhere: bool = Field(description="Owns this Winnow, and so every project; the role cannot be changed.")


class NamedPerson(BaseModel):
    """Someone by number and name."""

    person: int
    name: str


class ProjectMembers(BaseModel):
    """The members of a project, and who could be added."""

    members: list[ProjectMember]
    others: list[NamedPerson]


class CountedClass(BaseModel):
    """One class with its rows."""

    name: str
    earlier: list[str] = Field(description="Earlier names.")
    open: int = Field(description="Rows with it and other candidates.")
    decided: int = Field(description="Rows with it as the only candidate.")


class ProjectClasses(BaseModel):
    """The classes of a project, in order."""

    classes: list[CountedClass]
    version: int = Field(description="Version to send with a change.")
    latest: list[str] | None = Field(description="The change that `back` would withdraw: its kind and names.")


class ComparedModel(BaseModel):
    """A model, and what the latest comparison measured on held-out rows; null where it was not measured."""

    name: str = Field(description="Name in the setting `model`.")
    words: str
    in_use: bool
    best: bool = Field(description="The choice of the comparison.")
    consistency: float | None = Field(description="Share of predictions inside the candidate sets.")
    accuracy: float | None = Field(description="Share of right predictions on rows with a known true label.")
    seconds: float = Field(description="CPU seconds of its fits.")
    note: str = Field(description="Why it was not measured.")


class RunningComparison(BaseModel):
    """A comparison that waits or runs."""

    done: int
    total: int = Field(description="Fits; 0 before the first.")
    begun: bool
    fault: str | None = Field(description="Reason why no worker runs it now.")


class ProjectModels(BaseModel):
    """The models of a project, the best first."""

    automatic: bool = Field(description="Whether comparisons choose the model.")
    model: str = Field(description="The model in use.")
    models: list[ComparedModel]
    running: RunningComparison | None
    compared_at: datetime | None
    failed: str | None = Field(description="Why the latest comparison failed.")


class ProjectList(BaseModel):
    """Active projects that the person is a member of, the one with the latest answer first."""

    projects: list[ListedProject]


class ToldRow(BaseModel):
    """A row as in the file, without its candidates and its truth."""

    row: int = Field(description="Row number, from 0.")
    row_id: str
    text: str | None
    texts: dict[str, str] = Field(description="All texts that models learn from, in the order of the file.")
    features: dict[str, str] = Field(description="Columns of numbers and categories, as in the file.")
    caption: dict[str, str] = Field(description="Columns that are only displayed.")
    source: dict[str, str] = Field(
        description="The column and the source, such as a photo, shared with other rows, and their number."
    )
    images: list[str] = Field(description="Addresses below /api/v1, or data: URLs.")
    audio: str | None
    segment: tuple[float | None, float | None] | None = Field(description="Seconds of the recording.")


class ToldRows(BaseModel):
    """Some rows, in order."""

    rows: list[ToldRow]
    total: int


class ToldChoice(BaseModel):
    """A label that the row may have."""

    label: str
    description: str
    share: Share | None = Field(description="Probability by the model, without the row's own vote.")
    known: bool | None = Field(
        description="Whether it is known to be right, if several labels of a row may be; null: not asked."
    )


class ToldQuestion(ToldRow):
    """A question, reserved for this person for some minutes."""

    token: str = Field(description="Token of this question; an answer repeats it.")
    shown: str = Field(description="Stamp of the choices; an answer repeats it.")
    label: str | None = Field(description="The label asked about, if questions are about single labels; null: all.")
    is_it: list[str] | None = Field(description='For yes/no questions: answer "is"/"among" or "not" about these.')
    choices: list[ToldChoice]
    answers: list[AnswerKind] = Field(description="Accepted kinds of answers.")
    why: str


class NextQuestion(BaseModel):
    """The person's next question; null if nothing is left to ask them."""

    question: ToldQuestion | None


class LeasedQuestions(BaseModel):
    """Questions leased to the program."""

    questions: list[ToldQuestion]


class StoredAnswer(BaseModel):
    """The stored answer. Sending the same answer again gets the same reply and stores nothing."""

    seq: int = Field(description="Number in the project's log.")
    kind: AnswerKind
    row: int
    row_id: str
    labels: list[str]


class Outcome(BaseModel):
    """The outcome of one answer of many."""

    status: Literal[200, 409, 422] = Field(description="Result as if it were sent separately.")
    answer: StoredAnswer | None = Field(description="The stored data; null if it was refused.")
    detail: str | None = Field(description="Why it was refused.")


class Outcomes(BaseModel):
    """The outcomes of answers, in their order."""

    outcomes: list[Outcome]


class OfferedEncoder(BaseModel):
    """A pretrained encoder for a column of the project."""

    key: str
    column: str = Field(description="The column that it reads.")
    kind: str = Field(description="`text`, `image` or `sound`.")
    title: str
    state: str = Field(description="`installed`, `download`, `package` (added by the operator) or `not verified`.")
    bytes: int = Field(description="Of its files.")
    dimension: int
    licence: str = Field(description="Its SPDX name.")
    commercial: bool = Field(description="Whether the licence allows commercial use.")
    credit: str
    host: str = Field(description="Where it is downloaded from.")
    minutes: int | None = Field(
        description="Estimated time for the rows, measured on this server, or from the catalogue; null: unknown."
    )


class EncoderOnServer(BaseModel):
    """An encoder of this server."""

    key: str
    state: str = Field(
        description="`installed`, `can be downloaded`, `can be added from its package`, `not verified` or `your own`."
    )
    title: str = Field(description="Empty for an encoder of your own, as are kind and licence.")
    kind: str
    licence: str
    bytes: int = Field(description="Size of its files in bytes; 0: unknown.")
    asked_by: str | None = Field(description="The person who last requested it, and thereby accepted its licence.")
    asked_at: datetime | None


class EncodersOnServer(BaseModel):
    """The encoders on this server, and those available for download."""

    encoders: list[EncoderOnServer]


class RunningEncoding(BaseModel):
    """An encoding that waits or runs."""

    encoder: str
    begun: bool
    downloading: bool = Field(description="`done` and `total` are then bytes of the encoder, otherwise rows.")
    done: int
    total: int
    minutes: int | None = Field(description="Estimated time left, measured on the first 32 rows; null: unknown.")


class ProjectEncoders(BaseModel):
    """Encoders that the project can use, and the state of the latest encoding."""

    encoders: list[OfferedEncoder]
    columns: dict[str, str] = Field(description="The columns that are encoded, each with its encoder.")
    running: RunningEncoding | None
    failed: str | None = Field(description="Why the latest encoding failed.")
    cancelled: bool


class SuggestionReport(BaseModel):
    """The result of a language model."""

    outcomes: dict[str, int] = Field(
        description="Rows by reply: `listed`; or `none`, `refused` or `broken`, which keep their weights."
    )
    tokens: dict[str, int] = Field(
        description="`read` and `written`; `unknown_replies` did not report theirs, and count with their upper bound."
    )
    weighed: int = Field(description="Rows whose candidates now have its weights.")
    outside: int = Field(description="Rows whose likeliest class is not a candidate.")
    calibrated_by: int = Field(description="Answered rows used for calibration; 0: too few.")


class ToldSuggestion(BaseModel):
    """A run of a language model over the rows."""

    state: Literal["waiting", "running", "done", "cancelled", "failed"]
    model: str
    url: str
    done: int = Field(description="Rows with a reply.")
    total: int = Field(description="Rows to ask about; 0: not known yet.")
    asked_at: datetime
    fault: str | None = Field(description="Why it failed.")
    said: str = Field(description="Reason for waiting, or empty.")
    report: SuggestionReport | None


class SuggestionRuns(BaseModel):
    """The latest run, if there is one."""

    latest: ToldSuggestion | None


class Weighed(BaseModel):
    """The result of sending predictions. Sending the same again with the same key gets the same reply and
    stores nothing."""

    seq: int = Field(description="Number of the log entry with them.")
    rows: int = Field(description="Number of rows sent.")
    weighed: int = Field(description="Rows whose candidates now have these weights.")
    silent: int = Field(description="Rows without a score above 0 among their candidates: weights unchanged.")
    outside: int = Field(description="Rows whose highest score belongs to a class that is not a candidate.")


class ToldDoubt(BaseModel):
    """Something odd about a file or rows."""

    name: str
    message: str
    fix: str
    stops: bool = Field(description="Whether it stops the import until it is accepted.")


class ReadFile(BaseModel):
    """Report how a file would be read. Nothing is stored."""

    reading: str = Field(
        description="The reading: questions, features, columns only shown, ignored columns, with counts."
    )
    rows: int
    classes: list[str] = Field(description="The first 1,000 of them.")
    n_classes: int
    roles: dict[str, Any] = Field(description="Role of each column.")
    notes: list[str] = Field(description="Parts that were left out, or could be read in several ways.")
    doubts: list[ToldDoubt]


class Added(BaseModel):
    """The result of adding rows."""

    rows: int = Field(description="Number of rows in the project now.")
    added: int = Field(description="Number of new rows among those sent.")
    known: list[str] = Field(
        description="Rows that the project already has, by id, or by number without ids: they stay."
    )
    new_classes: list[str] = Field(description="New labels.")
    dropped: list[str] = Field(description="Columns of the file that the project does not have.")
    empty: list[str] = Field(description="Columns of the project that were not sent.")
    notes: list[str] = Field(
        default=[], description="Values read as missing, and oddities of the table with the new rows."
    )
    reading: str = Field(
        default="",
        description="Reading of the table with the new rows: questions, features, columns only shown, ignored columns.",
    )
    doubts: list[ToldDoubt] = Field(default=[], description="In a dry run: doubts that would stop the rows.")


class ExportJob(BaseModel):
    """A file that is being written, or was."""

    key: str = Field(description="Key in the address.")
    file_name: str
    state: Literal["waiting", "writing", "ready", "failed"]
    done: int
    total: int = Field(description="Rows, or lines, in all.")
    seq: int = Field(description="Number of the latest log entry in it.")
    size: int = Field(description="Bytes; 0 before it is ready.")
    fault: str | None = Field(description="Why it failed.")


class ExportJobs(BaseModel):
    """Exports of the caller."""

    exports: list[ExportJob]


class LoggedEntry(BaseModel):
    """A line of the log."""

    seq: int
    at: datetime
    annotator: str
    kind: EntryKindName
    row: int | None = Field(description="Row number from 0; null if the entry is not about a row.")
    row_id: str
    labels: list[str]
    withdraws_seq: int | None
    token: str
    strategy: str | None
    score: float | None
    model_version: int
    seconds: float | None
    before: list[str]
    after: list[str]
    predicted: str | None
    flagged: bool
    note: str | None
    revision: int
    label: str | None
    asked: dict[str, object] | None


class PulledLog(BaseModel):
    """Entries in order. last : of the log; if it is greater than the last one here, request the rest with
    `since`."""

    entries: list[LoggedEntry]
    last: int


class ToldMeasure(BaseModel):
    """The quality of the labels, measured on rows that the model never learnt from."""

    name: Literal["accuracy", "F1"]
    by: Literal["test rows", "blind checks"]
    value: float
    low: float | None
    high: float | None


class Point(BaseModel):
    """The measure after this many answers, with its 95% interval; null if unknown."""

    answers: int
    value: float | None
    low: float | None
    high: float | None


class CountedLabel(BaseModel):
    """How often a label was answered, and how often it was in the file."""

    label: str
    answered: int
    given: int


class Figures(BaseModel):
    """Quality and progress of a project."""

    answered: int
    open: int
    pending: int | None = Field(
        default=None, description="Rows, or labels of rows, that wait for another annotator's answer."
    )
    disputed: int | None = Field(
        default=None, description="Rows, or labels of rows, on which annotators differ and no rule decides."
    )
    settled: float | None
    done: bool
    stop: list[str] = Field(description="Reached stop rules, in words; one is enough to stop.")
    seconds_per_answer: float | None
    measure: ToldMeasure | None
    curve: list[Point]
    labels: list[CountedLabel]


class LabelShare(BaseModel):
    """The prediction for one label of a row."""

    label: str
    share: float | None
    value: bool | None = Field(description="Whether it is right (known or predicted), if several labels may be right.")
    source: str | None = Field(description="Where the value comes from, if several labels may be right.")


class Prediction(BaseModel):
    """The current label of a row."""

    row: int
    row_id: str
    label: str | None
    source: str | None = Field(
        description="given, person, verdict, necessary, model, file, truth, bad, remaining or open; with several "
        "annotators a row also pending, combined or disputed."
    )
    probability: float | None
    shares: list[LabelShare]


class Predictions(BaseModel):
    """Some rows, in order."""

    predictions: list[Prediction]
    total: int
