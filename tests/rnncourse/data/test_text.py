"""The texts: built in, from a file, from a server on loopback."""

import sys
import sysconfig
import zipfile

import pooch
import pytest

from rnncourse.data import load_text, python_docs, python_source, train_and_held_out
from rnncourse.data.sources import BUILT_IN, MODULES, documents
from tests.serving import served


@pytest.fixture
def server(tmp_path, monkeypatch):
    """The address of a server on loopback, the folder that it serves, and an empty cache."""
    folder = tmp_path / "served"
    folder.mkdir()
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache" / name)
    for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    with served(folder) as address:
        yield address, folder


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_text_is_the_same_twice_and_cut_where_asked(name):
    whole = load_text(name)
    documents.cache_clear()
    assert load_text(name) == {"python-source": python_source, "python-docs": python_docs}[name](None) == whole
    assert load_text(name, characters=1234) == whole[:1234]
    assert len(whole) > 300_000


def test_every_listed_module_is_in_this_python():
    assert list(documents("python-source")) == MODULES


def test_the_source_is_found_in_a_python_whose_library_is_a_zip_file(tmp_path, monkeypatch):
    whole = documents("python-source")
    archive = tmp_path / f"python{sys.version_info.major}{sys.version_info.minor}.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for module, text in whole.items():
            file.writestr(f"{module}.py", text)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / "python"))
    assert documents.__wrapped__("python-source") == whole


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("every", [2, 5, 10])
def test_whole_documents_are_held_out_and_about_the_share_that_was_asked_for(name, every):
    train, held_out = train_and_held_out(name, every=every)
    for text in documents(name).values():
        assert (text in train) != (text in held_out)
    share = len(held_out) / (len(train) + len(held_out))
    assert 0.7 / every < share <= 1.01 / every


def test_no_paragraph_of_a_held_out_topic_stands_in_the_training_topics():
    train, held_out = train_and_held_out("python-docs")
    known = {" ".join(paragraph.split()) for paragraph in train.split("\n\n")}
    leaked = [paragraph for paragraph in held_out.split("\n\n") if " ".join(paragraph.split()) in known]
    assert not leaked


def test_of_a_file_of_ones_own_the_end_is_held_out_from_a_line_end_on(tmp_path):
    lines = [f"line {i}\n" for i in range(100)]
    file = tmp_path / "mine.txt"
    file.write_text("".join(lines))
    train, held_out = train_and_held_out(file, every=5)
    assert train + held_out == "".join(lines)
    assert train.endswith("\n")
    assert held_out.startswith("line 8")


def test_a_file_is_read_from_a_string_or_a_path_with_its_line_ends_made_plain(tmp_path):
    file = tmp_path / "poem.txt"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n")
    assert load_text(file) == load_text(str(file)) == "one\ntwo\nthree\n"
    assert load_text(file, characters=5) == "one\nt"


def test_another_encoding_can_be_named(tmp_path):
    file = tmp_path / "old.txt"
    file.write_bytes("Zürich".encode("latin-1"))
    assert load_text(file, encoding="latin-1") == "Zürich"
    with pytest.raises(ValueError, match=r"not text in utf-8 \(byte 1 does not fit\): save it as UTF-8"):
        load_text(file)
    with pytest.raises(ValueError, match='"klingon" is no encoding'):
        load_text(file, encoding="klingon")


def test_what_cannot_be_read_is_said_in_one_sentence_without_a_chain(tmp_path):
    (tmp_path / "empty.txt").touch()
    (tmp_path / "picture.png").write_bytes(b"abc\0def")
    cases = {
        "python-doc": (ValueError, 'Did you mean "python-docs"'),
        "shakespeare": (ValueError, "neither a built-in text"),
        str(tmp_path / "none.txt"): (FileNotFoundError, "There is no file"),
        str(tmp_path): (ValueError, "is a folder"),
        str(tmp_path / "empty.txt"): (ValueError, "is empty"),
        str(tmp_path / "picture.png"): (ValueError, "zero bytes"),
        "ftp://127.0.0.1/text": (ValueError, "must begin with http"),
    }
    for source, (kind, part) in cases.items():
        with pytest.raises(kind, match=part) as caught:
            load_text(source)
        assert "\n" not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_an_address_is_downloaded_once_and_then_read_from_the_cache(server, capfd):
    address, folder = server
    (folder / "text.txt").write_text("Grüße\n", encoding="utf-8")
    assert load_text(f"{address}/text.txt") == "Grüße\n"
    (folder / "text.txt").unlink()
    assert load_text(f"{address}/text.txt", characters=2) == "Gr"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("number", [1, 0, -2])
def test_without_a_character_to_read_or_a_part_to_train_on_there_is_an_error(number):
    with pytest.raises(ValueError, match="at least 2"):
        train_and_held_out("python-docs", every=number)
    with pytest.raises(ValueError, match="characters must be at least 1"):
        python_docs(number - 1)


def test_a_failed_download_says_why_and_leaves_nothing_in_the_cache(server):
    address, folder = server
    with pytest.raises(ConnectionError, match=r"\(the server answered 404\): check the address") as caught:
        load_text(f"{address}/text.txt")
    assert caught.value.__suppress_context__
    (folder / "text.txt").write_text("now it is there")
    assert load_text(f"{address}/text.txt") == "now it is there"


@pytest.mark.usefixtures("server")
def test_no_server_is_a_connection_error(deserted):
    with pytest.raises(ConnectionError, match=r"\(no connection\)"):
        load_text(f"http://{deserted}/text.txt")
    with pytest.raises(ConnectionError, match="could not be downloaded"):
        load_text("http:///text.txt")
