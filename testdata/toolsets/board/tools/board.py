"""A board with notes, as a page that lives as long as the chat."""
import html
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

notes = []
server = None


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        items = "".join("<li>%s</li>" % html.escape(n) for n in notes)
        body = ("<!doctype html><title>Board</title><h1>Board</h1><ul>%s</ul>" % items).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def show(workspace, note):
    global server
    notes.append(note)
    if server is None:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    return {"port": server.server_port, "notes": len(notes)}
