"""Static files under names that contain their content's hash, so that browsers may keep them for ever."""

from django.contrib.staticfiles.storage import ManifestFilesMixin
from whitenoise.storage import CompressedManifestStaticFilesStorage

# `import {a} from "./a.js"`, `import "./a.js"`, `export {a} from "./a.js"`: at a line's start, so not in a comment.
_STATIC_IMPORT = (
    r"""(?m)^(?P<matched>(?P<head>(?:import|export)\b[^;"']*?\bfrom\s*|import\s*)["'](?P<url>\.{1,2}/[^"']+)["'])"""
)
# `import("./a.js")`, but not the type of a JSDoc comment, in which modules may well name each other in a circle.
_DYNAMIC_IMPORT = (
    r"""(?m)^(?P<matched>(?P<head>(?!\s*(?:/?\*|//))[^\n]*?\bimport\(\s*)["'](?P<url>\.{1,2}/[^"']+)["'])"""
)
_IMPORTS = ((_STATIC_IMPORT, """%(head)s"%(url)s\""""), (_DYNAMIC_IMPORT, """%(head)s"%(url)s\""""))


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):
    """Also rewrites the relative imports in our own modules, those of the rooms that import others.

    Without it a changed module would keep importing its old neighbours from the browser's cache. Django's own
    `support_js_module_import_aggregation` takes every .js file, and stumbles over an example in a comment of a
    django-htmx file; its patterns also rewrite an address twice when a comment before the imports says "export".
    """

    patterns = (
        *ManifestFilesMixin.patterns,
        *((f"{room}/*.js", _IMPORTS) for room in ("adjudicate", "base", "data", "label")),
    )
