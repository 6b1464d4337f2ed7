# release_server.py
import json
import random
import sys


def release(data, rng):
    """Return the sum of numbers in [0, 1] with Laplace noise of scale 1."""
    return sum(data) + rng.expovariate(1) - rng.expovariate(1)


def main():
    prepared = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["op"] == "hello":
            reply = {"seeded": True, "batch": 1000, "queries": False}
        elif asked["op"] == "prepare":
            prepared[asked["id"]] = asked["data"]
            reply = {"ok": True}
        elif asked["op"] == "sample":
            rng, data = random.Random(asked["seed"]), prepared[asked["id"]]
            reply = {"answers": [release(data, rng) for _ in range(asked["size"])]}
        else:
            prepared.pop(asked.get("id"), None)
            reply = {"ok": True}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
