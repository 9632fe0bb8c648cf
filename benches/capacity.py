#!/usr/bin/env python3
"""Model of the server's throughput with more users, machines and distance than can be run here.

    capacity.py [--<assumption> <number>]... [--check [--calls <number>]]

Prints the tables of which benches/README.md has a summary. capacity/costs.json has what goes in: costs
that were measured, with the benchmark that printed them, what is assumed (each is an option here), and
what a call of each kind asks the registry.
capacity/formulas.py has the formulas.

`--check` compares them with a simulation of the same calls at a small size (capacity/simulation.py),
event by event, prints both, and ends with status 1 where they differ by more than TOLERANCE.
"""

import argparse
import copy
import json
import sys
from pathlib import Path
from types import SimpleNamespace

FOLDER = Path(__file__).resolve().parent / "capacity"
sys.path.insert(0, str(FOLDER))
# No bytecode is written beside the sources.
sys.dont_write_bytecode = True

import formulas
import simulation
from formulas import Plant, changed, percentile, planned, queue

SIZES = (1_000, 100_000, 10_000_000)

# Allowed difference of a simulated figure from its formula, as a share: of a mean, and of the wait that 95
# of 100 stay below, which the formula overestimates. And milliseconds that nobody would notice.
TOLERANCE = 0.1
TOLERANCE_OF_95 = 0.15
UNNOTICED = 0.1

# One machine with everything: a statement's cost has the socket, and its disk is that of the measurements.
ONE_MACHINE = {"rtt": 0.0, "flush": 0.33, "file": 0.05, "lease": 0, "lease_commits": 0}

ROUND_TRIPS = (0.2, 0.5, 1.0, 2.0)

# Times from the section on PostgreSQL, in milliseconds; its writes kept the size of the file.
MEASURED_CALLS = {"read": 0.53, "list": 0.49, "write into storage": 2.21, "write into documents": 3.41}

GROUP = "write into a group"
OF_95 = "95 of 100 below"

DATA = json.loads((FOLDER / "costs.json").read_text(encoding="utf-8"))


def option(name):
    return name.replace("_", "-")


def number(value):
    """A number of which three digits count."""
    digits = 3
    while digits > 0 and abs(value) >= 10 ** (3 - digits):
        digits -= 1
    text = f"{round(value) if abs(value) >= 1000 else value:,.{digits}f}"
    if abs(value) >= 10_000:
        text = f"{float(f'{value:.3g}'):,.0f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def table(title, head, rows):
    print(f"\n**{title}**\n" if title else "")
    print("| " + " | ".join(head) + " |")
    print("| " + " | ".join("---" for _ in head) + " |")
    for row in rows:
        print("| " + " | ".join(cell if isinstance(cell, str) else number(cell) for cell in row) + " |")


def print_inputs(costs, calls):
    measured = DATA["measured"].values()
    rows = [(text, f"{value:g} {unit}".strip(), source) for value, unit, text, source in measured]
    table("Measured", ("", "", "from"), rows)
    rows = [
        (f"`--{option(name)}`", text, f"{getattr(costs, name):g} {unit}".strip(), why)
        for name, (_, unit, text, why) in DATA["assumed"].items()
    ]
    table("Assumed", ("option", "", "", "why"), rows)
    plant = Plant(costs, calls)
    rows = []
    for name, steps in plant.steps.items():
        holds = [step for step in steps if step[0] == "hold"]
        rows.append((
            name,
            f"{plant.shares[name]:.0%}",
            str(sum(step[1] for step in holds)),
            str(sum(step[2] for step in holds)),
            sum(step[1] for step in steps if step[0] == "cpu"),
            sum(plant.hold(*step[1:]) for step in holds),
            str(sum(step[0] == "file" for step in steps)),
            plant.time(name),
        ))
    means = (plant.statements, plant.commits, plant.cpu, plant.connection, plant.files, plant.response)
    rows.append(("all, in the mean", f"{sum(plant.shares.values()):.0%}", *means))
    head = ("", "share", "statements", "flushed", "instance, ms", "connection, ms", "files", "answer, ms")
    table("Calls, with several instances and nobody else there", head, rows)


def print_beside_measured(costs, calls):
    same_size = copy.deepcopy(calls)
    for name in MEASURED_CALLS:
        if "transactions" in same_size[name]:
            same_size[name]["transactions"] = [3]
    plant = Plant(changed(costs, **ONE_MACHINE), same_size, has_lease=False)
    rows = [
        (name, f"{plant.time(name):.2f} ms", f"{measured:.2f} ms", f"{plant.time(name) / measured - 1:+.0%}")
        for name, measured in MEASURED_CALLS.items()
    ]
    table("The same on one machine, beside what was measured", ("", "formula", "measured", ""), rows)


def print_units(costs, calls):
    plant = Plant(costs, calls)
    limits = {
        f"processors of an instance ({costs.cores:g})": costs.cores / plant.cpu,
        f"connections of an instance ({costs.connections:g})": costs.connections / plant.connection,
        f"calls at once on an instance ({costs.places:g})": costs.places / plant.response,
        f"processors of PostgreSQL ({costs.pg_cores:g})": costs.pg_cores / plant.pg,
        "a file server": costs.parallel / (plant.files * costs.file),
    }
    rows = []
    for name, rate in sorted(limits.items(), key=lambda limit: limit[1]):
        users = 1000 * rate / (costs.active * costs.rate)
        rows.append((name, 1000 * rate, users, users * costs.target))
    table("When one of each is full", ("", "calls a second", "users", f"users at {costs.target:.0%}"), rows)


def print_sizes(costs, calls):
    plans = [planned(costs, calls, users) for users in SIZES]
    rows = []

    def row(text, value):
        rows.append((text, *(value(plan, plan.plant) for plan in plans)))

    def commits_at_once(plan, plant):
        return plan.rate / plan.databases * plant.commits * costs.flush

    def wait_of_95(plant, attribute):
        return f"{number(percentile(0.95, *getattr(plant, attribute)[1:]))} ms"

    row("active at the peak", lambda plan, _: plan.users * costs.active)
    row("calls a second", lambda plan, _: 1000 * plan.rate)
    row("statements a second", lambda plan, plant: 1000 * plan.rate * plant.statements)
    row("flushed commits a second", lambda plan, plant: 1000 * plan.rate * plant.commits)
    for name in ("instances", "databases", "file servers"):
        row(name, lambda plan, _, name=name.replace(" ", "_"): str(getattr(plan, name)))
    for name in plans[0].plant.utilisations():
        row(f"used: {name}", lambda _, plant, name=name: f"{plant.utilisations()[name]:.1%}")
    row("commits while the log is flushed once", commits_at_once)
    for name, attribute in (("a connection", "pool"), ("PostgreSQL", "database"), ("the file server", "file_server")):
        row(f"wait for {name}, {OF_95}", lambda _, plant, attribute=attribute: wait_of_95(plant, attribute))
    for name in ("read", "write into documents", GROUP):
        row(f"{name}, mean", lambda _, plant, name=name: f"{number(plant.time(name))} ms")
    row("full first", lambda plan, plant: max(plant.utilisations(), key=plant.utilisations().get))
    row("then there are, users", lambda plan, plant: plan.users / max(plant.utilisations().values()))
    table("Sizes", ["users", *(f"{users:,}" for users in SIZES)], rows)


def print_waits(costs, calls):
    plant = Plant(costs, calls)
    loads = (0.6, 0.8, 0.9, 0.95)
    rows = []
    for name, (service, servers, variation) in plant.services.items():
        cells = []
        for load in loads:
            _, wait, chance = queue(load * servers / service, service, servers, variation)
            half, most = (number(percentile(share, wait, chance)) for share in (0.5, 0.95))
            cells.append(f"{half} and {most} ms")
        rows.append((name, f"{number(service)} ms", *cells))
    head = ("", "service", *(f"{load:.0%} used" for load in loads))
    table("Waits where machines are fuller: half below, 95 of 100 below", head, rows)


def print_zone(costs, calls):
    one = changed(costs, **ONE_MACHINE)
    settings = {"one machine": one, **{f"{rtt} ms": changed(costs, rtt=rtt) for rtt in ROUND_TRIPS}}
    plants = [Plant(there, calls) for there in settings.values()]
    locked = [name for name, call in calls.items() if call.get("lock")]
    rows = [(name, *(1000 / plant.locked(name)[0] for plant in plants)) for name in locked]
    table("Changes a second of one zone, by the round trip to PostgreSQL", ("", *settings), rows)

    mean, variation = Plant(costs, calls).locked(GROUP)
    rows = []
    for load in (0.2, 0.5, 0.8, 0.95, 1.2, 2.0):
        _, wait, chance = queue(load / mean, mean, 1, variation)
        times = [wait, percentile(0.5, wait, chance), percentile(0.95, wait, chance)]
        if load >= 1:
            times = [costs.patience] * 3
        rate = 1000 * load / mean
        times = [f"{number(time)} ms" for time in times]
        rows.append((f"{load:.0%}", rate, rate / costs.member, *times, f"{max(0, 1 - 1 / load):.0%}"))
    head = ("load", "writes a second", "active members", "wait, mean", "half below", OF_95, "`BUSY`")
    table(f"One group, {costs.rtt:g} ms from PostgreSQL: the lock is held for {number(mean)} ms", head, rows)

    rows = [
        (name, costs.patience / plant.locked(GROUP)[0], costs.threads)
        for name, plant in zip(settings, plants)
    ]
    head = ("from PostgreSQL", "calls that wait", "threads of an instance")
    table("Beyond the limit of a group", head, rows)

    rows = []
    for groups in (1, 4, 16, 64):
        rate = 1000 * costs.target * groups / mean
        rows.append((str(groups), rate, rate / costs.member))
    title = f"Several groups instead, each at {costs.target:.0%}"
    table(title, ("groups", "writes a second", "active members"), rows)


def print_sensitivity(costs, calls):
    once = {name: {**call, "before": call["before"] - 1} for name, call in calls.items()}
    short = copy.deepcopy(calls)
    short[GROUP].update(locked=5, transactions=[6, 6])
    single = {"pg_statement": costs.pg_statement_single, "pg_commit": costs.pg_commit_single}
    cases = [("as above", {}, calls)]
    trips = [rtt for rtt in ROUND_TRIPS if rtt != costs.rtt]
    cases += [(f"{rtt} ms from PostgreSQL", {"rtt": rtt}, calls) for rtt in trips]
    cases += [
        ("PostgreSQL as where calls come one at a time", single, calls),
        ("who calls is asked once, not twice", {}, once),
        ("a group's write takes two transactions", {}, short),
        ("no lease", {"lease": 0, "lease_commits": 0}, calls),
        ("commands take 5 ms", {"own": 5}, calls),
        ("commands take 100 ms", {"own": 100}, calls),
        ("twice as many calls", {"rate": costs.rate * 2}, calls),
    ]
    rows = []
    for name, values, kinds in cases:
        there = changed(costs, **values)
        plan = planned(there, kinds, SIZES[-1])
        group = 1000 / Plant(there, kinds).locked(GROUP)[0]
        times = (plan.plant.time("read"), plan.plant.time("write into documents"))
        machines = (str(plan.instances), str(plan.databases), str(plan.file_servers))
        rows.append((name, plan.plant.statements, *times, group, *machines))
    times = ("statements a call", "read, ms", "documents, ms", "writes of a group a second")
    head = ("", *times, "instances", "databases", "file servers")
    table(f"{SIZES[-1]:,} users, if something else holds", head, rows)


def compared(costs, calls, count):
    """Figures with what the formulas say and what the simulation found. The plants have few of what is
    to be full, and enough of the rest that who waits there does not spare others the wait."""
    small = changed(costs, cores=2, parallel=3, own=2.0)
    plants = {
        "connections at 60%": (0.6, changed(small, connections=4, pg_cores=3)),
        "PostgreSQL at 80%": (0.8, changed(small, connections=60, cores=16, parallel=30, pg_cores=1)),
    }
    for title, (target, there) in plants.items():
        rate = target / max(Plant(there, calls, 1.0, instances=2).utilisations().values())
        expected = Plant(there, calls, rate, instances=2)
        found = simulation.plant(there, expected.steps, expected.shares, rate, instances=2, count=count)
        for name, utilisation in expected.utilisations().items():
            yield f"{title}: {name}, %", 100 * utilisation, 100 * found[name]
        yield f"{title}: wait for a connection", expected.pool[1], found["wait for a connection"]
        yield f"{title}: wait for PostgreSQL", expected.database[1], found["wait for PostgreSQL"]
        yield f"{title}: wait for the file server", expected.file_server[1], found["wait for the file server"]
        yield f"{title}: flush of a commit", expected.commit, found["flush of a commit"]
        for name in expected.steps:
            if expected.shares[name]:
                yield f"{title}: {name}", expected.time(name), found[name]
    impatient = changed(costs, patience=2_000)
    alone = Plant(impatient, calls)
    mean, variation = alone.locked(GROUP)
    for load in (0.5, 0.8, 1.5):
        inside = formulas.within_lock(alone.steps[GROUP])
        found = simulation.zone(impatient, inside, load / mean, count=10 * count if load < 1 else 2 * count)
        title = f"group at {load:.0%}"
        if load < 1:
            _, wait, chance = queue(load / mean, mean, 1, variation)
            yield f"{title}: wait", wait, found["wait"]
            yield f"{title}: {OF_95}", percentile(0.95, wait, chance), found["95"]
        else:
            yield f"{title}: `BUSY`, %", 100 * (1 - 1 / load), 100 * found["busy"]
            yield f"{title}: wait", impatient.patience, found["wait"]


def check(costs, calls, count):
    """Returns True if formulas and simulation agree."""
    rows = []
    for name, expected, found in compared(costs, calls, count):
        tolerance = TOLERANCE_OF_95 if name.endswith(OF_95) else TOLERANCE
        agrees = abs(found - expected) <= max(tolerance * expected, UNNOTICED)
        difference = f"{found / expected - 1:+.1%}" if max(expected, found) > UNNOTICED else ""
        rows.append((name, expected, found, difference, "" if agrees else "differs"))
    table("", ("ms", "formula", "simulation", "", ""), rows)
    return all(row[-1] == "" for row in rows)


def main():
    sys.stdout.reconfigure(encoding="utf-8")
    parser = argparse.ArgumentParser(prog="capacity.py", description="Capacity, from measured costs.")
    parser.add_argument("--check", action="store_true", help="compare the formulas with a simulation")
    parser.add_argument("--calls", type=int, default=8_000, help="calls of a simulation")
    for name, (value, unit, text, _) in DATA["assumed"].items():
        parser.add_argument(f"--{option(name)}", type=float, default=value, metavar=unit or "N", help=text)
    options = vars(parser.parse_args())
    is_check, count = options.pop("check"), options.pop("calls")
    measured = {name: value for name, (value, *_) in DATA["measured"].items()}
    costs, calls = SimpleNamespace(**measured, **options), DATA["calls"]
    if is_check:
        return 0 if check(costs, calls, count) else 1
    print_inputs(costs, calls)
    print_beside_measured(costs, calls)
    print_units(costs, calls)
    print_sizes(costs, calls)
    print_waits(costs, calls)
    print_zone(costs, calls)
    print_sensitivity(costs, calls)
    return 0


if __name__ == "__main__":
    sys.exit(main())
