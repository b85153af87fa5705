"""Zips of which the same files always make the same bytes."""

import io
import zipfile
from collections.abc import Iterable, Mapping

EARLIEST = (1980, 1, 1, 0, 0, 0)


def zipped(files: Iterable[tuple[str, bytes]], modes: Mapping[str, int] | None = None) -> bytes:
    """A zip of these files, by their names in it; whoever unpacks it may read them, unless `modes` says otherwise."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in files:
            about = zipfile.ZipInfo(name, EARLIEST)
            about.external_attr = (modes or {}).get(name, 0o644) << 16
            archive.writestr(about, data, zipfile.ZIP_DEFLATED)
    return made.getvalue()
