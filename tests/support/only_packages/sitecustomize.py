"""Hides every installed package but those that PAGE_PACKAGES names, and those that they need.

Python imports this module at its start, where its folder is on PYTHONPATH. So a program sees what a
user has who installed what a page says, in an environment that holds more."""

import importlib.metadata
import json
import os
import re
import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

EXTRA = re.compile(r"extra == ['\"]([^'\"]+)")
REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([^\]]*)\])?")


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def with_requirements(packages: list[str]) -> set[str]:
    """Returns the distributions of these requirements, such as "tokpar[test]", and all that they
    require."""
    seen: set[tuple[str, str]] = set()
    pending = list(packages)
    while pending:
        match = REQUIREMENT.match(pending.pop())
        assert match is not None
        name, extras = normalized(match[1]), match[2] or ""
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            requirements = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # for another system or Python
        for requirement in requirements:
            extra = EXTRA.search(requirement)
            if extra is None or extra[1] in extras.split(","):
                pending.append(requirement.replace(" ", ""))
    return {name for name, _ in seen}


ENCODING_SOURCE = os.environ.get("PAGE_CL100K_FROM")
if (
    ENCODING_SOURCE
):  # the checkout: a part of cl100k_base stands for the encoding that is downloaded
    import tiktoken

    own_path = [*sys.path]
    sys.path.append(ENCODING_SOURCE)
    from tests.support.seams import part

    tiktoken.registry.ENCODINGS["cl100k_base"] = part("cl100k_part")
    sys.path[:] = own_path

VISIBLE = with_requirements(os.environ["PAGE_PACKAGES"].split())
OWNERS: dict[str, list[str]] = json.loads(os.environ["PAGE_OWNERS"])
"""Module -> the distributions that hold it; to ask all of them takes as long as `import tokpar`."""
HIDDEN = {normalized(owner) for owners in OWNERS.values() for owner in owners} - VISIBLE


class VisibleFinder(PathFinder):
    """Finds no module and no metadata of a hidden distribution."""

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        owners = OWNERS.get(fullname.partition(".")[0])
        if owners and HIDDEN.issuperset(map(normalized, owners)):
            return None
        return PathFinder.find_spec(fullname, path, target)

    @classmethod
    def find_distributions(cls, *context: Any) -> Any:
        found = PathFinder.find_distributions(*context)
        return (each for each in found if normalized(each.name) not in HIDDEN)


sys.meta_path[sys.meta_path.index(PathFinder)] = VisibleFinder
