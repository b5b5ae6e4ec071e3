"""What Parameter and Module must give: positions, names and modes, and the gradient of a product."""


def parameter(out, variant, *, w, other, x, grad, more_grad):
    out.record(is_a_tensor=True, data=w, shape=list(w.shape), y=w * x, grad_p=grad * x)
    out.record(written=other, y_after=other**2)
    out.record(grad_after=grad * x + 2 * more_grad * other)


def held(out, variant, **arrays):
    every = list(range(len(arrays)))
    out.record(found=every, called_again=every, named=every, inside=[1], none=0)


def crowd(out, variant, *, w, w_grad):
    every = list(range(len(w)))
    out.record(found=every, named=every, cleared=[True] * len(w), evaluating=[True] * len(w))


def shared(out, variant, *, w_0, w_1):
    out.record(found=[0, 1, 2], covered=[0, 1, 2])


def changed(out, variant, **arrays):
    out.record(before=[0, 1], after=[0, 1, 2, 3])


def names(out, variant, **arrays):
    out.record(w=0, inner_w=1, inner_deeper_b=2, listed=[3, 4], different=5)


def cleared(out, variant, *, w, b, w_grad, b_grad, scale):
    out.record(grad_w=w_grad, grad_b=b_grad, empty=True, w=w, b=b)
    out.record(fresh_w=scale * w_grad, fresh_b=scale * b_grad)


def modes(out, variant, *, w_0):
    out.record(eval=[False] * 5, train=[True] * 5, eval_again=[False] * 5)
    out.record(only_inside=[False, True, True, False, False], told_at_first=[True] * 5)


def called(out, variant, *, x, h, c):
    out.record(returns_it=True, returns_last=True, calls=2, is_itself=True)
    out.record(arguments=[1, 3], given=True)
