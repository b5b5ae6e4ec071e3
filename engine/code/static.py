"""Whether names tell what code may reach, or it looks names up while it runs (`exec`, `globals`, ...)."""

from __future__ import annotations

import ast

DYNAMIC = {"__import__", "import_module", "exec", "eval", "compile", "__subclasses__"}
DYNAMIC |= {"spec_from_file_location", "exec_module", "load_module", "meta_path"}
DYNAMIC |= {"__globals__", "f_globals", "f_locals", "resolve_name", "getmembers", "inspect"}
SAFE_OF_INSPECT = {"signature", "Parameter", "Signature"}  # what may be asked of `inspect`
MODULES = {"builtins", "ctypes", "gc", "importlib", "inspect", "pkgutil", "runpy"}


def is_static(node: ast.AST) -> bool:
    """Whether names tell what this node by itself may reach."""
    if isinstance(node, ast.Name):
        return node.id not in DYNAMIC
    if isinstance(node, ast.Attribute):
        of_sys = isinstance(node.value, ast.Name) and node.value.id == "sys"
        harmless = node.attr in ("eval", "compile", "exec")  # model.eval(), re.compile(...)
        return not (of_sys and node.attr == "modules") and (harmless or node.attr not in DYNAMIC)
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return not _globals(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        reads = node.func.attr in ("items", "keys", "values", "get", "copy")
        return reads or not _globals(node.func.value)
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        base = getattr(node, "module", None) or ""
        named = {alias.name for alias in node.names}
        if base == "inspect":
            return named <= SAFE_OF_INSPECT
        if isinstance(node, ast.Import) and named == {"inspect"} and not node.names[0].asname:
            return True  # its use is looked at where it is used
        return not (
            {name.split(".")[0] for name in (base, *named)} & MODULES
            or (base == "sys" and "modules" in named)
            or any(alias.name == "sys" and alias.asname for alias in node.names)
            or named & DYNAMIC
        )
    return True


def _globals(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "globals"
    )
