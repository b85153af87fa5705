"""Canvas's API, as far as grades and feedback need it. Sources: Canvas's developer documentation,
developerdocs.instructure.com/services/canvas, "Submissions", "Assignments", "Pagination", "File Uploads", "Throttling".

- A request says who asks by `Authorization: Bearer TOKEN`.
- A list comes in pages; where the next one is, the Link header says (rel="next"). Its address is not made here.
- Who asks too much is told so by 429, or by 403 with the words "Rate Limit Exceeded", and asks again later.
- A file goes up in three steps: Canvas is told its name and size and answers where it goes and with which parameters;
  it goes there with all of these and the file last, without the token; the answer (201, or a redirect) has a Location,
  which is asked for with the token, and answers with the file's number.

The token goes to Canvas's own address alone, whatever an answer says.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests

from rnngrade.core.closing import Closing
from rnngrade.core.errors import DeskError, Stop

SECONDS = 60  # that an answer may take
TRIES = 5
MOST_PAGES = 1_000
_LOCAL = ("localhost", "127.0.0.1", "::1")


class Canvas(Closing):
    """A Canvas, at an address such as https://canvas.example.org; opened with `with`. Paths are below `place`.
    **Errors:** `DeskError`, of all methods.
    """

    def __init__(self, url: str, token: str, place: str = "", wait: Callable[[float], None] = time.sleep) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("https", "http") or not parts.hostname:
            raise Stop(f"{url!r} is no address: write it as in https://canvas.example.org.")
        if parts.scheme == "http" and parts.hostname not in _LOCAL:
            raise Stop(f"{url} would send the token to all who listen: use https.")
        if not token or not token.isascii() or not token.isprintable():
            raise Stop("There is no token of Canvas's: make one (Account, Settings, New access token), and put it "
                           "into the environment variable CANVAS_TOKEN.")  # fmt: skip
        self._root = f"{parts.scheme}://{parts.netloc}"
        self._token, self._place, self._wait = token, place, wait
        self._session = requests.Session()
        self._session.trust_env = False  # no password of a .netrc takes the token's place

    def close(self) -> None:
        self._session.close()

    def get(self, path: str, **query: Any) -> Any:
        return self._json(self._asked("GET", self._place + path, params=query))

    def pages(self, path: str, **query: Any) -> Iterator[Any]:
        """The objects of a list, of all its pages."""
        answer = self._asked("GET", self._place + path, params={"per_page": 100, **query})
        for _ in range(MOST_PAGES):
            yield from self._json(answer)
            following = answer.links.get("next", {}).get("url")
            if not following:
                return
            answer = self._asked("GET", following)

    def put(self, path: str, data: dict[str, Any]) -> Any:
        return self._json(self._asked("PUT", self._place + path, data=data))

    def upload(self, path: str, name: str, content: bytes, kind: str) -> int:
        """The number of a file that was put up. `path` is that of its first step."""
        about = {"name": name, "size": len(content), "content_type": kind}
        told = self._json(self._asked("POST", self._place + path, data=about))
        try:
            to = urljoin(self._root, told["upload_url"])
            if urlsplit(to).scheme == "http" and urlsplit(to).hostname not in _LOCAL:
                raise DeskError(f"Canvas asks to send {name} to {urlsplit(to).hostname} in the open.")
            file = {"file": (name, content, kind)}
            answer = self._sent("POST", to, data=dict(told["upload_params"]), files=file)
            if answer.status_code != 201 and not answer.is_redirect:
                raise DeskError(f"{name} was not taken ({answer.status_code}).")
            location = answer.headers.get("Location")
            return int(self._json(self._asked("GET", location) if location else answer)["id"])
        except (KeyError, TypeError, ValueError):
            raise DeskError(f"Canvas did not say where {name} goes, or gave it no number.") from None

    def _asked(self, method: str, path: str, **more: Any) -> requests.Response:
        """The answer to a request with the token. **Errors:** `DeskError` for any but a good one."""
        url = urljoin(self._root, path)
        if f"{urlsplit(url).scheme}://{urlsplit(url).netloc}" != self._root:
            raise DeskError(f"Canvas sends us to {urlsplit(url).hostname}, which does not get the token.")
        headers = {"Authorization": f"Bearer {self._token}"}
        for number in range(TRIES):
            answer = self._sent(method, url, headers=headers, **more)
            limited = answer.status_code == 403 and "rate limit exceeded" in answer.text[:200].casefold()
            if answer.status_code != 429 and not limited:
                break
            self._wait(2.0**number)
        if answer.ok and answer.status_code < 300:
            return answer
        if answer.status_code == 401:
            raise Stop("Canvas does not take the token: is it whole, and has it not expired?")
        if answer.status_code == 404:
            raise DeskError(f"Canvas has nothing at {urlsplit(url).path}: are course and assignment right?")
        said = " ".join(answer.text[:200].split()) or "nothing"
        raise DeskError(f"Canvas answered {answer.status_code} to {method} {urlsplit(url).path}: {said}")

    def _sent(self, method: str, url: str, **more: Any) -> requests.Response:
        try:
            return self._session.request(method, url, timeout=SECONDS, allow_redirects=False, **more)
        except requests.RequestException as error:
            # Its words may hold the request, and that the token.
            raise Stop(f"{urlsplit(url).netloc} cannot be reached: {type(error).__name__}.") from None

    def _json(self, answer: requests.Response) -> Any:
        try:
            return answer.json()
        except ValueError:
            raise DeskError(f"{self._root} did not answer as Canvas does: is the address right?") from None
