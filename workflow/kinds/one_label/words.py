"""The strategies in words: what each asks first, and why a row is asked."""

from __future__ import annotations

from workflow.kinds.kind import KindWords

WORDS = KindWords(
    title="one true label among candidates",
    classes="classes",
    finished="No row is open any more.",
)
CAN_CHANGE_CLASSES = True

NAMES = {
    "apl": "APL: could change most predictions",
    "pl": "PL: as APL, computed exactly (slower)",
    "mw": "MW: most predictions rest on it",
    "mp": "MP: has the most candidates",
    "act": "ACT: lies farthest from the exact rows",
    "random": "RD: drawn at random",
    "margin": "Margin: the model hesitates most",
}
"""Every strategy a project can choose, the default first."""

MODELS = {
    "plknn": "PL-KNN: votes of the nearest rows, learns from each answer at once",
    "plsvc": "PL-SVM: largest margin, trained in the background",
    "lmplane": "LM-PLANE: largest margin with label weights, trained in the background",
    "m3pl": "M3PL: maximum margin with class sizes, trained in the background",
    "clpl": "CLPL: convex loss, trained in the background",
    "perceptron-average": "Perceptron (average): learns from each answer at once",
    "perceptron-max": "Perceptron (max): learns from each answer at once",
    "pegasos-average": "Pegasos (average): largest margin, learns from each answer at once",
    "pegasos-max": "Pegasos (max): largest margin, learns from each answer at once",
}
"""Every model a project can learn with, the default first."""

_FIRST = {
    "mw": "Most predictions rest on this row",
    "mp": "This row has the most candidates",
    "act": "This row lies farthest from the exact ones",
    "random": "This row was drawn at random",
    "margin": "The model hesitates most between two candidates here",
}


def reason(strategy: str, decides: int, undecided: int, *, counted: bool = True) -> str:
    """One or two sentences: why this row, and what the answer could do.

    strategy : the project's      counted : False where no votes are kept from which the two numbers could come
    """
    first = f"{_FIRST[strategy]}. " if strategy in _FIRST else ""
    if not counted:
        first = first or "Of all rows this one could change the labels of most rows like it. "
        return f"{first}The model learns from your answer in its next version."
    if undecided == 0:
        return f"{first}No answer can change a prediction any more; only the row's own label is still open."
    if decides == 0:
        return (
            f"{first}No single answer here can change one of the {undecided:,} undecided predictions; "
            "the row's own label is still open."
        )
    return f"{first}Your answer could change {decides:,} of {undecided:,} undecided predictions."
