"""An asyncio agent that uses several tools at once. Listen to it with: aaep listen http://127.0.0.1:8137"""

import asyncio
import sys

import aaep

ADDRESS = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8137"


async def main() -> None:
    async with aaep.Producer("travel-agent", name="Travel Agent", listen=ADDRESS, journal=None) as producer:
        print(f"Listen with: aaep listen {producer.addresses[0]}", flush=True)

        @producer.tool(risk="low", summary="Looking for flights to {city}.")
        async def find_flights(city: str) -> str:
            """Looks for flights."""
            await asyncio.sleep(0.05)  # stands for work
            return f"a flight to {city} at nine"

        @producer.tool(risk="low", summary="Looking for hotels in {city}.")
        async def find_hotels(city: str) -> str:
            """Looks for hotels."""
            await asyncio.sleep(0.05)  # stands for work
            return f"a quiet hotel in {city}"

        @producer.tool(
            risk="medium",
            irreversible=False,
            confirm=True,
            action="Reserve {flight} and {hotel}.",
            consequence="You can cancel until tomorrow.",
        )
        async def reserve(flight: str, hotel: str) -> str:
            """Makes a reservation."""
            return "Reserved."

        await producer.reader()
        async with producer.session("Planning your trip to Lisbon.") as session:
            flight, hotel = await asyncio.gather(find_flights("Lisbon"), find_hotels("Lisbon"))
            result = await reserve(flight, hotel)
            session.write(f"I found {flight} and {hotel}. {result}")
            print(result, flush=True)


asyncio.run(main())
