"""A rule of the house that import-linter has no contract for: what reads never writes."""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output
from importlinter.domain.helpers import module_expressions_to_modules


class ReadNeverWrites(Contract):
    """A module named `read`, or `…_read`, imports of its own floors only models, other readers and what is listed.

    packages: whose readers are meant. allowed: what they may import besides, with all that is below it. refused: parts
    of what is allowed that write after all.
    """

    type_name = "read_never_writes"

    packages = fields.ListField(subfield=fields.StringField())
    allowed = fields.ListField(subfield=fields.ModuleExpressionField())
    refused = fields.ListField(subfield=fields.ModuleExpressionField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        allowed, refused = self._all_of(graph, "allowed"), self._all_of(graph, "refused")
        found = [
            (reader, imported)
            for reader in sorted(graph.modules)
            if self._is_ours(reader) and _reads(reader)
            for imported in sorted(graph.find_modules_directly_imported_by(reader))
            if self._is_ours(imported)
            and (imported in refused or not (imported in allowed or _reads(imported) or ".models" in imported))
        ]
        return ContractCheck(kept=not found, metadata={"found": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for reader, imported in check.metadata["found"]:
            output.print_error(f"{reader} reads, and imports {imported}, which may write.")

    def _is_ours(self, module: str) -> bool:
        return module.partition(".")[0] in self.packages  # type: ignore[operator]

    def _all_of(self, graph: ImportGraph, name: str) -> set[str]:
        named = {module.name for module in module_expressions_to_modules(graph, getattr(self, name))}
        return named | {below for module in named for below in graph.find_descendants(module)}


def _reads(module: str) -> bool:
    name = module.rpartition(".")[2]
    return name == "read" or name.endswith("_read")
