"""Load on a running service, by Debian's wrk: no error, no lost answer, also while models are replaced and it ends.

How fast it is, `python -m benchmarks service` says; nothing here asserts a time or a rate.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import threading
from typing import NamedTuple

import pytest
from attacks import JSON, MIB, ROW
from started import head, post, responses, started, wait_until

from vecuq import fit_ranker, load
from vecuq.client import Client, ServiceError

pytestmark = pytest.mark.nightly

ROWS = [{"entropy": 0.1 * k, "knn": 0.2 * k} for k in range(20)]
CONNECTIONS, SECONDS = 16, 2
MANY = json.dumps({"rows": ROWS})
_SCRIPT = """wrk.method = "POST"
wrk.body = '%s'
wrk.headers["content-type"] = "application/json"
done = function(summary, latency, requests)
  local e = summary.errors
  print(string.format("FOUND %%d %%d", summary.requests, e.connect + e.read + e.write + e.status + e.timeout))
end
"""


class Load(NamedTuple):
    """What wrk saw: answers, and errors of any kind; a status other than 2xx is one."""

    answers: int
    errors: int


@pytest.fixture(scope="session")
def wrk(tmp_path_factory):
    """Put load on a service: wrk(service, rows, seconds)."""
    program = shutil.which("wrk")
    if program is None:
        if os.environ.get("VECUQ_TEST_LOAD") == "required":
            pytest.fail("wrk is not installed, and VECUQ_TEST_LOAD=required; apt-get install wrk")
        pytest.skip("wrk is not installed, which makes the load: apt-get install wrk")

    def run(service, rows=(ROW,), seconds=SECONDS):
        script = tmp_path_factory.mktemp("wrk") / "rows.lua"
        script.write_text(_SCRIPT % json.dumps({"rows": list(rows)}))
        command = [program, "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(script), f"{service.url}/score"]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return Load(*map(int, re.search(r"FOUND (\d+) (\d+)", shown).groups()))

    return run


def answered(service):
    """How many requests to score the service counts as answered with 200, over all workers."""
    with service.connect() as made:
        made.sendall(head("/metrics", "GET"))
        text = responses(made)[0].body.decode()
    counts = re.findall(r"^vecuq_requests_total\{(.*)\} (\S+)$", text, re.MULTILINE)
    return sum(int(float(value)) for labels, value in counts if 'route="/score"' in labels and 'status="200"' in labels)


@pytest.mark.parametrize("workers", [1, 2])
def test_every_request_is_answered_and_counted_once(wrk, saved, workers):
    with started(saved, "--workers", workers) as service:
        found = wrk(service)
        assert found.errors == 0
        assert found.answers > 0
        # When wrk ends, every connection may have one request under way. Counts of other workers come a little later.
        wait_until(lambda: answered(service) >= found.answers, "all requests are counted")
        assert answered(service) <= found.answers + CONNECTIONS


def test_tables_are_answered_under_load(wrk, saved):
    with started(saved, "--store", saved.with_name("load.sqlite")) as service:
        found = wrk(service, [{**ROW, "id": f"q{k}"} for k in range(50)])
        assert found.errors == 0
        assert found.answers > 0


class Asking(threading.Thread):
    """Asks for the same rows again and again, and keeps every answer that differs from the one before."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self._url, self.n_answers, self.seen, self.error, self.enough = url, 0, set(), None, False

    def run(self):
        try:
            with Client(self._url) as client:
                while not self.enough:
                    scored = client.score(ROWS)
                    self.seen.add((scored.checksum, tuple(row.uncertainty for row in scored.rows)))
                    self.n_answers += 1
        except ServiceError as error:
            self.error = error


@pytest.mark.parametrize("workers", [1, 2])
def test_while_a_model_is_replaced_every_answer_is_of_one_model(wrk, make_rows, tmp_path, workers):
    models = [fit_ranker(make_rows(120, seed)) for seed in (0, 1)]
    path = tmp_path / "model.vecuq"
    models[0].save(path)
    with started(path, "--workers", workers, "--reload-every", "0.05") as service:
        asking = [Asking(service.url) for _ in range(2)]
        for one in asking:
            one.start()
        loads, going = [], threading.Event()

        def keep_loading():
            while not going.is_set():
                loads.append(wrk(service))

        pressing = threading.Thread(target=keep_loading)
        pressing.start()
        try:
            for k in range(1, 21):
                models[k % 2].save(path)
                wait_until(lambda: checksums(service, 3 * workers) == {checksum_of(path)}, "the new model answers")
        finally:
            going.set()
            for one in asking:
                one.enough = True
                one.join()
            pressing.join()
        assert [one.error for one in asking] == [None, None]
        assert sum(load.errors for load in loads) == 0
        assert sum(load.answers for load in loads) > 0
        expected = {tuple(model.uncertainty(ROWS).tolist()) for model in models}
        seen = set().union(*(one.seen for one in asking))
        assert {numbers for _, numbers in seen} == expected
        assert len(seen) == len({checksum for checksum, _ in seen}) == 2


def checksum_of(path):
    from vecuq.service import ServeSettings
    from vecuq.service.shelf import Shelf

    return Shelf(ServeSettings({"model": path})).get().checksum


def checksums(service, tries):
    """The checksums that so many connections see, each perhaps of another worker."""
    found = set()
    for _ in range(tries):
        with service.connect() as made:
            made.sendall(post(json.dumps({"rows": [ROW]})))
            found.add(responses(made)[0].said["checksum"])
    return found


class Sending(threading.Thread):
    """Sends requests on connections that it keeps, until the service takes no more; counts what became of each."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self._service, self.sent, self.statuses, self.lost = service, 0, [], 0

    def run(self):
        while True:
            try:
                made = self._service.connect()
            except OSError:
                return  # nobody listens any more: nothing was accepted
            with made:
                while True:
                    try:
                        made.sendall(post(MANY))
                    except OSError:
                        break  # closed before it was sent
                    self.sent += 1
                    came = responses(made)
                    if not came:
                        self.lost += 1
                        return
                    self.statuses.append(came[0].status)
                    if came[0].closes:
                        break


@pytest.mark.parametrize("workers", [1, 2])
def test_a_service_that_is_told_to_end_answers_what_it_accepted(saved, workers):
    with started(saved, "--workers", workers) as service:
        sending = [Sending(service) for _ in range(CONNECTIONS)]
        for one in sending:
            one.start()
        wait_until(lambda: all(len(one.statuses) > 5 for one in sending), "requests are answered")
        service.process.send_signal(signal.SIGTERM)
        code = service.process.wait(60)
        for one in sending:
            one.join(60)
        assert code == 0
        assert sum(one.lost for one in sending) == 0
        assert {status for one in sending for status in one.statuses} <= {200, 503}
        assert sum(one.sent for one in sending) == sum(len(one.statuses) for one in sending)


def test_a_table_in_work_is_answered_before_the_service_ends(saved):
    body = "entropy,knn\n" + "0.5,1.5\n" * 400_000
    with started(saved) as service, service.connect() as made:
        request = post(body, kind="text/csv", Accept=JSON)
        made.sendall(request[:-10])
        wait_until(lambda: is_served(service), "it is accepted, and its end comes after the signal")
        service.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not is_served(service), "nobody else is accepted")
        made.sendall(request[-10:])
        came = responses(made)
        assert came[0].status == 200
        assert len(came[0].said["rows"]) == 400_000
        assert service.process.wait(60) == 0


def is_served(service):
    """Whether a new connection is answered, as is then all that came before it."""
    try:
        with service.connect() as made:
            made.sendall(head("/health", "GET"))
            return responses(made)[0].status == 200
    except (OSError, IndexError):
        return False


def grows(wrk, service, n_requests):
    """Bytes that the service grows over so many requests, after the first fifth of them."""
    done, first = 0, None
    while done < n_requests:
        found = wrk(service)
        assert found.errors == 0
        done += found.answers
        if first is None and done >= n_requests / 5:
            first = service.memory()
    return service.memory() - first


@pytest.mark.parametrize("n_requests", [20_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_memory_stays_flat_over_many_requests(wrk, saved, n_requests):
    with started(saved) as service:
        wrk(service)
        assert grows(wrk, service, n_requests) < 16 * MIB


def test_memory_stays_flat_while_models_are_replaced(make_rows, tmp_path):
    path, models = tmp_path / "model.vecuq", [fit_ranker(make_rows(120, seed)) for seed in (0, 1)]
    models[0].save(path)
    with started(path, "--reload-every", "0.05") as service:
        sizes = []
        for k in range(1, 61):
            models[k % 2].save(path)
            wait_until(lambda: checksums(service, 1) == {checksum_of(path)}, "the new model answers")
            sizes.append(service.memory())
        assert sizes[-1] - sizes[19] < 16 * MIB
        assert load(path).columns == models[0].columns
