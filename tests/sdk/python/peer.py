"""A connected client as a test sees it: what both major versions of the SDK do alike.

What they do each in their own way is in `sdk1.py` and `sdk2.py`.
"""

from dataclasses import dataclass, field

import anyio
from mcp import types

HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"

NOTE = "notifications/timeline/note"
HIT = "notifications/breakpoint/hit"
STATE = "notifications/debug/session_state"
PAUSED = "notifications/breakpoint/execution_paused"
RESUMED = "notifications/breakpoint/execution_resumed"
COMPLETED = "notifications/breakpoint/call_completed"
# Those that the protocol does not know.
OURS = [NOTE, HIT, STATE, PAUSED, RESUMED, COMPLETED]
LOG = "notifications/message"
UPDATED = "notifications/resources/updated"


@dataclass(frozen=True)
class Way:
    """How a client reaches the server."""

    transport: str
    revision: str

    def __str__(self) -> str:
        return f"{self.transport}-{self.revision}"


@dataclass(frozen=True)
class Hello:
    """What the server said of itself."""

    name: str
    version: str
    protocol: str
    instructions: str
    capabilities: dict


@dataclass(frozen=True)
class Answer:
    """The answer of a tool: one text, and the same as data."""

    failed: bool
    text: str
    envelope: dict

    @property
    def data(self) -> dict:
        assert not self.failed, self.text
        return self.envelope["data"]

    @property
    def seq(self) -> int:
        return self.envelope["meta"]["seq"]


@dataclass
class Inbox:
    """What the server sent unasked, in order of arrival."""

    heard: list[tuple[str, dict]] = field(default_factory=list)
    faults: list[Exception] = field(default_factory=list)
    news: anyio.Event = field(default_factory=anyio.Event)

    def put(self, method: str, params: dict) -> None:
        self.heard.append((method, params))
        self._wake()

    def fault(self, error: Exception) -> None:
        self.faults.append(error)
        self._wake()

    def _wake(self) -> None:
        self.news.set()
        self.news = anyio.Event()

    def of(self, method: str) -> list[dict]:
        return [params for heard, params in self.heard if heard == method]

    async def wait(self, method: str, matches=lambda _: True, within: float = 5) -> dict:
        """The first such notification, one that came already or the next."""
        with anyio.fail_after(within):
            while True:
                news = self.news
                for params in self.of(method):
                    if matches(params):
                        return params
                await news.wait()

    async def count(self, method: str, number: int, within: float = 5) -> None:
        """Waits until so many have come."""
        with anyio.fail_after(within):
            while len(self.of(method)) < number:
                await self.news.wait()

    async def note(self, text: str) -> dict:
        return await self.wait(NOTE, lambda params: params["data"]["text"] == text)

    async def log(self, text: str) -> dict:
        return await self.wait(LOG, lambda params: params["data"]["data"]["text"] == text)


class Peer:
    """A connected client. What differs between the SDKs is in the subclasses."""

    def __init__(self, sdk, hello: Hello, inbox: Inbox):
        self.sdk = sdk
        self.hello = hello
        self.inbox = inbox

    # What the SDKs do alike.

    async def tools(self) -> dict[str, dict]:
        return {tool["name"]: tool for tool in wire(await self.sdk.list_tools())["tools"]}

    async def resources(self) -> dict[str, dict]:
        return {it["uri"]: it for it in wire(await self.sdk.list_resources())["resources"]}

    async def templates(self) -> dict[str, dict]:
        listed = wire(await self.sdk.list_resource_templates())
        return {it["uriTemplate"]: it for it in listed["resourceTemplates"]}

    async def prompts(self) -> dict[str, dict]:
        return {prompt["name"]: prompt for prompt in wire(await self.sdk.list_prompts())["prompts"]}

    async def prompt(self, name: str, arguments: dict[str, str]) -> dict:
        return wire(await self.sdk.get_prompt(name, arguments))

    async def complete(self, ref, argument: str, value: str) -> dict:
        asked = await self.sdk.complete(ref, {"name": argument, "value": value})
        return wire(asked)["completion"]

    async def read(self, uri: str) -> dict:
        [contents] = wire(await self.sdk.read_resource(uri))["contents"]
        return contents

    async def call(self, tool: str, arguments: dict | None = None, on_progress=None) -> Answer:
        result = wire(await self.sdk.call_tool(tool, arguments or {}, progress_callback=on_progress))
        [content] = result["content"]
        return Answer(result["isError"], content["text"], result["structuredContent"])

    async def note(self, text: str) -> int:
        return (await self.call("timeline_note", {"text": text})).data["seq"]

    async def status(self) -> dict:
        return (await self.call("server_status")).data

    async def wait_for_event(self, since: int, *kinds: str, within: float = 5) -> list[dict]:
        arguments = {"since": since, "kinds": list(kinds), "timeout_s": within}
        return (await self.call("timeline_query", arguments)).data["events"]

    # What they do each in their own way.

    def watching(self, uri: str):
        """Hears of changes of the resource for as long as the context lasts."""
        raise NotImplementedError

    async def set_level(self, level: str) -> None:
        raise NotImplementedError

    def pending(self) -> "Pending":
        """A call to be, which this SDK can cancel."""
        raise NotImplementedError

    async def start(self, group, tool: str, arguments: dict, on_progress=None) -> "Pending":
        """A call that runs beside the test. What is sent after this comes after it."""
        pending = self.pending()
        await group.start(pending.run, self, tool, arguments, on_progress)
        return pending


class Pending:
    """A call under way, until it ends or is cancelled."""

    def __init__(self):
        self.scope = anyio.CancelScope()
        self.done = anyio.Event()
        self.answer: Answer | None = None
        self.error: Exception | None = None

    async def run(self, peer: Peer, tool: str, arguments: dict, on_progress, *, task_status) -> None:
        # Whoever waits for this goes on when this task first has to wait, and that is for the sending.
        task_status.started()
        with self.scope:
            try:
                self.answer = await peer.call(tool, arguments, on_progress)
            except Exception as error:
                self.error = error
        self.done.set()

    async def wait(self) -> Answer:
        await self.done.wait()
        if self.error:
            raise self.error
        return self.answer

    async def cancel(self) -> None:
        self.scope.cancel()
        await self.done.wait()


def wire(model) -> dict:
    """The message as it went over the wire."""
    return model.model_dump(by_alias=True, exclude_none=True, mode="json")


def prompt_ref(name: str):
    return types.PromptReference(type="ref/prompt", name=name)


def template_ref(uri: str):
    return types.ResourceTemplateReference(type="ref/resource", uri=uri)
