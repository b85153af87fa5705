from dataclasses import dataclass
@dataclass(frozen=True)
class Change:
    kind: str
    lines: tuple
    part: str
    source: str
def changes(source, *, first=(), made=()):
    return iter(())
