"""What was found in a learner's tree, and which breaks apply to it: kept beside the events, and made anew
where it is gone or the files have changed. It may be deleted at any time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from engine.commands.session import Session
from engine.learner.files import storage, write

if TYPE_CHECKING:
    from engine.flows.check import Asked, Bench
    from engine.flows.health import Target

FILE = "found.json"


class Found(msgspec.Struct, frozen=True):
    """digest: of the files that it was found in. target: what is taken for model, script and sampler. told:
    that in a line. refused: break -> why it does not apply. wrong: titles of facts that are wrong already.
    """

    digest: str
    target: dict[str, object]
    told: str
    refused: dict[str, str]
    wrong: tuple[str, ...] = ()


def digest(files: Mapping[str, bytes]) -> str:
    """The same for the same files."""
    made = hashlib.blake2b(digest_size=16)
    for path, data in sorted(files.items()):
        made.update(f"{path}\0{len(data)}\0".encode() + data)
    return made.hexdigest()


def known(session: Session) -> Found | None:
    """What was found last, None where nothing was kept."""
    try:
        return msgspec.json.decode((session.learner.private / FILE).read_bytes(), type=Found)
    except (OSError, msgspec.DecodeError):
        return None


def unfit(session: Session) -> dict[str, str]:
    """Break -> why it does not apply, as far as it is known."""
    kept = known(session)
    return {} if kept is None else kept.refused


def target(session: Session, bench: Bench, progress: Callable[[str], None]) -> Target:
    """What is taken for model, script and sampler. Raises NotApplicable where no model is found."""
    from engine.flows.health import Target

    return msgspec.convert(look(session, bench, progress).target, Target)


def look(session: Session, bench: Bench, progress: Callable[[str], None]) -> Found:
    """What was found in these files; looked for where they have changed since. Raises NotApplicable."""
    from engine.flows import applicable
    from engine.flows.check import folder

    kept, now = known(session), digest(bench.files)
    if kept is not None and kept.digest == now:
        return kept
    of = session.catalogue.factual
    assert of is not None  # whoever asks has breaks by facts
    bench.learner.hold(bench.script_server, folder(bench.files), "optimizer")
    report = applicable.looked(bench, asked(session), of, progress)
    made = Found(
        now, msgspec.to_builtins(report.target), report.told, dict(report.refused), report.wrong
    )
    with storage(session.learner.private):
        write(session.learner.private / FILE, msgspec.json.encode(made))
    return made


def asked(session: Session) -> Asked:
    """The lines of the tree's own learner.yaml, then of the learner's."""
    from engine.commands.check import with_lines
    from engine.flows.check import Asked
    from engine.learner.lines import lines

    settings = session.learner.settings
    told = lines(session.learner.model)
    return with_lines(Asked(call=settings.call if told.model else "", train=settings.train), told)
