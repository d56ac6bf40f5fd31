"""Calling tools: the envelope, failures that say how to go on, many calls at once."""

import statistics
import time
from datetime import datetime, timezone

import anyio
import pytest

from client import WAYS, connect


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_an_answer_is_text_and_the_same_in_an_envelope(server, way):
    async with connect(server, way) as client:
        first = await client.call("timeline_note", {"text": "one"})
        second = await client.call("timeline_note", {"text": "two"})
        query = await client.call("timeline_query", {"since": first.seq - 1, "kinds": ["note"]})
    assert set(first.envelope) == {"ok", "type", "text", "data", "meta"}
    assert (first.envelope["ok"], first.envelope["type"]) == (True, "success")
    assert first.data == {"seq": first.seq, "by": "pytest"}
    assert first.text == f"noted as seq {first.seq}: one"
    assert second.seq == first.seq + 1

    meta = first.envelope["meta"]
    assert set(meta) == {"requestId", "timestamp", "duration", "seq"}
    assert meta["requestId"] != second.envelope["meta"]["requestId"]
    age = datetime.now(timezone.utc) - datetime.fromisoformat(meta["timestamp"])
    assert 0 <= age.total_seconds() < 30
    assert 0 < meta["duration"] < 1000

    assert [event["data"]["text"] for event in query.data["events"]] == ["one", "two"]
    assert query.data["next_since"] == query.seq
    assert [line.split(" ", 2)[2] for line in query.text.splitlines()] == ["note pytest: one", "note pytest: two"]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize(
    ("tool", "arguments", "code", "message", "hint"),
    [
        (
            "timeline_query",
            {"knids": ["note"]},
            "E_INVALID_PARAMS",
            "unknown parameter `knids`",
            "did you mean `kinds`? `timeline_query` takes `since`, `until`, `kinds`, `match`, `limit`",
        ),
        ("timeline_qery", {}, "E_UNKNOWN_TOOL", "no tool `timeline_qery`", "did you mean `timeline_query`?"),
        ("timeline_note", {}, "E_INVALID_PARAMS", "missing parameter `text`", "pass `text` (string)"),
        ("timeline_query", {"kinds": ["nose"]}, "E_INVALID_PARAMS", "of kind `nose`", "did you mean `note`?"),
        ("timeline_note", {"text": " "}, "E_INVALID_PARAMS", "parameter `text` is empty", "pass a sentence"),
        ("timeline_query", {"since": "soon"}, "E_INVALID_PARAMS", "parameter `since` of `timeline_query`", "integer"),
        ("timeline_query", {"timeout_s": 9999}, "E_INVALID_PARAMS", "`timeout_s`", "3600"),
    ],
    ids=["unknown-parameter", "unknown-tool", "missing", "unknown-kind", "empty", "wrong-type", "out-of-range"],
)
async def test_a_failure_says_what_and_what_next(server, way, tool, arguments, code, message, hint):
    async with connect(server, way) as client:
        answer = await client.call(tool, arguments)
        assert (await client.status())["pid"]
    assert answer.failed
    assert set(answer.envelope) == {"ok", "type", "text", "error", "meta"}
    assert (answer.envelope["ok"], answer.envelope["type"]) == (False, "error")
    error = answer.envelope["error"]
    assert error["code"] == code
    assert message in error["message"]
    assert answer.text.splitlines()[0] == f"[{code}] {error['message']}"
    # The next step is always there, and always on a line of its own.
    assert answer.text.splitlines()[1] == f"hint: {error['hint']}"
    assert hint in answer.text


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_fifty_calls_at_once_all_get_their_own_answer(server, way):
    answers = {}
    async with connect(server, way) as client:

        async def note(number: int) -> None:
            answers[number] = await client.call("timeline_note", {"text": f"note {number}"})

        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                for number in range(50):
                    group.start_soon(note, number)
        query = await client.call("timeline_query", {"kinds": ["note"], "budget_tokens": 20_000})
    assert query.data["more"] == 0
    texts = {event["seq"]: event["data"]["text"] for event in query.data["events"]}
    assert texts == {answer.data["seq"]: f"note {number}" for number, answer in answers.items()}
    assert len(texts) == 50


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_the_usual_answer_does_not_wait_for_a_delayed_acknowledgement(server, way):
    usual = []
    async with connect(server, way) as client:
        # One costs 40 ms and would be there in every round; a busy machine's delays are not.
        while len(usual) < 20 and min(usual, default=1) >= 0.035:
            taken = []
            for _ in range(40):
                started = time.perf_counter()
                await client.status()
                taken.append(time.perf_counter() - started)
            usual.append(statistics.median(taken))
    assert min(usual) < 0.035, usual
