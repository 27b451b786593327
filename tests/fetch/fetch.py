#!/usr/bin/env python3
"""`hogbatch data fetch` against a server on this machine that misbehaves.

    tests/fetch/fetch.py PROGRAM
"""
import concurrent.futures
import http.server
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
CONTENT = b"".join(b"%d,%d,%d\n" % (i, i * i, i % 7) for i in range(60_000))


class Server(http.server.ThreadingHTTPServer):
    """What `behave` says: a function of (handler, number of the request), or None for an ordinary answer."""
    daemon_threads = True
    behave = None
    tag = '"one"'
    content = CONTENT

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, most=None, pause=0.0):
        """Sends the file from where Range asks on, and breaks off after `most` bytes."""
        content = self.server.content
        begin = 0
        asked = self.headers.get("Range")
        if asked and self.headers.get("If-Range") == self.server.tag:
            begin = int(asked.removeprefix("bytes=").split("-")[0])
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(content) - begin))
        self.send_header("ETag", self.server.tag)
        self.end_headers()
        body = content[begin:] if most is None else content[begin:begin + most]
        self.wfile.write(body[:len(body) // 2])
        self.wfile.flush()
        time.sleep(pause)
        self.wfile.write(body[len(body) // 2:])
        self.wfile.flush()
        if most is not None:
            self.close_connection = True
            self.connection.close()

    def do_GET(self):
        self.server.requests.append(self.headers.get("Range"))
        try:
            if self.server.behave is None:
                self.answer()
            else:
                self.server.behave(self, len(self.server.requests))
        except OSError:
            pass  # the other side has gone


class FetchTest(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(self.server.shutdown)

    def fetch(self, name="covtype", *more, environment=None):
        return subprocess.run([PROGRAM, "data", "fetch", name, "--out", self.folder.name, "--from", self.server.address,
                               *more], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "no_proxy": "*", **(environment or {})})

    def fetched(self, name="covtype.csv.gz"):
        return pathlib.Path(self.folder.name, name).read_bytes()

    def test_fetches_and_says_that_nothing_was_at_hand_to_compare_with(self):
        done = self.fetch()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.fetched(), CONTENT)
        self.assertIn("not verified", done.stdout)
        self.assertIn("is there already", self.fetch().stdout)
        self.assertEqual(len(self.server.requests), 1)

    def test_goes_on_after_cut_connections(self):
        self.server.behave = lambda handler, number: handler.answer(most=None if number == 4 else 200_000)
        done = self.fetch()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.fetched(), CONTENT)
        self.assertEqual(self.server.requests[0], None)
        self.assertTrue(all(self.server.requests[1:]), "the rest is asked for, not all of it")

    def test_goes_on_in_another_call_and_begins_again_if_the_file_has_changed(self):
        def only_the_first(handler, number):
            if number == 1:
                handler.answer(most=300_000)
            else:
                handler.send_error(403)
        self.server.behave = only_the_first
        self.assertEqual(self.fetch().returncode, 2)
        self.server.behave = None
        self.server.tag = '"two"'
        self.server.content = CONTENT[::-1]
        done = self.fetch()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.fetched(), CONTENT[::-1])

    def test_follows_redirects_but_not_for_ever(self):
        def redirect_once(handler, number):
            if number > 1:
                return handler.answer()
            handler.send_response(302)
            handler.send_header("Location", "/elsewhere")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        self.server.behave = redirect_once
        self.assertEqual(self.fetch().returncode, 0)
        self.assertEqual(self.fetched(), CONTENT)
        os.remove(pathlib.Path(self.folder.name, "covtype.csv.gz"))
        self.server.behave = lambda handler, _: redirect_once(handler, 0)
        done = self.fetch()
        self.assertEqual(done.returncode, 2)
        self.assertIn("redirects", done.stderr)

    def interrupted(self, *starter):
        """Its exit code after Ctrl-C in the middle of the file."""
        begun = threading.Event()

        def answer(handler, _):
            handler.close_connection = True
            begun.set()
            handler.answer(pause=2)
        self.server.behave = answer
        with subprocess.Popen([*starter, PROGRAM, "data", "fetch", "covtype", "--out", self.folder.name, "--from",
                               self.server.address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env={**os.environ, "no_proxy": "*"}) as fetch:
            begun.wait(60)
            fetch.send_signal(signal.SIGINT)
            return fetch.wait(60)

    def test_ends_when_it_is_interrupted(self):
        self.assertEqual(self.interrupted(), 130)
        self.assertFalse(os.path.exists(pathlib.Path(self.folder.name, "covtype.csv.gz")))

    def test_leaves_a_signal_ignored_that_was_so_when_it_started(self):
        # As the & of a script does.
        self.assertEqual(self.interrupted("sh", "-c", 'trap "" INT; exec "$@"', "sh"), 0)
        self.assertEqual(self.fetched(), CONTENT)

    def test_refuses_a_wrong_sum_and_keeps_nothing(self):
        done = self.fetch("w8a")
        self.assertEqual(done.returncode, 2)
        self.assertIn("its content is not the known one (SHA-256", done.stderr)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_waits_for_slow_answers_and_gives_up_on_silent_ones(self):
        self.server.behave = lambda handler, _: handler.answer(pause=2)
        self.assertEqual(self.fetch("covtype", "--timeout", "10").returncode, 0)
        os.remove(pathlib.Path(self.folder.name, "covtype.csv.gz"))
        self.server.behave = lambda *_: time.sleep(20)
        began = time.monotonic()
        done = self.fetch("covtype", "--timeout", "1")
        self.assertEqual(done.returncode, 2)
        self.assertLess(time.monotonic() - began, 60)
        self.assertIn("check the network", done.stderr)

    def test_says_what_is_wrong(self):
        self.server.behave = lambda handler, _: handler.send_error(404)
        done = self.fetch()
        self.assertEqual(done.returncode, 2)
        self.assertIn("404", done.stderr)
        self.assertIn("--from names another place", done.stderr)
        homeless = subprocess.run([PROGRAM, "data", "fetch", "delicious", "--out", self.folder.name],
                                  capture_output=True, text=True)
        self.assertEqual(homeless.returncode, 2)
        self.assertIn("give one with --from", homeless.stderr)
        done = self.fetch("covtipe")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean covtype?", done.stderr)
        self.assertEqual(subprocess.run([PROGRAM, "data", "fetch"], capture_output=True).returncode, 2)

    def test_writes_through_nothing_that_lies_there(self):
        path = pathlib.Path(self.folder.name)
        partial, tag, other = path / "covtype.csv.gz.partial", path / "covtype.csv.gz.partial.tag", path / "other"
        for plant in (lambda: os.link(other, partial), lambda: partial.symlink_to(other), lambda: os.mkfifo(partial)):
            other.write_bytes(b"mine")
            tag.write_text(self.server.tag)
            plant()
            done = self.fetch()
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(self.fetched(), CONTENT)
            self.assertEqual(other.read_bytes(), b"mine")
            os.remove(path / "covtype.csv.gz")

    def test_uses_a_proxy(self):
        # The server answers as a proxy does: it is asked for the whole address.
        done = subprocess.run([PROGRAM, "data", "fetch", "covtype", "--out", self.folder.name, "--from",
                               "http://127.0.0.1:9/far"], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "no_proxy": "", "http_proxy": self.server.address})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.fetched(), CONTENT)


def main():
    """All tests at once: they wait more than they work."""
    tests = list(unittest.defaultTestLoader.loadTestsFromTestCase(FetchTest))
    results = [unittest.TestResult() for _ in tests]
    with concurrent.futures.ThreadPoolExecutor(len(tests)) as threads:
        list(threads.map(lambda test, result: test.run(result), tests, results))
    for result in results:
        for test, trace in result.errors + result.failures:
            print(f"{test}\n{trace}", file=sys.stderr)
    ran = sum(result.testsRun for result in results)
    print(f"{ran} tests")
    sys.exit(not ran or not all(result.wasSuccessful() for result in results))


if __name__ == "__main__":
    main()
