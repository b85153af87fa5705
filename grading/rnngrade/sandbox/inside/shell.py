"""IPython without a kernel: it runs cells and keeps what they show, as far as the limits go."""

import base64
import importlib
import sys
import types
from pathlib import Path
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.profiledir import ProfileDir
from traitlets import Type
from traitlets.config import Config

SHOWN = ("text/plain", "image/png", "image/jpeg")  # nothing that a browser would run


class TooMuchOutput(Exception):
    """A cell shows ten times as much as is kept."""


class Shown:
    """What the current cell has shown, in the form of a notebook's outputs."""

    def __init__(self, characters: int, images: int) -> None:
        self.most_characters, self.most_images = characters, images
        self.start()

    def start(self) -> None:
        """Begin a new cell."""
        self.outputs: list[dict[str, Any]] = []
        self.characters = self.images = 0

    def stream(self, name: str, text: str) -> None:
        """Text that was printed."""
        text = self._within(text)
        if not text:
            return
        if self.outputs and self.outputs[-1].get("name") == name:
            self.outputs[-1]["text"] += text
        else:
            self.outputs.append({"output_type": "stream", "name": name, "text": text})

    def data(self, data: dict[str, Any], count: int | None = None) -> None:
        """A value or a picture; with a count it is the cell's result."""
        kept: dict[str, str] = {}
        for kind in SHOWN:
            value = data.get(kind)
            if isinstance(value, bytes):
                value = base64.b64encode(value).decode()
            if not isinstance(value, str):
                continue
            if kind == "text/plain":
                if text := self._within(value):
                    kept[kind] = text
            elif self.images + len(value) <= self.most_images:
                self.images += len(value)
                kept[kind] = value
        if kept:
            output: dict[str, Any] = {"output_type": "display_data", "data": kept, "metadata": {}}
            if count is not None:
                output |= {"output_type": "execute_result", "execution_count": count}
            self.outputs.append(output)

    def error(self, name: str, words: str, lines: list[str]) -> None:
        """An exception that ended the cell."""
        kept = [line[:2000] for line in lines[-30:]]
        self.outputs.append({"output_type": "error", "ename": name[:200], "evalue": words[:2000], "traceback": kept})

    def _within(self, text: str) -> str:
        before, self.characters = self.characters, self.characters + len(text)
        if before > 10 * self.most_characters:
            raise TooMuchOutput(f"this cell shows more than {10 * self.most_characters:,} characters")
        if before > self.most_characters:
            return ""
        if self.characters > self.most_characters:
            return text[: self.most_characters - before] + "\n… the rest of this output is not kept.\n"
        return text


class Stream:
    """stdout or stderr."""

    encoding, errors, closed = "utf-8", "strict", False

    def __init__(self, name: str, shown: Shown) -> None:
        self.name, self._shown = f"<{name}>", shown
        self._stream = name

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._shown.stream(self._stream, str.__str__(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False


class Results(DisplayHook):
    """The value of a cell's last line."""

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        assert isinstance(self.shell, Shell)
        self.shell.shown.data(format_dict, self.prompt_count)

    def finish_displayhook(self) -> None:
        pass


class Displays(DisplayPublisher):
    """What a cell displays."""

    def publish(self, data: Any, *args: Any, **kwargs: Any) -> None:
        assert isinstance(self.shell, Shell)
        self.shell.shown.data(data)


class Shell(InteractiveShell):
    """An IPython whose outputs are kept in `shown`."""

    displayhook_class = Type(Results)
    display_pub_class = Type(Displays)
    shown: Shown

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        try:
            words = str(evalue)
        except Exception:
            words = ""
        self.shown.error(getattr(etype, "__name__", "Exception"), words, [str(line) for line in stb])

    def enable_gui(self, gui: Any = None) -> None:
        """There is no window here."""

    def ask_exit(self) -> None:
        """What a cell's `exit()` or `quit()` calls: it ends that cell, as sys.exit() does."""
        raise SystemExit("exit() ends Python: take it out")


def make_shell(folder: str) -> Shell:
    """A shell whose own files lie in `folder`; its module is the new `__main__`."""
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    profile = Path(folder, "profile")
    profile.mkdir(exist_ok=True)  # not its parents: a desk that is gone has removed them
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.cache_size = 100
    shell = Shell.instance(
        config=config, user_module=main, ipython_dir=folder, profile_dir=ProfileDir(location=str(profile))
    )
    shell.shown = Shown(0, 0)
    assert shell.display_formatter is not None
    shell.display_formatter.active_types = list(SHOWN)
    return shell


def run(shell: Shell, source: str) -> str | None:
    """Run one cell; returns the name of the exception that ended it, or None. Outputs are in `shell.shown`."""
    before = sys.stdout, sys.stderr
    importlib.invalidate_caches()  # a module that the last cell has written is there, however soon this one is run
    shell.shown.start()
    sys.stdout, sys.stderr = Stream("stdout", shell.shown), Stream("stderr", shell.shown)
    try:
        result = shell.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]
        failed = result.error_before_exec or result.error_in_exec
    except BaseException as error:  # what a cell does to IPython itself
        failed = error
        shell.shown.error(type(error).__name__, "", [])
    finally:
        sys.stdout, sys.stderr = before
    # What fills the memory is there still: the room ends here, and not in a cell that comes later. (NumPy has an error
    # of its own for an array that is too large, which fills nothing.)
    if type(failed) is MemoryError:
        raise failed
    return type(failed).__name__ if failed is not None else None
