"""A client that is killed in the middle of a call: `victim.py HOME TRANSPORT REVISION [OPTION]…`."""

import sys
from pathlib import Path

import anyio

from client import Way, connect
from server import TALKATIVE, Server


async def main(home: str, transport: str, revision: str, *options: str) -> None:
    server = Server(Path(home), *options, log=TALKATIVE)
    async with (
        connect(server, Way(transport, revision), name="victim") as client,
        client.watching("holdpoint://timeline"),
        anyio.create_task_group() as group,
    ):
        await client.start(group, "timeline_query", {"since": 1000, "timeout_s": 600})
        print((await client.status())["pid"], flush=True)


anyio.run(main, *sys.argv[1:])
