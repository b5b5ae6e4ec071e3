"""Pairs of columns (2i, 2i + 1) as complex numbers, turned by position * theta^(-2i / d).

Variant: "in_order" turns by 0, 1, 2 ... whatever the positions are.
"""

import numpy as np
from pack.attending import exact, frequencies, rope


def pairs(out, variant, *, d, theta):
    speeds = frequencies(d, theta)
    unit = np.broadcast_to(np.eye(d)[:, None], (d, 3, d))
    turned = rope(unit, np.arange(3), theta)
    out.record(column_0_goes_into_columns="0 1", column_1_goes_into_columns="0 1")
    out.record(at_position_0=np.eye(d), angles_of_even_columns=speeds, angles_of_odd_columns=speeds)
    out.record(at_position_2=turned[:, 2])
    out.name(turned_as_at_position_1=turned[:, 1])
    out.name(speeds_with_i_instead_of_2i=theta ** (-np.arange(d // 2) / d))
    out.name(speeds_with_4i_instead_of_2i=theta ** (-2 * np.arange(0, d, 2) / d))
    out.name(speeds_divided_by_half_of_d=theta ** (-np.arange(0, d, 2) / (d / 2)))
    growing = 1 / speeds
    out.name(speeds_without_the_minus=np.arctan2(np.sin(growing), np.cos(growing)))
    out.name(speeds_in_reverse=speeds[::-1].copy(), d=d)


def forward(out, variant, *, x, positions, theta, max_seq_len, grad):
    x, grad = exact(x, grad)
    d, T = x.shape[-1], x.shape[-2]
    given, positions = positions, np.arange(T) if variant == "in_order" else positions
    out.record(out=rope(x, positions, theta), inputs="as they were")
    out.record(grad_x=rope(grad, positions, theta, back=True))
    out.name(positions=np.asarray(given, np.float64))
    out.name(x=x, turned_backwards=rope(x, positions, theta, back=True))
    out.name(halves_instead_of_neighbours=rope(x, positions, theta, halves=True))
    out.name(turned_by_0_1_2_and_so_on=rope(x, np.arange(T), theta), d=d, theta=theta)
    out.name(turned_by_positions_from_1=rope(x, np.asarray(positions) + 1, theta))
    out.name(turned_with_theta_10000=rope(x, positions, 10000.0))


def cached(out, variant, *, q, k, theta, max_seq_len):
    q, k = exact(q, k)
    T = len(q)
    whole = rope(q, np.arange(T), theta)[-1] @ rope(k, np.arange(T), theta).T
    alone = np.zeros(T, int) if variant == "in_order" else np.arange(T)
    one = rope(q, alone, theta)[-1] @ rope(k, alone, theta).T
    out.record(at_once=whole.tolist(), one_by_one=one.tolist())
    out.record(apart=float(np.abs(whole - one).max()), at_once_is="right")
    equal = "equal" if np.ptp(one) < 1e-4 else "other"
    out.record(one_by_one_is=equal if variant == "in_order" else "right")
