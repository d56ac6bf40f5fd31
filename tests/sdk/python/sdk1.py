"""How PyPI `mcp` 1.x does it: handshake revisions only, and cancelling by hand."""

from contextlib import AsyncExitStack, asynccontextmanager
from typing import Literal, Union

from mcp import ClientSession, types
from mcp.shared.exceptions import McpError as ProtocolError
from pydantic import RootModel, create_model

from peer import OURS, Hello, Inbox, Peer, Pending, Way, wire
from server import Server
from transport import open_transport

__all__ = ["ProtocolError", "open_peer"]


def kind(method: str) -> type[types.Notification]:
    """The type of one of our notifications."""
    name = "".join(part.title() for part in method.split("/")[1:])
    return create_model(name, __base__=types.Notification[dict, Literal[method]], method=(Literal[method], method))


class AnyNotification(RootModel[Union[types.ServerNotificationType, *map(kind, OURS)]]):
    pass


class Session(ClientSession):
    """1.x drops a notification it has no type for, so it is given one."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._receive_notification_type = AnyNotification


class Peer1(Peer):
    @asynccontextmanager
    async def watching(self, uri: str):
        await self.sdk.subscribe_resource(uri)
        yield
        await self.sdk.unsubscribe_resource(uri)

    async def set_level(self, level: str) -> None:
        await self.sdk.set_logging_level(level)

    def pending(self) -> Pending:
        return Pending1(self.sdk)


class Pending1(Pending):
    """1.x cancels the waiting only; telling the server is left to its user."""

    def __init__(self, session: ClientSession):
        super().__init__()
        self.session = session
        self.request_id: int | None = None

    async def run(self, peer: Peer, tool: str, arguments: dict, on_progress, *, task_status) -> None:
        # The session numbers its requests; between here and the sending nothing else runs.
        self.request_id = self.session._request_id
        await super().run(peer, tool, arguments, on_progress, task_status=task_status)

    async def cancel(self) -> None:
        params = types.CancelledNotificationParams(requestId=self.request_id)
        await self.session.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))
        await super().cancel()


@asynccontextmanager
async def open_peer(server: Server, way: Way, name: str, inbox: Inbox):
    async def hear(message) -> None:
        if isinstance(message, AnyNotification):
            notification = wire(message.root)
            inbox.put(notification["method"], notification["params"])
        else:
            inbox.fault(message)

    async with AsyncExitStack() as stack:
        read, write = await stack.enter_async_context(open_transport(server, way))
        info = types.Implementation(name=name, version="1")
        session = await stack.enter_async_context(Session(read, write, client_info=info, message_handler=hear))
        said = await session.initialize()
        hello = Hello(
            name=said.serverInfo.name,
            version=said.serverInfo.version,
            protocol=said.protocolVersion,
            instructions=said.instructions,
            capabilities=wire(said.capabilities),
        )
        yield Peer1(session, hello, inbox)
