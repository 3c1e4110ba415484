"""A plain script whose risky step waits for a yes. Listen to it with: aaep listen http://127.0.0.1:8137"""

import sys

import aaep

ADDRESS = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8137"

with aaep.Producer("bank-assistant", name="Bank Assistant", listen=ADDRESS, journal=None) as producer:
    print(f"Listen with: aaep listen {producer.addresses[0]}", flush=True)

    @producer.tool(risk="low", summary="Looking up your {account} account.")
    def check_balance(account: str) -> int:
        """Reads the balance of an account, in dollars."""
        return 1240

    @producer.tool(
        risk="high",
        irreversible=True,
        action="Transfer {amount} dollars to {to}.",
        consequence="The money moves at once and cannot be called back.",
    )
    def transfer(amount: int, to: str) -> str:
        """Moves money."""
        return f"{amount} dollars are in {to} now."

    producer.reader().wait()  # until a reader is connected that can answer
    with producer.session("Moving 500 dollars to your savings.") as session:
        with session.thinking():
            enough = check_balance("checking") >= 500
        result = transfer(500, to="savings") if enough else "There is not enough money."
        session.write(result)
        print(result, flush=True)
