"""The formulas of capacity.py. Times are milliseconds, rates calls a millisecond.

- The utilisation of anything is its arrivals times its service, by the number of servers.
- Processors of an instance are shared by all that run: the mean time there depends on the mean of the
  work alone, not on how it varies (Baskett, Chandy, Muntz, Palacios, "Open, Closed, and Mixed Networks
  of Queues with Different Classes of Customers", Journal of the ACM 22, 1975).
- Connections, processors of PostgreSQL and the file server serve who comes first: M/M/c by Erlang's C, with
  the factor of Allen and Cunneen for services that vary more or less than exponential ones (A. O. Allen,
  "Probability, Statistics, and Queueing Theory", 1990).
- The write lock of a zone is M/G/1 by Pollaczek and Khinchine, which is the same with one server.
- PostgreSQL flushes its log for all who wait together, so flushes bound no rate: see `commit_time`.
"""

import math
from collections import Counter
from types import SimpleNamespace


def changed(costs, **values):
    return SimpleNamespace(**{**vars(costs), **values})


def steps(call, costs, has_lease):
    """Returns the steps of a call, in order: `cpu` with its time, `hold` of a connection with its statements
    and whether the last one is flushed, `lock`, `file`, `unlock`. One list for formulas and simulation."""
    opening = [("hold", 1, False)] * call["before"]
    work = [("hold", 1, False)] * call.get("locked", 0) + [("file",)] * call.get("files", 0)
    work += [("hold", count, True) for count in call.get("transactions", [])]
    ending = [("hold", 1, True)] * call.get("after_flushed", 0)
    ending += [("hold", 1, False)] * call.get("after", 0)
    cost = getattr(costs, call["cost"]) + (costs.own if call["cost"] == "command" else 0)
    if not call.get("lock"):
        return [processors(cost, opening + work + ending, costs), *opening, *work, *ending]
    if has_lease:
        lease = range(int(costs.lease))
        work = [("hold", 1, index < costs.lease_commits) for index in lease] + work
    first = processors(costs.read, opening + ending, costs)
    second = processors(cost - costs.read, work, costs)
    return [first, *opening, ("lock",), second, *work, ("unlock",), *ending]


def processors(cost, asked, costs):
    """The step of what a part of a call takes on the instance, with its statements."""
    return "cpu", cost + costs.statement * sum(step[1] for step in asked if step[0] == "hold")


def within_lock(all_steps):
    return all_steps[all_steps.index(("lock",)) + 1 : all_steps.index(("unlock",))]


def queue(arrivals, service, servers, variation=1.0):
    """Utilisation, mean wait, and the chance to wait, of M/G/c; `variation` is the squared coefficient
    of variation of the service."""
    load = arrivals * service
    utilisation = load / servers
    if utilisation >= 1:
        return utilisation, math.inf, 1.0
    blocked = 1.0
    for count in range(1, int(servers) + 1):
        blocked = load * blocked / (count + load * blocked)
    chance = blocked / (1 - utilisation * (1 - blocked))
    return utilisation, chance * service / (servers - load) * (1 + variation) / 2, chance


def percentile(share, wait, chance):
    """Returns the wait that a proportion `chance` of all calls does not exceed. The wait of the `share` that
    has to wait is about exponentially distributed."""
    return 0.0 if chance <= 1 - share else wait / chance * math.log(chance / (1 - share))


def commit_time(arrivals, flush):
    """Mean time from a commit to its flush. Whoever comes while the log is flushed waits for that end
    and for the next flush, which has all who came meanwhile. With x arrivals within a flush there are
    e^x flushes in a row in the mean, and 1/x of a flush without any, so the log is busy for the share
    x e^x / (1 + x e^x), and half a flush is left then."""
    arriving = min(arrivals * flush, 50.0)
    busy = arriving * math.exp(arriving)
    return flush * (1 + busy / (1 + busy) / 2)


def moments(kinds):
    """Mean and squared coefficient of variation of what has (weight, mean, variance) by kind."""
    weight = sum(kind[0] for kind in kinds)
    mean = sum(kind[0] * kind[1] for kind in kinds) / weight
    square = sum(kind[0] * (kind[1] ** 2 + kind[2]) for kind in kinds) / weight
    return mean, square / mean**2 - 1


class Plant:
    """Instances, databases and file servers under a load."""

    def __init__(self, costs, calls, rate=0.0, instances=1, databases=1, file_servers=1, has_lease=True):
        self.costs = costs
        self.steps = {name: steps(call, costs, has_lease) for name, call in calls.items()}
        self.shares = {name: call["share"] for name, call in calls.items()}
        self.statements = self.mean(lambda step: step[1] if step[0] == "hold" else 0)
        self.commits = self.mean(lambda step: step[0] == "hold" and step[2])
        self.cpu = self.mean(lambda step: step[1] if step[0] == "cpu" else 0)
        self.files = self.mean(lambda step: step[0] == "file")
        self.pg = self.statements * costs.pg_statement + self.commits * costs.pg_commit
        self.solve(rate / instances, rate / databases, rate / file_servers)

    def mean(self, value):
        """The mean of the sum of a value of each step, over all calls."""
        return sum(self.shares[name] * sum(map(value, steps)) for name, steps in self.steps.items())

    def solve(self, at_instance, at_database, at_file_server):
        costs = self.costs
        # Service, servers and variation of each queue.
        self.services = {}
        plain, flushed = costs.pg_statement, costs.pg_statement + costs.pg_commit
        kinds = [(self.statements - self.commits, plain, plain**2), (self.commits, flushed, flushed**2)]
        self.database = self.queue("PostgreSQL", at_database * self.statements, kinds, costs.pg_cores)
        self.commit = commit_time(at_database * self.commits, costs.flush)
        holds = Counter()
        for name, steps in self.steps.items():
            for step in steps:
                if step[0] == "hold":
                    holds[step[1:]] += self.shares[name]
        kinds = [(count, self.hold(*hold), self.variance(*hold)) for hold, count in holds.items()]
        self.connection = sum(count * time for count, time, _ in kinds)
        taken = at_instance * sum(holds.values())
        self.pool = self.queue("a connection", taken, kinds, costs.connections)
        kinds = [(1, costs.file, costs.file**2)]
        self.file_server = self.queue("the file server", at_file_server * self.files, kinds, costs.parallel)
        self.processors, _, chance = queue(at_instance, self.cpu, costs.cores)
        is_full = self.processors >= 1
        self.slower = math.inf if is_full else 1 + chance / (costs.cores * (1 - self.processors))
        self.response = sum(share * self.time(name) for name, share in self.shares.items())
        self.places = at_instance * self.response / costs.places

    def queue(self, name, arrivals, kinds, servers):
        mean, variation = moments(kinds)
        self.services[name] = (mean, servers, variation)
        return queue(arrivals, mean, servers, variation)

    def hold(self, statements, is_flushed):
        """Returns the time for which a connection is held."""
        costs = self.costs
        time = statements * (costs.rtt + costs.pg_statement + self.database[1])
        return time + (costs.pg_commit + self.commit if is_flushed else 0)

    def variance(self, statements, is_flushed):
        """Variance of that, with nobody else there."""
        plain = self.costs.pg_statement
        last = plain + self.costs.pg_commit if is_flushed else plain
        return (statements - 1) * plain**2 + last**2

    def time(self, name, is_locked=False):
        """Mean time of a call, without the wait for its zone; or of what it does within the lock."""
        steps = within_lock(self.steps[name]) if is_locked else self.steps[name]
        time = 0.0
        for step in steps:
            if step[0] == "cpu":
                time += step[1] * self.slower
            elif step[0] == "hold":
                time += self.hold(*step[1:]) + self.pool[1]
            elif step[0] == "file":
                time += self.costs.file + self.file_server[1]
        return time

    def locked(self, name):
        """Mean and squared coefficient of variation of the time within the write lock, alone."""
        variances = {
            "cpu": lambda step: step[1] ** 2,
            "hold": lambda step: self.variance(*step[1:]),
            "file": lambda step: self.costs.file**2,
        }
        inside = within_lock(self.steps[name])
        mean = self.time(name, is_locked=True)
        return mean, sum(variances[step[0]](step) for step in inside) / mean**2

    def utilisations(self):
        return {
            "processors of the instances": self.processors,
            "connections of the instances": self.pool[0],
            "calls at once on the instances": self.places,
            "processors of PostgreSQL": self.database[0],
            "file servers": self.file_server[0],
        }


def planned(costs, calls, users):
    """The load of so many users, and as few machines as keep everything at the target."""
    rate = users * costs.active * costs.rate / 1000
    need = rate / costs.target
    for has_lease in (False, True):
        alone = Plant(costs, calls, has_lease=has_lease)
        at_instance = (
            alone.cpu / costs.cores,
            alone.connection / costs.connections,
            alone.response / costs.places,
        )
        instances = max(1, math.ceil(need * max(at_instance)))
        if instances == 1:
            break
    connections = instances * costs.connections / costs.pg_connections
    databases = max(1, math.ceil(max(need * alone.pg / costs.pg_cores, connections)))
    file_servers = max(1, math.ceil(need * alone.files * costs.file / costs.parallel))
    plant = Plant(costs, calls, rate, instances, databases, file_servers, has_lease)
    return SimpleNamespace(
        users=users, rate=rate, instances=instances, databases=databases, file_servers=file_servers, plant=plant
    )
