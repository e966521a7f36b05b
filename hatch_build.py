"""Compiles the kernel, where that works. TOKPAR_BUILD=0: do not try; 1: fail if it does not."""

import os
import runpy
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("tokpar", "compiled")
SOURCES = {name: f"{name}.py" for name in ("_merges", "_vocabulary", "_contents")}
SOURCES["_call"] = "call.c"
STABLE = (
    sys.implementation.name == "cpython"
    and sys.version_info >= (3, 11)  # memoryviews are in the limited API from 3.11 on
    and not sysconfig.get_config_var("Py_GIL_DISABLED")  # which has no limited API up to 3.14
)


class Kernel(BuildHookInterface):
    """Puts the compiled kernel into the wheel, beside its source."""

    def initialize(self, version, build_data):
        wanted = os.environ.get("TOKPAR_BUILD", "")
        if wanted not in ("", "0", "1"):
            raise ValueError(f"TOKPAR_BUILD must be 0 or 1, got {wanted!r}")
        if wanted == "0" or (sys.implementation.name != "cpython" and wanted != "1"):
            return
        self.folder = TemporaryDirectory()
        root = Path(self.root)
        try:
            libraries = compiled(root, root if version == "editable" else Path(self.folder.name))
        except (Exception, SystemExit) as error:  # no compiler, no headers, a linker that fails
            if wanted == "1":
                raise
            self.app.display_warning(f"the kernel was not compiled, engines are used: {error}")
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["infer_tag"] = not STABLE
        if STABLE:
            build_data["tag"] = f"cp311-abi3-{platform}"
        for file in [*libraries, write_digest(root, libraries[0].parent)]:
            build_data["force_include"][str(file)] = str(FOLDER / file.name)

    def finalize(self, version, build_data, artifact_path):
        if hasattr(self, "folder"):
            self.folder.cleanup()


def write_digest(root, folder):
    """The file beside the libraries that says which sources they were made of."""
    sources = runpy.run_path(str(root / "tokpar" / "process" / "kernel_sources.py"))
    file = folder / sources["DIGEST"]
    file.write_text(sources["sources_digest"](root / FOLDER) + "\n", encoding="ascii")
    return file


def compiled(root, folder):
    """The libraries, made in the package's place below `folder`."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    macros = [("Py_LIMITED_API", "0x030B0000")] if STABLE else []
    extensions = [
        Extension(
            ".".join((*FOLDER.parts, name)),
            [str(root / FOLDER / source)],
            include_dirs=[str(root / FOLDER)],
            depends=sorted(map(str, (root / FOLDER).glob("*.h"))),
            define_macros=macros,
            py_limited_api=STABLE,
            # Tried once: -flto has 0.99 to 1.02 and a profile 1.01 to 1.03 of the speed of -O3
            # for new English, code, JSON and random words (gcc 12.2, Llama 3's vocabulary).
            # Functions begin at lines of the processor's cache: else a change of one moves others,
            # and loops that nobody touched are up to 7 % slower (Gemini's vocabulary, English).
            extra_compile_args=[] if sys.platform == "win32" else ["-g0", "-falign-functions=64"],
        )
        for name, source in SOURCES.items()
    ]
    with TemporaryDirectory() as work:
        modules = cythonize(extensions, build_dir=work, language_level=3, quiet=True)
        build = Distribution({"ext_modules": modules}).get_command_obj("build_ext")
        build.build_lib, build.build_temp = str(folder), work
        build.force = True  # headers may have changed
        build.ensure_finalized()
        build.run()
        return [Path(output) for output in build.get_outputs()]
