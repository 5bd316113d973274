"""Error curves of the online learners on public sets, beside the values of the specification.

As in the paper: one candidate set for each row and run, the true label and labels drawn evenly; rows in random order,
again and again in new orders until the rounds are over; the error is the share of wrong predictions so far, each made
before its row was learnt. The lambda of Pegasos is the best of 1e-4 .. 1e-1 for each size, eta is 1. Then: how the
best lambda and eta go with the length of the rows, and what the mean of the iterates is worth.
"""

from __future__ import annotations

import numpy as np

from benchmarks.data import exact_set, gaussian_classes, z_scored
from benchmarks.harness import clocked, met, sized
from benchmarks.plots import Line, write_chart
from plcore import PLPegasos, PLPerceptron
from plcore.evaluation import contaminate, progressive_validation

TITLE = "Error curves of the online learners"
PACKAGES = ("numpy", "scikit-learn", "numba", "plotly")
ROUNDS = sized(
    {"dermatology": 5000, "ecoli": 5000, "satimage": 6000, "usps": 9000, "digits": 10_000},
    tiny=dict.fromkeys(("dermatology", "ecoli", "satimage", "usps", "digits"), 40),
)
RUNS, FEW, MEANS, PASS = sized(
    (dict.fromkeys(ROUNDS, 100) | {"usps": 20}, 10, 5, 20_000), tiny=(dict.fromkeys(ROUNDS, 2), 1, 1, 100)
)
SPEC_RUNS = {"usps": 20, "digits": 30}  # of the specification; 100 for the others
LAMBDAS = (1e-4, 1e-3, 1e-2, 1e-1)
ALGORITHMS = ("Avg Perceptron", "Max Perceptron", "Avg Pegasos", "Max Pegasos")
EXACT = ("Perceptron", "Pegasos")
RAW, SCALED = "raw, no bias", "z-scored + 1"
POINTS = 60  # of a curve that are drawn
STRETCHED = (
    ("digits", RAW, 1), ("digits", RAW, 16), ("digits", SCALED, 1), ("satimage", RAW, 1), ("satimage", SCALED, 1),
)  # fmt: skip
STEPS = {"alpha": 10.0 ** np.arange(-6, 2), "eta0": 10.0 ** np.arange(-3, 5)}
BODY = """
Mean share of wrong predictions over all rounds, each made before its row was learnt, against the true label; {runs}.
In brackets the specification's value. eta = 1; lambda of Pegasos is the best of 1e-4, 1e-3, 1e-2, 1e-1 on the mean of
the runs. Tolerance: .02, or three standard errors of the difference where that is more (the deviations of the
specification's runs are not given; ours stand for them). {right} of {cells} values are within it. mnist, the fifth set
of the paper, is missing: there is no file of it. {seconds:.0f} CPU seconds for all of this page.

| set | features | candidates | {algorithms} | deviation over runs | lambda | verdict |
|---|---|---|---|---|---|---|---|---|---|
{lines}

Exact rows: the same code with one candidate, so that Avg and Max are one algorithm (deviations: Perceptron, Pegasos).

Few candidates for Max, many for Avg (best of the two with the name is to win):

| set | candidates | to win | measured | |
|---|---|---|---|---|
{winners}

## The curves

{pictures}

{sentences}

## Length of the rows

Error at 2 candidates, mean of {few} runs, by lambda / mean |x|^2 (Pegasos). Multiplying the features by 16 changes
nothing when lambda grows by 16^2: the best lambda goes with |x|^2, not with its inverse.

| set, features | mean square of x | loss | {alpha_head} |
{columns}
{alpha}

By eta * mean |x|^2 (Perceptrons): the best eta goes with 1 / |x|^2.

| set, features | mean square of x | loss | {eta_head} |
{columns}
{eta}

## The mean of the iterates

Accuracy on 20,000 other rows after one pass over 20,000 rows of ten Gaussian classes (64 features), mean of
{mean_runs} runs: last iterate, and `average=True`.

| learner | candidates | Avg, last | Avg, mean | Max, last | Max, mean |
|---|---|---|---|---|---|
{averaging}
"""
# Set and features; exact Perceptron and Pegasos; then by size the four algorithms in the order above.
SPEC = {
    ("dermatology", RAW): ((0.218, 0.332), {2: (0.293, 0.382, 0.381, 0.417), 4: (0.441, 0.659, 0.452, 0.598)}),
    ("dermatology", SCALED): ((0.022, 0.019), {2: (0.032, 0.031, 0.030, 0.026), 4: (0.050, 0.064, 0.058, 0.074)}),
    ("ecoli", RAW): ((0.231, 0.218), {2: (0.269, 0.267, 0.268, 0.239), 4: (0.345, 0.468, 0.361, 0.366),
                                      6: (0.412, 0.590, 0.425, 0.625)}),
    ("ecoli", SCALED): ((0.178, 0.136), {2: (0.221, 0.185, 0.191, 0.136), 4: (0.281, 0.219, 0.277, 0.188),
                                         6: (0.316, 0.304, 0.313, 0.310)}),
    ("satimage", RAW): ((0.477, 0.785), {2: (0.555, 0.566, 0.789, 0.803), 4: (0.633, 0.720, 0.802, 0.815)}),
    ("satimage", SCALED): ((0.221, 0.181), {2: (0.310, 0.229, 0.256, 0.184), 4: (0.360, 0.273, 0.274, 0.224)}),
    ("usps", RAW): ((0.142, 0.104), {2: (0.177, 0.158, 0.174, 0.112), 4: (0.267, 0.223, 0.274, 0.161),
                                     6: (0.344, 0.393, 0.353, 0.367), 8: (0.417, 0.591, 0.408, 0.568)}),
    ("digits", RAW): ((0.092, 0.071), {2: (0.129, 0.107, 0.126, 0.080), 4: (0.247, 0.200, 0.237, 0.138),
                                       6: (0.350, 0.391, 0.314, 0.372), 8: (0.450, 0.613, 0.386, 0.595)}),
    ("digits", SCALED): ((0.060, 0.041), {2: (0.103, 0.070, 0.098, 0.046), 4: (0.205, 0.095, 0.199, 0.066),
                                          6: (0.294, 0.149, 0.254, 0.139), 8: (0.366, 0.361, 0.275, 0.398)}),
}  # fmt: skip


def features_of(name: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) and class numbers (n,); the eight unknown ages of dermatology are their mean, digits are in [0, 1]."""
    X, y = exact_set(name, fill=np.nanmean)
    X = X / 16 if name == "digits" else X
    return (z_scored(X) if kind == SCALED else X), y


def draw(y: np.ndarray, size: int, rounds: int, run: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of each round (rounds,) and their candidates (rounds, m)."""
    candidates = contaminate(y, "size", r=size - 1, random_state=run)
    random = np.random.default_rng(run)
    order = np.concatenate([random.permutation(len(y)) for _ in range(-(-rounds // len(y)))])[:rounds]
    return order, candidates[order]


def learners(loss: str, intercept: bool) -> list:
    """A Perceptron, and a Pegasos for every lambda."""
    pegasos = [PLPegasos(loss, alpha=alpha, fit_intercept=intercept) for alpha in LAMBDAS]
    return [PLPerceptron(loss, fit_intercept=intercept), *pegasos]


def measured(name: str, kind: str, size: int, runs: int) -> dict:
    """By algorithm: final errors of the runs, the mean curve, and the lambda chosen."""
    X, y = features_of(name, kind)
    losses = ("max",) if size == 1 else ("average", "max")
    tried = [learner for loss in losses for learner in learners(loss, kind == SCALED)]
    shown = np.unique(np.geomspace(10, ROUNDS[name], POINTS).astype(int)) - 1
    errors, sums = np.zeros((len(tried), runs)), np.zeros((len(tried), len(shown)))
    for run in range(runs):
        order, candidates = draw(y, size, ROUNDS[name], run)
        for place, learner in enumerate(tried):
            running = progressive_validation(learner, X[order], candidates, y[order]).truth_error
            errors[place, run] = running[-1]
            sums[place] += running[shown] / runs
    found = {}
    for part, _ in enumerate(losses):
        begin = part * (1 + len(LAMBDAS))
        best = int(errors[begin + 1 : begin + 1 + len(LAMBDAS)].mean(axis=1).argmin())
        titles = EXACT if size == 1 else (ALGORITHMS[part], ALGORITHMS[2 + part])
        for title, place in zip(titles, (begin, begin + 1 + best), strict=True):
            alpha = None if place == begin else LAMBDAS[best]
            found[title] = {
                "errors": errors[place],
                "rounds": shown + 1,
                "curve": sums[place],
                "alpha": alpha,
            }
    return found


def cell(result: dict, spec: float, spec_runs: int) -> tuple[str, str]:
    """The measured value beside the specification's; and what is wrong, "" within the tolerance."""
    errors = result["errors"]
    mean, deviation = errors.mean(), errors.std(ddof=1)
    # The specification's own deviations are not known: ours stand for them.
    tolerance = max(0.02, 3 * deviation * np.sqrt(1 / len(errors) + 1 / spec_runs))
    text = f"{mean:.3f} ({spec:.3f})"
    if abs(mean - spec) <= tolerance:
        return text, ""
    return f"**{text}**", f"{mean - spec:+.3f}, tolerance {tolerance:.3f}"


def table(results: dict) -> tuple[list[str], int, int]:
    """A line for each set, features and size; how many cells are within the tolerance, and of how many."""
    lines, right, cells = [], 0, 0
    for (name, kind), (exact, sizes) in SPEC.items():
        runs = SPEC_RUNS.get(name, 100)
        for size, spec in {1: exact, **sizes}.items():
            found = results[name, kind, size]
            made = {
                title: cell(found[title], value, runs)
                for title, value in zip(found_order(size), spec, strict=True)
            }
            missed = [f"{title} {why}" for title, (_, why) in made.items() if why]
            right, cells = right + len(made) - len(missed), cells + len(made)
            texts = [text for text, _ in made.values()]
            if size == 1:
                texts = [texts[0], texts[0], texts[1], texts[1]]
            chosen = [f"{found[title]['alpha']:g}" for title in made if title.endswith("Pegasos")]
            spread = "/".join(f"{found[title]['errors'].std(ddof=1):.3f}" for title in made)
            lines.append(
                f"| {name} | {kind} | {size if size > 1 else '1 (exact)'} | {' | '.join(texts)} | "
                f"{spread} | {', '.join(chosen)} | {'within' if not missed else '; '.join(missed)} |"
            )
    return lines, right, cells


def found_order(size: int) -> tuple[str, ...]:
    return EXACT if size == 1 else ALGORITHMS


def sentence(name: str, kind: str, size: int, found: dict) -> str:
    """What the curves of one set and size say."""
    final = {title: result["errors"].mean() for title, result in found.items()}
    best = min(final, key=final.get)
    avg, most = (min(final[title] for title in final if title.startswith(word)) for word in ("Avg", "Max"))
    leader = "Max" if most < avg else "Avg"
    drop = []
    for result in found.values():
        late = result["rounds"] >= 0.8 * result["rounds"][-1]
        drop.append(abs(result["curve"][late][0] - result["curve"][-1]))
    return (
        f"- {name}, {kind}, |Y| = {size}: {best} is best ({final[best]:.3f}); {leader} is ahead by "
        f"{abs(avg - most):.3f}; over the last fifth of the {ROUNDS[name]:,} rounds no curve moves by more than "
        f"{max(drop):.3f}."
    )


def winners(results: dict) -> list[str]:
    """Max at 2 candidates, Avg at 8 of 10, on usps and digits."""
    lines = []
    for name, kind in (("usps", RAW), ("digits", RAW), ("digits", SCALED)):
        for size, expected in ((2, "Max"), (8, "Avg")):
            final = {title: result["errors"].mean() for title, result in results[name, kind, size].items()}
            best = min(final, key=final.get)
            verdict = met(best.startswith(expected))
            pairs = ", ".join(f"{title} {value:.3f}" for title, value in final.items())
            lines.append(f"| {name}, {kind} | {size} of 10 | {expected} | {pairs} | {verdict} |")
    return lines


def step_sizes(runs: int) -> dict[str, list[str]]:
    """The error at |Y| = 2 by lambda / mean |x|^2 and by eta * mean |x|^2, on rows of very different length."""
    lines: dict[str, list[str]] = {"alpha": [], "eta0": []}
    for name, kind, factor in STRETCHED:
        X, y = features_of(name, kind)
        X = X * factor
        square = (X**2).sum(axis=1).mean() + (kind == SCALED)
        title = f"{name}{'' if factor == 1 else f' x {factor}'}, {kind} | {square:.3g}"
        draws = [draw(y, 2, ROUNDS[name], run) for run in range(runs)]
        for parameter, loss in ((parameter, loss) for parameter in lines for loss in ("average", "max")):
            errors = []
            for step in STEPS[parameter]:
                value = step * square if parameter == "alpha" else step / square
                kwargs = {parameter: value, "fit_intercept": kind == SCALED}
                learner = PLPegasos(loss, **kwargs) if parameter == "alpha" else PLPerceptron(loss, **kwargs)
                final = [
                    progressive_validation(learner, X[order], candidates, y[order]).truth_error[-1]
                    for order, candidates in draws
                ]
                errors.append(np.mean(final))
            shown = " | ".join(
                f"**{error:.3f}**" if error == min(errors) else f"{error:.3f}" for error in errors
            )
            lines[parameter].append(f"| {title} | {'Avg' if loss == 'average' else 'Max'} | {shown} |")
    return lines


def averaging(runs: int) -> list[str]:
    """Accuracy on other rows of the last iterate and of the mean of all, after one pass of 20,000 Gaussian rows."""
    test_X, test_y = gaussian_classes(PASS, 99)
    lines = []
    for size in (2, 4, 6, 8):
        for title, make in (
            ("Perceptron", PLPerceptron),
            ("Pegasos, lambda 1e-3", lambda loss, **given: PLPegasos(loss, alpha=1e-3, **given)),
        ):
            cells = []
            for loss in ("average", "max"):
                for average in (False, True):
                    accuracy = []
                    for run in range(runs):
                        X, y = gaussian_classes(PASS, run)
                        candidates = contaminate(y, "size", r=size - 1, random_state=run)
                        accuracy.append(
                            make(loss, average=average).partial_fit(X, candidates).score(test_X, test_y)
                        )
                    cells.append(f"{np.mean(accuracy):.3f}")
            lines.append(f"| {title} | {size} | {' | '.join(cells)} |")
    return lines


STYLES = {
    title: {"colour": colour, "dash": "solid" if "Perceptron" in title else "dash"}
    for title, colour in zip(
        (*ALGORITHMS, *EXACT), ("#2f6fc8", "#d1495b") * 2 + ("#777777",) * 2, strict=True
    )
}


def draw_panels(name: str, results: dict) -> None:
    """Figures 1 to 4 of the paper for one set, with the learners of the exact labels in every panel."""
    panels = {}
    for known, kind, size in results:
        if known == name and size > 1:
            found = {**results[name, kind, size], **results[name, kind, 1]}
            panels[f"{kind}, |Y| = {size}"] = {
                title: Line(one["rounds"].tolist(), one["curve"].tolist()) for title, one in found.items()
            }
    sizes = {size for known, _, size in results if known == name and size > 1}
    title = f"{name}: share of wrong predictions so far"
    write_chart(f"online_curves_{name}", title, panels, "rounds", columns=len(sizes), styles=STYLES)


def measure() -> str:
    results: dict = {}

    def everything() -> tuple[dict[str, list[str]], list[str]]:
        for (name, kind), (_, sizes) in SPEC.items():
            for size in (1, *sizes):
                results[name, kind, size] = found = measured(name, kind, size, RUNS[name])
                final = {title: round(float(one["errors"].mean()), 3) for title, one in found.items()}
                print(name, kind, size, final, flush=True)
        return step_sizes(FEW), averaging(MEANS)

    (steps, means), seconds = clocked(everything)
    lines, right, cells = table(results)
    sentences = [sentence(*key, found) for key, found in results.items() if key[2] > 1]
    for name in ROUNDS:
        draw_panels(name, results)
    return BODY.format(
        runs=f"{RUNS['ecoli']} runs, {RUNS['usps']} on usps",
        algorithms=" | ".join(ALGORITHMS), lines="\n".join(lines), right=right, cells=cells,
        winners="\n".join(winners(results)), sentences="\n".join(sentences), few=FEW,
        alpha_head=" | ".join(f"{step:g}" for step in STEPS["alpha"]), alpha="\n".join(steps["alpha"]),
        eta_head=" | ".join(f"{step:g}" for step in STEPS["eta0"]), eta="\n".join(steps["eta0"]),
        columns="|---" * (3 + len(STEPS["alpha"])) + "|", averaging="\n".join(means), mean_runs=MEANS,
        pictures="\n".join(f"![error curves, {name}](online_curves_{name}.svg)" for name in ROUNDS), seconds=seconds,
    )  # fmt: skip
