"""The calls of capacity.py, event by event, at a small size.

Arrivals are random (Poisson), and so are the times of processors, statements and files (exponential);
the round trip and the flush always take the same. The seed is fixed, so every run gives the same.
"""

import heapq
import itertools
import random
from collections import deque

# Shares that are not counted.
BEGINNING = 0.15
ENDING = 0.05


class Clock:
    """The queue of future events."""

    def __init__(self):
        self.now = 0.0
        self.events = []
        self.order = itertools.count()

    def after(self, delay, go_on):
        heapq.heappush(self.events, (self.now + delay, next(self.order), go_on))

    def run(self):
        while self.events:
            self.now, _, go_on = heapq.heappop(self.events)
            go_on()


def follow(process):
    """Runs a generator that yields a function and its argument; the function gets what goes on."""

    def go_on(value=None):
        try:
            function, argument = process.send(value)
        except StopIteration:
            return
        function(argument, go_on)

    go_on()


class Servers:
    """Some servers, and one queue before them."""

    def __init__(self, clock, count):
        self.clock = clock
        self.free = self.count = int(count)
        self.queue = deque()
        self.waits = []
        self.work = 0.0

    def take(self, patience, go_on):
        """A server for as long as the caller keeps it; `False` where that took too long."""
        if self.free:
            self.free -= 1
            self.waits.append(0.0)
            return go_on(True)
        waiting = [self.clock.now, go_on]
        self.queue.append(waiting)
        if patience:
            self.clock.after(patience, lambda: self.give_up(waiting))

    def give_up(self, waiting):
        if waiting[1]:
            go_on, waiting[1] = waiting[1], None
            self.waits.append(self.clock.now - waiting[0])
            go_on(False)

    def give_back(self):
        while self.queue:
            waiting = self.queue.popleft()
            if waiting[1]:
                go_on, waiting[1] = waiting[1], None
                self.waits.append(self.clock.now - waiting[0])
                return go_on(True)
        self.free += 1

    def serve(self, mean, go_on):
        time = random_time(mean)
        self.work += time

        def end():
            self.give_back()
            go_on()

        self.take(None, lambda _: self.clock.after(time, end))


class SharedProcessors:
    """Processors that all who run share equally. Work is done by a clock of its own, which goes slower
    the more there are."""

    def __init__(self, clock, count):
        self.clock = clock
        self.count = count
        self.running = []
        self.done = self.at = self.work = 0.0
        self.plan = 0

    def speed(self):
        return min(1.0, self.count / len(self.running))

    def catch_up(self):
        if self.running:
            self.done += (self.clock.now - self.at) * self.speed()
        self.at = self.clock.now

    def serve(self, mean, go_on):
        self.catch_up()
        time = random_time(mean)
        self.work += time
        heapq.heappush(self.running, (self.done + time, next(self.clock.order), go_on))
        self.plan_next()

    def plan_next(self):
        self.plan += 1
        if self.running:
            plan, left = self.plan, (self.running[0][0] - self.done) / self.speed()
            self.clock.after(max(left, 0.0), lambda: self.end(plan))

    def end(self, plan):
        if plan != self.plan:
            return
        self.catch_up()
        _, _, go_on = heapq.heappop(self.running)
        self.plan_next()
        go_on()


class Log:
    """PostgreSQL's log: one flush has all who asked for one before it began."""

    def __init__(self, clock, flush):
        self.clock = clock
        self.flush = flush
        self.waiting = []
        self.is_busy = False
        self.times = []

    def commit(self, _, go_on):
        self.waiting.append((self.clock.now, go_on))
        if not self.is_busy:
            self.begin()

    def begin(self):
        self.is_busy = True
        flushed, self.waiting = self.waiting, []
        self.clock.after(self.flush, lambda: self.end(flushed))

    def end(self, flushed):
        self.is_busy = bool(self.waiting)
        if self.is_busy:
            self.begin()
        for begun, go_on in flushed:
            self.times.append(self.clock.now - begun)
            go_on()


RANDOM = random.Random(1)


def random_time(mean):
    return RANDOM.expovariate(1 / mean) if mean > 0 else 0.0


def counted(values):
    """Without the beginning, when nobody waits yet, and the end, when nobody comes any more."""
    return values[int(len(values) * BEGINNING) : int(len(values) * (1 - ENDING))]


def mean(values):
    return sum(values) / len(values) if values else 0.0


def arrivals(clock, rate, count, call):
    """So many calls, one after the other at random times."""
    for _ in range(count):
        yield clock.after, random_time(1 / rate)
        follow(call())


class Machines:
    """The machines that a call uses."""

    def __init__(self, costs, instances):
        self.clock = clock = Clock()
        self.costs = costs
        self.processors = [SharedProcessors(clock, costs.cores) for _ in range(instances)]
        self.pools = [Servers(clock, costs.connections) for _ in range(instances)]
        self.database = Servers(clock, costs.pg_cores)
        self.log = Log(clock, costs.flush)
        self.file_server = Servers(clock, costs.parallel)
        self.held = 0.0

    def call(self, steps, instance):
        """A call, step by step. Its zone is nobody else's, so that its lock is free."""
        costs, clock, pool = self.costs, self.clock, self.pools[instance]
        for step in steps:
            if step[0] == "cpu":
                yield self.processors[instance].serve, step[1]
            elif step[0] == "file":
                yield self.file_server.serve, costs.file
            elif step[0] == "hold":
                yield pool.take, None
                begun = clock.now
                for index in range(step[1]):
                    yield clock.after, costs.rtt
                    is_flushed = step[2] and index == step[1] - 1
                    yield self.database.serve, costs.pg_statement + (costs.pg_commit if is_flushed else 0)
                    if is_flushed:
                        yield self.log.commit, None
                self.held += clock.now - begun
                pool.give_back()


def plant(costs, kinds, shares, rate, instances, count):
    """So many calls of all kinds, with what they found."""
    RANDOM.seed(1)
    machines = Machines(costs, instances)
    clock = machines.clock
    names, weights = list(kinds), [shares[name] for name in kinds]
    times = {name: [] for name in names}

    def whole(name):
        begun = clock.now
        yield from machines.call(kinds[name], RANDOM.randrange(instances))
        times[name].append(clock.now - begun)

    follow(arrivals(clock, rate, count, lambda: whole(RANDOM.choices(names, weights)[0])))
    clock.run()
    waits = [wait for pool in machines.pools for wait in counted(pool.waits)]
    work = sum(processors.work for processors in machines.processors)
    spent = sum(sum(of_one) for of_one in times.values())
    return {
        "processors of the instances": work / clock.now / instances / costs.cores,
        "connections of the instances": machines.held / clock.now / instances / costs.connections,
        "calls at once on the instances": spent / clock.now / instances / costs.places,
        "processors of PostgreSQL": machines.database.work / clock.now / costs.pg_cores,
        "file servers": machines.file_server.work / clock.now / costs.parallel,
        "wait for a connection": mean(waits),
        "wait for PostgreSQL": mean(counted(machines.database.waits)),
        "wait for the file server": mean(counted(machines.file_server.waits)),
        "flush of a commit": mean(counted(machines.log.times)),
        **{name: mean(counted(found)) for name, found in times.items()},
    }


def zone(costs, inside, rate, count):
    """So many changes of one zone, one after the other, on machines where nobody else is."""
    RANDOM.seed(1)
    clock = Clock()
    lock = Servers(clock, 1)
    outcomes = []

    def change():
        has_lock = yield lock.take, costs.patience
        outcomes.append(has_lock)
        if has_lock:
            yield clock.after, sum(time_alone(costs, step) for step in inside)
            lock.give_back()

    follow(arrivals(clock, rate, count, change))
    clock.run()
    waits, outcomes = sorted(counted(lock.waits)), counted(outcomes)
    return {
        "wait": mean(waits),
        "95": waits[int(len(waits) * 0.95)],
        "busy": outcomes.count(False) / len(outcomes),
    }


def time_alone(costs, step):
    """Returns the time of a step without any other load."""
    if step[0] == "cpu":
        return random_time(step[1])
    if step[0] == "file":
        return random_time(costs.file)
    time = sum(costs.rtt + random_time(costs.pg_statement) for _ in range(step[1] - step[2]))
    if step[2]:
        time += costs.rtt + random_time(costs.pg_statement + costs.pg_commit) + costs.flush
    return time
