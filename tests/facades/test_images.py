"""Images from a question to the model and back: at the command line, at the prompt, in an editor, on a page."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from minime.core.images import image_name
from tests.support.editor import Editor, at
from tests.support.mm import only_session, run_mm
from tests.support.server import Body, ScriptedServer, fails, says
from tests.support.values import PIXEL

PNG = base64.b64decode(PIXEL)
SHOWN = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
BLOCK = {"type": "image", "data": PIXEL, "mimeType": "image/png", "uri": "file:///w/a.png"}
BLIND = "tiny takes no images: it reads their names and sizes"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "dot.png").write_bytes(PNG)
    return folder


def asked(server: ScriptedServer, place: int = -1) -> Any:
    """The content of the last question in a request."""
    return [m for m in server.requests[place].json["messages"] if m["role"] == "user"][-1]["content"]


def test_an_image_that_a_question_names_reaches_the_model_and_goes_on_with_the_conversation(
    project: Path,
) -> None:
    with ScriptedServer([says("A dot."), says("Red.")]) as server:
        done = run_mm("What is @dot.png?", cwd=project, env=at(server))
        assert (done.returncode, done.stdout) == (0, "A dot.\n")
        assert done.stderr == "  @dot.png (PNG, 1×1, 1 kB)\n"
        assert asked(server) == [
            {"type": "text", "text": "What is @dot.png?"},
            {"type": "text", "text": "Image: dot.png (PNG, 1×1, 1 kB)"},
            SHOWN,
        ]
        (project / "dot.png").unlink()
        run_mm("--continue", "And its colour?", cwd=project, env=at(server))
        first = next(m for m in server.requests[1].json["messages"] if m["role"] == "user")
        assert first["content"][-1] == SHOWN
    session = only_session(project)
    assert session["title"] == "What is @dot.png?"
    url = session["messages"][1]["content"][-1]["image_url"]["url"]
    assert url == f"{session['id']}.files/{image_name(PNG)}"
    assert (project / ".mm" / "sessions" / url).read_bytes() == PNG
    page = run_mm("sessions", "export", "last", "--format", "html", cwd=project).stdout
    assert f'<img src="data:image/png;base64,{PIXEL}" alt="dot.png (PNG, 1×1, 1 kB)">' in page
    assert "img-src data:;" in page
    markdown = run_mm("sessions", "export", "last", cwd=project).stdout
    assert f"*dot.png (PNG, 1×1, 1 kB): {url}*" in markdown
    checked = run_mm("sessions", "check", cwd=project)
    assert (checked.returncode, "not there" in checked.stdout) == (0, False)
    assert run_mm("sessions", "delete", "last", "--yes", cwd=project).returncode == 0
    assert not list((project / ".mm" / "sessions").glob("*.files"))


def test_a_model_that_takes_no_images_is_told_of_them_and_so_is_the_person(project: Path) -> None:
    refused = fails(500, "image input is not supported - hint: you may need to provide the mmproj")
    with ScriptedServer([refused, says("I cannot see it.")]) as server:
        done = run_mm("What is @dot.png?", cwd=project, env=at(server))
    assert (done.returncode, done.stdout) == (0, "I cannot see it.\n")
    assert done.stderr.splitlines() == ["  @dot.png (PNG, 1×1, 1 kB)", BLIND]
    assert asked(server) == (
        "What is @dot.png?\n\nImage: dot.png (PNG, 1×1, 1 kB)\n\n(this model is not shown the image itself)"
    )
    assert only_session(project)["errors"] == []


def test_a_server_that_tells_is_asked_before_an_image_is_sent(project: Path) -> None:
    models = Body(b'{"data": [{"id": "tiny", "owned_by": "llamacpp"}]}')
    routes = {"/props": Body(b'{"modalities": {"vision": false}}')}
    with ScriptedServer([says("Hm.")], models=models, routes=routes) as server:
        done = run_mm("What is @dot.png?", cwd=project, env=at(server))
    assert done.stderr.splitlines() == ["  @dot.png (PNG, 1×1, 1 kB)", BLIND]
    assert isinstance(asked(server), str)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda p: p.write_bytes(PNG + bytes(10_000_000)), "which is larger than the 10 MB that a question takes"),
        (lambda p: p.write_bytes(b"\x00\x01\x02"), "is a binary file (3 bytes)"),
        (lambda p: p.symlink_to("/etc/hostname"), "outside the project"),
        (lambda p: None, "no such file"),
    ],
)  # fmt: skip
def test_what_is_no_image_to_be_had_is_told_and_nothing_is_sent(project: Path, make: Any, told: str) -> None:
    (project / "dot.png").unlink()
    make(project / "dot.png")
    with ScriptedServer() as server:
        done = run_mm("What is @dot.png?", cwd=project, env=at(server))
        assert not server.requests
    assert done.returncode == 2
    assert told in done.stderr
    assert not (project / ".mm").exists()


def test_an_editors_image_reaches_the_model_and_is_there_when_the_thread_is_loaded(project: Path) -> None:
    with ScriptedServer([says("A dot.")]) as server, Editor(cwd=project, env=at(server)) as editor:
        id = editor.new(project)
        assert editor.prompt(id, "What is it?", BLOCK) == "end_turn"
        assert asked(server)[-1] == SHOWN
    with Editor(cwd=project, env={"MM_BASE_URL": "http://127.0.0.1:9/v1"}) as editor:
        editor.load(id, project)
        shown = [u["content"] for u in editor.updates(id) if u["sessionUpdate"] == "user_message_chunk"]
        assert shown == [
            {"type": "text", "text": "What is it?"},
            {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        ]
    exported = run_mm("sessions", "export", id, "--format", "acp", cwd=project).stdout
    assert [json.loads(line)["params"]["update"]["content"] for line in exported.splitlines()[:2]] == shown


@pytest.mark.parametrize(
    ("block", "sees"),
    [
        ({"type": "image", "mimeType": "image/png", "uri": "{project}/dot.png"}, True),
        ({"type": "resource_link", "uri": "{project}/dot.png", "name": "dot.png"}, True),
        ({"type": "resource", "resource": {"uri": "a.png", "blob": PIXEL, "mimeType": "image/png"}}, True),
        ({"type": "image", "mimeType": "image/png", "data": "!!!"}, "whose data is damaged"),
        ({"type": "image", "mimeType": "image/png", "data": "aGk="}, "which is no PNG, JPEG, GIF or WebP"),
        ({"type": "image", "mimeType": "image/png", "uri": "https://a.b/c.png"}, "which was not sent along"),
        ({"type": "image", "mimeType": "image/png", "data": "A" * 14_000_000}, "larger than the 10 MB"),
    ],
)
def test_an_image_comes_in_each_form_or_why_not_is_told(
    project: Path, block: dict[str, Any], sees: bool | str
) -> None:
    if "uri" in block:
        block = block | {"uri": block["uri"].format(project=project.as_uri())}
    with ScriptedServer([says("Hm.")]) as server, Editor(cwd=project, env=at(server)) as editor:
        assert editor.prompt(editor.new(project), block) == "end_turn"
        read = asked(server)
    assert SHOWN in read if sees is True else str(sees) in read
