"""A source has one title, or a text of each language."""

from __future__ import annotations

from engine.flows.show import links_of
from engine.spec.texts import texts
from engine.spec.types import Link


def test_a_source_is_told_in_the_language_that_it_has_a_text_in() -> None:
    section = {
        "en": "Attention Is All You Need, section 3.5",
        "es": "Attention Is All You Need, sección 3.5",
    }
    links = (Link(text="Layer Normalization", url="https://x.org"), Link(text=section))
    assert links_of(links, "es") == f"- Layer Normalization https://x.org\n- {section['es']}"
    assert links_of(links, "en").endswith(section["en"])
    assert [found for link in links for found in texts(link)] == [("text", section)]
