# release_service.py
import json
import random
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

prepared = {}


def release(data, rng):
    """Return the sum of numbers in [0, 1] with Laplace noise of scale 1."""
    return sum(data) + rng.expovariate(1) - rng.expovariate(1)


def reply(asked):
    if asked["op"] == "hello":
        return {"seeded": True, "batch": 1000, "queries": False}
    if asked["op"] == "sample":
        rng, data = random.Random(asked["seed"]), prepared[asked["id"]]
        return {"answers": [release(data, rng) for _ in range(asked["size"])]}
    if asked["op"] == "prepare":
        prepared[asked["id"]] = asked["data"]
    if asked["op"] == "forget":
        prepared.pop(asked["id"], None)
    return {"ok": True}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        found = json.dumps(reply(json.loads(body))).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(found)))
        self.end_headers()
        self.wfile.write(found)

    def log_message(self, *_):
        pass


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"http://127.0.0.1:{server.server_port}/release", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
