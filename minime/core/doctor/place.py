"""Facts about this machine and this project in, findings out: Python, files, git, proxies, the terminal."""

from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec

from minime.core.doctor.finding import Finding, look, well, wrong
from minime.core.listing import count
from minime.core.model.servers import Server, is_loopback

OLDEST = (3, 11)
LITTLE = 50_000_000
"""Bytes of free disk below which a conversation may soon not be kept."""

NAMED = 5
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions of a project: whether they are to be kept, the folder, why it cannot be written (empty: it
    can), how many there are, the damaged ones with their reasons, the free bytes of the disk."""

    enabled: bool
    folder: str
    trouble: str = ""
    sessions: int = 0
    damaged: tuple[tuple[str, str], ...] = ()
    free: int | None = None


class Repository(msgspec.Struct, frozen=True):
    """Whether the project is a git repository, whether git passes over `.mm`, or has files of it already."""

    here: bool
    ignores: bool = True
    tracks: bool = False


class Screen(msgspec.Struct, frozen=True, kw_only=True):
    """The terminal: whether stdout is one, its columns and lines, and what the environment says of it."""

    is_terminal: bool
    columns: int = 0
    lines: int = 0
    edits_lines: bool = True


def python_finding(python: tuple[int, int, int], mm: str, place: str) -> Finding:
    """The Python that runs mm."""
    text = f"mm {mm} on Python {'.'.join(map(str, python))} ({place})"
    if python[:2] < OLDEST:
        return wrong("python", f"{text}: too old", "uv python install 3.12, and install mm with it")
    return well("python", text)


def configuration_findings(
    sources: tuple[str, ...], broken: tuple[str, ...], notices: tuple[str, ...]
) -> tuple[Finding, ...]:
    """The configuration: which files and variables count, all that is wrong in them, what is left out."""
    read = ", ".join(sources) or "the defaults: no agent.yaml here (mm init writes one)"
    if broken:
        return (
            wrong("configuration", "\n".join(broken), "mend the file, then: mm config"),
            look(
                "configuration",
                "what follows was looked at with the defaults",
                "mm doctor, once it is mended",
            ),
        )
    left_out = tuple(look("trust", notice.partition("; mm trust")[0], "mm trust") for notice in notices)
    return (well("configuration", read), *left_out)


def sessions_finding(kept: Kept) -> tuple[Finding, ...]:
    """The folder of the conversations."""
    if not kept.enabled:
        return (well("sessions", "not kept (sessions.enabled is false)"),)
    if kept.trouble:
        return (wrong("sessions", f"{kept.folder}: {kept.trouble}", f"ls -ld {kept.folder}"),)
    there = f"{count(kept.sessions, 'conversation')} in" if kept.sessions else "none yet; they go to"
    found = [well("sessions", f"{there} {kept.folder}")]
    if kept.damaged:
        named = [f"{id}: {reason}" for id, reason in kept.damaged[:NAMED]]
        more = [f"… and {len(kept.damaged) - NAMED} more"] if kept.damaged[NAMED:] else []
        text = "\n".join([f"{count(len(kept.damaged), 'damaged file')}, kept as found", *named, *more])
        found.append(look("sessions", text, "mm sessions check"))
    if kept.free is not None and kept.free < LITTLE:
        text = f"{kept.free // 1_000_000} MB are free on the disk: a conversation may not be kept"
        found.append(look("disk", text, f"df -h {kept.folder}"))
    return tuple(found)


def git_finding(repository: Repository) -> tuple[Finding, ...]:
    """Whether conversations may end up in git."""
    if not repository.here:
        return ()
    if repository.tracks:
        text = "conversations of .mm are in git, for everybody who gets the repository"
        return (look("git", text, "git rm -r --cached .mm"),)
    if not repository.ignores:
        return (
            look("git", ".mm is not ignored: conversations may be committed", "echo '*' > .mm/.gitignore"),
        )
    return (well("git", "passes over .mm"),)


def proxy_finding(environ: Mapping[str, str], server: Server | None) -> tuple[Finding, ...]:
    """What proxies in the environment mean for the server in use; nothing where there are none. Names and
    passwords in a proxy's address are not shown."""
    there = {name: environ.get(name) or environ.get(name.lower()) or "" for name in PROXIES}
    names = [name for name, value in there.items() if value]
    if not names:
        return ()
    if server is None or is_loopback(server.base_url):
        return (well("proxies", f"{', '.join(names)}: not used for servers on this machine"),)
    url = urlsplit(server.base_url)
    host, wanted = url.hostname or "", "HTTPS_PROXY" if url.scheme == "https" else "HTTP_PROXY"
    proxy = there[wanted] or there["ALL_PROXY"]
    spared = (environ.get("NO_PROXY") or environ.get("no_proxy") or "").replace(" ", "").split(",")
    if not proxy or "*" in spared or any(part and host.endswith(part.removeprefix("*")) for part in spared):
        return (well("proxies", f"{', '.join(names)}: not used for {host}"),)
    shown = proxy.rpartition("@")[2].rpartition("/")[2] if "@" in proxy else proxy
    if proxy.startswith("socks"):
        text = f"{host} is reached through {shown}, a kind of proxy that mm cannot use"
        return (wrong("proxies", text, f"export NO_PROXY={host}"),)
    text = f"{host} is reached through the proxy {shown}"
    return (look("proxies", text, f"export NO_PROXY={host}, if it should not be"),)


def terminal_finding(screen: Screen, environ: Mapping[str, str]) -> tuple[Finding, ...]:
    """How the terminal shows what mm writes."""
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    strange = locale not in {"", "C", "POSIX"} and "utf8" not in locale.lower().replace("-", "")
    found: list[Finding] = []
    if strange:
        text = f"the locale {locale} has no UTF-8: letters and marks may come out wrong"
        found.append(look("locale", text, "export LANG=C.UTF-8"))
    if not screen.is_terminal:
        return (*found, well("terminal", "stdout is none: plain text is written"))
    colours = "no colours (NO_COLOR)" if environ.get("NO_COLOR") else "colours"
    if environ.get("TERM", "") in {"dumb", "unknown", ""}:
        colours = f"no colours (TERM={environ.get('TERM', '')})"
    text = f"{screen.columns} × {screen.lines}, {colours}"
    if not screen.edits_lines:
        found.append(look("terminal", f"{text}; this Python has no readline", "uv python install 3.12"))
    else:
        found.append(well("terminal", text))
    return tuple(found)
