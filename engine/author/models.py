"""The models that a pack proves its exercises on, and what an author changes in them."""

from __future__ import annotations

from engine.code.syntax import parse
from engine.errors import SpecError
from engine.learner import model
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue
from engine.spec.types import Silencer


def models(catalogue: Catalogue) -> dict[str, Tree]:
    """The pack's own models: each is its files laid over the template."""
    contract = catalogue.contract
    template = catalogue.template
    modules = {where.partition(":")[0] for where in contract.roles.values()}
    base = model.read(template, contract.roots, modules) if template.is_dir() else {}
    found = {}
    for folder in catalogue.model_folders():
        files = {f.relative_to(folder).as_posix(): f.read_bytes() for f in folder.rglob("*.py")}
        found[folder.name] = Tree(
            str(folder), tuple(contract.roots), {**base, **files}, contract.roles
        )
    return found


def edited(tree: Tree, change: Silencer) -> dict[str, bytes]:
    """The files that a silencer or a near miss changes. Raises SpecError."""
    files: dict[str, bytes] = {}
    for edit in change.edits:
        text = files.get(edit.file, tree.files.get(edit.file, b"")).decode()
        if edit.find not in text:
            raise SpecError(f"{edit.find!r} is not in {edit.file} of this code.")
        files[edit.file] = text.replace(edit.find, edit.replace, 1).encode()
        try:
            parse(files[edit.file])
        except SyntaxError as error:
            raise SpecError(f"After the edit {edit.file} is not Python: {error}.") from None
    if all(tree.files.get(file) == data for file, data in files.items()):
        raise SpecError("The edits change nothing.")
    return files
