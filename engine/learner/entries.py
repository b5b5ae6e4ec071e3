"""What the engine writes into the notes, as Markdown in the learner's language."""

from __future__ import annotations

from collections.abc import Sequence

from engine.observe.score import Scored

WORDS = {
    "en": {
        "asked": "### Before you look",
        "predictions": "### Predictions",
        "confidence": "confidence {}%",
        "measured": "### Measured",
        "columns": "| | predicted | measured | |\n|---|---|---|---|",
        "point": ".",
        "right": "right",
        "wrong": "wrong",
        "self": "judge for yourself",
        "score": "{right} of {of} right; Brier score {brier} (0 is perfect, 0.25 a coin toss).",
        "ended": "It ended in `{}`",
        "closed": "### Mended",
        "hints": "Hints taken: {}.",
        "cause": "My answer to the cause: {} ({}).",
        "fix": "My fix:",
        "why": "The cause: {}",
        "words": "In my own words:",
        "reset": "Put aside on {}. The practice copy is kept as snapshot `{}`.",
        "resumed": "Taken up again on {}.",
        "restored": "(The old text, restored exactly.)",
        "graded": "My own judgement, beside the model answer above: {}.",
        "yes": "I had it",
        "partly": "in part",
        "no": "not yet",
    },
    "es": {
        "asked": "### Antes de mirar",
        "predictions": "### Predicciones",
        "confidence": "confianza {}%",
        "measured": "### Medido",
        "columns": "| | predicho | medido | |\n|---|---|---|---|",
        "point": ",",
        "right": "acierto",
        "wrong": "no fue así",
        "self": "júzgalo tú",
        "score": "{right} de {of} aciertos; Brier {brier} (0 es perfecto, 0,25 es cara o cruz).",
        "ended": "Acabó en `{}`",
        "closed": "### Arreglado",
        "hints": "Pistas usadas: {}.",
        "cause": "Mi respuesta a la causa: {} ({}).",
        "fix": "Mi arreglo:",
        "why": "La causa: {}",
        "words": "Con mis palabras:",
        "reset": "Apartado el {}. La copia de práctica se guarda como snapshot `{}`.",
        "resumed": "Retomado el {}.",
        "restored": "(El texto antiguo, restaurado tal cual.)",
        "graded": "Mi propia valoración, junto a la respuesta modelo de arriba: {}.",
        "yes": "lo tenía",
        "partly": "en parte",
        "no": "todavía no",
    },
}


def words(lang: str) -> dict[str, str]:
    """The phrases of a language, English where it is not known."""
    return WORDS.get(lang, WORDS["en"])


def heading(date: str, title: str) -> str:
    """The heading of an entry."""
    return f"## {date} · {title}"


def predictions(answers: Sequence[tuple[str, str, int]], lang: str) -> str:
    """Questions with answers and confidences: (question, answer, confidence in percent)."""
    w = words(lang)
    parts = [w["predictions"]]
    for number, (ask, answer, confidence) in enumerate(answers, 1):
        parts.append(f"{number}. {ask}\n   **{answer}** ({w['confidence'].format(confidence)})")
    return "\n\n".join(parts)


def measured(scored: Sequence[Scored], error: str, brier: float | None, lang: str) -> str:
    """The table of predictions and measurements."""
    w = words(lang)
    rows = [w["columns"]]
    for number, one in enumerate(scored, 1):
        verdict = w["self"] if one.right is None else w["right"] if one.right else w["wrong"]
        cells = (
            cell.replace("|", "\\|").replace("\n", " ") for cell in (one.predicted, one.measured)
        )
        rows.append(f"| {number} | " + " | ".join(cells) + f" | {verdict} |")
    parts = [w["measured"], "\n".join(rows)]
    if error:
        parts.append(w["ended"].format(error.replace("`", "'").replace("\n", " ")))
    judged = [one for one in scored if one.right is not None]
    if brier is not None:
        right = sum(bool(one.right) for one in judged)
        written = f"{brier:.3f}".replace(".", w["point"])
        parts.append(w["score"].format(right=right, of=len(judged), brier=written))
    return "\n\n".join(parts)


def closed(
    *, hints: int, diff: str, cause: str, chosen: tuple[str, bool] | None, restored: bool, lang: str
) -> str:
    """The end of an entry: the fix, the cause, and room for the learner's own words."""
    w = words(lang)
    parts = [w["closed"], w["hints"].format(hints)]
    parts.append(w["fix"] + (" " + w["restored"] if restored else ""))
    fence = "```"
    while fence in diff:
        fence += "`"
    parts.append(f"{fence}diff\n{diff.rstrip()}\n{fence}")
    if chosen:
        parts.append(w["cause"].format(chosen[0], w["right"] if chosen[1] else w["wrong"]))
    parts.append(w["why"].format(cause))
    parts.append(w["words"])
    return "\n\n".join(parts)


def reset(date: str, snapshot: str, lang: str) -> str:
    """A line for an attempt that was put aside."""
    return words(lang)["reset"].format(date, snapshot[:12])


def resumed(date: str, lang: str) -> str:
    """A line for an attempt that was put aside and is open again."""
    return words(lang)["resumed"].format(date)
