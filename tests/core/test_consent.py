import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.tools.consent import (
    Allow,
    AlwaysRule,
    Ask,
    Deny,
    No,
    NoBecause,
    always_text,
    covers,
    decide,
    offered,
    refusal_shown,
    refusal_text,
    remember,
    unattended,
    unsaid,
)
from minime.core.tools.permissions import Decision, Mode, PermissionRule
from minime.core.tools.toolbox import Action, EditFile, ListDirectory, ReadFile, RunCommand, Search, WriteFile

READING: tuple[Action, ...] = (ReadFile("a.py"), ListDirectory(), Search("x"))
EDITS: tuple[Action, ...] = (WriteFile("a.py", "x"), EditFile("a.py", "x", "y"))
COMMAND = RunCommand("git status")


def rule(match: str, do: Decision, tool: str = "run_command") -> PermissionRule:
    return PermissionRule(tool, match, do)


def kind(action: Action, mode: Mode = "ask", *rules: PermissionRule) -> type:
    return type(decide(action, mode, rules))


@pytest.mark.parametrize(
    ("mode", "reading", "edits", "command"),
    [
        ("ask", Allow, Ask, Ask),
        ("auto-edit", Allow, Allow, Ask),
        ("auto", Allow, Allow, Allow),
        ("read-only", Allow, Deny, Deny),
    ],
)
def test_each_mode_asks_for_what_it_says(mode: Mode, reading: type, edits: type, command: type) -> None:
    assert {kind(action, mode) for action in READING} == {reading}
    assert {kind(action, mode) for action in EDITS} == {edits}
    assert kind(COMMAND, mode) is command


def test_of_the_rules_the_first_match_wins() -> None:
    assert kind(COMMAND, "ask", rule("git *", "allow"), rule("*", "deny")) is Allow
    assert kind(COMMAND, "ask", rule("*", "deny"), rule("git *", "allow")) is Deny
    assert kind(COMMAND, "ask", rule("*", "allow", "edit_file"), rule("ls*", "deny")) is Ask


def test_a_deny_holds_in_every_mode_and_against_always() -> None:
    for mode in ("ask", "auto-edit", "auto", "read-only"):
        assert kind(ReadFile(".env"), mode, rule(".env*", "deny", "*")) is Deny
    verdict = decide(
        COMMAND, "auto", (rule("git*", "deny"),), (AlwaysRule("run_command", ("git", "status")),)
    )
    assert isinstance(verdict, Deny)
    assert "mm config" in verdict.reason


def test_read_only_is_not_widened_by_a_rule() -> None:
    assert kind(EDITS[0], "read-only", rule("*", "allow", "*")) is Deny


def test_an_ask_rule_asks_even_for_reading_until_the_user_says_always() -> None:
    rules = (rule("secrets/*", "ask", "read_file"),)
    verdict = decide(ReadFile("secrets/x"), "auto-edit", rules)
    assert verdict == Ask(AlwaysRule("read_file"))
    assert decide(ReadFile("secrets/x"), "ask", rules, (AlwaysRule("read_file"),)) == Allow()


@pytest.mark.parametrize(
    "command",
    [
        "git status; rm x",
        "git status && rm x",
        "git status | sh",
        "git status > x",
        "git status < x",
        "git status `rm x`",
        "git status $(rm x)",
        "git status\nrm x",
        "git status & rm x",
        "git status \r rm x",
    ],
)
def test_what_allows_covers_one_simple_command_only(command: str) -> None:
    allow = rule("git status*", "allow")
    always = AlwaysRule("run_command", ("git", "status"))
    assert kind(RunCommand("  git\tstatus  -s "), "ask", allow) is Allow
    assert covers(always, RunCommand("git status -s"))
    assert kind(RunCommand(command), "ask", allow) is Ask
    assert not covers(always, RunCommand(command))
    assert offered(RunCommand(command)) is None


def test_a_space_that_the_shell_does_not_know_parts_no_words() -> None:
    assert kind(RunCommand("git\u00a0status"), "ask", rule("git status*", "allow")) is Ask
    assert not covers(AlwaysRule("run_command", ("git", "status")), RunCommand("git\u00a0status"))


@pytest.mark.parametrize(
    "command",
    [
        "rm x",
        "ls; rm x",
        "ls && rm -rf x",
        "ls |rm x",
        "ls\nrm x",
        "echo $(rm x)",
        "echo `rm x`",
        "(rm x)",
        "{ rm x; }",
        "if true; then rm x; fi",
        "A=1 rm x",
        "sudo -n rm x",
        "env A=1 rm x",
        "xargs rm < list",
        "timeout 5 rm x",
        "sh -c 'rm x'",
        'bash -c "rm x"',
        "/usr/bin/python3.11 rm",
        "/bin/rm x",
        "\\rm x",
        "'rm' x",
        "RM x",
    ],
)
def test_a_deny_finds_the_command_wherever_it_stands(command: str) -> None:
    assert kind(RunCommand(command), "auto", rule("rm*", "deny")) is Deny


@pytest.mark.parametrize("command", ["ls; rm x", "ls | xargs rm", "echo $(rm x)"])
def test_an_allow_for_all_does_not_cover_what_a_later_deny_finds_in_a_part(command: str) -> None:
    assert kind(RunCommand(command), "ask", rule("*", "allow"), rule("rm*", "deny")) is Deny


@pytest.mark.parametrize(
    "command", ["ls rm", "git rm-cached", "grep -r rm src", "echo ok; ls farm", "npm test"]
)
def test_a_deny_leaves_other_commands_alone(command: str) -> None:
    assert kind(RunCommand(command), "auto", rule("rm*", "deny")) is Allow


def test_rules_for_files_match_the_path_however_it_is_written() -> None:
    deny = rule("secrets/*", "deny", "read_file")
    for path in ("secrets/key", "./secrets/key", "src/../secrets//key", "Secrets/KEY"):
        assert kind(ReadFile(path), "auto", deny) is Deny
    assert kind(ReadFile("src/secrets.py"), "auto", deny) is Allow


def test_a_link_is_judged_by_where_it_leads() -> None:
    allow, deny = rule("docs/*", "allow", "write_file"), rule("secrets/*", "deny", "write_file")
    action = WriteFile("docs/link", "x")
    assert isinstance(decide(action, "ask", (allow,), where="docs/link"), Allow)
    assert isinstance(decide(action, "ask", (allow,), where="src/other.py"), Ask)
    assert isinstance(decide(action, "auto", (deny,), where="secrets/key"), Deny)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("git status --short", ("git", "status")),
        ("ls", ("ls",)),
        ("ls -la src", ("ls", "-la")),
        ("npm run test", ("npm", "run")),
        ("./build.sh all", ("./build.sh", "all")),
        ("make", ("make",)),
        ("make test", ("make", "test")),
    ],
)
def test_always_covers_the_first_two_words(command: str, words: tuple[str, ...]) -> None:
    assert decide(RunCommand(command), "ask") == Ask(AlwaysRule("run_command", words))


@pytest.mark.parametrize(
    "command",
    [
        "bash x.sh",
        "/bin/sh x",
        "python3.11 x.py",
        "python -c x",
        "/usr/bin/perl5 x",
        "node x.js",
        "env A=1 ls",
        "sudo ls",
        "xargs ls",
        "nohup ls",
        "timeout 5 ls",
        "ssh host ls",
        "A=1 ls",
        "'bash' x",
        "b\\ash x",
        "$SHELL x",
        "git -c a=b status",
        "uv run x",
        "npx x",
        "npm exec x",
        "docker run x",
        "find . -delete",
        "awk {}",
        "sed -n",
        "PYTHON x",
        "make -f other",
        "rsync -e x a b",
        "tar xf a.tar",
        "nvim x",
        "emacs --batch",
        "psql -c x",
        "socat a b",
        "",
        "  ",
    ],
)
def test_always_is_not_offered_for_what_runs_anything(command: str) -> None:
    assert decide(RunCommand(command), "ask") == Ask(None)


def test_always_covers_the_same_two_words_and_no_others() -> None:
    always = (AlwaysRule("run_command", ("git", "push")), AlwaysRule("run_command", ("make",)))
    for command, verdict in {
        "git push --force": Allow,
        "git pull": Ask,
        "git": Ask,
        "make": Allow,
        "make install": Ask,
    }.items():
        assert isinstance(decide(RunCommand(command), "ask", (), always), verdict)


def test_always_for_an_edit_covers_that_tool() -> None:
    verdict = decide(EditFile("a", "x", "y"), "ask")
    assert verdict == Ask(AlwaysRule("edit_file"))
    always = remember((), AlwaysRule("edit_file"))
    assert remember(remember(always, AlwaysRule("edit_file")), None) == always
    assert decide(EditFile("b", "x", "y"), "ask", (), always) == Allow()
    assert isinstance(decide(WriteFile("b", "x"), "ask", (), always), Ask)


def test_a_refusal_tells_the_model_why() -> None:
    assert refusal_text(No()).startswith("refused by the user")
    assert refusal_text(NoBecause(" use make ")) == "refused by the user, who says: use make"


def test_a_refusal_is_shown_to_the_user_without_the_words_for_the_model() -> None:
    assert refusal_shown(refusal_text(No())) == "refused"
    assert refusal_shown(refusal_text(NoBecause("use make"))) == "refused: use make"
    assert refusal_shown("exit 1") == ""
    assert refusal_text(NoBecause(" ")) == refusal_text(No())
    assert "--yes" in unattended(COMMAND).reason


def test_what_was_allowed_is_said_in_words() -> None:
    assert always_text(AlwaysRule("run_command", ("git", "push"))) == "commands that begin with git push"
    assert always_text(AlwaysRule("edit_file")) == "every edit_file"


@given(st.text(st.sampled_from("ab ;&|<>`$()\n\t\"'\\/=-.")), st.sampled_from(["ask", "auto-edit"]))
def test_nothing_that_is_offered_covers_more_than_one_command(command: str, mode: Mode) -> None:
    action = RunCommand(command)
    verdict = decide(action, mode)
    assert isinstance(verdict, Ask)
    if verdict.always is not None:
        assert covers(verdict.always, action)
        assert not any(mark in command.strip(" \t\n") for mark in ";&|<>`\n")


@given(st.text(), st.text())
def test_a_denied_command_stays_denied_with_others_around_it(before: str, after: str) -> None:
    verdict = decide(RunCommand(f"{before};rm x;{after}"), "auto", (rule("rm*", "deny"),))
    assert isinstance(verdict, Deny)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("git status", ()),
        ("echo é", ()),
        ("ls\nrm -rf ~", ("ls", "rm -rf ~")),
        ("ls " + "x" * 120 + "; rm -rf ~", ("ls " + "x" * 120 + "; rm -rf ~",)),
        ("ls" + " " * 100 + "; rm", ("ls" + " " * 100 + "; rm",)),
        ("ls\u202e \u200b\x1b[8m", ("ls\\u202e \\u200b\\x1b[8m",)),
        ("ls\r; rm -rf ~", ("ls\\r; rm -rf ~",)),
        ("ls\u00a0-l", ("ls\\xa0-l",)),
    ],
)
def test_a_question_shows_all_of_a_command_that_its_title_does_not(
    command: str, shown: tuple[str, ...]
) -> None:
    assert unsaid(RunCommand(command), "") == shown


def test_a_question_shows_where_an_edit_really_goes() -> None:
    assert unsaid(WriteFile("a.py", ""), "a.py") == ()
    where, obeyed = unsaid(WriteFile("docs/link.md", ""), ".github/workflows/ci.yml")
    assert where == ".github/workflows/ci.yml"
    assert unsaid(WriteFile(".envrc", ""), ".envrc") == (obeyed,)
    assert unsaid(EditFile("a\u202e.py", "", ""), "a\u202e.py") == ("a\\u202e.py",)
    assert unsaid(ReadFile("x/../y"), "y") == ()


@given(st.text())
def test_what_a_person_agrees_to_stands_before_their_eyes(command: str) -> None:
    seen = "\n".join(unsaid(RunCommand(command), "")) or command
    assert seen.replace("\n", "").replace("\t", "").isprintable()
    assert seen == command or "\\" in seen or not command


@pytest.mark.parametrize(
    "path",
    [
        "agent.yaml", "web/agent.yaml", "AGENT.YAML", ".vscode/tasks.json", "a/.VSCode/x", ".envrc", ".bashrc",
        "docs/../.envrc", ".husky/pre-commit", ".github/workflows/ci.yml", ".idea/workspace.xml", ".envrc\u200b",
    ],
)  # fmt: skip
def test_a_file_that_others_obey_is_asked_about_each_time(path: str) -> None:
    for edit in (WriteFile(path, ""), EditFile(path, "", "")):
        always = (AlwaysRule("write_file"), AlwaysRule("edit_file"))
        assert decide(edit, "auto-edit", (), always) == Ask(None)
        assert kind(edit, "auto") is Allow
        assert kind(edit, "ask", rule("*", "allow", "*")) is Allow
        assert kind(edit, "auto", rule("*", "deny", "*")) is Deny
    assert decide(WriteFile("notes.md", ""), "auto-edit", where=path) == Ask(None)
    assert kind(ReadFile(path), "ask") is Allow
    assert kind(WriteFile("environment.md", ""), "auto-edit") is Allow


@pytest.mark.parametrize(
    "tail",
    [
        "; rm -rf ~", " && rm x", " || rm x", " | sh", " $(rm x)", " `rm x`", "\nrm x", "\rrm x", " > ~/.bashrc",
        " < /etc/passwd", " & rm x", " <(rm x)", " >(rm x)", " 2>&1",
    ],
)  # fmt: skip
def test_neither_always_nor_a_rule_is_widened_by_what_is_put_behind(tail: str) -> None:
    always = (AlwaysRule("run_command", ("git", "status")),)
    verdict = decide(RunCommand("git status" + tail), "auto-edit", (rule("git status*", "allow"),), always)
    assert verdict == Ask(None)


BEFORE = [
    "PAGER=evil git status", "git -c core.pager=evil status", "git --exec-path=. status", "\\git status",
    "'git' status", "git  'status'", "/tmp/git status", "env git status", "git st\u0430tus", "git\u00a0status",
    "$X git status", "{git,status}", "alias git=evil", "find . -exec rm {} +", "git $IFS status",
]  # fmt: skip


def test_what_follows_an_always_runs_no_other_program_and_writes_no_other_file() -> None:
    for words, tail in (
        ("git diff", "--output=/home/me/.bashrc"), ("git diff", "--outp=x"), ("git log", '--out"put"=x'),
        ("git fetch", "--upload-pack=evil ."), ("git fetch", "--upl evil ."), ("rg x", "--pre=evil"),
        ("git diff", "--ext-diff"), ("git diff", "{--output=x,}"), ("sort x", "--compress-program=sh"),
    ):  # fmt: skip
        always = (AlwaysRule("run_command", tuple(words.split())),)
        assert decide(RunCommand(f"{words} --pretty -q file"), "ask", (), always) == Allow()
        assert decide(RunCommand(f"{words} {tail}"), "ask", (), always) == Ask(None)
    for command in ("git rebase -x evil", "git grep -O", "git bisect run x", "git config alias.x !sh"):
        assert decide(RunCommand(command), "ask") == Ask(None)


@pytest.mark.parametrize("command", BEFORE)
def test_neither_always_nor_a_rule_is_widened_by_what_is_put_before(command: str) -> None:
    always = (AlwaysRule("run_command", ("git", "status")),)
    assert isinstance(decide(RunCommand(command), "ask", (rule("git status*", "allow"),), always), Ask)
