"""Saving a model replaces the content of a file, and nothing else about it."""

from __future__ import annotations

import os
import stat
import sys
import threading

import pytest

from kboost import load_model, save_model
from kboost.persistence import replacing
from tests.fitted import fitted

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, permissions and pipes")


def test_a_link_stays_a_link(tmp_path):
    for name, content in (("old", b"x"), ("new", None)):  # the second link leads nowhere yet
        (tmp_path / name).mkdir()
        file, link = tmp_path / name / "file", tmp_path / f"{name}.kboost"
        if content is not None:
            file.write_bytes(content)
        link.symlink_to(file)
        save_model(fitted("boost"), link)
        assert link.is_symlink()
        assert load_model(file).n_columns_ == load_model(link).n_columns_
        assert os.listdir(tmp_path / name) == ["file"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_permissions_stay(tmp_path, mode):
    path = tmp_path / "m.kboost"
    path.touch()
    path.chmod(mode)
    save_model(fitted("boost"), path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert os.listdir(tmp_path) == ["m.kboost"]


def test_a_new_file_is_like_any_other(tmp_path):
    (tmp_path / "other").touch()
    save_model(fitted("boost"), tmp_path / "m.kboost")
    assert (tmp_path / "m.kboost").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_pipe_is_written_to(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()
    save_model(fitted("boost"), path)
    reader.join(10)
    assert stat.S_ISFIFO(path.stat().st_mode)
    (tmp_path / "m.kboost").write_bytes(read[0])
    assert load_model(tmp_path / "m.kboost").n_columns_ == fitted("boost").n_columns_


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no names of open files")
def test_an_open_file_goes_on_where_it_is(tmp_path):
    with open(tmp_path / "out", "wb", buffering=0) as file:
        file.write(b"before, ")
        replacing.replace_content(f"/dev/fd/{file.fileno()}", b"here, ")
        os.lseek(file.fileno(), 0, os.SEEK_END)
        file.write(b"after")
    assert (tmp_path / "out").read_bytes() == b"before, here, after"


def test_a_file_whose_owner_cannot_be_kept_is_written_in_place(tmp_path, monkeypatch):
    path = tmp_path / "m.kboost"
    path.write_bytes(b"x" * 10)
    number = path.stat().st_ino
    monkeypatch.setattr(replacing, "_made_like", lambda *_: False)
    save_model(fitted("boost"), path)
    assert path.stat().st_ino == number
    assert os.listdir(tmp_path) == ["m.kboost"]
    assert load_model(path).n_columns_ == fitted("boost").n_columns_


def test_nothing_is_left_after_an_error(tmp_path, monkeypatch):
    path = tmp_path / "m.kboost"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        save_model(fitted("boost"), path)
    assert os.listdir(tmp_path) == ["m.kboost"]
    assert path.read_bytes() == b"old"
