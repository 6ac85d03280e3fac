"""The house: imports point one way, the library knows no Prefect, names hide nothing, files stay small."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
ORDER = ("buildloop", "tasks", "flows", "deployments")
LONGEST = 250

# What each floor may use besides the standard library and third parties: itself and the floors below.
MAY_IMPORT = {name: set(ORDER[: number + 1]) for number, name in enumerate(ORDER)}


def sources(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if "sample" not in path.parts and "__pycache__" not in path.parts]


def imports(tree: ast.AST) -> set[str]:
    """The first word of every module that is imported anywhere below `tree`."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def top_level_imports(tree: ast.Module) -> set[str]:
    """Imports that happen when the module is loaded; those inside functions do not."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    statements = [node for node in ast.iter_child_nodes(tree) if not isinstance(node, functions)]
    bodies = [
        child
        for node in statements
        for child in (
            [node]
            if not isinstance(node, ast.ClassDef)
            else [n for n in node.body if not isinstance(n, functions)]
        )
    ]
    return set().union(*(imports(node) for node in bodies)) if bodies else set()


def reaches_up(path: Path) -> set[str]:
    """What a file imports and may not. Only the command line may reach up, and only inside functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    floor = path.relative_to(ROOT).parts[0]
    in_cli = path.is_relative_to(ROOT / "buildloop" / "cli")
    seen = top_level_imports(tree) if in_cli else imports(tree)
    forbidden = set(ORDER) - MAY_IMPORT[floor] | ({"prefect"} if floor == "buildloop" else set())
    return seen & forbidden


def test_imports_point_down():
    files = sources(*ORDER)
    assert len(files) > 100
    assert {str(path.relative_to(ROOT)): up for path in files if (up := reaches_up(path))} == {}


def test_the_check_itself_sees_an_import_that_points_up(tmp_path):
    tree = ast.parse("def f():\n    import flows.build_loop\nclass A:\n    from prefect import task\n")
    assert imports(tree) == {"flows", "prefect"}
    assert top_level_imports(tree) == {"prefect"}


def test_importing_the_library_loads_no_prefect():
    """Every module of it, in a fresh interpreter."""
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in sources("buildloop")
        if path.name not in ("guard.py", "__main__.py")
    ]
    code = f"import importlib, sys\nfor name in {modules!r}: importlib.import_module(name)\n"
    code += "print(sorted(m for m in sys.modules if m.split('.')[0] in ('prefect', 'flows', 'tasks')))"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_no_module_of_flows_hides_another_package():
    """Prefect puts the entrypoint's folder first on `sys.path`: `flows/queue.py` would be everybody's `queue`."""
    names = {path.stem for path in sources("flows")} - {"__init__"}
    installed = {name for name in sys.modules if "." not in name and not name.startswith("flows")}
    taken = (
        set(sys.stdlib_module_names)
        | set(ORDER)
        | {"prefect", "pydantic", "git", "typer", "rich", "psutil", "yaml"}
    )
    assert names
    assert not names & (taken | installed)


def test_a_file_has_one_idea():
    """Nothing is longer than a reader can hold."""
    long = {
        str(path.relative_to(ROOT)): lines
        for path in sources("buildloop", "tasks", "flows")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST
    }
    assert not long


def test_no_task_sets_its_retries_by_hand():
    """They come from the strategy, through one translation function."""
    offenders = [
        f"{path.relative_to(ROOT)}:{node.value.lineno}"
        for path in sources("tasks", "flows")
        if path.name != "options.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.keyword)
        and node.arg in ("retries", "retry_delay_seconds", "retry_condition_fn")
    ]
    assert offenders == []
