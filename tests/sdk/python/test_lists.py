"""What the server offers: tools, resources, templates, prompts, completion."""

import json
import subprocess

import pytest
from jsonschema import Draft202012Validator

from client import WAYS, ProtocolError, connect
from peer import HANDSHAKE, prompt_ref, template_ref
from server import BINARY


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_the_tools_are_those_of_the_command_line(server, way):
    printed = json.loads(subprocess.run([BINARY, "tools", "--json"], capture_output=True, check=True).stdout)
    async with connect(server, way) as client:
        tools = await client.tools()
    assert list(tools.values()) == printed


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_every_tool_says_what_it_does_and_takes(server, way):
    async with connect(server, way) as client:
        tools = await client.tools()
    for tool in tools.values():
        assert len(tool["description"]) > 20 and tool["title"]
        assert tool["inputSchema"]["type"] == "object"
        Draft202012Validator.check_schema(tool["inputSchema"])
        assert set(tool["inputSchema"].get("required", [])) <= set(tool["inputSchema"].get("properties", {}))
        assert "outputSchema" not in tool
        assert set(tool["annotations"]) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    ours = ["server_status", "timeline_query", "timeline_note"]
    assert [tools[name]["annotations"]["readOnlyHint"] for name in ours] == [True, True, False]
    assert not any(tools[name]["annotations"]["destructiveHint"] for name in ours)


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_schema_describes_each_parameter(server, way):
    async with connect(server, way) as client:
        tools = await client.tools()
    query = tools["timeline_query"]["inputSchema"]
    types = {name: parameter["type"] for name, parameter in query["properties"].items()}
    assert types == {
        "since": "integer",
        "until": "integer",
        "kinds": "array",
        "match": "string",
        "limit": "integer",
        "run": "integer",
        "timeout_s": "number",
        "session_id": "string",
        "budget_tokens": "integer",
    }
    wait = tools["debug_wait"]["inputSchema"]["properties"]
    assert wait["since"]["description"]
    assert query["properties"]["kinds"]["items"] == {"type": "string"}
    assert "required" not in query
    assert tools["timeline_note"]["inputSchema"]["required"] == ["text"]


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_resources_and_templates_are_listed(server, way):
    async with connect(server, way) as client:
        resources = await client.resources()
        templates = await client.templates()
    assert {"holdpoint://status", "holdpoint://timeline"} <= set(resources)
    assert "holdpoint://timeline/{kind}" in templates
    for it in [*resources.values(), *templates.values()]:
        assert it["mimeType"] and it["name"] and it["description"]


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_resources_read_what_the_tools_say(server, way):
    async with connect(server, way) as client:
        # A client may keep what it reads for as long as it is told to, which must not be past a change.
        assert json.loads((await client.read("holdpoint://timeline/note"))["text"])["events"] == []
        noted = await client.note("read me")
        status = await client.read("holdpoint://status")
        timeline = await client.read("holdpoint://timeline")
        notes = await client.read("holdpoint://timeline/note")
        told = await client.status()
    assert {it["mimeType"] for it in [status, timeline, notes]} == {"application/json"}
    assert status["uri"] == "holdpoint://status"
    assert json.loads(status["text"])["pid"] == told["pid"]
    [note] = json.loads(notes["text"])["events"]
    assert (note["seq"], note["kind"], note["data"]) == (noted, "note", {"text": "read me", "by": "pytest"})
    events = json.loads(timeline["text"])["events"]
    assert note in events
    assert events[0]["kind"] == "server_started"


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_an_unknown_resource_is_refused_with_a_hint(server, way):
    async with connect(server, way) as client:
        with pytest.raises(ProtocolError) as refused:
            await client.read("holdpoint://nothing")
    error = refused.value.error
    # 2026-07-28 took the code of its own away from this error.
    assert error.code == (-32002 if way.revision == HANDSHAKE else -32602)
    assert "holdpoint://nothing" in error.message
    assert "holdpoint://timeline" in error.data["hint"]


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_prompt_holds_the_events_it_is_asked_for(server, way):
    async with connect(server, way) as client:
        await client.note("stands out")
        listed = await client.prompts()
        everything = await client.prompt("review-timeline", {})
        notes = await client.prompt("review-timeline", {"kind": "note"})
    [argument] = listed["review-timeline"]["arguments"]
    assert (argument["name"], argument["required"]) == ("kind", False)
    texts = []
    for prompt in [everything, notes]:
        [message] = prompt["messages"]
        assert message["role"] == "user"
        texts.append(message["content"]["text"])
    assert "stands out" in texts[0] and "server_started" in texts[0]
    assert "stands out" in texts[1] and "server_started" not in texts[1]


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_an_unknown_prompt_and_a_bad_argument_are_refused_with_a_hint(server, way):
    async with connect(server, way) as client:
        with pytest.raises(ProtocolError) as unknown:
            await client.prompt("review-timelin", {})
        with pytest.raises(ProtocolError) as bad:
            await client.prompt("review-timeline", {"kind": "note_"})
    assert unknown.value.error.code == bad.value.error.code == -32602
    assert "review-timeline" in unknown.value.error.data["hint"]
    assert "did you mean `note`?" in bad.value.error.data["hint"]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize(
    "ref", [prompt_ref("review-timeline"), template_ref("holdpoint://timeline/{kind}")], ids=["prompt", "template"]
)
async def test_kinds_are_completed(server, way, ref):
    async with connect(server, way) as client:
        everything = await client.complete(ref, "kind", "")
        left = await client.complete(ref, "kind", "client_l")
        nothing = await client.complete(ref, "kind", "x")
    assert {"server_started", "client_connected", "client_left", "note"} <= set(everything["values"])
    assert everything["total"] == len(everything["values"])
    assert left == {"values": ["client_left"], "total": 1, "hasMore": False}
    assert nothing["values"] == []
