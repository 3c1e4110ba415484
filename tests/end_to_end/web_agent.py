"""An agent inside a web application, as the page on web applications shows it, for a real server to serve."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from aaep.producer.producer import Producer

producer = Producer("bank", name="Bank", journal=None)


@producer.tool(action="Transfer.", consequence="Funds move at once.")
async def transfer() -> str:
    return "moved"


async def pay(request: Request) -> PlainTextResponse:
    async with producer.session("Moving money.") as session:
        answer = await transfer()
        session.write(answer)
    return PlainTextResponse(answer)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    async with producer:
        yield


routes = [Route("/pay", pay, methods=["POST"]), Mount("/", producer.asgi())]
app = Starlette(routes=routes, lifespan=lifespan)
app_without_lifespan = Starlette(routes=routes)
