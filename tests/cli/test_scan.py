import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mithril_proxy.cli.scan import scan
from tests.secrets import fakes as f


def run(*arguments: str, given: str | bytes = "") -> Result:
    return CliRunner().invoke(scan, arguments, input=given)


def test_clean_text_passes_unchanged_with_exit_0() -> None:
    result = run(given="nothing to see\n")
    assert (result.exit_code, result.stdout, json.loads(result.stderr)) == (0, "nothing to see\n", [])


def test_found_text_is_redacted_with_findings_on_stderr_and_exit_10() -> None:
    result = run(given=f"key {f.AWS}\n")
    assert (result.exit_code, result.stdout) == (10, "key [REDACTED:aws_access_key]\n")
    assert json.loads(result.stderr) == [
        {"kind": "aws_access_key", "rule": "redact.aws-access-key", "start": 4, "end": 24}
    ]


def test_bytes_that_are_no_utf8_pass_unchanged() -> None:
    result = run(given=b"\xff\xfe raw\r\n")
    assert result.stdout_bytes == b"\xff\xfe raw\r\n"


@pytest.mark.parametrize("size", ["1", "7", "4096"])
def test_stream_prints_what_a_client_would_see(size: str) -> None:
    result = run("--stream", size, given=f"key {f.GITHUB} end\n")
    assert (result.exit_code, result.stdout) == (10, "key [REDACTED:github_token] end\n")


def test_jsonl_keeps_ids_and_gives_findings_with_exit_0() -> None:
    lines = [{"id": "a", "text": f"key {f.AWS}"}, {"id": 2, "text": "clean \ud800"}]
    result = run("--jsonl", given="\n".join(map(json.dumps, lines)) + "\n\n")
    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {
            "id": "a",
            "text": "key [REDACTED:aws_access_key]",
            "findings": [{"kind": "aws_access_key", "start": 4, "end": 24}],
        },
        {"id": 2, "text": "clean \ud800", "findings": []},
    ]


def test_jsonl_can_be_streamed() -> None:
    result = run("--jsonl", "--stream", "3", given=json.dumps({"id": 1, "text": f"key {f.AWS}"}))
    assert json.loads(result.stdout)["text"] == "key [REDACTED:aws_access_key]"


@pytest.mark.parametrize("line", ["{", "[]", '{"id": 1}', '{"id": 1, "text": 2}'])
def test_a_line_that_is_no_row_is_a_usage_error(line: str) -> None:
    result = run("--jsonl", given='{"id": 1, "text": "ok"}\n' + line)
    assert result.exit_code == 2
    assert "line 2" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--stream", "0"],
        ["--format", "xml"],
        ["no-such-file"],
        ["--jsonl", "."],
        ["--stream", "3", "."],
        ["--policy", "no-such-policy"],
    ],
)
def test_wrong_usage_is_exit_2(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(f.GITHUB)
    (tmp_path / "clean.txt").write_text("nothing")
    (tmp_path / "image.bin").write_bytes(b"\0\1" + f.GITHUB.encode())
    (tmp_path / "notes.txt").write_text(f"one\ntwo {f.GITHUB}\n")
    return tmp_path


def test_a_folder_is_listed_by_path_line_and_column(folder: Path) -> None:
    result = run(str(folder))
    assert result.exit_code == 10
    assert result.stdout == f"{folder}/notes.txt:2:5: github_token (redact.github-token)\n"


def test_clean_files_give_exit_0(folder: Path) -> None:
    result = run(str(folder / "clean.txt"))
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize("arguments", [["--json"], ["--format", "json"]])
def test_files_as_json(folder: Path, arguments: list[str]) -> None:
    (row,) = json.loads(run(*arguments, str(folder)).stdout)
    assert row == {
        "path": f"{folder}/notes.txt",
        "line": 2,
        "column": 5,
        "kind": "github_token",
        "rule": "redact.github-token",
        "start": 8,
        "end": 8 + len(f.GITHUB),
    }


def test_files_as_sarif(folder: Path) -> None:
    report = json.loads(run("--format", "sarif", str(folder)).stdout)
    (result,) = report["runs"][0]["results"]
    assert report["version"] == "2.1.0"
    assert result["ruleId"] == "redact.github-token"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 2
    assert report["runs"][0]["tool"]["driver"]["rules"] == [{"id": "redact.github-token"}]


def test_a_pack_may_be_named(tmp_path: Path) -> None:
    pack = tmp_path / "pack.toml"
    pack.write_text("[[rules]]\nid = 'acme'\nregex = 'acme-[0-9]+'\n")
    assert run("--pack", str(pack), given=f"acme-17 {f.AWS}").stdout == f"[REDACTED:acme] {f.AWS}"


def test_a_bad_pack_is_exit_2_with_the_reason(tmp_path: Path) -> None:
    pack = tmp_path / "pack.toml"
    pack.write_text("[[rules]]\nid = 'acme'\nregex = '('\n")
    result = run("--pack", str(pack))
    assert result.exit_code == 2
    assert "rule 'acme': bad regex" in result.stderr


@pytest.mark.parametrize("arguments", [[], ["--json"], ["--format", "sarif"]])
def test_no_output_holds_the_credential(folder: Path, arguments: list[str]) -> None:
    result = run(*arguments, str(folder))
    assert f.GITHUB not in result.output
    piped = run(given=f.GITHUB)
    assert f.GITHUB not in piped.output


def test_a_file_that_cannot_be_read_is_a_usage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("x")
    pack = tmp_path / "pack.toml"
    pack.write_text("[[rules]]\nid = 'acme'\nregex = 'acme-[0-9]+'\n")

    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert "cannot be read" in run("--pack", str(pack), str(path)).stderr
