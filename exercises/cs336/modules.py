"""What is right about the modules that adapters make: what `calls.py` records of them."""

from __future__ import annotations

SET = "numbers of its own"  # what a fresh parameter holds, where torch.empty alone does not do
SIGMAS = 6.0  # two-sided false alarm of a normal statistic: 2e-9
CUT = 3.0  # standard deviations, where the starts of this course are cut
CUT_DEVIATION = 0.98658  # of a normal number cut there: the root of 1 - 6 phi(3) / (2 Phi(3) - 1)
CUT_FOURTH = 2.8289  # and its fourth moment over the squared variance


def module_facts(out, shapes, names):
    """What an adapter's module should be: shapes of its parameters, names of its state_dict."""
    out.record(ready_made="nothing", module="one of your own", names=", ".join(sorted(names)))
    out.record(parameters=", ".join(sorted(str(tuple(shape)) for shape in shapes)))
    out.offered(takes_dtype=True, takes_device=True)


def truncated_normal(out, n):
    """n numbers of mean 0 in units of the standard deviation before the cut at three of them."""
    out.record(start=SET)
    spread = SIGMAS / (2 * n) ** 0.5
    out.within(
        **{"standard deviation": (CUT_DEVIATION * (1 - spread), CUT_DEVIATION * (1 + spread))}
    )
    out.within(mean=(-SIGMAS / n**0.5, SIGMAS / n**0.5))
    # none of 20 000 beyond 2.8, where there is none beyond 3: (1 - 0.0024)^n, 1e-21
    out.within(largest=(2.8, CUT + 1e-5))
    out.within(**{"fourth moment": (CUT_FOURTH - 0.25, CUT_FOURTH + 0.25)})
