"""A long list of jobs is shared by two children, and nobody can tell from the answers."""

from __future__ import annotations

import socket
import time

import pytest
from msgspec.structs import replace

from engine.flows.measuring import servers_for
from engine.run import learner_client
from engine.run.concurrent import Future, partition, run_both, run_partitioned
from engine.run.jobs import Job, jobs_of
from engine.run.types import LATE, Draw, Tree


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8])
def test_the_order_is_that_of_the_jobs(count: int) -> None:
    """Whoever has which part, and back in order."""
    seen = []

    def part(places: list[int]) -> list[int]:
        seen.append(places)
        return [10 * i for i in places]

    for costs in ([1] * count, [3, 1, 1, 1, 1, 1, 1, 1][:count]):
        assert run_partitioned(costs, part, part) == [10 * i for i in range(count)]
    assert sorted(seen[:2]) == sorted([[*range(0, count, 2)], [*range(1, count, 2)]])


@pytest.mark.parametrize(
    ("costs", "parts"),
    [
        ([], ([], [])),
        ([1] * 5, ([0, 2, 4], [1, 3])),
        ([1, 4, 1, 1, 1, 1], ([0, 2, 3, 4, 5], [1])),
        ([4, 1, 1, 1, 1, 1], ([0, 5], [1, 2, 3, 4])),
    ],
)
def test_two_parts_take_about_as_long(costs, parts):
    """Whoever has what takes long gets less of the rest."""
    assert partition(costs) == parts


def test_what_one_raises_waits_for_the_other() -> None:
    """Else a server would still be answering when the next list is sent to it."""
    ended = []

    def slow() -> list[int]:
        time.sleep(0.2)
        ended.append(True)
        return []

    def failing() -> list[int]:
        raise ValueError("this one")

    with pytest.raises(ValueError, match="this one"):
        run_both(failing, slow)
    assert ended == [True]
    with pytest.raises(ValueError, match="this one"):
        run_both(slow, failing)
    assert ended == [True, True]


def test_an_interruption_does_not_wait() -> None:
    """Ctrl-C ends the command now."""

    def interrupted() -> list[int]:
        raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_both(interrupted, lambda: time.sleep(5) or [])
    assert time.monotonic() - started < 4


def test_later_gives_what_was_made_as_often_as_it_is_asked() -> None:
    """It runs beside, once; what it raises is raised by whoever wants the result."""
    runs = []
    begun = Future(lambda: runs.append(1) or len(runs))
    assert (begun(), begun(), runs) == (1, 1, [1])
    failed = Future(lambda: {}["no such key"])
    failed.wait()
    for _ in range(2):
        with pytest.raises(KeyError, match="no such key"):
            failed()


def test_a_component_is_prepared_once_and_again_where_the_server_died(catalogue, monkeypatch):
    """A verdict asks for all of them each time; a server that is gone is no error of anybody's."""
    sent = []
    with servers_for(catalogue, None) as servers:
        servers.precompile("lm_head", "embedding")
        for name in ("pack", "pack+"):
            send = servers._servers[name].send
            monkeypatch.setattr(
                servers._servers[name], "send", lambda m, send=send: sent.append(m) or send(m)
            )
        servers.precompile("lm_head", "embedding")
        assert sent == []
        servers.precompile("lm_head", "embedding", "sdpa")
        assert [message["components"] for message in sent] == [["sdpa"]] * 2
        servers._servers["pack"]._socket.shutdown(socket.SHUT_RDWR)
        servers.precompile("rope", "ffn")
        assert "pack" not in servers._servers
        (case,) = servers.cases([Draw("lm_head", "forward", "normal", 3)])
        assert case.expected[""].values


def test_what_comes_after_hundreds_of_calls_is_worth_many(plain, catalogue, monkeypatch):
    """Whoever has it has less of the rest."""
    shares = []

    def told(costs, first, second):
        shares.append([len(part) for part in partition(costs)])
        return run_partitioned(costs, first, second)

    monkeypatch.setattr(learner_client, "run_partitioned", told)
    with servers_for(catalogue, None) as servers:
        servers.exam = True
        (case,) = servers.cases([Draw("lm_head", "forward", "normal", 3)], healthy=False)
        (job,) = jobs_of([case])
        jobs = [job] * 99 + [replace(job, call_variant=LATE)]
        jobs.reverse()
        outcomes = servers.outcomes(plain, jobs)
    assert shares == [[19, 81]]
    assert len(outcomes) == 100 and not any(one.raised or one.stopped for one in outcomes)


class Slow:
    """A server that takes a while to be handed a tree; `sent` gets its name and what it is sent."""

    def __init__(self, server, name, sent):
        self._server, self._name, self._sent = server, name, sent

    def send(self, message):
        time.sleep(0.2 if message["do"] == "tree" else 0)
        self._sent.append((self._name, message["do"]))
        self._server.send(message)

    def __getattr__(self, name):
        return getattr(self._server, name)


def test_two_that_want_one_tree_hand_it_over_once():
    """A server that is sent something in the middle of a run takes the engine for gone, and answers nobody."""
    sent = []

    class Servers(learner_client.LearnerClient):
        def _server(self, name):
            return Slow(super()._server(name), name, sent)

    call = b"def run(learner, record):\n    record(two=learner.main())\n"
    tree = Tree(
        "/learner", ("",), {"mine.py": b"def main():\n    return 2\n"}, {"main": "mine:main"}
    )
    with Servers({"pack/part/call.py": call}) as servers:
        asked = Future(lambda: servers.outcomes(tree, [Job("part", "run", {})], server="alone"))
        time.sleep(0.1)
        servers.load_tree(tree, "alone")
        assert asked()[0].values == {"two": 2}
    assert sent.count(("alone", "tree")) == 1
