"""How PyPI `mcp` 2.x does it: both eras, and a binding for each notification that is not the protocol's."""

from contextlib import asynccontextmanager

import anyio
from mcp import Client, types
from mcp.client.extension import ClientExtension, NotificationBinding
from mcp.client.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPError as ProtocolError

from peer import OURS, STATELESS, UPDATED, Hello, Inbox, Peer, Pending, Way, wire
from server import Server
from transport import open_transport

__all__ = ["ProtocolError", "open_peer"]


class AnyParams(types.NotificationParams):
    model_config = {"extra": "allow"}


class OurNotifications(ClientExtension):
    """2.x drops a notification that nobody asked for by its name."""

    identifier = "dev.holdpoint/timeline"

    def __init__(self, inbox: Inbox):
        self.inbox = inbox

    def notifications(self):
        def bound(method: str) -> NotificationBinding:
            async def hear(params: AnyParams) -> None:
                self.inbox.put(method, wire(params))

            return NotificationBinding(method=method, params_type=AnyParams, handler=hear)

        return [bound(method) for method in OURS]


class Peer2(Peer):
    @asynccontextmanager
    async def watching(self, uri: str):
        if self.hello.protocol != STATELESS:
            await self.sdk.subscribe_resource(uri)
            yield
            await self.sdk.unsubscribe_resource(uri)
            return
        async with self.sdk.listen(resource_subscriptions=[uri]) as subscription:
            assert subscription.honored.resource_subscriptions == [uri]
            async with anyio.create_task_group() as group:
                group.start_soon(self._relay, subscription)
                yield
                group.cancel_scope.cancel()

    async def _relay(self, subscription) -> None:
        async for event in subscription:
            assert isinstance(event, ResourceUpdated), event
            self.inbox.put(UPDATED, {"uri": event.uri})

    async def set_level(self, level: str) -> None:
        await self.sdk.set_logging_level(level)

    def pending(self) -> Pending:
        return Pending()


@asynccontextmanager
async def open_peer(server: Server, way: Way, name: str, inbox: Inbox):
    async def hear(message) -> None:
        if isinstance(message, Exception):
            inbox.fault(message)
            return
        notification = wire(message)
        # The stateless revision's updates come through the subscription; this is the SDK's copy of them.
        if way.revision != STATELESS or notification["method"] != UPDATED:
            inbox.put(notification["method"], notification["params"])

    client = Client(
        open_transport(server, way),
        mode="auto" if way.revision == STATELESS else "legacy",
        client_info=types.Implementation(name=name, version="1"),
        message_handler=hear,
        extensions=[OurNotifications(inbox)],
    )
    async with client:
        hello = Hello(
            name=client.server_info.name,
            version=client.server_info.version,
            protocol=client.protocol_version,
            instructions=client.instructions,
            capabilities=wire(client.server_capabilities),
        )
        yield Peer2(client, hello, inbox)
