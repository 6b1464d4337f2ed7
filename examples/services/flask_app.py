"""A prediction service with Flask, for `dpassay attack service http://127.0.0.1:5000`.

`my_service.open_session(data, seed, user)` is your own; its `ask` returns None once it refuses.
"""

from flask import Flask, request
from my_service import open_session

app, sessions = Flask(__name__), []


@app.post("/open")
def opened():
    sessions.append(open_session(**request.json))
    return {"session": len(sessions) - 1}


@app.post("/ask")
def asked():
    return {"answer": sessions[request.json["session"]].ask(request.json["x"])}
