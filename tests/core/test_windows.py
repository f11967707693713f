"""What the pages of servers tell of a context window, and what is no window at all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.model.servers import KNOWN, Kind, Server
from minime.core.model.windows import (
    Window,
    assumed_window,
    read_window,
    recognised,
    server_root,
    window_pages,
    window_text,
)
from tests.conftest import ROOT

BASES: dict[Kind, str] = {entry.kind: entry.base_url for entry in KNOWN} | {
    "embedded": "http://127.0.0.1:5000/v1",
    "other": "https://models.example.org/api/v1",
}


def told(kind: Kind, model: str, **bodies: bytes) -> Window | None:
    """What the pages of such a server tell when those named have these bodies, asked in their order."""
    server = Server(kind, BASES[kind])
    for page in window_pages(server, model):
        if page.reads in bodies and (found := read_window(server, model, page, bodies[page.reads])):
            return found
    return None


def body(name: str) -> bytes:
    return (ROOT / "tests" / "data" / "windows" / f"{name}.json").read_bytes()


@pytest.mark.parametrize(
    ("kind", "model", "pages", "tokens"),
    [
        ("llama.cpp", "smollm2-135m-instruct", {"props": "llamacpp-props"}, 8192),
        ("llama.cpp", "smollm2-135m-instruct", {"models": "llamacpp-models"}, 8192),
        ("ollama", "qwen3:8b", {"running": "ollama-running", "show": "ollama-show"}, 16384),
        ("ollama", "nomic-embed-text", {"running": "ollama-running"}, 2048),
        ("ollama", "qwen3-long", {"running": "ollama-running", "show": "ollama-show"}, 12288),
        ("ollama", "qwen3-long", {"show": "ollama-show-plain"}, None),
        ("vllm", "Qwen/Qwen3-8B", {"models": "vllm-models"}, 32768),
        ("other", "Qwen/Qwen3-8B", {"models": "vllm-models"}, 32768),
        ("lm-studio", "qwen3-8b", {"loaded": "lm-studio-models"}, 10240),
        ("lm-studio", "gemma-3-4b", {"loaded": "lm-studio-models"}, None),
        ("docker", "ai/qwen3", {"packaged": "docker-models"}, 20480),
        ("docker", "ai/smollm2:360M-Q4_K_M", {"packaged": "docker-models"}, None),
        ("other", "qwen/qwen3-32b", {"models": "service-models"}, 131072),
        ("other", "another", {"models": "service-models"}, None),
    ],
)
def test_the_window_that_is_loaded_is_read_and_never_the_longest_that_could_be(
    kind: Kind, model: str, pages: dict[str, str], tokens: int | None
) -> None:
    found = told(kind, model, **{reads: body(name) for reads, name in pages.items()})
    assert (found and found.tokens) == tokens


def test_a_list_on_this_machine_tells_what_a_model_could_have_and_not_what_is_loaded() -> None:
    server = Server("other", "http://127.0.0.1:5001/v1")
    [page] = window_pages(server, "qwen/qwen3-32b")
    assert read_window(server, "qwen/qwen3-32b", page, body("service-models")) is None


def test_the_origin_names_the_server_and_a_guess_is_called_one() -> None:
    found = told("vllm", "Qwen/Qwen3-8B", models=body("vllm-models"))
    assert found == Window(32768, "told by vLLM")
    assert assumed_window("ollama") == Window(4096, "assumed", firm=False)
    assert assumed_window("vllm") == Window(8192, "assumed", firm=False)


def test_what_a_model_is_to_be_loaded_with_is_asked_again_once_it_is_loaded() -> None:
    found = told("ollama", "qwen3-long", show=body("ollama-show"))
    assert found is not None
    assert not found.firm


def test_the_pages_stand_beside_the_chat_api_and_name_the_model() -> None:
    urls = {kind: [page.url for page in window_pages(Server(kind, BASES[kind]), "a/b c")] for kind in BASES}
    assert urls["ollama"] == ["http://127.0.0.1:11434/api/ps", "http://127.0.0.1:11434/api/show"]
    assert urls["llama.cpp"] == [
        "http://127.0.0.1:8080/props?model=a%2Fb%20c&autoload=false",
        "http://127.0.0.1:8080/v1/models",
    ]
    assert urls["lm-studio"] == ["http://127.0.0.1:1234/api/v0/models"]
    assert urls["docker"] == ["http://127.0.0.1:12434/models"]
    assert urls["other"] == ["https://models.example.org/api/v1/models"]
    [_, show] = window_pages(Server("ollama", BASES["ollama"]), "qwen3:8b")
    assert json.loads(show.body) == {"model": "qwen3:8b"}


def test_a_server_at_an_unknown_port_is_recognised_by_its_list() -> None:
    server = Server("other", "http://127.0.0.1:5001/v1")
    [page] = window_pages(server, "x")
    assert recognised(server, page, body("llamacpp-models")).kind == "llama.cpp"
    assert recognised(server, page, body("vllm-models")).kind == "vllm"
    assert recognised(server, page, body("service-models")) == server


@pytest.mark.parametrize("tokens", ["0", "-4096", "true", "1e400", '"8192"', "null", "255", "1e12", "8192.5"])
def test_a_number_that_is_no_window_is_not_taken_for_one(tokens: str) -> None:
    props = b'{"default_generation_settings": {"n_ctx": ' + tokens.encode() + b"}}"
    assert told("llama.cpp", "a", props=props) is None


@given(
    kind=st.sampled_from(sorted(BASES)),
    said=st.one_of(
        st.binary(max_size=40),
        st.recursive(
            st.none() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from([
                        "data",
                        "models",
                        "id",
                        "tags",
                        "config",
                        "meta",
                        "parameters",
                        "n_ctx",
                    ]),
                    inner,
                    max_size=4,
                )
            ),
        ).map(lambda value: json.dumps(value).encode()),
    ),
)
def test_whatever_a_page_holds_nothing_is_raised(kind: Kind, said: bytes) -> None:
    server = Server(kind, BASES[kind])
    for page in window_pages(server, "a"):
        found = read_window(server, "a", page, said)
        assert found is None or 256 <= found.tokens <= 100_000_000
        recognised(server, page, said)


def test_the_address_of_a_server_is_what_stands_before_its_api() -> None:
    assert server_root("http://127.0.0.1:12434/engines/v1") == "http://127.0.0.1:12434"
    assert server_root("http://127.0.0.1:8000/api") == "http://127.0.0.1:8000/api"


def test_a_window_in_words() -> None:
    assert window_text(Window(8192, "told by llama.cpp")) == "8,192 tokens (told by llama.cpp)"
